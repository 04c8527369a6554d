/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: topo. A set of nodes cut in two parts of given sizes that talk little with each other. First cuts come from
 * orders of the nodes: the beginning is one part. The two best are refined as Fiduccia and Mattheyses do, here with
 * sizes that must stay: nodes are exchanged, the best of each side in turn, each once, also when that makes the cut
 * worse for a while, and then all is taken back to where it was best. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "topo/int_map.h"

enum { PASSES = 10, PATIENCE = 64 }; /* exchanges that do not help before a pass ends, and one for 8 nodes */

/* First cuts. WAY_GRID and on: along that dimension of the grid. */
enum way { WAY_ROUNDS, WAY_NUMBERS, WAY_NOW, WAY_GRID };

int topo_cut_open(struct topo_cut *cut, const struct topo_talk *talk, const int *position)
{
    const size_t n = (size_t)talk->count, gains = n + (size_t)talk->begin[talk->count];

    *cut = (struct topo_cut){ .talk = talk, .position = position };
    cut->side = mem_alloc(n * sizeof *cut->side);
    cut->gain = mem_alloc(n * sizeof *cut->gain);
    cut->is_fixed = mem_alloc(n * sizeof *cut->is_fixed);
    cut->order = mem_alloc(4 * n * sizeof *cut->order);
    for (int i = 0; i < 2; i++)
        cut->heap[i].at = mem_alloc(gains * sizeof *cut->heap[i].at);
    if (!cut->side || !cut->gain || !cut->is_fixed || !cut->order || !cut->heap[0].at || !cut->heap[1].at)
        return err(MPI_ERR_NO_MEM, "no memory to map %d processes", talk->count);
    cut->best = cut->order + n;
    cut->queue = cut->order + 2 * n;
    cut->key = cut->order + 3 * n;
    memset(cut->side, -1, n * sizeof *cut->side);
    return 0;
}

void topo_cut_close(struct topo_cut *cut)
{
    mem_free(cut->side);
    mem_free(cut->gain);
    mem_free(cut->is_fixed);
    mem_free(cut->order);
    mem_free(cut->heap[0].at);
    mem_free(cut->heap[1].at);
}

/* --- the largest gain first, of equal ones the lower node --- */

static bool is_before(const struct topo_gain *a, const struct topo_gain *b)
{
    return a->gain != b->gain ? a->gain > b->gain : a->node < b->node;
}

static void heap_push(struct topo_heap *heap, struct topo_gain gain)
{
    int at = heap->count++;

    for (; at > 0 && is_before(&gain, &heap->at[(at - 1) / 2]); at = (at - 1) / 2)
        heap->at[at] = heap->at[(at - 1) / 2];
    heap->at[at] = gain;
}

static struct topo_gain heap_pop(struct topo_heap *heap)
{
    const struct topo_gain top = heap->at[0], last = heap->at[--heap->count];
    int at = 0;

    for (int child; (child = 2 * at + 1) < heap->count; at = child) {
        if (child + 1 < heap->count && is_before(&heap->at[child + 1], &heap->at[child]))
            child++;
        if (!is_before(&heap->at[child], &last))
            break;
        heap->at[at] = heap->at[child];
    }
    heap->at[at] = last;
    return top;
}

/* --- exchanging --- */

/* What the cut is; gains are found on the way. */
static int64_t find_gains(struct topo_cut *cut, const int *nodes, int count)
{
    const struct topo_talk *talk = cut->talk;
    int64_t sum = 0;

    for (int i = 0; i < count; i++) {
        const int node = nodes[i];

        cut->gain[node] = 0;
        for (int e = talk->begin[node]; e < talk->begin[node + 1]; e++) {
            const int side = cut->side[talk->other[e]];

            if (side < 0)
                continue;
            cut->gain[node] += side == cut->side[node] ? -talk->weight[e] : talk->weight[e];
            sum += side == cut->side[node] ? 0 : talk->weight[e];
        }
    }
    return sum / 2;
}

/* To the other side, and tell the neighbours. */
static void move(struct topo_cut *cut, int node)
{
    const struct topo_talk *talk = cut->talk;

    cut->side[node] = (int8_t)!cut->side[node];
    for (int e = talk->begin[node]; e < talk->begin[node + 1]; e++) {
        const int other = talk->other[e], side = cut->side[other];

        if (side < 0 || cut->is_fixed[other])
            continue;
        cut->gain[other] += side == cut->side[node] ? -2 * talk->weight[e] : 2 * talk->weight[e];
        heap_push(&cut->heap[side], (struct topo_gain){ cut->gain[other], other });
    }
}

/* Move the best node of this side, for good in this pass. -1: none is left. */
static int move_best(struct topo_cut *cut, int side)
{
    struct topo_heap *heap = &cut->heap[side];

    while (heap->count) {
        const struct topo_gain top = heap_pop(heap);

        if (cut->is_fixed[top.node] || cut->gain[top.node] != top.gain)
            continue; /* known better since */
        cut->is_fixed[top.node] = true;
        move(cut, top.node);
        return top.node;
    }
    return -1;
}

static void start_pass(struct topo_cut *cut, const int *nodes, int count)
{
    cut->heap[0].count = cut->heap[1].count = 0;
    find_gains(cut, nodes, count);
    for (int i = 0; i < count; i++) {
        cut->is_fixed[nodes[i]] = false;
        heap_push(&cut->heap[cut->side[nodes[i]]], (struct topo_gain){ cut->gain[nodes[i]], nodes[i] });
    }
}

/* One pass. By how much the cut is less; 0: nothing has changed. */
static int64_t exchange(struct topo_cut *cut, const int *nodes, int count)
{
    const int patience = PATIENCE + count / 8;
    int64_t sum = 0, best = 0;
    int moved = 0, kept = 0;

    start_pass(cut, nodes, count);
    while (moved - kept < 2 * patience) {
        const int node = move_best(cut, 0), back = node < 0 ? -1 : move_best(cut, 1);

        if (node >= 0)
            cut->queue[moved++] = node;
        if (back < 0)
            break;
        cut->queue[moved++] = back;
        sum += cut->gain[node] + cut->gain[back];
        if (sum > best) {
            best = sum;
            kept = moved;
        }
    }
    while (moved > kept)
        cut->side[cut->queue[--moved]] ^= 1;
    return best;
}

static void refine(struct topo_cut *cut, const int *nodes, int count)
{
    for (int pass = 0; pass < PASSES && exchange(cut, nodes, count) > 0;)
        pass++;
}

/* --- first cuts --- */

static int by_key(const void *a, const void *b, void *arg)
{
    const int p = *(const int *)a, q = *(const int *)b, *key = arg;

    return key[p] != key[q] ? (key[p] < key[q] ? -1 : 1) : (p > q) - (p < q);
}

/* The first part are those with low keys. */
static int64_t cut_by_key(struct topo_cut *cut, const int *nodes, int count, int first)
{
    memcpy(cut->order, nodes, (size_t)count * sizeof *nodes);
    qsort_r(cut->order, (size_t)count, sizeof *cut->order, by_key, cut->key);
    for (int i = 0; i < count; i++)
        cut->side[cut->order[i]] = i >= first;
    return find_gains(cut, nodes, count);
}

/* Keys to all that can be reached from `start`, in rounds; `reached` is how many have theirs. Returns that. */
static int spread_from(struct topo_cut *cut, int start, int reached)
{
    const struct topo_talk *talk = cut->talk;
    int from = reached;

    cut->key[start] = reached;
    cut->queue[reached++] = start;
    for (; from < reached; from++) {
        const int node = cut->queue[from];

        for (int e = talk->begin[node]; e < talk->begin[node + 1]; e++) {
            const int other = talk->other[e];

            if (cut->side[other] < 0 || cut->key[other] >= 0)
                continue;
            cut->key[other] = reached;
            cut->queue[reached++] = other;
        }
    }
    return reached;
}

/* Keys in rounds of neighbours from `start` on, then from the lowest node that is not reached, and so on. Returns the
 * last one of those that can be reached from `start`. */
static int spread(struct topo_cut *cut, const int *nodes, int count, int start)
{
    int reached, last;

    for (int i = 0; i < count; i++)
        cut->key[nodes[i]] = -1;
    reached = spread_from(cut, start, 0);
    last = cut->queue[reached - 1];
    for (int i = 0; i < count; i++)
        if (cut->key[nodes[i]] < 0)
            reached = spread_from(cut, nodes[i], reached);
    return last;
}

/* The keys of this way; false: there is no such way. */
static bool set_keys(struct topo_cut *cut, const int *nodes, int count, int way)
{
    const int dim = way - WAY_GRID;
    int stride = 1;

    if (dim >= cut->talk->ndims)
        return false;
    if (way == WAY_ROUNDS) {
        spread(cut, nodes, count, spread(cut, nodes, count, nodes[0]));
        return true;
    }
    for (int i = cut->talk->ndims - 1; dim >= 0 && i > dim; i--)
        stride *= cut->talk->dims[i];
    for (int i = 0; i < count; i++)
        cut->key[nodes[i]] = way == WAY_NUMBERS ? nodes[i]
                             : way == WAY_NOW   ? cut->position[nodes[i]]
                                                : nodes[i] / stride % cut->talk->dims[dim];
    return true;
}

/* The two ways whose cuts are least. */
static void find_ways(struct topo_cut *cut, const int *nodes, int count, int first, int ways[2])
{
    int64_t least[2] = { INT64_MAX, INT64_MAX };

    for (int way = WAY_ROUNDS; set_keys(cut, nodes, count, way); way++) {
        const int64_t now = cut_by_key(cut, nodes, count, first);
        const int at = now < least[0] ? 0 : now < least[1] ? 1 : -1;

        if (at < 0)
            continue;
        least[1] = at ? now : least[0];
        ways[1] = at ? way : ways[0];
        least[at] = now;
        ways[at] = way;
    }
}

/* Put the parts one after the other. */
static void keep(const struct topo_cut *cut, const int *nodes, int count, int first)
{
    int at[2] = { 0, first };

    for (int i = 0; i < count; i++)
        cut->best[at[cut->side[nodes[i]]]++] = nodes[i];
}

void topo_cut_nodes(struct topo_cut *cut, int *nodes, int count, int first)
{
    int64_t least = INT64_MAX;
    int ways[2] = { WAY_NUMBERS, WAY_NUMBERS };

    for (int i = 0; i < count; i++)
        cut->side[nodes[i]] = 0;
    find_ways(cut, nodes, count, first, ways);
    for (int i = 0; i < 2; i++) {
        int64_t now;

        set_keys(cut, nodes, count, ways[i]);
        cut_by_key(cut, nodes, count, first);
        refine(cut, nodes, count);
        now = find_gains(cut, nodes, count);
        if (now < least) {
            least = now;
            keep(cut, nodes, count, first);
        }
    }
    memcpy(nodes, cut->best, (size_t)count * sizeof *nodes);
    for (int i = 0; i < count; i++)
        cut->side[nodes[i]] = -1;
}
