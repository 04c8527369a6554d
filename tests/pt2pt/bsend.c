/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.4, §3.6: a buffered send of any length and type completes although nobody receives; its memory may be
 * overwritten at once; messages arrive unchanged and in order. Arguments: bsend or ibsend, and "c" for the
 * large-count forms. Everybody sends to everybody, itself too, before anybody receives. */
#include "mpitest.h"

enum { TAG = 3, LONGEST = 300001 };

/* Elements; they go as bytes and as pairs, in which there are gaps. */
static const int sizes[] = { 0, 1, 8, 13, 40, 160, 161, 1000, 2731, 4096, 32767, 32768, 32769, LONGEST };
enum { SIZES = sizeof sizes / sizeof sizes[0] };

struct pair {
    double value;
    int index;
};

static int is_immediate, is_large_form;

static void send_buffered(const void *buf, int n, MPI_Datatype type, int dest)
{
    MPI_Request req = MPI_REQUEST_NULL;
    MPI_Status st = test_dirty_status();
    int rc;

#if MPI_VERSION >= 4
    if (is_large_form)
        rc = is_immediate ? MPI_Ibsend_c(buf, n, type, dest, TAG, MPI_COMM_WORLD, &req)
                          : MPI_Bsend_c(buf, n, type, dest, TAG, MPI_COMM_WORLD);
    else
#endif
        rc = is_immediate ? MPI_Ibsend(buf, n, type, dest, TAG, MPI_COMM_WORLD, &req)
                          : MPI_Bsend(buf, n, type, dest, TAG, MPI_COMM_WORLD);
    CHECK_OK(rc);
    if (!is_immediate)
        return;
    CHECK_OK(MPI_Wait(&req, &st));
    CHECK(req == MPI_REQUEST_NULL, "the request is not null after completion");
    CHECK_EMPTY(&st);
}

static void fill_pairs(struct pair *pairs, int n, uint64_t key)
{
    int i;

    for (i = 0; i < n; i++) {
        memset(&pairs[i], TEST_CANARY, sizeof *pairs);
        pairs[i].value = (double)(key % 1000) + i;
        pairs[i].index = (int)(key % 77) - i;
    }
}

/* What must be attached for all that one process sends (§3.6.1). */
static size_t space_needed(void)
{
    size_t sum = 0;
    int i;

    for (i = 0; i < SIZES; i++)
        sum += (size_t)sizes[i] * (1 + sizeof(double) + sizeof(int)) + 2 * MPI_BSEND_OVERHEAD;
    return sum * (size_t)test_size;
}

static void send_all(void *buf)
{
    int i, dest;

    for (i = 0; i < SIZES; i++)
        for (dest = 0; dest < test_size; dest++) {
            test_fill(buf, (size_t)sizes[i], test_key(test_rank, i, dest));
            send_buffered(buf, sizes[i], MPI_BYTE, dest);
            memset(buf, 0xEE, (size_t)sizes[i]);
            fill_pairs(buf, sizes[i], test_key(test_rank, i, dest));
            send_buffered(buf, sizes[i], MPI_DOUBLE_INT, dest);
            memset(buf, 0xEE, (size_t)sizes[i] * sizeof(struct pair));
        }
}

static void receive_pairs(struct pair *pairs, int n, int source, uint64_t key)
{
    MPI_Status st;
    int i;

    CHECK_OK(MPI_Recv(pairs, n, MPI_DOUBLE_INT, source, TAG, MPI_COMM_WORLD, &st));
    CHECK_STATUS(&st, source, TAG, (size_t)n * (sizeof(double) + sizeof(int)));
    for (i = 0; i < n; i++)
        CHECK(pairs[i].value == (double)(key % 1000) + i && pairs[i].index == (int)(key % 77) - i,
              "pair %d of %d from %d is (%g, %d)", i, n, source, pairs[i].value, pairs[i].index);
}

static void receive_all(void *buf)
{
    MPI_Status st;
    int i, source;

    for (source = test_size - 1; source >= 0; source--)
        for (i = 0; i < SIZES; i++) {
            const uint64_t key = test_key(source, i, test_rank);
            CHECK_OK(MPI_Recv(buf, sizes[i], MPI_BYTE, source, TAG, MPI_COMM_WORLD, &st));
            CHECK_STATUS(&st, source, TAG, (size_t)sizes[i]);
            CHECK_BYTES(buf, (size_t)sizes[i], key);
            receive_pairs(buf, sizes[i], source, key);
        }
}

int main(int argc, char **argv)
{
    void *buf, *space, *detached = NULL;
    int size = -1;

    test_begin(&argc, &argv);
    CHECK(argc >= 2, "usage: bsend bsend|ibsend [c]");
    is_immediate = argv[1][0] == 'i';
    is_large_form = argc > 2;
#if MPI_VERSION < 4
    if (is_large_form)
        test_skip("no large-count forms before MPI 4.0");
#endif
    buf = test_alloc(LONGEST * sizeof(struct pair));
    space = test_alloc(space_needed());
    NEEDS(MPI_Buffer_attach(space, (int)space_needed()));
    send_all(buf);
    CHECK_OK(MPI_Bsend(NULL, 0, MPI_BYTE, MPI_PROC_NULL, TAG, MPI_COMM_WORLD));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    receive_all(buf);
    CHECK_OK(MPI_Buffer_detach(&detached, &size));
    CHECK(detached == space, "attached %p, detached %p", space, detached);
    CHECK_INT(size, space_needed());
    free(space);
    free(buf);
    return test_end();
}
