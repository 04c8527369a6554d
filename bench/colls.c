/* SPDX-License-Identifier: BSD-3-Clause */
/* Bench: every collective operation, blocking and nonblocking. See colls.h. */
#include "colls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TOGETHER = 16 << 20 }; /* bytes of all blocks of one rank */

#define N (int)c->bytes
#define DOUBLES (int)(c->bytes / (long)sizeof(double))
#define ROOT (int)(turn % c->ranks)

/* A blocking function and a nonblocking one; both have the arguments, one the root that moves on, the other root 0. */
#define ROOTED(name, BLOCKS, STARTS, ...)                                \
    static void name(const struct colls *c, long turn)                   \
    {                                                                    \
        BLOCKS(__VA_ARGS__, ROOT, c->comm);                              \
    }                                                                    \
    static void name##_start(const struct colls *c, MPI_Request *request) \
    {                                                                    \
        STARTS(__VA_ARGS__, 0, c->comm, request);                        \
    }
#define FOR_ALL(name, BLOCKS, STARTS, COMM, ...)                         \
    static void name(const struct colls *c, long turn)                   \
    {                                                                    \
        (void)turn;                                                      \
        BLOCKS(__VA_ARGS__, COMM);                                       \
    }                                                                    \
    static void name##_start(const struct colls *c, MPI_Request *request) \
    {                                                                    \
        STARTS(__VA_ARGS__, COMM, request);                              \
    }
/* The last rank waits for all, the first for nobody: every other call goes the other way. */
#define CHAIN(name, BLOCKS, STARTS, ...)                                 \
    static void name(const struct colls *c, long turn)                   \
    {                                                                    \
        BLOCKS(__VA_ARGS__, turn % 2 ? c->reversed : c->comm);           \
    }                                                                    \
    static void name##_start(const struct colls *c, MPI_Request *request) \
    {                                                                    \
        STARTS(__VA_ARGS__, c->comm, request);                           \
    }

static void barrier(const struct colls *c, long turn)
{
    (void)turn;
    MPI_Barrier(c->comm);
}

static void barrier_start(const struct colls *c, MPI_Request *request)
{
    MPI_Ibarrier(c->comm, request);
}

/* clang-format off */
ROOTED(bcast, MPI_Bcast, MPI_Ibcast, c->recv, N, MPI_BYTE)
ROOTED(gather, MPI_Gather, MPI_Igather, c->send, N, MPI_BYTE, c->recv, N, MPI_BYTE)
ROOTED(gatherv, MPI_Gatherv, MPI_Igatherv, c->send, N, MPI_BYTE, c->recv, c->counts, c->displs, MPI_BYTE)
ROOTED(scatter, MPI_Scatter, MPI_Iscatter, c->send, N, MPI_BYTE, c->recv, N, MPI_BYTE)
ROOTED(scatterv, MPI_Scatterv, MPI_Iscatterv, c->send, c->counts, c->displs, MPI_BYTE, c->recv, N, MPI_BYTE)
FOR_ALL(allgather, MPI_Allgather, MPI_Iallgather, c->comm, c->send, N, MPI_BYTE, c->recv, N, MPI_BYTE)
FOR_ALL(allgatherv, MPI_Allgatherv, MPI_Iallgatherv, c->comm,
        c->send, N, MPI_BYTE, c->recv, c->counts, c->displs, MPI_BYTE)
FOR_ALL(alltoall, MPI_Alltoall, MPI_Ialltoall, c->comm, c->send, N, MPI_BYTE, c->recv, N, MPI_BYTE)
FOR_ALL(alltoallv, MPI_Alltoallv, MPI_Ialltoallv, c->comm,
        c->send, c->counts, c->displs, MPI_BYTE, c->recv, c->counts, c->displs, MPI_BYTE)
FOR_ALL(alltoallw, MPI_Alltoallw, MPI_Ialltoallw, c->comm,
        c->send, c->counts, c->displs, c->types, c->recv, c->counts, c->displs, c->types)
ROOTED(reduce, MPI_Reduce, MPI_Ireduce, c->send, c->recv, DOUBLES, MPI_DOUBLE, MPI_SUM)
FOR_ALL(allreduce, MPI_Allreduce, MPI_Iallreduce, c->comm, c->send, c->recv, DOUBLES, MPI_DOUBLE, MPI_SUM)
FOR_ALL(reduce_scatter, MPI_Reduce_scatter, MPI_Ireduce_scatter, c->comm,
        c->send, c->recv, c->parts, MPI_DOUBLE, MPI_SUM)
FOR_ALL(reduce_scatter_block, MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, c->comm,
        c->send, c->recv, DOUBLES, MPI_DOUBLE, MPI_SUM)
CHAIN(scan, MPI_Scan, MPI_Iscan, c->send, c->recv, DOUBLES, MPI_DOUBLE, MPI_SUM)
CHAIN(exscan, MPI_Exscan, MPI_Iexscan, c->send, c->recv, DOUBLES, MPI_DOUBLE, MPI_SUM)
FOR_ALL(neighbor_allgather, MPI_Neighbor_allgather, MPI_Ineighbor_allgather, c->ring,
        c->send, N, MPI_BYTE, c->recv, N, MPI_BYTE)
FOR_ALL(neighbor_alltoall, MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall, c->ring,
        c->send, N, MPI_BYTE, c->recv, N, MPI_BYTE)
/* clang-format on */

#define ROW(name, has_blocks) { #name, has_blocks, true, name, name##_start }
const struct coll colls_all[] = {
    { "barrier", false, false, barrier, barrier_start },
    ROW(bcast, false),
    ROW(reduce, false),
    ROW(allreduce, false),
    ROW(reduce_scatter, false),
    ROW(reduce_scatter_block, true),
    ROW(allgather, true),
    ROW(allgatherv, true),
    ROW(alltoall, true),
    ROW(alltoallv, true),
    ROW(alltoallw, true),
    ROW(gather, true),
    ROW(gatherv, true),
    ROW(scatter, true),
    ROW(scatterv, true),
    ROW(scan, false),
    ROW(exscan, false),
    ROW(neighbor_allgather, false),
    ROW(neighbor_alltoall, false),
};
const int colls_count = sizeof colls_all / sizeof colls_all[0];

bool colls_fits(const struct colls *c, const struct coll *coll, long bytes)
{
    return !coll->has_blocks || bytes * c->ranks <= MOST_TOGETHER || bytes <= 4096;
}

void colls_start(struct colls *c, long bytes)
{
    long all;
    int rank;

    MPI_Comm_size(MPI_COMM_WORLD, &c->ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &c->comm);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &c->reversed);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &c->ranks, (int[]){ 1 }, 0, &c->ring);
    all = bytes * c->ranks <= MOST_TOGETHER ? bytes * c->ranks : MOST_TOGETHER;
    all = all < 4096 * c->ranks ? 4096 * c->ranks : all;
    all = all < 2 * bytes ? 2 * bytes : all;
    c->send = memset(bench_buffer(all), 0, (size_t)all);
    c->recv = memset(bench_buffer(all), 0, (size_t)all);
    c->counts = bench_buffer(c->ranks * (long)sizeof(int));
    c->displs = bench_buffer(c->ranks * (long)sizeof(int));
    c->parts = bench_buffer(c->ranks * (long)sizeof(int));
    c->types = bench_buffer(c->ranks * (long)sizeof(MPI_Datatype));
}

void colls_size(struct colls *c, long bytes)
{
    c->bytes = bytes;
    for (int i = 0; i < c->ranks; i++) {
        c->counts[i] = (int)bytes;
        c->displs[i] = (int)(i * bytes);
        c->parts[i] = DOUBLES / c->ranks + (i < DOUBLES % c->ranks);
        c->types[i] = MPI_BYTE;
    }
}

/* The size after this one: of those that are wanted, or by factors of 8, in the end of 4. */
static long next_size(const struct bench *b, long bytes)
{
    for (int i = 0; i < b->sizes.count; i++)
        if (b->sizes.at[i] > bytes)
            return b->sizes.at[i];
    return bytes < 262144 ? 8 * bytes : 4 * bytes;
}

void colls_end(struct colls *c)
{
    MPI_Comm_free(&c->comm);
    MPI_Comm_free(&c->reversed);
    MPI_Comm_free(&c->ring);
    free(c->send);
    free(c->recv);
    free(c->counts);
    free(c->displs);
    free(c->parts);
    free(c->types);
}

void colls_each(const struct bench *b, struct colls *c, bool with_sizeless, colls_measure *measure)
{
    for (long bytes = b->min_size; bytes <= b->max_size; bytes = next_size(b, bytes)) {
        colls_size(c, bytes);
        for (int i = 0; i < colls_count; i++) {
            const struct coll *coll = &colls_all[i];
            const bool is_due = coll->has_size || (with_sizeless && bytes == b->min_size);

            if (is_due && bench_wants(b, coll->name) && colls_fits(c, coll, bytes))
                measure(b, c, coll);
        }
    }
}
