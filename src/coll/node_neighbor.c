/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Neighborhood collectives in a grid (MPI 5.0 §8.6) through shared memory: each member puts the short
 * ones of its blocks into slots (node_slots.c), which its neighbours wait for, and sends the others as messages; what
 * the slots say decides, since lengths are known to the two ends of an edge only. One hop, and nobody waits for others
 * than neighbours.
 *
 * What is sent down along a dimension arrives as what comes from above: the block at place `i` lies in slot `i ^ 1` of
 * the neighbour, or in its only one. In graphs a member does not know the places that its neighbours give it. */
#include "coll/algorithms.h"
#include "coll/int_call.h"
#include "coll/int_node.h"
#include "obj/topology.h"

struct around {
    struct node_call call;
    const struct coll_args *args;
    int count;                  /* of neighbours */
    bool is_one;                /* all get the same block */
    bool has_long;              /* something goes by messages */
    bool is_message[NODE_SLOTS_MOST]; /* comes so */
    int rank[NODE_SLOTS_MOST];  /* of neighbours, or MPI_PROC_NULL */
    struct node_slots out;
};

/* What goes into slots: blocks up to a share of a part, all of them or none if lengths need too much room. */
static void plan(struct around *a)
{
    struct node_slots *out = &a->out;
    const size_t most = node_part() / (size_t)(a->is_one ? 1 : a->count);
    size_t longest = 0;
    bool is_equal = true;

    out->count = a->is_one ? 1 : a->count;
    for (int i = 0; i < out->count; i++) {
        out->block[i] = coll_data_block(&a->args->send, i);
        out->len[i] = type_bytes(out->block[i].type, out->block[i].count);
        if (out->len[i] > most)
            out->len[i] = NODE_SLOTS_NONE;
        else
            longest = size_max(longest, out->len[i]);
        is_equal = is_equal && out->len[i] == out->len[0];
    }
    out->head = (struct node_head){ (uint32_t)longest, is_equal ? (uint32_t)out->len[0] : NODE_SLOTS_VARY };
    if (node_slots_rounds(&out->head, out->count) > 1) {
        out->head = (struct node_head){ 0, NODE_SLOTS_NONE };
        for (int i = 0; i < out->count; i++)
            out->len[i] = NODE_SLOTS_NONE;
    }
}

static void wake(const struct around *a)
{
    for (int i = 0; i < a->count; i++) {
        if (a->rank[i] != MPI_PROC_NULL)
            node_wake(&a->call, a->rank[i]);
    }
}

/* The blocks in slots; remember which do not lie there. */
static int take(struct around *a)
{
    int rc = 0;

    for (int i = 0; i < a->count; i++) {
        const int rank = a->rank[i], slot = a->is_one ? 0 : i ^ 1;
        struct coll_block to;

        a->is_message[i] = false;
        if (rank == MPI_PROC_NULL)
            continue;
        a->is_message[i] = node_slots_len(&a->call, rank, a->out.count, slot) == NODE_SLOTS_NONE;
        if (a->is_message[i]) {
            a->has_long = true;
            continue;
        }
        to = coll_data_block(&a->args->recv, i);
        node_note(&rc, node_slots_take(&a->call, rank, a->out.count, slot, &to));
    }
    return rc;
}

static int exchange_long(struct around *a)
{
    const struct coll_args *args = a->args;
    struct sched s;
    int rc;

    sched_init(&s, a->call.comm);
    s.call = a->call.comm->coll_call;
    s.sequence = a->call.comm->coll_sequence;
    s.operation = args->operation;
    s.root = 0;
    s.bytes = 0;
    s.tag = s.local_tag = a->call.tag;
    for (int i = 0; i < a->count; i++) {
        if (a->is_message[i])
            sched_recv(&s, coll_data_block(&args->recv, i), a->rank[i], i, AT_ONCE);
    }
    for (int i = 0; i < a->count; i++) {
        if (a->rank[i] != MPI_PROC_NULL && a->out.len[a->is_one ? 0 : i] == NODE_SLOTS_NONE)
            sched_send(&s, a->out.block[a->is_one ? 0 : i], a->rank[i], i ^ 1, AT_ONCE);
    }
    rc = s.failed;
    if (!rc)
        rc = sched_run(&s);
    sched_fini(&s);
    return rc;
}

static int run(struct around *a)
{
    int rc = 0;

    plan(a);
    for (int i = 0; i < a->out.count; i++)
        a->has_long = a->has_long || a->out.len[i] == NODE_SLOTS_NONE;
    node_slots_post(&a->call, &a->out);
    wake(a);
    for (int i = 0; i < a->count && !rc; i++) {
        if (a->rank[i] != MPI_PROC_NULL)
            rc = node_await(&a->call, a->call.round, a->rank[i], a->rank[i] + 1);
    }
    if (rc)
        return rc;
    rc = take(a);
    if (a->has_long)
        node_note(&rc, exchange_long(a));
    return rc;
}

bool node_neighbors(struct comm *comm, const struct coll_args *args, int *rc)
{
    const struct topology *t = comm->topology;
    struct around a;

    if (!t || t->kind != MPI_CART || 2 * t->cart.ndims > NODE_SLOTS_MOST || !t->cart.ndims)
        return false;
    *rc = node_begin(&a.call, comm, args->operation, -1, 0);
    if (!*rc)
        *rc = coll_neighbor_check(comm, args);
    if (*rc)
        return true;
    a.args = args;
    a.count = 2 * t->cart.ndims;
    a.has_long = false;
    a.is_one = args->operation == COLL_NEIGHBOR_ALLGATHER || args->operation == COLL_NEIGHBOR_ALLGATHERV;
    for (int i = 0; i < a.count; i++)
        a.rank[i] = topology_grid_rank(t, comm->rank, i / 2, i % 2 ? 1 : -1);
    *rc = run(&a);
    return true;
}
