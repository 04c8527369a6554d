/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §11.8.2: what cannot be started is MPI_ERR_SPAWN at all processes, with error codes for each, and nobody
 * waits for ever; afterwards all goes on. */
#include "mpitest.h"

#include <unistd.h>

enum { MOST = 2000 };

static int codes[MOST];

static void expect_failure(const char *program, int count, const char *key, const char *value)
{
    const int root = test_size / 2;
    MPI_Comm children = MPI_COMM_NULL;
    MPI_Info info = MPI_INFO_NULL;

    if (key && test_rank == root) {
        CHECK_OK(MPI_Info_create(&info));
        CHECK_OK(MPI_Info_set(info, key, value));
    }
    memset(codes, 0, sizeof codes);
    CHECK_CLASS(MPI_Comm_spawn(program, MPI_ARGV_NULL, count, info, root, MPI_COMM_WORLD, &children, codes),
                MPI_ERR_SPAWN);
    for (int i = 0; i < count; i++)
        CHECK(codes[i] != MPI_SUCCESS, "the code of process %d is MPI_SUCCESS", i);
    CHECK(children == MPI_COMM_NULL, "there is a communicator");
    if (info != MPI_INFO_NULL)
        CHECK_OK(MPI_Info_free(&info));
}

static void expect_one_failure(char *good)
{
    char *commands[] = { good, "/there is no such program" };
    const int counts[] = { 1, 2 };
    const MPI_Info infos[] = { MPI_INFO_NULL, MPI_INFO_NULL };
    MPI_Comm children;

    CHECK_CLASS(MPI_Comm_spawn_multiple(2, commands, MPI_ARGVS_NULL, counts, infos, 0, MPI_COMM_WORLD, &children,
                                        codes), MPI_ERR_SPAWN);
    for (int i = 0; i < 3; i++)
        CHECK(codes[i] != MPI_SUCCESS, "the code of process %d is MPI_SUCCESS", i);
}

/* A number that makes no sense, though their sum does. */
static void expect_wrong_number(char *good)
{
    char *commands[] = { good, good };
    const int counts[] = { 1000000, -999998 };
    const MPI_Info infos[] = { MPI_INFO_NULL, MPI_INFO_NULL };
    MPI_Comm children;

    CHECK_CLASS(MPI_Comm_spawn_multiple(2, commands, MPI_ARGVS_NULL, counts, infos, 0, MPI_COMM_WORLD, &children,
                                        MPI_ERRCODES_IGNORE), MPI_ERR_ARG);
}

int main(int argc, char **argv)
{
    MPI_Comm parent, children = MPI_COMM_NULL;

    test_begin(&argc, &argv);
    CHECK_OK(MPI_Comm_get_parent(&parent));
    if (parent != MPI_COMM_NULL) {
        CHECK_OK(MPI_Comm_disconnect(&parent));
        return test_end();
    }
    expect_failure("./no such program", 3, NULL, NULL);
    expect_failure("no-such-program-in-the-path", 1, NULL, NULL);
    expect_failure("/", 1, NULL, NULL);
    expect_failure("/etc/passwd", 2, NULL, NULL);
    expect_failure(argv[0], 2, "wdir", "/no such directory");
    expect_failure(argv[0], 2, "host", "another.host.invalid");
    expect_failure(argv[0], 2, "arch", "pdp11");
    expect_one_failure(argv[0]);
    if (test_is_parley()) {
        expect_failure(argv[0], 2, "soft", "nonsense");
        expect_failure(argv[0], 2, "soft", "100:200");
        expect_failure(argv[0], 2, "env", "nonsense");
        expect_failure(argv[0], 2, "mpi_initial_errhandler", "nonsense");
        expect_failure(argv[0], MOST, NULL, NULL);
        CHECK_CLASS(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, -1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children,
                                   MPI_ERRCODES_IGNORE), MPI_ERR_ARG);
        CHECK_CLASS(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 0, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                                   MPI_ERRCODES_IGNORE), MPI_ERR_ARG);
        expect_wrong_number(argv[0]);
    }
    CHECK_OK(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                            MPI_ERRCODES_IGNORE));
    CHECK_OK(MPI_Comm_disconnect(&children));
    return test_end();
}
