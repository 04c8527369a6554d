/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.5: thousands of messages that arrive before their receives are kept, and can be received in any
 * order of tags: backwards, in random order, by source in turn. Argument: backwards|random|source. */
#include "mpitest.h"

enum { MESSAGES = 6000, LONGEST = 3000 };

static int length_of(int sender, int tag)
{
    uint64_t state = test_key(sender, tag, 7);

    return (int)(test_below(&state, 10) ? test_below(&state, 200) : test_below(&state, LONGEST));
}

static void send_all(int messages)
{
    MPI_Request *reqs = test_alloc((size_t)messages * sizeof *reqs);
    unsigned char *out = test_alloc((size_t)messages * 256 + (size_t)messages / 4 * LONGEST + LONGEST);
    size_t at = 0;
    int tag;

    for (tag = 0; tag < messages; tag++) {
        const int len = length_of(test_rank, tag);

        test_fill(out + at, (size_t)len, test_key(test_rank, tag, 8));
        CHECK_OK(MPI_Isend(out + at, len, MPI_BYTE, 0, tag, MPI_COMM_WORLD, &reqs[tag]));
        at += (size_t)len;
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Waitall(messages, reqs, MPI_STATUSES_IGNORE));
    free(out);
    free(reqs);
}

static void receive(int src, int tag)
{
    unsigned char in[LONGEST];
    MPI_Status st;

    CHECK_OK(MPI_Recv(in, LONGEST, MPI_BYTE, src, tag, MPI_COMM_WORLD, &st));
    CHECK_STATUS(&st, src, tag, (size_t)length_of(src, tag));
    CHECK_BYTES(in, (size_t)length_of(src, tag), test_key(src, tag, 8));
}

static void receive_shuffled(int messages)
{
    const int n = messages * (test_size - 1);
    int *order = test_alloc((size_t)n * sizeof *order);
    uint64_t state = test_key(0, 0, 9);
    int i, other, keep;

    for (i = 0; i < n; i++)
        order[i] = i;
    for (i = n - 1; i > 0; i--) {
        other = (int)test_below(&state, (size_t)i + 1);
        keep = order[i];
        order[i] = order[other];
        order[other] = keep;
    }
    for (i = 0; i < n; i++)
        receive(1 + order[i] % (test_size - 1), order[i] / (test_size - 1));
    free(order);
}

static void receive_all(const char *how, int messages)
{
    int src, tag;

    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (strcmp(how, "random") == 0) {
        receive_shuffled(messages);
    } else if (strcmp(how, "backwards") == 0) {
        for (tag = messages - 1; tag >= 0; tag--)
            for (src = 1; src < test_size; src++)
                receive(src, tag);
    } else {
        for (src = test_size - 1; src > 0; src--)
            for (tag = 0; tag < messages; tag++)
                receive(src, tag);
    }
}

int main(int argc, char **argv)
{
    int messages;

    test_begin(&argc, &argv);
    CHECK(argc == 2, "usage: unexpected_flood backwards|random|source");
    test_needs_ranks(2);
    messages = MESSAGES / (test_size - 1);
    if (test_rank)
        send_all(messages);
    else
        receive_all(argv[1], messages);
    return test_end();
}
