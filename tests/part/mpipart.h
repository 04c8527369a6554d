/* SPDX-License-Identifier: BSD-3-Clause */
/* A partitioned message round the ring: to the right, from the left (alone: to itself). The two sides may divide the
 * bytes differently. */
#ifndef TESTS_PART_MPIPART_H
#define TESTS_PART_MPIPART_H

#include "mpitest.h"

struct ring {
    int send_parts, recv_parts;
    size_t len;                 /* bytes of the message; a multiple of both */
    int tag;
    MPI_Comm comm;
    unsigned char *out, *in;
    MPI_Request reqs[2];        /* receive, send */
};

static inline int ring_right(void)
{
    return (test_rank + 1) % test_size;
}

static inline int ring_left(void)
{
    return (test_rank + test_size - 1) % test_size;
}

static inline void ring_open(struct ring *ring, int send_parts, int recv_parts, size_t len, int tag, MPI_Comm comm)
{
    ring->send_parts = send_parts;
    ring->recv_parts = recv_parts;
    ring->len = len;
    ring->tag = tag;
    ring->comm = comm;
    ring->out = test_alloc(len);
    ring->in = test_alloc(len);
    NEEDS(MPI_Psend_init(ring->out, send_parts, (MPI_Count)len / send_parts, MPI_BYTE, ring_right(), tag, comm,
                         MPI_INFO_NULL, &ring->reqs[1]));
    CHECK_OK(MPI_Precv_init(ring->in, recv_parts, (MPI_Count)len / recv_parts, MPI_BYTE, ring_left(), tag, comm,
                            MPI_INFO_NULL, &ring->reqs[0]));
}

static inline void ring_start(struct ring *ring, int round)
{
    test_fill(ring->out, ring->len, test_key((uint64_t)test_rank, (uint64_t)round, (uint64_t)ring->tag));
    memset(ring->in, TEST_CANARY, ring->len);
    CHECK_OK(MPI_Startall(2, ring->reqs));
}

/* Wait for both and look at what came. The sender may write to its buffer now. */
static inline void ring_finish(struct ring *ring, int round)
{
    MPI_Status sts[2] = { test_dirty_status(), test_dirty_status() };
    int is_cancelled = -1;

    CHECK_OK(MPI_Waitall(2, ring->reqs, sts));
    CHECK_STATUS(&sts[0], ring_left(), ring->tag, ring->len);
    CHECK_OK(MPI_Test_cancelled(&sts[1], &is_cancelled)); /* what else is in the status of a send is open */
    CHECK_INT(is_cancelled, 0);
    CHECK_BYTES(ring->in, ring->len, test_key((uint64_t)ring_left(), (uint64_t)round, (uint64_t)ring->tag));
    CHECK(ring->reqs[0] != MPI_REQUEST_NULL && ring->reqs[1] != MPI_REQUEST_NULL, "a persistent request is gone");
    memset(ring->out, TEST_CANARY, ring->len);
}

static inline void ring_close(struct ring *ring)
{
    for (int i = 0; i < 2; i++) {
        CHECK_OK(MPI_Request_free(&ring->reqs[i]));
        CHECK(ring->reqs[i] == MPI_REQUEST_NULL, "MPI_Request_free leaves the handle");
    }
    free(ring->out);
    free(ring->in);
}

/* Numbers 0 to n - 1 in random order. */
static inline void ring_shuffle(int *order, int n, uint64_t *state)
{
    for (int i = 0; i < n; i++) {
        const int j = (int)test_below(state, (size_t)i + 1);
        order[i] = order[j];
        order[j] = i;
    }
}

#endif
