/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.5, §3.7: everybody sends to everybody (itself included) at once, random lengths, tags, modes and
 * kinds of receive, in several rounds; every byte is checked. Other seeds: TEST_SEED. */
#include "mpitest.h"

enum { ROUNDS = 12, PER_PAIR = 6, LONGEST = 150000 };

static int length_of(int src, int dst, int round, int i)
{
    uint64_t state = test_key((uint64_t)src * 1000 + (uint64_t)dst, (uint64_t)round, (uint64_t)i);

    switch (test_below(&state, 8)) {
    case 0: return 0;
    case 1:
    case 2: return (int)test_below(&state, 48);
    case 3: return (int)test_below(&state, 200);
    case 4: return (int)test_below(&state, 5000);
    case 5:
    case 6: return (int)test_below(&state, 40000);
    default: return (int)test_below(&state, LONGEST);
    }
}

static uint64_t key_of(int src, int dst, int round, int i)
{
    return test_key((uint64_t)src, (uint64_t)dst, (uint64_t)(round * 100 + i));
}

static void send_all(int round, unsigned char **bufs, MPI_Request *reqs)
{
    int dst, i, n = 0, len;

    for (i = 0; i < PER_PAIR; i++)
        for (dst = 0; dst < test_size; dst++, n++) {
            len = length_of(test_rank, dst, round, i);
            bufs[n] = test_alloc((size_t)len);
            test_fill(bufs[n], (size_t)len, key_of(test_rank, dst, round, i));
            if ((i + dst + round) % 4)
                CHECK_OK(MPI_Isend(bufs[n], len, MPI_BYTE, dst, i, MPI_COMM_WORLD, &reqs[n]));
            else
                CHECK_OK(MPI_Issend(bufs[n], len, MPI_BYTE, dst, i, MPI_COMM_WORLD, &reqs[n]));
        }
}

static void check(const unsigned char *in, int src, int round, int i, const MPI_Status *st)
{
    const int len = length_of(src, test_rank, round, i);

    CHECK_STATUS(st, src, i, (size_t)len);
    CHECK_BYTES(in, (size_t)len, key_of(src, test_rank, round, i));
    CHECK_UNTOUCHED(in + len, 16);
}

/* One after the other, as they come. */
static void receive_probed(int round, unsigned char *in)
{
    MPI_Message msg;
    MPI_Status st;
    int n, i, count;

    for (i = 0; i < PER_PAIR; i++)
        for (n = 0; n < test_size; n++) {
            CHECK_OK(MPI_Mprobe(MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &msg, &st));
            CHECK_OK(MPI_Get_count(&st, MPI_BYTE, &count));
            CHECK(count <= LONGEST, "a message of %d bytes", count);
            memset(in + count, TEST_CANARY, 16);
            CHECK_OK(MPI_Mrecv(in, LONGEST, MPI_BYTE, &msg, &st));
            check(in, st.MPI_SOURCE, round, i, &st);
        }
}

/* All posted, some with a wildcard tag where the order makes it unambiguous. */
static void receive_posted(int round, unsigned char *room)
{
    const int n = PER_PAIR * test_size;
    MPI_Request *reqs = test_alloc((size_t)n * sizeof *reqs);
    MPI_Status *st = test_alloc((size_t)n * sizeof *st);
    int i, k, src;

    for (i = 0; i < PER_PAIR; i++)
        for (src = 0; src < test_size; src++) {
            unsigned char *in = room + (size_t)(i * test_size + src) * (LONGEST + 16);

            memset(in + length_of(src, test_rank, round, i), TEST_CANARY, 16);
            CHECK_OK(MPI_Irecv(in, LONGEST, MPI_BYTE, src, round % 4 == 3 ? MPI_ANY_TAG : i, MPI_COMM_WORLD,
                               &reqs[i * test_size + src]));
        }
    CHECK_OK(MPI_Waitall(n, reqs, st));
    for (k = 0; k < n; k++)
        check(room + (size_t)k * (LONGEST + 16), k % test_size, round, k / test_size, &st[k]);
    free(reqs);
    free(st);
}

int main(int argc, char **argv)
{
    unsigned char *room, **bufs;
    MPI_Request *reqs;
    int round, n, k;

    test_begin(&argc, &argv);
    n = PER_PAIR * test_size;
    room = test_alloc((size_t)n * (LONGEST + 16));
    bufs = test_alloc((size_t)n * sizeof *bufs);
    reqs = test_alloc((size_t)n * sizeof *reqs);
    for (round = 0; round < ROUNDS; round++) {
        send_all(round, bufs, reqs);
        if (round % 2)
            receive_posted(round, room);
        else
            receive_probed(round, room);
        CHECK_OK(MPI_Waitall(n, reqs, MPI_STATUSES_IGNORE));
        for (k = 0; k < n; k++)
            free(bufs[k]);
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    free(room);
    free(bufs);
    free(reqs);
    return test_end();
}
