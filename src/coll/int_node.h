/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll, private. What calls through shared memory are made of. A call takes one round or several. In a round each
 * member opens its line, may leave data with it, and posts it; others wait for the line and use the data until they
 * post in a later round. Short data lie in the line itself, others in the cell that goes with it.
 *
 * Who waits sleeps like everybody. So who posts wakes those that the line may be enough for: where all wait for all,
 * only those who see that nobody is missing (node_meet); elsewhere whoever posts (node_tell). */
#ifndef COLL_INT_NODE_H
#define COLL_INT_NODE_H

#include "base/copy.h"
#include "coll/node.h"
#include "progress/progress.h"

enum {
    NODE_FLAT_MAX = 16,          /* members that may all wait for all, with a processor for each … */
    NODE_FLAT_MAX_CROWDED = 64,  /* … and without */
    NODE_AHEAD = SHELF_CELLS / 2, /* rounds that may be posted before the first of them is waited for: who posts round
                                   * r is done with all up to r - NODE_AHEAD */
};

enum { NODE_FETCH_AHEAD = 8 }; /* rounds */
enum { NODE_LONG_MAX = 1 << 30, NODE_PART = 8192 };

/* Bytes that go at a time. With a processor for each, one fills a part while another uses the part before; without,
 * fewer parts are fewer changes of context. */
static inline size_t node_part(void)
{
    return progress_is_oversubscribed() ? SHELF_CELL : NODE_PART;
}

/* How many members may all wait for all. */
static inline int node_flat_max(void)
{
    return progress_is_oversubscribed() ? NODE_FLAT_MAX_CROWDED : NODE_FLAT_MAX;
}

/* Ways of long blocks; see int_ways.h. */
enum node_way {
    NODE_WAY_CELLS,
    NODE_WAY_WRITE,     /* who brings one writes it to where it goes */
    NODE_WAY_READ,      /* who takes one reads it where it is */
    NODE_WAYS
};

struct node_call {
    struct comm *comm;
    uint32_t what;      /* lower half of a stamp: operation and root */
    int tag;            /* of messages of the call */
    uint32_t round;
    uint64_t bytes;     /* that the call tells; 0: they may differ */
    uint8_t tried;      /* which kind and class of int_ways.h it is, from 1; 0: none */
    uint8_t way;        /* if it is one: the way that it goes, … */
    uint64_t start;     /* … and when it began, or 0 */
};

enum { NODE_WHAT_OP = 24, NODE_WHAT_ROOT = (1 << NODE_WHAT_OP) - 1, NODE_NO_ROOT = NODE_WHAT_ROOT };

/* `what` of a call; root -1: it has none. */
static ALWAYS_INLINE uint32_t node_what(enum coll_operation operation, int root)
{
    return (uint32_t)operation << NODE_WHAT_OP | (uint32_t)(root < 0 ? NODE_NO_ROOT : root);
}

/* Begin a call: takes its number. */
int node_begin(struct node_call *call, struct comm *comm, enum coll_operation op, int root, size_t bytes);

/* What `wants` of struct shelf_member says: round, step (0: lines), members next to end - 1; of many members, that
 * anything may be news. */
enum {
    NODE_WANTS_ROUND = 32, NODE_WANTS_STEP = 24, NODE_WANTS_NEXT = 12, /* bits */
    NODE_WANTS_RANK = (1 << NODE_WANTS_NEXT) - 1, NODE_WANTS_STEPS = 1 << (NODE_WANTS_ROUND - NODE_WANTS_STEP),
};

static inline uint64_t node_wants(uint32_t round, uint32_t step, int next, int end)
{
    if (end > NODE_WANTS_RANK || step >= NODE_WANTS_STEPS)
        return 1 << NODE_WANTS_NEXT; /* what ends before it begins is over */
    return (uint64_t)round << NODE_WANTS_ROUND | step << NODE_WANTS_STEP | (uint32_t)next << NODE_WANTS_NEXT |
           (uint32_t)end;
}

/* Slow half of node_wake: this member sleeps. */
void node_wake_sleeper(const struct node_call *call, int rank);

/* Wake all, or one, who sleep until something comes that has come by now: after a post or a step, and when all have
 * been seen to come. */
void node_wake_all(const struct node_call *call);
static inline void node_wake(const struct node_call *call, int rank)
{
    /* acquire pairs with who goes to sleep, who has said before what it waits for */
    if (unlikely(atomic_load_explicit(&shelf_proc(call->comm, rank)->sleep, memory_order_acquire)))
        node_wake_sleeper(call, rank);
}

/* Wait until members next to end - 1 have come at least to a round, which may be any before the present one. */
void node_await_late(const struct node_call *call, uint32_t round, int next, int end) COLD;
/* Wait until all have come at least to the round that is `distance` before this one, better half of that. */
void node_catch_up(struct node_call *call, uint32_t distance) COLD;
/* A cell for the present round: the first that is free. It may be waited for. */
uint32_t node_take_cell(struct node_call *call);

/* The next round begins; it may be waited until others are done with the line, and with a cell if one is used. Returns
 * this member's line. */
static ALWAYS_INLINE struct shelf_line *node_open(struct node_call *call, bool uses_cell)
{
    enum { DISTANCE = SHELF_SLOTS - NODE_AHEAD };
    struct comm *comm = call->comm;
    struct shelf_line *line;

    call->round = ++comm->shelf.round;
    if (unlikely(call->round - comm->shelf_known > DISTANCE))
        node_catch_up(call, DISTANCE);
    line = shelf_line(comm, comm->rank, call->round);
    line->told = shelf_told(call->bytes, uses_cell ? node_take_cell(call) : 0);
    return line;
}

/* What has been put there is for all to see. */
static ALWAYS_INLINE void node_post(struct node_call *call, struct shelf_line *line)
{
    /* release pairs with has_line */
    atomic_store_explicit(&line->stamp, (uint64_t)call->round << 32 | call->what, memory_order_release);
    if (unlikely(progress.uses_fence)) /* it waits for the line if another processor has it: get those to come now */
        prefetch_write(shelf_line(call->comm, call->comm->rank, call->round + NODE_FETCH_AHEAD));
    progress_fence();
    if (unlikely(atomic_load_explicit(&shelf_head(call->comm)->late, memory_order_relaxed)))
        node_wake_all(call);
}

/* Wait for the lines of the members next to end - 1 in round `round`, and compare their calls with ours. Error:
 * E0700. */
int node_await(struct node_call *call, uint32_t round, int next, int end);

/* All wait for all, in round `round`, which this member has posted. */
static ALWAYS_INLINE int node_meet(struct node_call *call, uint32_t round)
{
    const int rc = node_await(call, round, 0, call->comm->size);

    call->comm->shelf_known = round;
    node_wake_all(call);
    return rc;
}

/* The same for a step inside the present round: 1 or more, growing. node_step: this member has come to it. */
void node_step(struct node_call *call, uint32_t step);
void node_await_step(struct node_call *call, uint32_t step, int next, int end);
void node_meet_step(struct node_call *call, uint32_t step);

/* Where the data of a member lie in a round in which each brings `len` bytes. */
static ALWAYS_INLINE void *node_place(const struct node_call *call, int rank, uint32_t round, size_t len)
{
    return len <= SHELF_INLINE ? (void *)shelf_line(call->comm, rank, round)->data
                               : (void *)shelf_cell(call->comm, rank, round);
}

/* Bytes [at, at + len) of a block, into a line or a cell and out of one. */
static ALWAYS_INLINE void node_pack(const struct coll_block *from, size_t at, char *to, size_t len)
{
    if (unlikely(!from->type->is_contig))
        type_pack(from->type, from->buf, from->count, at, to, len);
    else if (likely(len <= COPY_SHORT_MAX))
        copy_short(to, coll_address(from->buf, (MPI_Count)at), len);
    else
        shared_write(to, coll_address(from->buf, (MPI_Count)at), len, false);
}

static ALWAYS_INLINE void node_unpack(const struct coll_block *to, size_t at, const char *from, size_t len)
{
    if (unlikely(!to->type->is_contig))
        type_unpack(to->type, to->buf, to->count, at, from, len);
    else if (likely(len <= COPY_SHORT_MAX))
        copy_short(coll_address(to->buf, (MPI_Count)at), from, len);
    else
        shared_read(coll_address(to->buf, (MPI_Count)at), from, len);
}

/* What a call does in rounds that each carry a part of the data: each member that brings something fills its place,
 * and those that wait for others use what lies in theirs. */
struct node_work {
    size_t total;       /* bytes of a block */
    size_t part;        /* of these in a round, at most */
    int blocks;         /* that a member brings: it fills so many times the part */
    bool brings;        /* does this member bring something? */
    int next, end;      /* members that it waits for */
    int wakes;          /* a rank, or one of these */
};

enum { NODE_WAKES_ALL = -1, NODE_WAKES_LAST = -2 /* all wait for all */, NODE_WAKES_NOBODY = -3 };

/* Bytes [at, at + len) of the block, or of each of them, to or from where a member's data lie in the round. */
typedef void node_fill_fn(void *arg, char *place, size_t at, size_t len);
typedef void node_drain_fn(void *arg, uint32_t round, size_t at, size_t len);
/* What needs no other member; once, when what others wait for is on its way: all of it if this member waits for nobody,
 * else the first rounds. */
typedef int node_own_fn(void *arg);

static ALWAYS_INLINE int node_pass(struct node_call *call, const struct node_work *work, uint32_t round)
{
    if (work->wakes == NODE_WAKES_LAST)
        return node_meet(call, round);
    return work->next < work->end ? node_await(call, round, work->next, work->end) : 0;
}

/* Rounds until all has gone; one if there is nothing. `own` may be NULL; after an error of it, too, the others get what
 * they wait for. */
static ALWAYS_INLINE int node_run(struct node_call *call, const struct node_work *work, node_fill_fn *fill,
                                  node_own_fn *own, node_drain_fn *drain, void *arg)
{
    size_t filled = 0, drained = 0;
    int rc = 0, failed = 0;

    do {
        uint32_t round = call->comm->shelf.round + 1;
        int posted = 0;

        do {
            const size_t len = size_min(work->part, work->total - filled);
            const size_t brings = work->brings ? (size_t)work->blocks * len : 0;
            struct shelf_line *line = node_open(call, brings > SHELF_INLINE);

            if (work->brings)
                fill(arg, node_place(call, call->comm->rank, call->round, brings), filled, len);
            node_post(call, line);
            if (work->wakes == NODE_WAKES_ALL)
                node_wake_all(call);
            else if (work->wakes >= 0)
                node_wake(call, work->wakes);
            filled += len;
        } while (++posted < NODE_AHEAD && filled < work->total);
        if (own && (work->next < work->end ? !drained : filled >= work->total))
            failed = own(arg);
        for (; posted > 0 && !rc; posted--, round++) {
            const size_t len = size_min(work->part, work->total - drained);

            rc = node_pass(call, work, round);
            if (!rc && work->next < work->end)
                drain(arg, round, drained, len);
            drained += len;
        }
    } while (filled < work->total && !rc);
    return failed ? failed : rc;
}

/* --- copying from one member's memory to another's, without a copy between (node_copy.c) --- */

/* Bytes that a member brings, from which on that is faster, whether lines are near or far; the second where all copy,
 * with a processor each; the third where both of two members do in an allreduce (combine_twice in node_large.c). */
enum { NODE_COPY_MIN = 65536, NODE_COPY_MIN_ALL = 32768, NODE_COPY_MIN_TWICE = 12288 };

/* Where calls of the system are dear, many bytes are faster through cells, too: from here on pages are large. */
enum { NODE_COPY_MIN_DEAR = 2097152, NODE_COPY_MIN_FEW = 131072 /* of a scatter to two or three */ };

static inline size_t node_copy_min_all(void)
{
    return progress_is_oversubscribed() ? NODE_COPY_MIN : NODE_COPY_MIN_ALL;
}

/* Two processes that copy from one and the same third one hinder each other in the system, by its locks and its counts
 * of users of pages (1 MB takes 33 us alone, 57 when they copy from different places, 140 from the same). So what more
 * than one member reads goes through cells. */
static inline bool node_copies_clash(const struct node_call *call)
{
    return call->comm->size > 2;
}

/* What a member tells in its line: where others may read and write while they are in the call. */
struct node_window {
    uint64_t in, out;
    uint64_t len;
    uint64_t value;
};

/* Let all find out whether each may copy from each; once. In call->round further ones follow. Error: E0700. */
int node_ask_copies(struct node_call *call) COLD;
/* May they? Collective the first time; *rc is its error. */
static inline bool node_copies(struct node_call *call, int *rc)
{
    *rc = 0;
    if (unlikely(!call->comm->shelf_copies))
        *rc = node_ask_copies(call);
    return !*rc && call->comm->shelf_copies > 0;
}

/* The same for so many bytes, which are enough where copies are cheap: do they pay here? */
static inline bool node_copies_pay(struct node_call *call, size_t bytes, int *rc)
{
    return node_copies(call, rc) && bytes >= call->comm->shelf_copy_min;
}

/* Tell the window, as a round in which all wait for all. Error: E0700. */
int node_show(struct node_call *call, const struct node_window *window);
/* What another one told in the present round. */
static inline const struct node_window *node_window(const struct node_call *call, int rank)
{
    return (const struct node_window *)(const void *)shelf_line(call->comm, rank, call->round)->data;
}

/* Copy `len` bytes from or to the memory of another member. Error: E0701. */
int node_fetch(const struct node_call *call, int rank, void *to, uint64_t from, size_t len);
int node_push(const struct node_call *call, int rank, const void *from, uint64_t to, size_t len);

/* The first error counts; who has met one goes on with the steps of the call, for the others. */
static inline void node_note(int *rc, int error)
{
    if (unlikely(error) && !*rc)
        *rc = error;
}

/* Reductions in that way, of items without gaps, at least one of them (node_large.c). `in` and results as in coll.h. */
int node_allreduce_large(struct node_call *call, const struct coll_args *args);
int node_reduce_large(struct node_call *call, const struct coll_args *args);
/* Of two members. */
int node_scan_large(struct node_call *call, const struct coll_args *args, bool is_exclusive);
/* args->recv.count is that of all blocks; this member's result is `own` items after `before` others. */
int node_reduce_scatter_large(struct node_call *call, const struct coll_args *args, MPI_Count before,
                              MPI_Count own);

/* --- blocks from members to members --- */

struct node_blocks {
    struct node_call *call;
    const struct coll_data *out, *in; /* blocks that this member brings (NULL: none) and takes */
    int out_index, in_index;    /* the only one, for all or from one; NODE_EACH: the ranks' own */
    int first, end;             /* members that it takes from, itself left out */
    int reader, readers_end;    /* members that take from it, itself left out */
    bool is_in_place;           /* what it takes overwrites what it brings */
    bool has_root;              /* one brings to all, or all to one */
    bool has_one;               /* who brings something brings one block for all */
    bool varies;                /* not everybody knows all lengths */
    size_t *told;               /* by rank: bytes of the blocks that this member takes, if it knows; or NULL */
    bool has_own;               /* this member has a block for itself: */
    struct coll_block own_from, own_to;
};

enum { NODE_EACH = -1, NODE_EACH_MIN = 8192 /* bytes of a block from which on many are better read where they are */ };

/* Are blocks, of which a member brings so many, better read where they are? */
static inline bool node_is_long(size_t bytes, int blocks)
{
    return bytes >= NODE_COPY_MIN || (bytes >= NODE_EACH_MIN && bytes * (size_t)blocks >= NODE_COPY_MIN);
}

/* All bring and all take: each is busy with what it takes. */
static inline bool node_is_mutual(const struct node_blocks *b)
{
    return b->out && b->first < b->end;
}

/* Does each read what each of several others brings for all? */
static inline bool node_is_read_by_all(const struct node_blocks *b)
{
    return b->has_one && node_is_mutual(b) && node_copies_clash(b->call);
}

/* The same of such calls. The own block is left out where each copies for itself or for one other, and where all who
 * take also bring and wait for each other anyway, with a processor each, fewer bytes will do. */
static inline bool node_is_long_for(const struct node_blocks *b, size_t bytes, int blocks)
{
    const bool is_mutual = node_is_mutual(b);

    return node_is_long(bytes, blocks - (is_mutual || b->call->comm->size == 2)) ||
           (is_mutual && bytes >= node_copy_min_all());
}

/* The block for itself, if there is one. Errors: those of coll_copy; E0702. */
int node_copy_own(const struct node_blocks *b);

/* Of a block of so many bytes for each: what to compare with shelf_copy_min where ranks share processors and all bring
 * and take. What the caches do not hold any more takes a second copy as long as one by the system. */
static inline size_t node_weight(const struct comm *comm, size_t bytes)
{
    return progress_is_oversubscribed() ? bytes * (size_t)comm->size : bytes;
}

/* The same of any block. Who scatters to many would write all their blocks into cells, so there the others read long
 * ones anyway. */
static inline size_t node_pays_as(const struct node_blocks *b, size_t bytes)
{
    const bool is_mutual = node_is_mutual(b), is_scatter = !b->has_one && !is_mutual;

    if (is_scatter && b->call->comm->size > 2 &&
        bytes >= (b->call->comm->size > 4 ? NODE_COPY_MIN_ALL : NODE_COPY_MIN_FEW))
        return SIZE_MAX;
    return is_mutual ? node_weight(b->call->comm, bytes) : bytes;
}

/* Who takes a block reads it in the memory of who brings it; few bytes go through the cell. Lengths may differ.
 * *longest: 0, or nothing has been moved but the own block of who does not both bring and take, because none is so long
 * that it pays here: the bytes of the longest, of which all members know by now, and b->told is filled in. Errors:
 * E0700, E0701, MPI_ERR_NO_MEM, MPI_ERR_TRUNCATE. */
int node_copy_blocks(const struct node_blocks *b, size_t *longest);
/* The same for who only takes, or has brought its blocks in a line of its own, when all lines that it waits for are
 * there. */
int node_take_boxes(const struct node_blocks *b, size_t *longest);
/* And goes on in rounds, if that comes out of it (node_blocks.c). */
int node_take_blocks(const struct node_blocks *b);

static inline struct coll_block node_out(const struct node_blocks *b, int rank)
{
    return coll_data_block(b->out, b->out_index == NODE_EACH ? rank : b->out_index);
}

static inline struct coll_block node_in(const struct node_blocks *b, int rank)
{
    return coll_data_block(b->in, b->in_index == NODE_EACH ? rank : b->in_index);
}

/* --- blocks whose lengths only some know, in slots (node_slots.c) --- */

/* What a member says in its line of the first round, before all that lies there. */
struct node_head {
    uint32_t stride;    /* bytes of a slot; 0: there are none */
    uint32_t len;       /* of all blocks; or: */
};

enum { NODE_SLOTS_MOST = NODE_FLAT_MAX_CROWDED };
#define NODE_SLOTS_VARY UINT32_MAX       /* lengths stand before the slots */
#define NODE_SLOTS_NONE (UINT32_MAX - 1) /* no slots: memory is shown */

static inline const struct node_head *node_head(const struct node_call *call, int rank, uint32_t first)
{
    return (const struct node_head *)(const void *)shelf_line(call->comm, rank, first)->data;
}

/* The blocks that this member brings. */
struct node_slots {
    struct node_head head;
    int count, rounds;
    struct coll_block block[NODE_SLOTS_MOST];
    size_t len[NODE_SLOTS_MOST];
};

/* False: they are too long or too many. */
bool node_slots_plan(const struct node_blocks *b, struct node_slots *slots);
/* Put them there; call->round is the first round again. A block whose length is NODE_SLOTS_NONE is left out. */
void node_slots_post(struct node_call *call, const struct node_slots *slots);
/* Others have more rounds than the `rounds` that this member has posted, which takes part in them. */
void node_slots_follow(const struct node_blocks *b, int rounds);
/* Take the block that `rank` has in one of its `count` slots. Errors: MPI_ERR_TRUNCATE, E0700. */
int node_slots_take(struct node_call *call, int rank, int count, int slot, const struct coll_block *to);
/* Its length, or NODE_SLOTS_NONE. */
size_t node_slots_len(const struct node_call *call, int rank, int count, int slot);
/* How many rounds slots with this head take. */
int node_slots_rounds(const struct node_call *call, const struct node_head *head, int count);

/* --- a block too long for one round of slots, for one reader (node_trays.c) --- */

#define NODE_SLOTS_TRAY (UINT32_MAX - 2) /* in a head: it lies in the tray whose number stands in place of the stride */

/* Should the only block that this member brings go that way? */
bool node_tray_is_better(const struct node_blocks *b);
/* Put it there, as node_slots_post does; it may be waited until the reader of the last but one is done. */
void node_tray_post(const struct node_blocks *b);
/* As node_slots_take. */
int node_tray_take(const struct node_call *call, int rank, const struct coll_block *to);

#endif
