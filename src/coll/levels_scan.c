/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. MPI_Scan and MPI_Exscan in two levels, for nodes that are runs of ranks: in each node by doubling, then
 * of the nodes' values between the last processes of the nodes, and what the nodes before have made down to all. k is
 * the number of processes of the largest node, h that of nodes: 2 log2 k + log2 h rounds of m bytes. */
#include "coll/levels.h"

/* Doubling: partners at growing distance, of which each two meet once. `value` becomes that of this place and all
 * before. Of an exscan, `before` becomes that of all before, at places behind 0; its type NULL: it is none. */
static int part_scan(struct sched *s, const struct coll_team *team, struct coll_block value, struct coll_block before,
                     int sub, int after)
{
    const struct coll_block come = sched_items(s, value.type, team->place ? value.count : 0);
    int last = after, out = SCHED_NONE, kept = SCHED_NONE;

    for (int distance = 1; distance < team->size; distance += distance) {
        int got;

        if (team->place + distance < team->size)
            out = coll_team_send(s, team, value, team->place + distance, sub, AFTER(last));
        if (team->place < distance)
            continue;
        got = coll_team_recv(s, team, come, team->place - distance, sub, AFTER(last, kept));
        if (before.type)
            kept = distance == 1 ? sched_copy(s, come, before, AFTER(got, after))
                                 : sched_reduce(s, come, before, AFTER(got, kept));
        last = sched_reduce(s, come, value, AFTER(got, out, last));
    }
    return sched_join(s, AFTER(last, out, kept));
}

bool coll_levels_of_last(struct sched *s, struct coll_levels *l)
{
    int *leaders;

    if (!coll_levels_of(s, 0, l))
        return false;
    leaders = sched_bytes(s, (size_t)l->nodes * sizeof *leaders);
    if (!leaders)
        return false;
    for (int node = 0; node < l->nodes; node++)
        leaders[node] = l->order[l->start[node + 1] - 1];
    l->top.ranks = leaders;
    l->is_leader = l->node.place == l->node.size - 1;
    return true;
}

int coll_levels_before(struct sched *s, const struct coll_levels *l, struct coll_block value, struct coll_block before,
                       int after)
{
    return part_scan(s, &l->top, value, l->top.place ? before : (struct coll_block){ NULL, 0, NULL }, LEVELS_ACROSS,
                     after);
}

void coll_scan_levels(struct sched *s, const struct coll_args *args)
{
    const struct coll_block own = coll_operand(args, coll_own(args)), result = coll_operand(args, args->recv.buf);
    const struct coll_block none = { NULL, 0, NULL };
    const bool is_exclusive = args->operation == COLL_EXSCAN;
    struct coll_block value = result, before;
    struct coll_team down;
    struct coll_levels l;
    int last;

    if (!coll_levels_of_last(s, &l))
        return;
    if (is_exclusive)
        value = sched_items(s, own.type, own.count);
    last = value.buf == own.buf ? SCHED_NONE : sched_copy(s, own, value, AT_ONCE);
    last = part_scan(s, &l.node, value, is_exclusive && l.node.place ? result : none, LEVELS_UP, last);
    before = sched_items(s, own.type, l.top.place ? own.count : 0);
    if (l.is_leader) {
        const struct coll_block all = is_exclusive ? value : sched_items(s, own.type, own.count);

        if (!is_exclusive)
            last = sched_copy(s, value, all, AFTER(last));
        last = coll_levels_before(s, &l, all, before, last);
    }
    if (!l.top.place)
        return;
    down = l.node;
    down.first = down.size - 1;
    down.place = (l.node.place + 1) % down.size;
    last = coll_part_bcast(s, &down, before, 2, LEVELS_DOWN, last);
    if (is_exclusive && !l.node.place)
        sched_copy(s, before, result, AFTER(last));
    else
        sched_reduce(s, before, result, AFTER(last));
}
