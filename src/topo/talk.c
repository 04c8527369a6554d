/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: topo. Who talks to whom: pairs of nodes, stored at both their ends, one node after the other. */
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "topo/int_map.h"

static bool counts(const struct topo_pair *pair)
{
    return pair->weight > 0 && pair->node != pair->other;
}

/* How many pairs each node has, then where they begin. Returns how many there are. */
static int64_t find_begins(struct topo_talk *talk, const struct topo_pair *pairs, int64_t pair_count)
{
    for (int64_t i = 0; i < pair_count; i++) {
        if (!counts(&pairs[i]))
            continue;
        talk->begin[pairs[i].node + 1]++;
        talk->begin[pairs[i].other + 1]++;
    }
    for (int node = 0; node < talk->count; node++)
        talk->begin[node + 1] += talk->begin[node];
    return talk->begin[talk->count];
}

static void put(struct topo_talk *talk, int node, int other, int64_t weight)
{
    const int at = talk->begin[node]++;

    talk->other[at] = other;
    talk->weight[at] = weight;
}

int topo_talk_pairs(struct topo_talk *talk, int count, const struct topo_pair *pairs, int64_t pair_count)
{
    int64_t total = 0;

    *talk = (struct topo_talk){ .count = count };
    talk->begin = mem_zalloc(((size_t)count + 1) * sizeof *talk->begin);
    if (talk->begin)
        total = find_begins(talk, pairs, pair_count);
    talk->other = mem_alloc(((size_t)total + 1) * sizeof *talk->other);
    talk->weight = mem_alloc(((size_t)total + 1) * sizeof *talk->weight);
    if (!talk->begin || !talk->other || !talk->weight) {
        topo_talk_free(talk);
        return err(MPI_ERR_NO_MEM, "no memory for a graph of %d nodes, %lld edges", count, (long long)pair_count);
    }
    for (int64_t i = 0; i < pair_count; i++) {
        if (!counts(&pairs[i]))
            continue;
        put(talk, pairs[i].node, pairs[i].other, pairs[i].weight);
        put(talk, pairs[i].other, pairs[i].node, pairs[i].weight);
    }
    memmove(talk->begin + 1, talk->begin, (size_t)count * sizeof *talk->begin); /* put has moved each to its end */
    talk->begin[0] = 0;
    return 0;
}

int topo_talk_grid(struct topo_talk *talk, int ndims, const int *dims, const int *periods)
{
    struct topo_pair *pairs;
    int count = 1, stride = 1, rc;
    int64_t n = 0;

    for (int i = 0; i < ndims; i++)
        count *= dims[i];
    pairs = mem_alloc(((size_t)count * (size_t)ndims + 1) * sizeof *pairs);
    if (!pairs)
        return err(MPI_ERR_NO_MEM, "no memory for a grid of %d processes", count);
    for (int i = ndims - 1; i >= 0; stride *= dims[i--]) {
        for (int node = 0; node < count; node++) {
            const bool is_last = node / stride % dims[i] == dims[i] - 1;

            if (!is_last || periods[i])
                pairs[n++] = (struct topo_pair){ node, is_last ? node - (dims[i] - 1) * stride : node + stride, 1 };
        }
    }
    rc = topo_talk_pairs(talk, count, pairs, n);
    mem_free(pairs);
    talk->ndims = ndims;
    talk->dims = dims;
    return rc;
}

void topo_talk_free(struct topo_talk *talk)
{
    mem_free(talk->begin);
    mem_free(talk->other);
    mem_free(talk->weight);
}
