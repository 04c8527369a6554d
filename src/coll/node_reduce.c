/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Reductions through shared memory, in rounds. Operands lie packed where their members have put them; who
 * needs a result combines them from the last to the first, x0 op (x1 op (x2 ...)), whoever it is and whenever they
 * come; so results are equal to the bit, and the same in every run.
 *
 *   reduce, allreduce, reduce_scatter(_block), scan, exscan
 *               who needs a result reads the operands that go into it; what nobody else needs is not put anywhere
 *   reduce, allreduce of many bytes and three members or more
 *               each member combines a slice of the part and puts the result where its own operand was; who needs the
 *               whole takes the slices from there
 *   scan, exscan of many bytes and three members or more, without gaps
 *               each member combines a slice of the part from rank to rank, where the operands lie; who needs a result
 *               takes it from there
 *
 * Items of a type with gaps are unpacked before they are combined. */
#include "base/copy.h"
#include "coll/int_ways.h"
#include "sys/huge.h"

/* Bytes; with fewer, time is the number of times that somebody waits. In slices all wait for all twice, else once, and
 * those who reduce to another one wait for nobody: where ranks share processors, that counts for more. There an
 * allreduce goes whole up to so many bytes of all members together, for each of them reads as many. */
enum { SLICED_MIN = 1024, SLICED_MIN_CROWDED_ALL = 131073, SLICED_MIN_CROWDED_REDUCE = 163840,
       SCAN_SLICED_MIN = 65536 };

struct reduction {
    struct node_call call;
    const struct coll_args *args;
    struct type *type;
    struct coll_temp incoming, result; /* for items with gaps; for a result that has no other place */
    int first, end;                    /* whose operands go into the result of this member */
    bool is_scan, is_exclusive;
    bool has_own;                      /* the operand of this member, without gaps, is not overwritten before it is
                                        * read: its result goes elsewhere, or begins with it */
    MPI_Count skip, count;             /* of reduce_scatter: items that this member gets the result of */
};

/* --- one combination --- */

static void unpack_items(const struct reduction *r, void *to, const char *from, size_t len)
{
    if (likely(r->type->is_contig))
        shared_read(to, from, len);
    else
        type_unpack(r->type, to, (MPI_Count)(len / (size_t)r->type->size), 0, from, len);
}

/* A part of the operands in the places of members, in a round. */
struct part {
    uint32_t round;
    size_t begin, len; /* of the whole operand */
};

/* Bytes from `at` on in a part of a member's operand. Its own is read where it has it, if nothing is written there: the
 * lines of its place have gone to the others. */
static const char *operand_at(const struct reduction *r, const struct part *part, int rank, size_t at)
{
    if (rank == r->call.comm->rank && r->has_own)
        return coll_address(coll_own(r->args), (MPI_Count)(part->begin + at));
    return (char *)node_place(&r->call, rank, part->round, part->len) + at;
}

/* `len` bytes at `at` of a part of the operands of members first to end - 1, as items at `to`. */
static void combine(const struct reduction *r, const struct part *part, size_t at, size_t len, void *to)
{
    const struct type *type = r->type;
    int rank = r->end - 1;

    if (!len)
        return;
    if (operand_at(r, part, rank, at) != to)
        unpack_items(r, to, operand_at(r, part, rank, at), len);
    while (--rank >= r->first) {
        const void *operand = operand_at(r, part, rank, at);

        if (unlikely(!type->is_contig)) {
            unpack_items(r, r->incoming.buf, operand, len);
            operand = r->incoming.buf;
        }
        op_reduce(r->args->op, operand, to, (MPI_Count)(len / (size_t)type->size), type);
    }
}

static ALWAYS_INLINE void *item_at(const struct reduction *r, void *buf, size_t at)
{
    const struct type *type = r->type;

    return coll_address(buf, likely(type->is_contig) ? (MPI_Count)at
                                                     : (MPI_Count)(at / (size_t)type->size) * type->extent);
}

/* --- every operand to who needs the result --- */

/* Of reduce_scatter: the blocks of the others. */
static void fill_around(const struct reduction *r, char *place, size_t at, size_t len)
{
    const char *own = coll_own(r->args);
    const size_t size = (size_t)r->type->size, first = (size_t)r->skip * size, end = at + len;
    const size_t before = first > at ? size_min(first, end) : at;
    const size_t behind = size_max(first + (size_t)r->count * size, before);

    copy_bytes(place, own + at, before - at);
    if (behind < end)
        copy_bytes(place + (behind - at), own + behind, end - behind);
}

static void fill_operand(void *arg, char *place, size_t at, size_t len)
{
    struct reduction *r = arg;
    const void *own = coll_own(r->args);

    if (r->call.tried && !at)
        node_ways_tell(&r->call, shelf_line(r->call.comm, r->call.comm->rank, r->call.round));
    if (r->has_own && r->count)
        fill_around(r, place, at, len);
    else if (likely(r->type->is_contig))
        copy_bytes(place, coll_address(own, (MPI_Count)at), len);
    else
        type_pack(r->type, own, r->args->recv.count, at, place, len);
}

static void drain_result(void *arg, uint32_t round, size_t at, size_t len)
{
    const struct reduction *r = arg;

    if (r->call.tried && !at)
        node_ways_hear(&r->call, round);
    combine(r, &(struct part){ round, at, len }, 0, len, item_at(r, r->args->recv.buf, at));
}

/* Of the first of a scan: its result. */
static int copy_operand(void *arg)
{
    const struct reduction *r = arg;
    const struct coll_data *to = &r->args->recv;

    if (coll_is_in_place(r->args->send.buf))
        return 0;
    if (likely(r->type->is_contig))
        shared_read(coll_address(to->buf, 0), coll_address(r->args->send.buf, 0), r->call.bytes);
    else
        type_copy(to->buf, to->count, r->type, r->args->send.buf, to->count, r->type);
    return 0;
}

/* --- slices --- */

/* Where the slice of a member begins in a part: whole items, whole lines where items allow it. */
static size_t slice_at(const struct reduction *r, int rank, size_t len)
{
    const size_t size = (size_t)r->type->size, items = len / size;
    const size_t unit = CACHE_LINE % size ? 1 : CACHE_LINE / size, units = (items + unit - 1) / unit;
    const size_t at = units * (size_t)rank / (size_t)r->call.comm->size * unit;

    return (at < items ? at : items) * size;
}

/* Combine this member's slice of the part and leave the result in its place. */
static void combine_slice(const struct reduction *r, const struct part *part)
{
    const int rank = r->call.comm->rank;
    const size_t from = slice_at(r, rank, part->len), to = slice_at(r, rank + 1, part->len);
    const struct type *type = r->type;
    char *place = (char *)node_place(&r->call, rank, part->round, part->len) + from;

    combine(r, part, from, to - from, r->result.buf);
    if (likely(type->is_contig))
        memcpy(place, r->result.buf, to - from);
    else
        type_pack(type, r->result.buf, (MPI_Count)((to - from) / (size_t)type->size), 0, place, to - from);
}

/* This member's slice of the part of all results of a scan, each in the place of the operand that goes into it last. */
static void scan_slice(const struct reduction *r, uint32_t round, size_t len)
{
    const int own = r->call.comm->rank, end = r->call.comm->size - r->is_exclusive;
    const size_t from = slice_at(r, own, len), to = slice_at(r, own + 1, len);

    for (int rank = 1; rank < end && from < to; rank++)
        op_reduce(r->args->op, (char *)node_place(&r->call, rank - 1, round, len) + from,
                  (char *)node_place(&r->call, rank, round, len) + from,
                  (MPI_Count)((to - from) / (size_t)r->type->size), r->type);
}

/* The slices of all to where the result belongs. */
static void collect(const struct reduction *r, uint32_t round, size_t at, size_t len)
{
    if (r->is_scan)
        copy_bytes(item_at(r, r->args->recv.buf, at), node_place(&r->call, r->end - 1, round, len), len);
    for (int rank = 0; rank < r->call.comm->size && !r->is_scan; rank++) {
        const size_t from = slice_at(r, rank, len), to = slice_at(r, rank + 1, len);

        if (from < to)
            unpack_items(r, item_at(r, r->args->recv.buf, at + from),
                         (char *)node_place(&r->call, rank, round, len) + from, to - from);
    }
}

/* So many parts in a row, from the first one's round on, are combined and then collected. Where ranks share processors,
 * they are combined when all are there: who posts the last one has run long enough to let another one go on. */
static int pass_slices(struct reduction *r, uint32_t first, size_t at, size_t len, size_t part, bool has_result)
{
    const bool is_crowded = progress_is_oversubscribed();
    uint32_t round = first;
    int rc = 0;

    if (is_crowded)
        rc = node_meet(&r->call, r->call.round);
    for (size_t done = 0; done < len && !rc; done += part, round++) {
        if (!is_crowded)
            rc = node_meet(&r->call, round);
        if (!rc && r->call.tried && !at && !done)
            node_ways_hear(&r->call, round);
        if (!rc && r->is_scan)
            scan_slice(r, round, size_min(part, len - done));
        else if (!rc)
            combine_slice(r, &(struct part){ round, at + done, size_min(part, len - done) });
    }
    if (rc)
        return rc;
    node_step(&r->call, 1);
    if (has_result)
        node_await_step(&r->call, 1, 0, r->call.comm->size);
    node_wake_all(&r->call);
    round = first;
    for (size_t done = 0; has_result && done < len; done += part, round++)
        collect(r, round, at + done, size_min(part, len - done));
    return 0;
}

static int run_slices(struct reduction *r, size_t total, size_t part, bool has_result)
{
    int rc = 0;

    for (size_t at = 0; at < total && !rc;) {
        const size_t begin = at;
        const uint32_t first = r->call.comm->shelf.round + 1;

        for (int i = 0; i < NODE_AHEAD && at < total; i++) {
            struct shelf_line *line = node_open(&r->call, true);
            const size_t len = size_min(part, total - at);

            fill_operand(r, node_place(&r->call, r->call.comm->rank, r->call.round, len), at, len);
            node_post(&r->call, line);
            at += len;
        }
        rc = pass_slices(r, first, begin, at - begin, part, has_result);
    }
    return rc;
}

/* --- the calls --- */

/* Whole items in a cell. */
static size_t part_of(const struct type *type)
{
    const size_t size = (size_t)type->size, part = size_max(node_part(), size);

    return size ? part / size * size : part;
}

static int begin(struct reduction *r, struct comm *comm, const struct coll_args *args, enum coll_operation op, int root)
{
    *r = (struct reduction){ .args = args, .type = args->recv.type, .end = comm->size,
                             .has_own = args->recv.type->is_contig && !coll_is_in_place(args->send.buf) };
    return node_begin(&r->call, comm, op, root, type_bytes(r->type, args->recv.count));
}

/* Room for a part's items with their gaps. */
static int make_room(struct reduction *r, bool needs_result)
{
    const struct type *type = r->type;
    const MPI_Count items = type->size ? (MPI_Count)part_of(type) / type->size : 0;
    int rc = 0;

    if (unlikely(!type->is_contig))
        rc = coll_temp_alloc(&r->incoming, type, items);
    if (!rc && needs_result)
        rc = coll_temp_alloc(&r->result, type, items);
    return rc;
}

static void drop_room(struct reduction *r)
{
    if (r->incoming.memory)
        coll_temp_free(&r->incoming);
    if (r->result.memory)
        coll_temp_free(&r->result);
}

static bool is_long_enough(const struct reduction *r)
{
    if (r->is_scan)
        return r->call.bytes >= SCAN_SLICED_MIN && r->type->is_contig;
    if (!progress_is_oversubscribed())
        return r->call.bytes >= SLICED_MIN;
    return r->call.what >> NODE_WHAT_OP == COLL_REDUCE
               ? r->call.bytes >= SLICED_MIN_CROWDED_REDUCE
               : r->call.bytes * (size_t)r->call.comm->size >= SLICED_MIN_CROWDED_ALL;
}

static bool is_sliced(const struct reduction *r)
{
    return r->call.comm->size > 2 && is_long_enough(r);
}

/* Bytes to compare with shelf_copy_min: these need few copies by the system, and far lines make many of cells. */
static size_t pays_as(const struct reduction *r)
{
    switch (r->call.what >> NODE_WHAT_OP) {
    case COLL_EXSCAN:
    case COLL_REDUCE_SCATTER:
    case COLL_REDUCE_SCATTER_BLOCK:
        return r->call.bytes * 8;
    default:
        return r->call.bytes;
    }
}

/* Directly from memory to memory? The same at all members, since they have the same arguments. */
static bool is_large(struct reduction *r, size_t least, int *rc)
{
    *rc = 0;
    return r->call.bytes >= least && r->type->is_contig && node_copies_pay(&r->call, pays_as(r), rc);
}

/* The same of one in which all wait for all. */
static bool is_tried_large(struct reduction *r, enum node_kind kind, size_t least, int *rc)
{
    *rc = 0;
    if (r->call.bytes < least || !r->type->is_contig || !node_copies(&r->call, rc))
        return false;
    if (!r->call.comm->shelf_has_ways)
        return pays_as(r) >= r->call.comm->shelf_copy_min;
    huge_note(coll_own(r->args), r->call.bytes); /* the others would perhaps read it if it lay in huge pages */
    return node_ways_copy(&r->call, kind, r->call.bytes);
}

/* Where members do not combine slices: does another one need the operand of this one, or itself a copy? */
static bool is_read(const struct reduction *r)
{
    const bool is_last = r->call.comm->rank == r->call.comm->size - 1;

    switch (r->call.what >> NODE_WHAT_OP) {
    case COLL_EXSCAN:
        return !is_last;
    case COLL_SCAN:
        return !is_last || !r->has_own;
    case COLL_REDUCE:
        return r->call.comm->rank != r->args->root || !r->has_own;
    default:
        return true;
    }
}

static int run(struct reduction *r, const struct node_work *how)
{
    const bool has_result = how->next < how->end, sliced = is_sliced(r);
    const bool is_first = !sliced && r->is_scan && !r->is_exclusive && r->end == 1;
    struct node_work work = *how;
    int rc = make_room(r, sliced && !r->is_scan);

    work.brings = sliced || is_read(r);
    if (is_first)
        work.end = 0;
    if (!rc && sliced)
        rc = run_slices(r, work.total, work.part, has_result);
    else if (!rc)
        rc = node_run(&r->call, &work, fill_operand, is_first ? copy_operand : NULL, drain_result, r);
    drop_room(r);
    return rc;
}

static size_t allreduce_large_min(const struct comm *comm)
{
    return comm->size == 2 && !progress_is_oversubscribed() ? NODE_COPY_MIN_TWICE : node_copy_min_all();
}

int node_allreduce(struct comm *comm, const struct coll_args *args)
{
    struct reduction r;
    int rc = begin(&r, comm, args, COLL_ALLREDUCE, -1);

    if (!rc)
        rc = coll_check_reduction(args, args->recv.count, true);
    if (!rc && is_tried_large(&r, NODE_KIND_ALLREDUCE, allreduce_large_min(comm), &rc))
        rc = node_allreduce_large(&r.call, args);
    else if (!rc)
        rc = run(&r, &(struct node_work){ .total = r.call.bytes, .part = part_of(args->recv.type), .blocks = 1,
                                          .brings = true, .end = comm->size, .wakes = NODE_WAKES_LAST });
    node_ways_end(&r.call);
    return rc;
}

int node_reduce(struct comm *comm, const struct coll_args *args)
{
    const int root = args->root;
    const bool is_root = comm->rank == root;
    struct reduction r;
    int rc = begin(&r, comm, args, COLL_REDUCE, root);

    if (!rc)
        rc = coll_check_reduction(args, args->recv.count, is_root);
    if (!rc && is_large(&r, NODE_COPY_MIN, &rc))
        return node_reduce_large(&r.call, args);
    if (rc)
        return rc;
    return run(&r, &(struct node_work){ .total = r.call.bytes, .part = part_of(args->recv.type), .blocks = 1,
                                        .brings = true, .end = is_root ? comm->size : 0,
                                        .wakes = is_root ? NODE_WAKES_NOBODY : root });
}

/* Operands of ranks 0 to end - 1. */
static int scan(struct comm *comm, const struct coll_args *args, enum coll_operation op, int end)
{
    struct reduction r;
    int rc = begin(&r, comm, args, op, -1);

    r.end = end;
    r.has_own = args->recv.type->is_contig; /* what comes first */
    r.is_scan = true;
    r.is_exclusive = op == COLL_EXSCAN;
    if (!rc)
        rc = coll_check_reduction(args, args->recv.count, end > 0);
    if (!rc && !node_copies_clash(&r.call) && is_large(&r, node_copy_min_all(), &rc))
        return node_scan_large(&r.call, args, r.is_exclusive);
    if (rc)
        return rc;
    return run(&r, &(struct node_work){ .total = r.call.bytes, .part = part_of(args->recv.type), .blocks = 1,
                                        .brings = true, .end = end, .wakes = NODE_WAKES_ALL });
}

int node_scan(struct comm *comm, const struct coll_args *args)
{
    return scan(comm, args, COLL_SCAN, comm->rank + 1);
}

int node_exscan(struct comm *comm, const struct coll_args *args)
{
    return scan(comm, args, COLL_EXSCAN, comm->rank);
}

/* --- reduce_scatter(_block) --- */

/* A part of all blocks together: what lies in this member's block is combined. */
static void drain_block(void *arg, uint32_t round, size_t at, size_t len)
{
    const struct reduction *r = arg;
    const size_t size = (size_t)r->type->size;
    const size_t first = (size_t)r->skip * size, end = first + (size_t)r->count * size;
    const size_t from = at > first ? at : first, to = at + len < end ? at + len : end;
    void *out = r->result.memory ? r->result.buf : r->args->recv.buf;

    if (r->call.tried && !at)
        node_ways_hear(&r->call, round);
    if (from < to)
        combine(r, &(struct part){ round, at, len }, from - at, to - from, item_at(r, out, from - first));
}

/* In place and in several turns, operands that are still to go out lie where the result belongs. Who has an empty block
 * waits for nobody; `takers` have another one, the last of them is `taker`. */
static int scatter_block(struct reduction *r, int takers, int taker)
{
    const struct coll_args *args = r->args;
    struct node_work work = { .total = r->call.bytes, .part = part_of(r->type), .blocks = 1, .brings = true,
                              .end = r->count ? r->call.comm->size : 0, .wakes = NODE_WAKES_LAST };
    int rc = make_room(r, false);

    if (takers == 1)
        work.wakes = r->count ? NODE_WAKES_NOBODY : taker;
    else if (takers < r->call.comm->size)
        work.wakes = takers ? NODE_WAKES_ALL : NODE_WAKES_NOBODY;

    if (!rc && coll_is_in_place(args->send.buf) && work.total > work.part)
        rc = coll_temp_alloc(&r->result, r->type, r->count);
    if (!rc)
        rc = node_run(&r->call, &work, fill_operand, NULL, drain_block, r);
    if (!rc && r->result.memory)
        type_copy(args->recv.buf, r->count, r->type, r->result.buf, r->count, r->type);
    drop_room(r);
    return rc;
}

static MPI_Count count_of(const struct coll_data *result, int rank)
{
    return result->counts.p ? coll_number(&result->counts, rank) : result->count;
}

/* Buffers that go with counts have not been checked by the caller. */
static int check_buffers(const struct coll_args *all, MPI_Count own)
{
    const struct coll_data *result = &all->recv;
    int rc = coll_check_reduction(all, result->count, true);

    if (!rc)
        rc = coll_check_buffer(coll_own(all), result->count, result->type,
                               coll_is_in_place(all->send.buf) ? "recvbuf" : "sendbuf");
    return rc ? rc : coll_check_buffer(result->buf, own, result->type, "recvbuf");
}

int node_reduce_scatter(struct comm *comm, const struct coll_args *args)
{
    struct coll_args all = *args; /* of the blocks of all together */
    struct reduction r;
    MPI_Count before = 0;
    int rc, takers = 0, taker = 0;

    all.recv.count = 0;
    for (int rank = 0; rank < comm->size; rank++) {
        const MPI_Count count = count_of(&args->recv, rank);

        before = rank == comm->rank ? all.recv.count : before;
        all.recv.count += count;
        takers += count > 0;
        taker = count ? rank : taker;
    }
    rc = begin(&r, comm, &all, args->recv.counts.p ? COLL_REDUCE_SCATTER : COLL_REDUCE_SCATTER_BLOCK, -1);
    r.skip = before;
    r.count = count_of(&args->recv, comm->rank);
    if (!rc)
        rc = check_buffers(&all, r.count);
    if (!rc && (takers == comm->size ? is_tried_large(&r, NODE_KIND_REDUCE_SCATTER, node_copy_min_all(), &rc)
                                     : is_large(&r, node_copy_min_all(), &rc)))
        rc = node_reduce_scatter_large(&r.call, &all, before, r.count);
    else if (!rc)
        rc = scatter_block(&r, takers, taker);
    node_ways_end(&r.call);
    return rc;
}
