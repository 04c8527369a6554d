/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Schedules that are kept for calls that repeat others: a communicator has a few, by what such calls have
 * in common. The user's buffers may be others each time: a schedule is built with two addresses that no memory has, so
 * that it shows which blocks lie where in which buffer, and moved to the real ones.
 *
 * Not kept are calls whose steps depend on arrays of the user's, on datatypes and operators that he may free, calls on
 * intercommunicators, those that make communicators, and schedules that take much memory.
 *
 * A kept one is taken while it runs, also if it is a request that another thread completes. Then a call that is the
 * same takes a second one, or none. Knows: schedules. Does not know: what a call is for. */
#include "base/mem.h"
#include "coll/int_call.h"

enum {
    SLOTS = 8,            /* a power of two */
    WAYS = 2,             /* slots in which a call may be */
    MOST_STEPS = 64,
    MOST_BYTES = 16384,   /* of intermediate results */
};

struct kept {
    struct sched *slots[SLOTS];
};

/* --- which calls --- */

#define KEPT(name) (UINT32_C(1) << COLL_##name)

static const uint32_t may_be_kept = KEPT(BARRIER) | KEPT(BCAST) | KEPT(GATHER) | KEPT(SCATTER) | KEPT(ALLGATHER) |
                                    KEPT(ALLTOALL) | KEPT(REDUCE) | KEPT(ALLREDUCE) | KEPT(REDUCE_SCATTER_BLOCK) |
                                    KEPT(SCAN) | KEPT(EXSCAN) | KEPT(NEIGHBOR_ALLGATHER) | KEPT(NEIGHBOR_ALLTOALL);

static bool is_predefined(const struct coll_data *data)
{
    return coll_is_in_place(data->buf) || data->type->is_permanent;
}

/* Does all that is significant here stay what it is? */
static bool is_permanent(const struct comm *comm, const struct coll_args *args)
{
    switch (args->operation) {
    case COLL_BARRIER: return true;
    case COLL_BCAST: return is_predefined(&args->send);
    case COLL_GATHER: return is_predefined(&args->send) && (args->root != comm->rank || is_predefined(&args->recv));
    case COLL_SCATTER: return is_predefined(&args->recv) && (args->root != comm->rank || is_predefined(&args->send));
    default: return is_predefined(&args->send) && is_predefined(&args->recv);
    }
}

static bool may_keep(const struct comm *comm, const struct coll_args *args)
{
    return may_be_kept >> args->operation & 1 && comm->size > 1 && !comm->is_inter && !comm->coll_outer &&
           (!args->op || args->op->obj.predefined) && is_permanent(comm, args);
}

/* Also what is not significant here: most calls that repeat others repeat that as well. */
static ALWAYS_INLINE bool is_same(const struct sched_key *key, const struct coll_args *args)
{
    return key->operation == args->operation && key->root == args->root && key->op == args->op &&
           key->send_type == args->send.type && key->send_count == args->send.count &&
           key->recv_type == args->recv.type && key->recv_count == args->recv.count &&
           key->is_send_in_place == coll_is_in_place(args->send.buf) &&
           key->is_recv_in_place == coll_is_in_place(args->recv.buf);
}

static ALWAYS_INLINE unsigned slot_of(const struct coll_args *args)
{
    return (args->operation + 3U * (unsigned)args->root + (unsigned)(args->send.count >> 2)) % SLOTS;
}

/* --- the user's buffers --- */

/* Which buffer an address is in: those that are built with are 1 and 2 times 2^62, and no offset is 2^61. */
enum { NO_BUFFER, SENT, RECEIVED, BUFFER_BIT = 62 };

static void *address_in(int buffer)
{
    return (void *)((uintptr_t)buffer << BUFFER_BIT);
}

static uint8_t buffer_of(const void *address)
{
    return (uint8_t)(((uintptr_t)address + (UINT64_C(1) << (BUFFER_BIT - 1))) >> BUFFER_BIT);
}

static void move_block(struct coll_block *block, uint8_t buffer, const MPI_Count offsets[3])
{
    block->buf = coll_address(block->buf, offsets[buffer]);
}

/* To the buffers of this call. */
static NOINLINE void move(struct sched *s, const void *sent, const void *received)
{
    const MPI_Count offsets[3] = { 0, (const char *)sent - (const char *)s->buffers[0],
                                   (const char *)received - (const char *)s->buffers[1] };

    for (int i = 0; i < s->step_count; i++) {
        move_block(&s->steps[i].from, s->steps[i].from_buffer, offsets);
        move_block(&s->steps[i].to, s->steps[i].to_buffer, offsets);
    }
    s->buffers[0] = sent;
    s->buffers[1] = received;
}

int kept_build(struct sched *s, const struct coll_args *args, coll_build_fn *build)
{
    struct coll_args placed = *args;

    if (!coll_is_in_place(args->send.buf))
        placed.send.buf = address_in(SENT);
    if (!coll_is_in_place(args->recv.buf))
        placed.recv.buf = address_in(RECEIVED);
    build(s, &placed);
    if (s->failed)
        return s->failed;
    for (int i = 0; i < s->step_count; i++) {
        s->steps[i].from_buffer = buffer_of(s->steps[i].from.buf);
        s->steps[i].to_buffer = buffer_of(s->steps[i].to.buf);
    }
    s->buffers[0] = placed.send.buf;
    s->buffers[1] = placed.recv.buf;
    move(s, args->send.buf, args->recv.buf);
    sched_make_turns(s);
    return 0;
}

/* --- taking and giving back --- */

static ALWAYS_INLINE bool is_taken(const struct sched *s)
{
    return atomic_load_explicit(&s->is_taken, memory_order_acquire); /* pairs with kept_give_back */
}

static ALWAYS_INLINE bool is_ready(const struct sched *s, const struct coll_args *args)
{
    return s->has_turns && is_same(&s->key, args) && !is_taken(s);
}

/* In whose place a new one goes; NULL: all that may be are taken. */
static struct sched **find_place(struct kept *kept, unsigned first)
{
    struct sched **place = NULL;

    for (unsigned way = 0; way < WAYS; way++) {
        struct sched **slot = &kept->slots[(first + way) % SLOTS];

        if (!*slot)
            return slot;
        if (!place && !is_taken(*slot))
            place = slot;
    }
    return place;
}

/* An empty one. */
static struct sched *make(struct comm *comm, const struct coll_args *args)
{
    struct sched **place = find_place(comm->coll_kept, slot_of(args)), *s;

    if (!place)
        return NULL;
    s = *place;
    if (s) {
        sched_fini(s);
        sched_init(s, comm);
    } else {
        s = *place = sched_create(comm);
        if (!s)
            return NULL;
        s->is_kept = true;
    }
    s->key = (struct sched_key){
        .op = args->op, .send_type = args->send.type, .send_count = args->send.count, .recv_type = args->recv.type,
        .recv_count = args->recv.count, .root = args->root, .operation = (uint8_t)args->operation,
        .is_send_in_place = coll_is_in_place(args->send.buf), .is_recv_in_place = coll_is_in_place(args->recv.buf),
    };
    return s;
}

/* In the other places, or a new one. */
static NOINLINE struct sched *find_or_make(struct comm *comm, const struct coll_args *args)
{
    if (!may_keep(comm, args))
        return NULL;
    if (!comm->coll_kept)
        comm->coll_kept = mem_zalloc(sizeof *comm->coll_kept);
    if (!comm->coll_kept)
        return NULL;
    for (unsigned way = 1; way < WAYS; way++) {
        struct sched *s = comm->coll_kept->slots[(slot_of(args) + way) % SLOTS];

        if (s && is_ready(s, args))
            return s;
    }
    return make(comm, args);
}

struct sched *kept_take(struct comm *comm, const struct coll_args *args)
{
    struct sched *s = comm->coll_kept ? comm->coll_kept->slots[slot_of(args)] : NULL;

    if (unlikely(!s || !is_ready(s, args)))
        s = find_or_make(comm, args);
    if (unlikely(!s))
        return NULL;
    atomic_store_explicit(&s->is_taken, true, memory_order_relaxed); /* nobody else looks for one now (§6.14) */
    if (s->has_turns && unlikely(s->buffers[0] != args->send.buf || s->buffers[1] != args->recv.buf))
        move(s, args->send.buf, args->recv.buf);
    return s;
}

void kept_give_back(struct sched *s)
{
    if (unlikely(!s->has_turns || s->step_count > MOST_STEPS || s->bytes_more > MOST_BYTES)) {
        sched_fini(s);
        sched_init(s, s->comm);
    }
    atomic_store_explicit(&s->is_taken, false, memory_order_release); /* pairs with find */
}

void kept_drop(struct comm *comm)
{
    struct kept *kept = comm->coll_kept;

    if (!kept)
        return;
    comm->coll_kept = NULL;
    for (int i = 0; i < SLOTS; i++) {
        if (kept->slots[i])
            sched_destroy(kept->slots[i]);
    }
    mem_free(kept);
}
