/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.8.1: MPI_Probe and MPI_Iprobe report the message that a receive with the same arguments would
 * get, do not take it, and the receive with the reported source and tag gets exactly that message. Wildcards,
 * all lengths. */
#include "mpitest.h"

enum { MESSAGES = 40, LONGEST = 200000, TAG_NEVER = 99 };

static unsigned char *in;

static int length_of(int sender, int i)
{
    static const int lengths[] = { 0, 8, 40, 41, 160, 161, 4000, 32769, 65537, LONGEST };
    uint64_t state = test_key(sender, i, 11);

    return lengths[test_below(&state, sizeof lengths / sizeof lengths[0])];
}

static void probe(int is_blocking, int source, int tag, MPI_Status *st)
{
    int is_there = 0;

    *st = test_dirty_status();
    if (is_blocking) {
        CHECK_OK(MPI_Probe(source, tag, MPI_COMM_WORLD, st));
        return;
    }
    while (!is_there)
        CHECK_OK(MPI_Iprobe(source, tag, MPI_COMM_WORLD, &is_there, st));
}

/* Probes twice (the second must say the same), then receives. Returns the sender. */
static int take(int is_blocking, int source, int tag, const int *next)
{
    MPI_Status first, again, st;
    int src, len;

    probe(is_blocking, source, tag, &first);
    src = first.MPI_SOURCE;
    CHECK(src >= 0 && src < test_size, "probe reports source %d", src);
    len = length_of(src, next[src]);
    CHECK_STATUS(&first, src, next[src] % 4, (size_t)len);
    probe(!is_blocking, src, first.MPI_TAG, &again);
    CHECK_STATUS(&again, src, first.MPI_TAG, (size_t)len);
    st = test_dirty_status();
    CHECK_OK(MPI_Recv(in, len, MPI_BYTE, src, first.MPI_TAG, MPI_COMM_WORLD, &st));
    CHECK_STATUS(&st, src, next[src] % 4, (size_t)len);
    CHECK_BYTES(in, (size_t)len, test_key(src, next[src], 12));
    return src;
}

static void receive_all(void)
{
    int *next = calloc((size_t)test_size, sizeof *next);
    int i, src, is_there = 1;

    for (i = 0; i < MESSAGES / 2 * test_size; i++)
        next[take(i % 2, MPI_ANY_SOURCE, MPI_ANY_TAG, next)]++;
    for (src = 0; src < test_size; src++)
        while (next[src] < MESSAGES)
            next[take(next[src] % 3 == 0, src, next[src] % 2 ? MPI_ANY_TAG : next[src] % 4, next)]++;
    CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE));
    CHECK_INT(is_there, 0);
    free(next);
}

int main(int argc, char **argv)
{
    MPI_Request reqs[MESSAGES];
    unsigned char *out;
    int i, is_there = 1;

    test_begin(&argc, &argv);
    in = test_alloc(LONGEST);
    out = test_alloc((size_t)MESSAGES * LONGEST);
    CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, TAG_NEVER, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE));
    CHECK_INT(is_there, 0);
    for (i = 0; i < MESSAGES; i++) {
        unsigned char *buf = out + (size_t)i * LONGEST;

        test_fill(buf, (size_t)length_of(test_rank, i), test_key(test_rank, i, 12));
        CHECK_OK(MPI_Isend(buf, length_of(test_rank, i), MPI_BYTE, 0, i % 4, MPI_COMM_WORLD, &reqs[i]));
    }
    if (test_rank == 0)
        receive_all();
    CHECK_OK(MPI_Waitall(MESSAGES, reqs, MPI_STATUSES_IGNORE));
    free(out);
    free(in);
    return test_end();
}
