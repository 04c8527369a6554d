/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §11.8.3: MPI_Comm_spawn_multiple starts several programs in one world, in their order; MPI_APPNUM tells
 * which one a process runs; each has its arguments and infos; MPI_ARGVS_NULL. */
#include "mpitest.h"

enum { PROGRAMS = 3, MOST = 6 };

static const int counts[PROGRAMS] = { 1, 3, 2 };

static void be_child(MPI_Comm parent, int argc, char **argv)
{
    int *appnum, flag, first = 0, remote;
    char mark[2];

    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &appnum, &flag));
    CHECK(flag && *appnum >= 0 && *appnum < PROGRAMS, "appnum %d", flag ? *appnum : -1);
    CHECK_INT(test_size, MOST);
    for (int i = 0; i < *appnum; i++)
        first += counts[i];
    CHECK(test_rank >= first && test_rank < first + counts[*appnum], "rank %d runs program %d", test_rank, *appnum);
    if (argc > 1) {
        snprintf(mark, sizeof mark, "%d", *appnum);
        CHECK_INT(argc, 2 + *appnum);
        CHECK(!strcmp(argv[1 + *appnum], mark), "the last argument is %s", argv[1 + *appnum]);
    }
    CHECK_OK(MPI_Comm_remote_size(parent, &remote));
    CHECK_OK(MPI_Gather(appnum, 1, MPI_INT, NULL, 0, MPI_INT, 0, parent));
    CHECK_OK(MPI_Comm_disconnect(&parent));
}

static void start(char *program, int has_arguments)
{
    char *none[] = { "0", NULL }, *one[] = { "x", "1", NULL }, *two[] = { "x", "y", "2", NULL };
    char **arguments[] = { none, one, two }, *commands[] = { program, program, program };
    MPI_Info infos[PROGRAMS] = { MPI_INFO_NULL, MPI_INFO_NULL, MPI_INFO_NULL };
    int codes[MOST], appnums[MOST];
    MPI_Comm children;

    memset(codes, 1, sizeof codes);
    if (test_rank == 0)
        CHECK_OK(MPI_Info_create(&infos[1]));
    if (test_rank == 0)
        CHECK_OK(MPI_Info_set(infos[1], "soft", "1:8"));
    CHECK_OK(MPI_Comm_spawn_multiple(PROGRAMS, commands, has_arguments ? arguments : MPI_ARGVS_NULL, counts, infos, 0,
                                     MPI_COMM_WORLD, &children, codes));
    for (int i = 0; i < MOST; i++)
        CHECK_INT(codes[i], MPI_SUCCESS);
    CHECK_OK(MPI_Gather(NULL, 0, MPI_INT, appnums, 1, MPI_INT, test_rank == 0 ? MPI_ROOT : MPI_PROC_NULL, children));
    for (int i = 0; i < MOST && test_rank == 0; i++)
        CHECK_INT(appnums[i], i < 1 ? 0 : i < 4 ? 1 : 2);
    if (test_rank == 0)
        CHECK_OK(MPI_Info_free(&infos[1]));
    CHECK_OK(MPI_Comm_disconnect(&children));
}

int main(int argc, char **argv)
{
    MPI_Comm parent;

    test_begin(&argc, &argv);
    CHECK_OK(MPI_Comm_get_parent(&parent));
    if (parent != MPI_COMM_NULL) {
        be_child(parent, argc, argv);
    } else {
        start(argv[0], 1);
        start(argv[0], 0);
    }
    return test_end();
}
