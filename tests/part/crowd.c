/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §4: every pair of processes has a partitioned message of its own size each way, all under way at once, marked
 * in a random order across all; several rounds. */
#include "mpipart.h"

enum { TAG = 7, ROUNDS = 4, MOST = 8 };

struct message {
    int parts, other_parts;
    size_t len;
    unsigned char *buf;
};

static struct message out[MOST], in[MOST];
static MPI_Request reqs[2 * MOST];

/* Both sides know it from the pair. */
static struct message shape(int from, int to)
{
    static const size_t units[] = { 1, 17, 400, 9000 };
    static const int parts[] = { 1, 4, 6, 12 };
    const uint64_t key = test_key((uint64_t)from, (uint64_t)to, 13);
    struct message m = { .parts = parts[key % 4], .other_parts = parts[key / 4 % 4] };

    m.len = 12 * units[key / 16 % 4];
    m.buf = test_alloc(m.len);
    return m;
}

static void open_all(void)
{
    for (int rank = 0; rank < test_size; rank++) {
        out[rank] = shape(test_rank, rank);
        in[rank] = shape(rank, test_rank);
        NEEDS(MPI_Psend_init(out[rank].buf, out[rank].parts, (MPI_Count)out[rank].len / out[rank].parts, MPI_BYTE,
                             rank, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &reqs[rank]));
        CHECK_OK(MPI_Precv_init(in[rank].buf, in[rank].other_parts, (MPI_Count)in[rank].len / in[rank].other_parts,
                                MPI_BYTE, rank, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &reqs[test_size + rank]));
    }
}

static void mark_all(uint64_t *state)
{
    int marks[12 * MOST], order[12 * MOST], n = 0;

    for (int rank = 0; rank < test_size; rank++) {
        for (int i = 0; i < out[rank].parts; i++)
            marks[n++] = rank << 8 | i;
    }
    ring_shuffle(order, n, state);
    for (int i = 0; i < n; i++)
        CHECK_OK(MPI_Pready(marks[order[i]] & 255, reqs[marks[order[i]] >> 8]));
}

int main(int argc, char **argv)
{
    uint64_t state;

    test_begin(&argc, &argv);
    state = test_key((uint64_t)test_rank, 3, 3);
    open_all();
    for (int round = 0; round < ROUNDS; round++) {
        for (int rank = 0; rank < test_size; rank++) {
            test_fill(out[rank].buf, out[rank].len, test_key((uint64_t)test_rank, (uint64_t)rank, (uint64_t)round));
            memset(in[rank].buf, TEST_CANARY, in[rank].len);
        }
        if (round % 2) /* the receives first, or last */
            CHECK_OK(MPI_Startall(test_size, reqs + test_size));
        CHECK_OK(MPI_Startall(test_size, reqs));
        mark_all(&state);
        if (round % 2 == 0)
            CHECK_OK(MPI_Startall(test_size, reqs + test_size));
        CHECK_OK(MPI_Waitall(2 * test_size, reqs, MPI_STATUSES_IGNORE));
        for (int rank = 0; rank < test_size; rank++)
            CHECK_BYTES(in[rank].buf, in[rank].len,
                        test_key((uint64_t)rank, (uint64_t)test_rank, (uint64_t)round));
    }
    for (int i = 0; i < 2 * test_size; i++)
        CHECK_OK(MPI_Request_free(&reqs[i]));
    for (int rank = 0; rank < test_size; rank++) {
        free(out[rank].buf);
        free(in[rank].buf);
    }
    return test_end();
}
