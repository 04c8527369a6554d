/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: who waits for whom, as a graph. A rank needs all of its needs, and of each need any one of its ranks; so the
 * graph has both kinds of edges, and those who wait for ever are not just its cycles. They are found from above: all
 * that are blocked, less those that somebody outside could wake, until nothing changes. */
#include "waits.h"

#include <string.h>

/* Could `rank` meet the need of `of`? */
static bool is_in(const struct wait_need *need, int of, int rank)
{
    if (rank == of)
        return false;
    if (need->rank != WAIT_ANYONE)
        return need->rank == rank;
    return !need->set || (need->set[rank / 64] >> rank % 64 & 1);
}

/* Is there nobody left who could meet it? */
static bool is_hopeless(const struct wait_node *nodes, int count, int of, const struct wait_need *need)
{
    const int first = need->rank >= 0 ? need->rank : 0, end = need->rank >= 0 ? need->rank + 1 : count;

    for (int rank = first; rank < end; rank++)
        if (is_in(need, of, rank) && !nodes[rank].is_stuck && nodes[rank].state != WAIT_GONE)
            return false;
    return true;
}

/* A single rank says most, so such a need is blamed first. */
static int find_hopeless(const struct wait_node *nodes, int count, int of)
{
    const struct wait_node *node = &nodes[of];
    int found = -1;

    for (int i = 0; i < node->need_count; i++) {
        if ((found >= 0 && node->need[i].rank == WAIT_ANYONE) || !is_hopeless(nodes, count, of, &node->need[i]))
            continue;
        if (found < 0 || node->need[found].rank == WAIT_ANYONE)
            found = i;
    }
    return found;
}

void waits_find_stuck(struct wait_node *nodes, int count)
{
    bool has_changed = true;

    for (int i = 0; i < count; i++)
        nodes[i].is_stuck = nodes[i].state == WAIT_BLOCKED;
    while (has_changed) {
        has_changed = false;
        for (int i = 0; i < count; i++) {
            nodes[i].blamed = nodes[i].is_stuck ? find_hopeless(nodes, count, i) : -1;
            has_changed |= nodes[i].is_stuck && nodes[i].blamed < 0;
            nodes[i].is_stuck &= nodes[i].blamed >= 0;
        }
    }
}

int waits_next(const struct wait_node *nodes, int count, int rank)
{
    const struct wait_node *node = &nodes[rank];
    int found = WAIT_NOBODY;

    if (!node->is_stuck)
        return WAIT_NOBODY;
    for (int i = 0; i < count; i++) {
        if (!is_in(&node->need[node->blamed], rank, i))
            continue;
        if (found != WAIT_NOBODY)
            return WAIT_ANYONE;
        found = i;
    }
    return found;
}

int waits_cycle(const struct wait_node *nodes, int count, int rank, int *cycle)
{
    int length = 0, lowest = 0, at = rank;

    do {
        if (at < 0 || length == count)
            return 0;
        cycle[length++] = at;
        at = waits_next(nodes, count, at);
    } while (at != rank);
    for (int i = 0; i < length; i++)
        if (cycle[i] < cycle[lowest])
            lowest = i;
    for (; lowest > 0; lowest--) { /* turn it, so that the lowest comes first */
        const int first = cycle[0];
        memmove(cycle, cycle + 1, (size_t)(length - 1) * sizeof *cycle);
        cycle[length - 1] = first;
    }
    return length;
}

static bool is_needed(const struct wait_node *nodes, int of, int rank)
{
    for (int i = 0; i < nodes[of].need_count; i++)
        if (is_in(&nodes[of].need[i], of, rank))
            return true;
    return false;
}

int waits_find_waiting(const struct wait_node *nodes, int count, int root, bool *is_waiting, int *stack)
{
    int found = 0, top = 0;

    memset(is_waiting, 0, (size_t)count * sizeof *is_waiting);
    stack[top++] = root;
    while (top > 0) {
        const int rank = stack[--top];
        for (int i = 0; i < count; i++) {
            if (is_waiting[i] || i == root || nodes[i].state != WAIT_BLOCKED || nodes[i].is_stuck ||
                !is_needed(nodes, i, rank))
                continue;
            is_waiting[i] = true;
            stack[top++] = i;
            found++;
        }
    }
    return found;
}
