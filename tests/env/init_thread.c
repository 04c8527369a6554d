/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §11.2.1: MPI_Init_thread gives at least the level asked for if it can; MPI_Query_thread says what
 * it gave; this thread is the main thread. Argument: single|funneled|serialized|multiple|init (MPI_Init:
 * level single). */
#include "mpitest.h"

static int level_of(const char *name)
{
    if (strcmp(name, "funneled") == 0)
        return MPI_THREAD_FUNNELED;
    if (strcmp(name, "serialized") == 0)
        return MPI_THREAD_SERIALIZED;
    return strcmp(name, "multiple") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
}

int main(int argc, char **argv)
{
    int provided = -1, queried = -1, is_main = -1, wanted;
    const char *name = argc > 1 ? argv[1] : "";

    CHECK(argc == 2, "usage: init_thread single|funneled|serialized|multiple|init");
    wanted = level_of(name);
    CHECK(MPI_THREAD_SINGLE < MPI_THREAD_FUNNELED && MPI_THREAD_FUNNELED < MPI_THREAD_SERIALIZED &&
              MPI_THREAD_SERIALIZED < MPI_THREAD_MULTIPLE,
          "the levels are not monotonic");
    if (strcmp(name, "init") == 0)
        CHECK_OK(MPI_Init(&argc, &argv));
    else
        CHECK_OK(MPI_Init_thread(&argc, &argv, wanted, &provided));
    test_ready();
    CHECK_OK(MPI_Query_thread(&queried));
    if (strcmp(name, "init") != 0)
        CHECK_INT(queried, provided);
    CHECK(queried >= wanted || !test_is_parley(), "asked for level %d, got %d", wanted, queried);
    CHECK_OK(MPI_Is_thread_main(&is_main));
    CHECK_INT(is_main, 1);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    return test_end();
}
