/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. The table of algorithms: names, parameters, and under which conditions each may be used. Does not know
 * which one is good. */
#include "coll/algorithms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOR(name) (UINT32_C(1) << COLL_##name)
#define NO_PARAMETER NULL, 0, 0, 0
#define RADIX "radix", 2, 2, 64
#define SEGMENT(bytes) "segment", (bytes), 1, 1L << 30
#define MOST(bytes) "most", (bytes), 1, 1L << 20
#define WINDOW(count) "window", (count), 1, 65536

enum {
    POWER = COLL_NEEDS_POWER, EVEN = COLL_NEEDS_EVEN, COMMUTATIVE = COLL_NEEDS_COMMUTATIVE, RUNS = COLL_NEEDS_RUNS,
    IN_PLACE = COLL_NEEDS_IN_PLACE, APART = COLL_NEEDS_OUT_OF_PLACE, NODE_RUNS = COLL_NEEDS_NODE_RUNS,
};

const struct coll_algorithm coll_algorithms[] = {
    { "dissemination", coll_barrier_dissemination, FOR(BARRIER), 0, NO_PARAMETER },
    { "tree", coll_barrier_tree, FOR(BARRIER), 0, RADIX },
    { "two_level", coll_barrier_levels, FOR(BARRIER), 0, NO_PARAMETER },

    { "tree", coll_bcast_tree, FOR(BCAST), 0, RADIX },
    { "scatter_ring", coll_bcast_scatter_ring, FOR(BCAST), 0, NO_PARAMETER },
    { "scatter_doubling", coll_bcast_scatter_doubling, FOR(BCAST), POWER, NO_PARAMETER },
    { "chain", coll_bcast_chain, FOR(BCAST), 0, SEGMENT(65536) },
    { "pipelined", coll_bcast_pipelined, FOR(BCAST), 0, SEGMENT(65536) },
    { "double_tree", coll_bcast_double_tree, FOR(BCAST), 0, SEGMENT(65536) },
    { "two_level", coll_bcast_levels, FOR(BCAST), 0, NO_PARAMETER },

    { "linear", coll_gather_linear, FOR(GATHER) | FOR(GATHERV), 0, NO_PARAMETER },
    { "throttled", coll_gather_throttled, FOR(GATHER) | FOR(GATHERV), 0, WINDOW(8) },
    { "binomial", coll_gather_binomial, FOR(GATHER), 0, NO_PARAMETER },
    { "two_level", coll_gather_levels, FOR(GATHER), 0, NO_PARAMETER },
    { "two_level", coll_gather_vary_levels, FOR(GATHERV), 0, MOST(8192) },
    { "linear", coll_scatter_linear, FOR(SCATTER) | FOR(SCATTERV), 0, NO_PARAMETER },
    { "throttled", coll_scatter_throttled, FOR(SCATTER) | FOR(SCATTERV), 0, WINDOW(8) },
    { "binomial", coll_scatter_binomial, FOR(SCATTER), 0, NO_PARAMETER },
    { "two_level", coll_scatter_levels, FOR(SCATTER), 0, NO_PARAMETER },
    { "two_level", coll_scatter_vary_levels, FOR(SCATTERV), 0, MOST(8192) },

    { "dissemination", coll_allgather_dissemination, FOR(ALLGATHER), 0, NO_PARAMETER },
    { "ring", coll_allgather_ring, FOR(ALLGATHER) | FOR(ALLGATHERV), 0, NO_PARAMETER },
    { "doubling", coll_allgather_doubling, FOR(ALLGATHER), POWER, NO_PARAMETER },
    { "neighbors", coll_allgather_neighbors, FOR(ALLGATHER) | FOR(ALLGATHERV), EVEN, NO_PARAMETER },
    { "packed", coll_allgather_packed, FOR(ALLGATHER) | FOR(ALLGATHERV), 0, NO_PARAMETER },
    { "pairs", coll_alltoall_pairs, FOR(ALLGATHER) | FOR(ALLGATHERV), 0, WINDOW(16) },
    { "two_level", coll_allgather_levels, FOR(ALLGATHER) | FOR(ALLGATHERV), 0, NO_PARAMETER },

    { "pairs", coll_alltoall_pairs, FOR(ALLTOALL) | FOR(ALLTOALLV) | FOR(ALLTOALLW), APART, WINDOW(16) },
    { "in_place", coll_alltoall_in_place, FOR(ALLTOALL) | FOR(ALLTOALLV) | FOR(ALLTOALLW), IN_PLACE, NO_PARAMETER },
    { "bruck", coll_alltoall_bruck, FOR(ALLTOALL), 0, NO_PARAMETER },
    { "two_level", coll_alltoall_levels, FOR(ALLTOALL), 0, NO_PARAMETER },
    { "two_level", coll_alltoall_vary_levels, FOR(ALLTOALLV) | FOR(ALLTOALLW), APART, MOST(2048) },

    { "linear", coll_reduce_linear, FOR(REDUCE), 0, NO_PARAMETER },
    { "binomial", coll_reduce_binomial, FOR(REDUCE), 0, NO_PARAMETER },
    { "ordered", coll_reduce_ordered, FOR(REDUCE), 0, NO_PARAMETER },
    { "halving", coll_reduce_halving, FOR(REDUCE), 0, NO_PARAMETER },
    { "chain", coll_reduce_chain, FOR(REDUCE), 0, SEGMENT(65536) },
    { "pipelined", coll_reduce_pipelined, FOR(REDUCE), 0, SEGMENT(65536) },
    { "two_level", coll_reduce_levels, FOR(REDUCE), RUNS, NO_PARAMETER },

    { "doubling", coll_allreduce_doubling, FOR(ALLREDUCE), 0, NO_PARAMETER },
    { "halving", coll_allreduce_halving, FOR(ALLREDUCE), 0, NO_PARAMETER },
    { "ring", coll_allreduce_ring, FOR(ALLREDUCE), COMMUTATIVE, NO_PARAMETER },
    { "reduce_bcast", coll_allreduce_reduce_bcast, FOR(ALLREDUCE), 0, NO_PARAMETER },
    { "two_level", coll_allreduce_levels, FOR(ALLREDUCE), RUNS, NO_PARAMETER },

    { "linear", coll_reduce_scatter_linear, FOR(REDUCE_SCATTER) | FOR(REDUCE_SCATTER_BLOCK), 0, NO_PARAMETER },
    { "tree", coll_reduce_scatter_tree, FOR(REDUCE_SCATTER) | FOR(REDUCE_SCATTER_BLOCK), 0, NO_PARAMETER },
    { "halving", coll_reduce_scatter_halving, FOR(REDUCE_SCATTER) | FOR(REDUCE_SCATTER_BLOCK), COMMUTATIVE,
      NO_PARAMETER },
    { "pairs", coll_reduce_scatter_pairs, FOR(REDUCE_SCATTER) | FOR(REDUCE_SCATTER_BLOCK), 0, NO_PARAMETER },
    { "ring", coll_reduce_scatter_ring, FOR(REDUCE_SCATTER) | FOR(REDUCE_SCATTER_BLOCK), COMMUTATIVE, NO_PARAMETER },
    { "two_level", coll_reduce_scatter_levels, FOR(REDUCE_SCATTER) | FOR(REDUCE_SCATTER_BLOCK), RUNS, NO_PARAMETER },

    { "doubling", coll_scan_doubling, FOR(SCAN) | FOR(EXSCAN), 0, NO_PARAMETER },
    { "chain", coll_scan_chain, FOR(SCAN) | FOR(EXSCAN), 0, SEGMENT(16384) },
    { "two_level", coll_scan_levels, FOR(SCAN) | FOR(EXSCAN), NODE_RUNS, NO_PARAMETER },
};

const int coll_algorithm_count = ARRAY_LEN(coll_algorithms);

const char *coll_why_not(const struct coll_algorithm *algorithm, const struct coll_shape *shape)
{
    const int needs = algorithm->needs, n = shape->ranks;

    if (needs & POWER && n & (n - 1))
        return "it needs as many processes as a power of two";
    if (needs & EVEN && n % 2 && n > 1)
        return "it needs an even number of processes";
    if (needs & COMMUTATIVE && !shape->is_commutative)
        return "it needs an operator that commutes";
    if (needs & RUNS && !shape->is_commutative && !shape->has_runs)
        return "it needs an operator that commutes, or nodes with neighbouring ranks";
    if (needs & NODE_RUNS && !shape->has_runs)
        return "it needs nodes with neighbouring ranks";
    if (needs & IN_PLACE && !shape->is_in_place)
        return "it is for MPI_IN_PLACE";
    if (needs & APART && shape->is_in_place)
        return "it cannot do MPI_IN_PLACE";
    return NULL;
}

static bool is_text(const char *text, size_t len, const char *name)
{
    return strlen(name) == len && !memcmp(text, name, len);
}

/* What follows the colon: a number, perhaps with k or m. */
static bool read_parameter(const char *text, size_t len, const struct coll_algorithm *algorithm, long *out)
{
    char copy[24], *end;

    if (!algorithm->parameter_name || !len || len >= sizeof copy || text[0] < '0' || text[0] > '9')
        return false;
    memcpy(copy, text, len);
    copy[len] = 0;
    *out = strtol(copy, &end, 10);
    if ((*end == 'k' || *end == 'm') && !end[1]) {
        if (*out > algorithm->most)
            return false;
        *out <<= *end == 'k' ? 10 : 20;
        end++;
    }
    return !*end && *out >= algorithm->least && *out <= algorithm->most;
}

bool coll_find_algorithm(enum coll_operation operation, const char *text, size_t len, struct coll_choice *choice)
{
    const char *colon = memchr(text, ':', len);
    const size_t name_len = colon ? (size_t)(colon - text) : len;

    for (int i = 0; i < coll_algorithm_count; i++) {
        const struct coll_algorithm *algorithm = &coll_algorithms[i];

        if (!(algorithm->operations >> operation & 1) || !is_text(text, name_len, algorithm->name))
            continue;
        *choice = (struct coll_choice){ algorithm, algorithm->parameter };
        return !colon || read_parameter(colon + 1, len - name_len - 1, algorithm, &choice->parameter);
    }
    return false;
}

void coll_list_algorithms(enum coll_operation operation, char *text, size_t size)
{
    size_t at = 0;

    text[0] = 0;
    for (int i = 0; i < coll_algorithm_count; i++) {
        const struct coll_algorithm *algorithm = &coll_algorithms[i];
        const char *parameter = algorithm->parameter_name;
        int len;

        if (!(algorithm->operations >> operation & 1))
            continue;
        len = snprintf(text + at, size - at, "%s%s%s%s%s", at ? ", " : "", algorithm->name, parameter ? "[:" : "",
                       parameter ? parameter : "", parameter ? "]" : "");
        at += (size_t)len;
        if (at >= size)
            return;
    }
}

enum coll_operation coll_find_operation(const char *text, size_t len)
{
    int operation = 0;

    /* "MPI_Ibcast" without its first five letters */
    while (operation < COLL_NEIGHBOR_ALLGATHER &&
           !is_text(text, len, coll_name((enum coll_operation)operation, COLL_NONBLOCKING) + 5))
        operation++;
    return operation < COLL_NEIGHBOR_ALLGATHER ? (enum coll_operation)operation : COLL_OPERATIONS;
}
