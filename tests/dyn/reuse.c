/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §11.8, §11.10.4: processes are started again and again, more than there can be at a time; those that have
 * ended leave nothing behind that the next ones see: messages of all lengths, collective calls, windows. Communicators
 * of several generations live side by side. */
#include "mpitest.h"

enum { ROUNDS = 60, CHILDREN = 3, LENGTH = 200000 };

static char buffer[LENGTH];

static void exchange(MPI_Comm all, int length, int round)
{
    int rank, size;

    CHECK_OK(MPI_Comm_rank(all, &rank));
    CHECK_OK(MPI_Comm_size(all, &size));
    memset(buffer, rank + round, (size_t)length);
    CHECK_OK(MPI_Sendrecv_replace(buffer, length, MPI_CHAR, (rank + 1) % size, round, (rank + size - 1) % size, round,
                                  all, MPI_STATUS_IGNORE));
    CHECK_INT(buffer[length - 1], (char)((rank + size - 1) % size + round));
}

static void use(MPI_Comm inter, int is_child, int round)
{
    static const int lengths[] = { 1, 100, 5000, LENGTH };
    int sum, size, *memory, one = 1;
    MPI_Comm all;
    MPI_Win win;

    CHECK_OK(MPI_Intercomm_merge(inter, is_child, &all));
    CHECK_OK(MPI_Comm_size(all, &size));
    exchange(all, lengths[round % 4], round);
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all));
    CHECK_INT(sum, size);
    if (round % 8 == 0) {
        CHECK_OK(MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, all, &memory, &win));
        *memory = 0;
        CHECK_OK(MPI_Win_fence(0, win));
        CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win));
        CHECK_OK(MPI_Win_fence(0, win));
        CHECK_INT(*memory, is_child || test_rank ? 0 : size);
        CHECK_OK(MPI_Win_free(&win));
    }
    CHECK_OK(MPI_Comm_free(&all));
}

static MPI_Comm start(char *program, int round)
{
    char word[16], *words[] = { word, NULL };
    MPI_Comm children;

    snprintf(word, sizeof word, "%d", round);
    CHECK_OK(MPI_Comm_spawn(program, words, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                            MPI_ERRCODES_IGNORE));
    use(children, 0, round);
    return children;
}

int main(int argc, char **argv)
{
    MPI_Comm parent, old = MPI_COMM_NULL, children;

    test_begin(&argc, &argv);
    CHECK_OK(MPI_Comm_get_parent(&parent));
    if (parent != MPI_COMM_NULL) {
        use(parent, 1, atoi(argv[1]));
        if (atoi(argv[1]) % 16 == 3)
            use(parent, 1, 2);
        CHECK_OK(MPI_Comm_disconnect(&parent));
        return test_end();
    }
    for (int round = 0; round < ROUNDS; round++) {
        children = start(argv[0], round);
        if (round % 16 == 3) { /* kept for a while */
            old = children;
            continue;
        }
        CHECK_OK(MPI_Comm_disconnect(&children));
        if (round % 16 == 9 && old != MPI_COMM_NULL) {
            use(old, 0, 2);
            CHECK_OK(MPI_Comm_disconnect(&old));
        }
    }
    return test_end();
}
