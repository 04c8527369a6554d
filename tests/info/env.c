/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §10: MPI_INFO_ENV says how the program was started: command, argv, maxprocs, wdir, mpi_initial_errhandler and
 * so on, where they are known. It is read only. MPI_Info_create_env gives the same, also without arguments, and at any
 * time. */
#include <unistd.h>

#include "mpitest.h"

/* NULL: not there. */
static const char *get(MPI_Info info, const char *key)
{
    static char value[MPI_MAX_INFO_VAL + 1];
    int len = sizeof value, flag;

    CHECK_OK(MPI_Info_get_string(info, key, &len, value, &flag));
    return flag ? value : NULL;
}

static void check(MPI_Info info, const char *key, const char *want)
{
    const char *value = get(info, key);

    if (!value && !test_is_parley())
        return;
    CHECK(value && !strcmp(value, want), "%s is \"%s\" instead of \"%s\"", key, value ? value : "(none)", want);
}

static void check_program(MPI_Info info, const char *command)
{
    char directory[4096];

    check(info, "command", command);
    check(info, "argv", "one two words");
    if (getcwd(directory, sizeof directory))
        check(info, "wdir", directory);
    if (test_is_parley())
        CHECK(get(info, "host") && get(info, "arch"), "no host or arch");
}

static void check_job(MPI_Info info, const char *handler)
{
    int *appnum = NULL, flag, own = 0, count = 0, all[64];
    char size[16];

    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &appnum, &flag));
    CHECK(test_size <= 64, "too many ranks");
    CHECK_OK(MPI_Allgather(flag ? appnum : &own, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD));
    for (int i = 0; i < test_size; i++)
        count += all[i] == all[test_rank];
    snprintf(size, sizeof size, "%d", count); /* of this program, not of all */
    check(info, "maxprocs", size);
    check(info, "mpi_initial_errhandler", handler);
}

static void check_created(int argc, char **argv, const char *command)
{
    static int was; /* the same at any time, once it is known how many processes there are */
    MPI_Info info;
    int keys;

    CHECK_OK(MPI_Info_create_env(argc, argv, &info));
    check_program(info, command);
    CHECK_OK(MPI_Info_get_nkeys(info, &keys));
    CHECK(!was || keys == was || !test_is_parley(), "%d keys, %d before", keys, was);
    was = get(info, "maxprocs") ? keys : 0;
    CHECK_OK(MPI_Info_set(info, "command", "mine"));
    check(info, "command", "mine");
    CHECK_OK(MPI_Info_free(&info));
}

int main(int argc, char **argv)
{
    MPI_Info none = MPI_INFO_ENV;
    char *const command = argv[0];

    check_created(argc, argv, command);
    if (test_is_parley())
        check_created(0, NULL, command);
    test_begin(NULL, NULL);
    check_program(MPI_INFO_ENV, command);
    check_job(MPI_INFO_ENV, "mpi_errors_are_fatal");
    check_created(argc, argv, command);
    if (test_is_parley()) {
        CHECK_CLASS(MPI_Info_set(MPI_INFO_ENV, "command", "x"), MPI_ERR_INFO);
        CHECK_CLASS(MPI_Info_delete(MPI_INFO_ENV, "command"), MPI_ERR_INFO);
        CHECK_CLASS(MPI_Info_free(&none), MPI_ERR_INFO);
        check_program(MPI_INFO_ENV, command);
    }
    CHECK_OK(MPI_Finalize());
    check_created(argc, argv, command);
    return 0;
}
