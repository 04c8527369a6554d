/* SPDX-License-Identifier: BSD-3-Clause */
/* Bench: every collective operation, blocking, nonblocking and persistent. See colls.h. */
#include "colls.h"

#if MPI_VERSION < 4 && defined OPEN_MPI
#include <mpi-ext.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TOGETHER = 16 << 20 }; /* bytes of all blocks of one rank */

#define N (int)c->bytes
#define DOUBLES (int)(c->bytes / (long)sizeof(double))
#define ROOT (int)(turn % c->ranks)

#if MPI_VERSION >= 4
#define MAKE(Call) MPI_##Call##_init
#elif defined OMPI_HAVE_MPI_EXT_PCOLLREQ
#define MAKE(Call) MPIX_##Call##_init
#endif

#ifdef MAKE
#define MAKES(name, Call, ...)                                                       \
    static void name##_make(const struct colls *c, long turn, MPI_Request *request)  \
    {                                                                                \
        (void)turn;                                                                  \
        MAKE(Call)(__VA_ARGS__, MPI_INFO_NULL, request);                             \
    }
#else
#define MAKES(name, ...)                                                             \
    static void name##_make(const struct colls *c, long turn, MPI_Request *request)  \
    {                                                                                \
        (void)c, (void)turn, (void)request;                                          \
        bench_fail("this MPI has no persistent collective operations");              \
    }
#endif

/* The three forms of a call; the arguments are those that they have in common. */
#define FORMS(name, Call, Icall, ...)                                                \
    static void name(const struct colls *c, long turn)                               \
    {                                                                                \
        (void)turn;                                                                  \
        MPI_##Call(__VA_ARGS__);                                                     \
    }                                                                                \
    static void name##_start(const struct colls *c, long turn, MPI_Request *request) \
    {                                                                                \
        (void)turn;                                                                  \
        MPI_##Icall(__VA_ARGS__, request);                                           \
    }                                                                                \
    MAKES(name, Call, __VA_ARGS__)
#define ROOTED(name, Call, Icall, ...) FORMS(name, Call, Icall, __VA_ARGS__, ROOT, c->comm)
/* The last rank waits for all, the first for nobody: every other call goes the other way. */
#define CHAIN(name, Call, Icall, ...) FORMS(name, Call, Icall, __VA_ARGS__, turn % 2 ? c->reversed : c->comm)

/* clang-format off */
FORMS(barrier, Barrier, Ibarrier, c->comm)
ROOTED(bcast, Bcast, Ibcast, c->recv, N, MPI_BYTE)
ROOTED(gather, Gather, Igather, c->send, N, MPI_BYTE, c->recv, N, MPI_BYTE)
ROOTED(gatherv, Gatherv, Igatherv, c->send, N, MPI_BYTE, c->recv, c->counts, c->displs, MPI_BYTE)
ROOTED(scatter, Scatter, Iscatter, c->send, N, MPI_BYTE, c->recv, N, MPI_BYTE)
ROOTED(scatterv, Scatterv, Iscatterv, c->send, c->counts, c->displs, MPI_BYTE, c->recv, N, MPI_BYTE)
FORMS(allgather, Allgather, Iallgather, c->send, N, MPI_BYTE, c->recv, N, MPI_BYTE, c->comm)
FORMS(allgatherv, Allgatherv, Iallgatherv, c->send, N, MPI_BYTE, c->recv, c->counts, c->displs, MPI_BYTE, c->comm)
FORMS(alltoall, Alltoall, Ialltoall, c->send, N, MPI_BYTE, c->recv, N, MPI_BYTE, c->comm)
FORMS(alltoallv, Alltoallv, Ialltoallv, c->send, c->counts, c->displs, MPI_BYTE,
      c->recv, c->counts, c->displs, MPI_BYTE, c->comm)
FORMS(alltoallw, Alltoallw, Ialltoallw, c->send, c->counts, c->displs, c->types,
      c->recv, c->counts, c->displs, c->types, c->comm)
ROOTED(reduce, Reduce, Ireduce, c->send, c->recv, DOUBLES, MPI_DOUBLE, MPI_SUM)
FORMS(allreduce, Allreduce, Iallreduce, c->send, c->recv, DOUBLES, MPI_DOUBLE, MPI_SUM, c->comm)
FORMS(reduce_scatter, Reduce_scatter, Ireduce_scatter, c->send, c->recv, c->parts, MPI_DOUBLE, MPI_SUM, c->comm)
FORMS(reduce_scatter_block, Reduce_scatter_block, Ireduce_scatter_block,
      c->send, c->recv, DOUBLES, MPI_DOUBLE, MPI_SUM, c->comm)
CHAIN(scan, Scan, Iscan, c->send, c->recv, DOUBLES, MPI_DOUBLE, MPI_SUM)
CHAIN(exscan, Exscan, Iexscan, c->send, c->recv, DOUBLES, MPI_DOUBLE, MPI_SUM)
FORMS(neighbor_allgather, Neighbor_allgather, Ineighbor_allgather, c->send, N, MPI_BYTE, c->recv, N, MPI_BYTE, c->ring)
FORMS(neighbor_alltoall, Neighbor_alltoall, Ineighbor_alltoall, c->send, N, MPI_BYTE, c->recv, N, MPI_BYTE, c->ring)
/* clang-format on */

#define ROW(name, has_blocks, moves) { #name, has_blocks, true, moves, name, name##_start, name##_make }
const struct coll colls_all[] = {
    { "barrier", false, false, COLL_SAME, barrier, barrier_start, barrier_make },
    ROW(bcast, false, COLL_ROOTS),
    ROW(reduce, false, COLL_ROOTS),
    ROW(allreduce, false, COLL_SAME),
    ROW(reduce_scatter, false, COLL_SAME),
    ROW(reduce_scatter_block, true, COLL_SAME),
    ROW(allgather, true, COLL_SAME),
    ROW(allgatherv, true, COLL_SAME),
    ROW(alltoall, true, COLL_SAME),
    ROW(alltoallv, true, COLL_SAME),
    ROW(alltoallw, true, COLL_SAME),
    ROW(gather, true, COLL_ROOTS),
    ROW(gatherv, true, COLL_ROOTS),
    ROW(scatter, true, COLL_ROOTS),
    ROW(scatterv, true, COLL_ROOTS),
    ROW(scan, false, COLL_WAYS),
    ROW(exscan, false, COLL_WAYS),
    ROW(neighbor_allgather, false, COLL_SAME),
    ROW(neighbor_alltoall, false, COLL_SAME),
};
const int colls_count = sizeof colls_all / sizeof colls_all[0];

int colls_turns(const struct colls *c, const struct coll *coll)
{
    return coll->moves == COLL_ROOTS ? c->ranks : coll->moves == COLL_WAYS ? 2 : 1;
}

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
