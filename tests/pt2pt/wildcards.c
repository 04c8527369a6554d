/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.2.4, §3.5: MPI_ANY_SOURCE and MPI_ANY_TAG, alone and together, receive every message once, tell
 * its true source and tag, and keep the order of each sender. Everybody sends to rank 0, itself included. */
#include "mpitest.h"

enum { MESSAGES = 120, TAGS = 5, LONGEST = 70000 };
enum kind { ANY_SOURCE_ONLY, ANY_TAG_ONLY, BOTH, KINDS };

static int length_of(int sender, int i)
{
    static const int lengths[] = { 8, 8, 8, 100, 4000, 40000, LONGEST };
    uint64_t state = test_key(sender, i, 5);

    return lengths[test_below(&state, sizeof lengths / sizeof lengths[0])];
}

static int tag_of(int sender, int i)
{
    return (sender + i * 7) % TAGS;
}

static void start_sends(unsigned char *out, MPI_Request *reqs)
{
    int i;

    for (i = 0; i < MESSAGES; i++, out += LONGEST) {
        test_fill(out, (size_t)length_of(test_rank, i), test_key(test_rank, i, 6));
        memcpy(out, &i, sizeof i);
        CHECK_OK(MPI_Isend(out, length_of(test_rank, i), MPI_BYTE, 0, tag_of(test_rank, i), MPI_COMM_WORLD,
                           &reqs[i]));
    }
}

/* The number of the message tells where it belongs: the next one of this sender (and tag). */
static void check_one(const unsigned char *in, const MPI_Status *st, int *next)
{
    unsigned char *want = test_alloc(LONGEST);
    int i, len;

    memcpy(&i, in, sizeof i);
    CHECK(st->MPI_SOURCE >= 0 && st->MPI_SOURCE < test_size, "source %d", st->MPI_SOURCE);
    CHECK(i == *next, "message of rank %d, tag %d: expected number %d, got %d", st->MPI_SOURCE, st->MPI_TAG,
          *next, i);
    len = length_of(st->MPI_SOURCE, i);
    CHECK_STATUS(st, st->MPI_SOURCE, tag_of(st->MPI_SOURCE, i), (size_t)len);
    test_fill(want, (size_t)len, test_key(st->MPI_SOURCE, i, 6));
    CHECK(memcmp(in + sizeof i, want + sizeof i, (size_t)len - sizeof i) == 0,
          "message %d of rank %d is damaged", i, st->MPI_SOURCE);
    free(want);
}

static void receive_both(unsigned char *in)
{
    int *next = calloc((size_t)test_size, sizeof *next);
    MPI_Status st;
    int i;

    for (i = 0; i < MESSAGES * test_size; i++) {
        st = test_dirty_status();
        CHECK_OK(MPI_Recv(in, LONGEST, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &st));
        check_one(in, &st, &next[st.MPI_SOURCE]);
        next[st.MPI_SOURCE]++;
    }
    free(next);
}

static void receive_any_tag(unsigned char *in)
{
    MPI_Status st;
    int src, i;

    for (src = test_size - 1; src >= 0; src--)
        for (i = 0; i < MESSAGES; i++) {
            CHECK_OK(MPI_Recv(in, LONGEST, MPI_BYTE, src, MPI_ANY_TAG, MPI_COMM_WORLD, &st));
            check_one(in, &st, &i);
            CHECK_INT(st.MPI_SOURCE, src);
        }
}

/* How many messages of this tag all ranks send together. */
static int messages_of_tag(int tag)
{
    int src, i, n = 0;

    for (src = 0; src < test_size; src++)
        for (i = 0; i < MESSAGES; i++)
            n += tag_of(src, i) == tag;
    return n;
}

static int next_of_tag(int src, int tag, int i)
{
    while (tag_of(src, i) != tag)
        i++;
    return i;
}

static void receive_any_source(unsigned char *in)
{
    int *next = calloc((size_t)test_size, sizeof *next);
    MPI_Status st;
    int tag, i, src;

    for (tag = TAGS - 1; tag >= 0; tag--) {
        for (src = 0; src < test_size; src++)
            next[src] = next_of_tag(src, tag, 0);
        for (i = messages_of_tag(tag); i > 0; i--) {
            CHECK_OK(MPI_Recv(in, LONGEST, MPI_BYTE, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &st));
            CHECK_INT(st.MPI_TAG, tag);
            check_one(in, &st, &next[st.MPI_SOURCE]);
            next[st.MPI_SOURCE] = next_of_tag(st.MPI_SOURCE, tag, next[st.MPI_SOURCE] + 1);
        }
    }
    free(next);
}

int main(int argc, char **argv)
{
    static MPI_Request reqs[MESSAGES];
    unsigned char *out, *in;
    int kind;

    test_begin(&argc, &argv);
    out = test_alloc((size_t)MESSAGES * LONGEST);
    in = test_alloc(LONGEST);
    for (kind = 0; kind < KINDS; kind++) {
        start_sends(out, reqs);
        if (test_rank == 0 && kind == BOTH)
            receive_both(in);
        else if (test_rank == 0 && kind == ANY_TAG_ONLY)
            receive_any_tag(in);
        else if (test_rank == 0)
            receive_any_source(in);
        CHECK_OK(MPI_Waitall(MESSAGES, reqs, MPI_STATUSES_IGNORE));
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    free(out);
    free(in);
    return test_end();
}
