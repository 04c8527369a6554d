/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Blocking calls in two levels, with the shelf of a node for what is done in it and messages between the
 * leaders: the same messages as in levels.c and levels_blocks.c, so each node may go either way. It goes this way if
 * its members have a shelf and the data may go by it; else everything goes by messages. Knows: shelves, schedules. */
#include "base/err.h"
#include "coll/levels.h"
#include "coll/node.h"
#include "coll/spanning.h"

/* One call. */
struct here {
    struct sched s;            /* of the messages */
    struct coll_levels l;
    struct comm *comm, *node;  /* all members; those on this node */
    const struct coll_args *args;
    int leader;                /* in `node` */
};

typedef int here_fn(struct here *h);

enum { ALL_MAX = 1 << 30 }; /* bytes of the blocks of all */

/* Lay out for this root. */
static int find_levels(struct here *h, int root)
{
    if (!coll_levels_of(&h->s, root, &h->l))
        return h->s.failed;
    h->leader = h->l.node.first;
    return 0;
}

/* What has been built so far. */
static int pass_across(struct here *h)
{
    if (h->s.failed || !h->s.step_count)
        return h->s.failed;
    return sched_run(&h->s);
}

static int hand_down(struct here *h, struct coll_block block, int rc)
{
    int failed;

    if (unlikely(rc) && sched_ends_job(h->comm, rc))
        return rc;
    failed = node_bcast(h->node, block.buf, block.count, block.type, h->leader);
    return rc ? rc : failed;
}

/* The operands of the node to the leader's `value`. */
static int reduce_up(struct here *h, struct coll_block value)
{
    struct coll_args up = *h->args;

    up.operation = COLL_REDUCE;
    up.root = h->leader;
    up.recv.count = value.count;
    up.recv.counts.p = NULL;
    up.recv.buf = value.buf;
    if (!h->l.is_leader || value.buf != h->args->recv.buf)
        up.send.buf = (void *)(uintptr_t)coll_own(h->args);
    return node_reduce(h->node, &up);
}

static int do_barrier(struct here *h)
{
    struct type *byte = obj_type(MPI_BYTE);
    struct coll_args up = { .operation = COLL_REDUCE, .op = obj_op(MPI_BOR) };
    int rc = find_levels(h, 0);

    up.send = COLL_SAME(NULL, 0, byte);
    up.recv = COLL_SAME(NULL, 0, byte);
    if (!rc)
        rc = node_reduce(h->node, &up);
    if (rc)
        return rc;
    if (h->l.is_leader)
        coll_part_disseminate(&h->s, &h->l.top, LEVELS_ACROSS, SCHED_NONE);
    return hand_down(h, coll_byte_block(NULL, 0), pass_across(h));
}

static int do_bcast(struct here *h)
{
    const struct coll_block block = coll_data_block(&h->args->send, 0);
    const int rc = find_levels(h, h->args->root);

    if (rc)
        return rc;
    if (h->l.is_leader)
        coll_part_bcast(&h->s, &h->l.top, block, 2, LEVELS_ACROSS, SCHED_NONE);
    return hand_down(h, block, pass_across(h));
}

static int do_reduce(struct here *h)
{
    const int root = h->args->root, top = h->s.op->is_commutative ? root : 0, rank = h->comm->rank;
    const struct coll_block result = coll_operand(h->args, h->args->recv.buf);
    struct coll_block value = result;
    int last, rc = find_levels(h, top);

    if (!rc && h->l.is_leader && (rank != root || rank != top)) {
        value = sched_items(&h->s, result.type, result.count);
        rc = h->s.failed;
    }
    if (!rc)
        rc = reduce_up(h, value);
    if (rc)
        return rc;
    last = h->l.is_leader ? coll_part_reduce(&h->s, &h->l.top, value, value, LEVELS_ACROSS, SCHED_NONE) : SCHED_NONE;
    if (top != root && rank == top)
        sched_send(&h->s, value, root, LEVELS_ON, AFTER(last));
    else if (top != root && rank == root)
        sched_recv(&h->s, result, top, LEVELS_ON, AFTER(last));
    return pass_across(h);
}

static int do_allreduce(struct here *h)
{
    const struct coll_block result = coll_operand(h->args, h->args->recv.buf);
    int rc = find_levels(h, 0);

    if (!rc)
        rc = reduce_up(h, result);
    if (rc)
        return rc;
    if (h->l.is_leader)
        coll_part_allreduce(&h->s, &h->l.top, result, LEVELS_ACROSS, SCHED_NONE);
    return hand_down(h, result, pass_across(h));
}

/* --- blocks --- */

static struct coll_data bytes_at(void *buf, size_t len)
{
    return COLL_SAME(buf, (MPI_Count)len, obj_type(MPI_BYTE));
}

static struct coll_data data_of(struct coll_block block)
{
    return COLL_SAME(block.buf, block.count, block.type);
}

static int do_gather(struct here *h)
{
    const struct coll_args *args = h->args;
    const bool is_root = h->comm->rank == args->root, is_in_place = is_root && coll_is_in_place(args->send.buf);
    const struct coll_block own = is_in_place ? coll_data_block(&args->recv, args->root)
                                              : coll_data_block(&args->send, 0);
    const struct coll_data from = data_of(own);
    const size_t len = coll_bytes(&own);
    struct coll_data to;
    void *pack = NULL;
    int rc = find_levels(h, args->root);

    if (!rc && h->l.is_leader)
        pack = sched_bytes(&h->s, len * (size_t)h->node->size);
    if (!rc)
        rc = h->s.failed;
    to = bytes_at(pack, len);
    if (!rc)
        rc = node_gather(h->node, &from, &to, h->leader);
    if (rc || !h->l.is_leader)
        return rc;
    for (int i = 0; is_root && i < h->node->size; i++)
        if (h->l.node.ranks[i] != args->root || !is_in_place)
            sched_copy(&h->s, coll_blocks_at(pack, len, i, 1), coll_data_block(&args->recv, h->l.node.ranks[i]),
                       AT_ONCE);
    coll_levels_collect(&h->s, &h->l, &args->recv, pack, len, SCHED_NONE);
    return pass_across(h);
}

static int do_scatter(struct here *h)
{
    const struct coll_args *args = h->args;
    const bool is_root = h->comm->rank == args->root, is_in_place = is_root && coll_is_in_place(args->recv.buf);
    const struct coll_block own = is_in_place ? coll_data_block(&args->send, args->root)
                                              : coll_data_block(&args->recv, 0);
    const size_t len = coll_bytes(&own);
    const struct coll_data to = is_in_place ? args->recv : data_of(own);
    struct coll_data from;
    void *pack = NULL;
    int rc = find_levels(h, args->root), failed;

    if (rc)
        return rc;
    if (h->l.is_leader) {
        pack = sched_bytes(&h->s, len * (size_t)h->node->size);
        coll_levels_deal(&h->s, &h->l, &args->send, pack, len);
        for (int i = 0; is_root && i < h->node->size; i++)
            sched_copy(&h->s, coll_data_block(&args->send, h->l.node.ranks[i]), coll_blocks_at(pack, len, i, 1),
                       AT_ONCE);
    }
    rc = pass_across(h);
    if (unlikely(rc) && sched_ends_job(h->comm, rc))
        return rc;
    from = bytes_at(pack, len);
    failed = h->s.failed ? 0 : node_scatter(h->node, &from, &to, h->leader);
    return rc ? rc : failed;
}

/* Where the user's buffer has all blocks in one run, in the order of ranks; NULL: it has not. */
static void *run_of_all(const struct coll_data *recv, int size)
{
    const struct coll_block first = coll_data_block(recv, 0);
    char *const start = type_run(first.type, first.buf);
    size_t at = 0;

    if (!recv->counts.p)
        return type_is_run(recv->type, recv->count * size) ? start : NULL;
    for (int rank = 0; rank < size; rank++) {
        const struct coll_block block = coll_data_block(recv, rank);

        if (!type_is_run(block.type, block.count) ||
            type_run(block.type, block.buf) != coll_address(start, (MPI_Count)at))
            return NULL;
        at += coll_bytes(&block);
    }
    return start;
}

/* The blocks of this node, from its first in the row of all. */
static struct coll_data data_of_node(struct here *h, const struct coll_row *all)
{
    const int first = h->l.start[coll_levels_node(&h->l, h->comm->rank)], n = h->node->size;
    void *buf = coll_row_part(all, first, 0).buf;
    MPI_Count *counts;

    if (!all->at)
        return bytes_at(buf, all->len);
    counts = sched_bytes(&h->s, 2 * (size_t)n * sizeof *counts);
    for (int i = 0; counts && i < n; i++) {
        counts[i] = all->at[first + i + 1] - all->at[first + i];
        counts[n + i] = all->at[first + i] - all->at[first];
    }
    return (struct coll_data){ .buf = buf, .type = obj_type(MPI_BYTE), .counts = { counts, sizeof *counts },
                               .displs = { counts ? counts + n : NULL, sizeof *counts } };
}

/* A place for the blocks of all by nodes: in the user's buffer if that has them so, which *is_there tells. */
static int make_row(struct here *h, struct coll_row *all, bool *is_there)
{
    const struct coll_data *recv = &h->args->recv;
    const int rc = find_levels(h, 0), size = h->comm->size;

    if (rc)
        return rc;
    *all = coll_levels_row(&h->s, &h->l, recv);
    all->buf = h->l.has_runs ? run_of_all(recv, size) : NULL;
    *is_there = all->buf != NULL;
    if (!*is_there && !h->s.failed)
        all->buf = sched_bytes(&h->s, coll_row_bytes(all, size));
    return h->s.failed;
}

static int do_allgather(struct here *h)
{
    const struct coll_data *recv = &h->args->recv;
    const int size = h->comm->size, rank = h->comm->rank;
    const bool is_in_place = coll_is_in_place(h->args->send.buf);
    struct coll_data from = is_in_place ? data_of(coll_data_block(recv, rank)) : h->args->send, to;
    struct coll_row all;
    bool is_there;
    int rc = make_row(h, &all, &is_there);

    if (!rc) {
        to = data_of_node(h, &all);
        rc = h->s.failed;
    }
    if (is_in_place && h->l.is_leader && is_there)
        from.buf = MPI_IN_PLACE;
    if (!rc)
        rc = node_gather(h->node, &from, &to, 0);
    if (rc)
        return rc;
    if (h->l.is_leader)
        coll_levels_ring(&h->s, &h->l, &all, SCHED_NONE);
    rc = hand_down(h, coll_row_part(&all, 0, size), pass_across(h));
    for (int i = 0; i < size && !is_there && !rc; i++) {
        const struct coll_block in = coll_row_part(&all, i, 1), out = coll_data_block(recv, h->l.order[i]);

        if (h->l.order[i] != rank || !is_in_place)
            rc = coll_copy(&in, &out);
    }
    return rc;
}

/* This process's blocks in the order of nodes, packed into `own` and back. */
static int move_all(const struct here *h, const struct coll_data *data, void *own, size_t len, bool packs)
{
    int rc = 0;

    for (int i = 0; i < h->comm->size && !rc; i++) {
        const struct coll_block user = coll_data_block(data, h->l.order[i]), packed = coll_blocks_at(own, len, i, 1);

        rc = packs ? coll_copy(&user, &packed) : coll_copy(&packed, &user);
    }
    return rc;
}

static int do_alltoall(struct here *h)
{
    const struct coll_args *args = h->args;
    const struct coll_block block = coll_data_block(&args->recv, 0);
    const size_t len = coll_bytes(&block), all = len * (size_t)h->comm->size;
    struct coll_bundle b = { .in = NULL };
    struct coll_data from, to;
    int rc = find_levels(h, 0), failed;
    void *own = rc ? NULL : sched_bytes(&h->s, all);

    if (!rc && h->l.is_leader)
        b = coll_bundle_of(&h->s, &h->l, len);
    if (!rc)
        rc = h->s.failed;
    if (!rc)
        rc = move_all(h, coll_is_in_place(args->send.buf) ? &args->recv : &args->send, own, len, true);
    from = bytes_at(own, all);
    to = bytes_at(b.in, all);
    if (!rc)
        rc = node_gather(h->node, &from, &to, 0);
    if (rc)
        return rc;
    if (h->l.is_leader)
        coll_bundle_swap(&h->s, &b, SCHED_NONE);
    rc = pass_across(h);
    if (unlikely(rc) && sched_ends_job(h->comm, rc))
        return rc;
    failed = node_scatter(h->node, &to, &from, 0);
    if (!rc)
        rc = failed;
    return rc ? rc : move_all(h, &args->recv, own, len, false);
}

/* --- scan and exscan --- */

/* This node's part; of its last member, `value` becomes that of all of the node. */
static int scan_node(struct here *h, struct coll_block value, struct coll_block result)
{
    const struct coll_args *args = h->args;
    const struct coll_block own = coll_operand(args, coll_own(args));
    const bool is_exclusive = args->operation == COLL_EXSCAN;
    int rc = is_exclusive && h->l.is_leader ? coll_copy(&own, &value) : 0, failed;

    failed = is_exclusive ? node_exscan(h->node, args) : node_scan(h->node, args);
    if (rc || failed || !h->l.is_leader)
        return rc ? rc : failed;
    if (is_exclusive)
        op_reduce(args->op, result.buf, value.buf, value.count, value.type);
    return is_exclusive ? 0 : coll_copy(&result, &value);
}

/* What the nodes before have made goes in front. */
static int do_scan(struct here *h)
{
    const struct coll_block result = coll_operand(h->args, h->args->recv.buf);
    struct coll_block value = { NULL, 0, result.type }, before = value;
    int rc = coll_levels_of_last(&h->s, &h->l) ? 0 : h->s.failed;

    h->leader = h->node->size - 1;
    if (!rc && h->l.is_leader)
        value = sched_items(&h->s, result.type, result.count);
    if (!rc && h->l.top.place)
        before = sched_items(&h->s, result.type, result.count);
    if (!rc)
        rc = h->s.failed;
    if (!rc)
        rc = scan_node(h, value, result);
    if (rc)
        return rc;
    if (h->l.is_leader)
        coll_levels_before(&h->s, &h->l, value, before, SCHED_NONE);
    rc = pass_across(h);
    if (!h->l.top.place)
        return rc;
    rc = hand_down(h, before, rc);
    if (rc)
        return rc;
    if (h->args->operation == COLL_EXSCAN && !h->l.node.place)
        return coll_copy(&before, &result);
    op_reduce(h->args->op, before.buf, result.buf, result.count, result.type);
    return 0;
}

/* --- reduce_scatter --- */

static MPI_Count count_of(const struct coll_data *recv, int rank)
{
    return recv->counts.p ? coll_number(&recv->counts, rank) : recv->count;
}

static int do_reduce_scatter(struct here *h)
{
    const struct coll_data *recv = &h->args->recv;
    struct coll_block value = { recv->buf, 0, recv->type };
    struct coll_data from = { .type = recv->type, .counts.width = sizeof(MPI_Count),
                              .displs.width = sizeof(MPI_Count) };
    struct coll_data to = COLL_SAME(recv->buf, count_of(recv, h->comm->rank), recv->type);
    struct coll_share share;
    MPI_Count *counts;
    int rc = find_levels(h, 0), failed;

    for (int rank = 0; rank < h->comm->size; rank++)
        value.count += count_of(recv, rank);
    counts = rc ? NULL : sched_bytes(&h->s, 2 * (size_t)h->node->size * sizeof *counts);
    if (!rc && h->l.is_leader)
        value = sched_items(&h->s, recv->type, value.count);
    if (!rc)
        rc = h->s.failed;
    if (!rc)
        rc = reduce_up(h, value);
    if (rc)
        return rc;
    if (h->l.is_leader) {
        share = coll_levels_share(&h->s, &h->l, recv, value, SCHED_NONE);
        from.buf = share.result.buf;
        from.counts.p = counts;
        from.displs.p = counts + h->node->size;
        for (int i = 0; i < h->node->size; i++) {
            counts[i] = count_of(recv, h->l.node.ranks[i]);
            counts[h->node->size + i] = i ? counts[h->node->size + i - 1] + counts[i - 1] : 0;
        }
    }
    rc = pass_across(h);
    failed = node_scatter(h->node, &from, &to, 0);
    return rc ? rc : failed;
}

/* --- which --- */

static const struct {
    coll_build_fn *build; /* of the algorithm that this is, by messages only */
    here_fn *run;
} ways[COLL_NEIGHBOR_ALLGATHER] = {
    [COLL_BARRIER] = { coll_barrier_levels, do_barrier },
    [COLL_BCAST] = { coll_bcast_levels, do_bcast },
    [COLL_GATHER] = { coll_gather_levels, do_gather },
    [COLL_SCATTER] = { coll_scatter_levels, do_scatter },
    [COLL_ALLGATHER] = { coll_allgather_levels, do_allgather },
    [COLL_ALLGATHERV] = { coll_allgather_levels, do_allgather },
    [COLL_ALLTOALL] = { coll_alltoall_levels, do_alltoall },
    [COLL_REDUCE] = { coll_reduce_levels, do_reduce },
    [COLL_ALLREDUCE] = { coll_allreduce_levels, do_allreduce },
    [COLL_SCAN] = { coll_scan_levels, do_scan },
    [COLL_EXSCAN] = { coll_scan_levels, do_scan },
    [COLL_REDUCE_SCATTER] = { coll_reduce_scatter_levels, do_reduce_scatter },
    [COLL_REDUCE_SCATTER_BLOCK] = { coll_reduce_scatter_levels, do_reduce_scatter },
};

/* May the data go by the node's shelf? The same at all of its members. */
static bool may_go(const struct comm *comm, struct comm *node, const struct coll_args *args, size_t bytes)
{
    const size_t size = (size_t)comm->size;

    switch (args->operation) {
    case COLL_ALLGATHER:
    case COLL_ALLTOALL: return bytes < ALL_MAX / size && node_may(node, bytes * size) && node_may_vary(node);
    case COLL_REDUCE_SCATTER:
        return args->recv.type->size <= SHELF_CELL && node_may(node, bytes) && node_may_vary(node);
    case COLL_REDUCE_SCATTER_BLOCK:
        return args->recv.type->size <= SHELF_CELL && bytes < ALL_MAX / size && node_may(node, bytes * size) &&
               node_may_vary(node);
    case COLL_REDUCE:
    case COLL_SCAN:
    case COLL_EXSCAN:
    case COLL_ALLREDUCE: return args->recv.type->size <= SHELF_CELL && node_may(node, bytes);
    case COLL_ALLGATHERV:
    case COLL_GATHER:
    case COLL_SCATTER: return node_may(node, bytes) && node_may_vary(node);
    default: return node_may(node, bytes);
    }
}

static NOINLINE int run(struct comm *comm, const struct coll_args *args, const struct coll_choice *choice)
{
    struct here h = { .comm = comm, .node = &comm->spread->here, .args = args };
    int rc;

    sched_init(&h.s, comm);
    h.s.is_kept = false;
    rc = coll_count_and_check(&h.s, args);
    coll_set_choice(&h.s, args, choice);
    comm->spread->operation = args->operation;
    if (!rc)
        rc = ways[args->operation].run(&h);
    sched_fini(&h.s);
    return rc;
}

bool coll_levels_here(struct comm *comm, const struct coll_args *args, int *rc)
{
    struct coll_choice choice;

    if (unlikely(!comm->spread->here.shelf.number)) /* as in node_try */
        comm->coll_call = coll_name(args->operation, COLL_BLOCKING);
    if (comm->spread->here.size == 1 || args->operation >= COLL_NEIGHBOR_ALLGATHER || !ways[args->operation].run ||
        coll_choose(comm, args, &choice) || choice.algorithm->build != ways[args->operation].build ||
        !may_go(comm, &comm->spread->here, args, coll_choice_bytes(comm, args)))
        return false;
    *rc = run(comm, args, &choice);
    if (!*rc) /* else a leader has had the error */
        *rc = p2p_check_whole(comm);
    return true;
}
