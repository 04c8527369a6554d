/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: comm. The split of MPI_COMM_TYPE_HW_UNGUIDED (MPI 5.0 §7.4.2), as a calculation: every process has the seats of
 * all and finds the same colors. For each process its parts are looked at from large to small, and the first one is
 * taken that fewer processes share than the communicator has. Two processes that share a part share what is round it,
 * so they stop at the same one; where parts overlap they may not, and then those are together that stopped together. */
#include <stdlib.h>

#include "comm/int_comm.h"

enum { KINDS = HWPARTS + 1 }; /* and the machine */

static int by_part(const void *a, const void *b)
{
    const struct unguided_sitting *p = a, *q = b;

    if (p->node != q->node)
        return p->node < q->node ? -1 : 1;
    if (p->first != q->first)
        return p->first < q->first ? -1 : 1;
    return p->index < q->index ? -1 : p->index > q->index;
}

/* Those that sit in one part of this kind, sorted by it. Returns how many. */
static int sort_by(const struct unguided *u, int kind, struct unguided_sitting *order)
{
    int count = 0;

    for (int i = 0; i < u->count; i++) {
        const int first = kind == HWPARTS ? 0 : u->seats[i].site.first[kind];

        if (u->is_in[i] && first >= 0)
            order[count++] = (struct unguided_sitting){ u->seats[i].node, first, i };
    }
    qsort(order, (size_t)count, sizeof *order, by_part);
    return count;
}

static int run_end(const struct unguided_sitting *order, int count, int begin)
{
    int end = begin + 1;

    while (end < count && order[end].node == order[begin].node && order[end].first == order[begin].first)
        end++;
    return end;
}

/* Is kind `a` larger than `b` for this process? Of equal ones that which is named first. The machine is the largest. */
static bool is_larger(const struct comm_seat *seat, int a, int b)
{
    if (a == HWPARTS || b == HWPARTS || b < 0)
        return b < 0 || a == HWPARTS;
    return seat->site.count[a] > seat->site.count[b];
}

/* Each process in a part of this kind that splits takes it, unless it has a larger one. */
static void choose(const struct unguided *u, int kind, const struct unguided_sitting *order, int count)
{
    for (int begin = 0, end; begin < count; begin = end) {
        end = run_end(order, count, begin);
        for (int i = begin; i < end && end - begin < u->size; i++) {
            const int index = order[i].index;

            if (is_larger(&u->seats[index], kind, u->part[index]))
                u->part[index] = kind;
        }
    }
}

/* Those that have taken the same part get its color: the first of them. */
static void paint(const struct unguided *u, int kind, const struct unguided_sitting *order, int count)
{
    for (int begin = 0, end; begin < count; begin = end) {
        int color = -1;

        end = run_end(order, count, begin);
        for (int i = begin; i < end; i++) {
            if (u->part[order[i].index] != kind)
                continue;
            color = color < 0 ? order[i].index : color;
            u->color[order[i].index] = color;
        }
    }
}

void comm_unguided_colors(const struct unguided *u)
{
    struct unguided_sitting *const order = u->order;

    for (int i = 0; i < u->count; i++) {
        u->color[i] = MPI_UNDEFINED;
        u->part[i] = -1;
    }
    for (int kind = 0; kind < KINDS; kind++)
        choose(u, kind, order, sort_by(u, kind, order));
    for (int kind = 0; kind < KINDS; kind++)
        paint(u, kind, order, sort_by(u, kind, order));
}
