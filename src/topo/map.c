/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: topo. The mapping: the tree of places is cut in two again and again, and the nodes of the graph with it, into
 * parts of the same sizes. What lies in one leaf is equally near. Identity if that is not worse. */
#include "base/err.h"
#include "base/mem.h"
#include "topo/int_map.h"

struct mapping {
    const struct topo_places *places;
    struct topo_cut cut;
    int *nodes; /* at the same indices as the slots that they will have */
    int *order;
};

/* Nodes whose own processes are here stay there; the others follow in order. */
static void fill_leaf(const struct mapping *m, int begin, int end)
{
    const int *slot = m->places->slot;
    int free = begin;

    for (int i = begin, at = begin; i < end; i++) { /* both rise */
        while (at < end && slot[at] < m->nodes[i])
            at++;
        if (at < end && slot[at] == m->nodes[i])
            m->order[m->nodes[i]] = slot[at];
    }
    for (int i = begin; i < end; i++) {
        if (m->order[m->nodes[i]] >= 0)
            continue;
        while (m->order[slot[free]] == slot[free])
            free++; /* that process has its own node */
        m->order[m->nodes[i]] = slot[free++];
    }
}

/* The end of the child of the tree that begins at `begin`: those with the same path down to `level`. */
static int child_end(const struct topo_places *places, int begin, int end, int level)
{
    int at = begin + 1;

    while (at < end && topo_places_hops(places, places->slot[begin], places->slot[at]) < places->levels - level)
        at++;
    return at;
}

/* Where to cut so that no child is cut and both parts are as equal as can be; `end`: there is one child. */
static int find_middle(const struct topo_places *places, int begin, int end, int level)
{
    int best = end, best_off = end - begin;

    for (int at = child_end(places, begin, end, level); at < end; at = child_end(places, at, end, level)) {
        const int off = 2 * at < begin + end ? begin + end - 2 * at : 2 * at - begin - end;

        if (off >= best_off)
            break;
        best = at;
        best_off = off;
    }
    return best;
}

/* The slots from `begin` to `end` are one subtree down to `level`, or several children of one. */
static void map_part(struct mapping *m, int begin, int end, int level)
{
    int middle = end;

    while (level < m->places->levels && (middle = find_middle(m->places, begin, end, level)) == end)
        level++;
    if (level == m->places->levels) {
        fill_leaf(m, begin, end);
        return;
    }
    topo_cut_nodes(&m->cut, m->nodes + begin, end - begin, middle - begin);
    map_part(m, begin, middle, level);
    map_part(m, middle, end, level);
}

int64_t topo_map_cost(const struct topo_talk *talk, const struct topo_places *places, const int *order)
{
    int64_t sum = 0;

    for (int node = 0; node < talk->count; node++)
        for (int e = talk->begin[node]; e < talk->begin[node + 1]; e++)
            sum += talk->weight[e] * topo_places_hops(places, order[node], order[talk->other[e]]);
    return sum / 2;
}

static void set_identity(int *order, int count)
{
    for (int i = 0; i < count; i++)
        order[i] = i;
}

static int map_all(const struct topo_talk *talk, const struct topo_places *places, int *order)
{
    struct mapping m = { .places = places, .order = order };
    int *position = mem_alloc(2 * (size_t)talk->count * sizeof *position), rc;

    if (!position)
        return err(MPI_ERR_NO_MEM, "no memory to map %d processes", talk->count);
    m.nodes = position + talk->count;
    set_identity(m.nodes, talk->count);
    for (int i = 0; i < talk->count; i++) {
        position[places->slot[i]] = i;
        order[i] = -1;
    }
    rc = topo_cut_open(&m.cut, talk, position);
    if (!rc)
        map_part(&m, 0, talk->count, 0);
    topo_cut_close(&m.cut);
    mem_free(position);
    return rc;
}

int topo_map(const struct topo_talk *talk, const struct topo_places *places, int *order, bool *is_better)
{
    int64_t old;
    int rc;

    *is_better = false;
    set_identity(order, talk->count);
    old = topo_map_cost(talk, places, order);
    if (!old)
        return 0;
    rc = map_all(talk, places, order);
    *is_better = !rc && topo_map_cost(talk, places, order) < old;
    if (!*is_better)
        set_identity(order, talk->count);
    return rc;
}
