/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Building schedules, and the order of their steps in a run. Knows: type, op. Does not know: messages, or
 * what an algorithm is. */
#include "coll/sched.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "coll/int_spare.h"

enum { MEMORY_ALIGN = 16 };

/* One temporary buffer; the next one follows. */
struct sched_memory {
    struct sched_memory *next;
    size_t unused; /* keeps what follows aligned */
};

_Static_assert(sizeof(struct sched_memory) % MEMORY_ALIGN == 0, "what follows is aligned");

void sched_init(struct sched *s, struct comm *comm)
{
    s->comm = comm;
    s->op = NULL;
    s->steps = s->first_steps;
    s->edges = s->first_edges;
    s->step_count = s->edge_count = 0;
    s->step_room = SCHED_FIRST_STEPS;
    s->edge_room = SCHED_FIRST_EDGES;
    s->memory = NULL;
    s->bytes_used = s->bytes_more = 0;
    s->failed = 0;
    s->parameter = 0;
    s->layout = NULL;
    s->has_choices = s->has_turns = s->is_epoch = s->is_void = false;
    s->spans_clients = p2p_is_foreign_ctx(comm->ctx);
}

static void let_go_of(const struct coll_block *block)
{
    if (block->type && !block->type->is_permanent)
        type_unref(block->type);
}

static void keep(const struct coll_block *block)
{
    if (block->type && !block->type->is_permanent)
        type_ref(block->type);
}

void sched_fini(struct sched *s)
{
    for (int i = 0; i < s->step_count; i++) {
        let_go_of(&s->steps[i].from);
        let_go_of(&s->steps[i].to);
    }
    if (s->steps != s->first_steps)
        mem_free(s->steps);
    if (s->edges != s->first_edges)
        mem_free(s->edges);
    while (s->memory) {
        struct sched_memory *memory = s->memory;
        s->memory = memory->next;
        spare_free(memory);
    }
    if (s->op)
        op_unref(s->op);
}

static COLD int no_memory(struct sched *s, size_t bytes, const char *what)
{
    if (!s->failed)
        s->failed = err(MPI_ERR_NO_MEM, "no memory for %zu bytes of %s of a collective operation", bytes, what);
    return s->failed;
}

/* Twice the room for an array whose first elements lie in the schedule itself. */
static COLD int grow(struct sched *s, void **array, const void *first, int *room, size_t size)
{
    const size_t old = (size_t)*room * size;
    void *more = *room > INT_MAX / 2 ? NULL : mem_alloc(2 * old);

    if (!more)
        return no_memory(s, 2 * old, "steps");
    memcpy(more, *array, old);
    if (*array != first)
        mem_free(*array);
    *array = more;
    *room *= 2;
    return 0;
}

void sched_also(struct sched *s, int step, int before)
{
    struct sched_step *source;

    if (step < 0 || before < 0 || s->failed)
        return;
    if (unlikely(s->edge_count == s->edge_room) &&
        grow(s, (void **)&s->edges, s->first_edges, &s->edge_room, sizeof *s->edges))
        return;
    source = &s->steps[before];
    s->edges[s->edge_count] = (struct sched_edge){ step, -1 };
    if (source->first_edge < 0)
        source->first_edge = s->edge_count;
    else
        s->edges[source->last_edge].next = s->edge_count;
    source->last_edge = s->edge_count++;
    s->steps[step].needs++;
}

/* Inline, so that a step is made where it stays. */
static ALWAYS_INLINE int add(struct sched *s, struct sched_step what, const int *after)
{
    const int step = s->step_count;

    if (s->failed)
        return SCHED_NONE;
    if (unlikely(step == s->step_room) &&
        grow(s, (void **)&s->steps, s->first_steps, &s->step_room, sizeof *s->steps))
        return SCHED_NONE;
    what.first_edge = what.last_edge = -1;
    s->steps[step] = what;
    s->step_count++;
    keep(&what.from);
    keep(&what.to);
    for (; *after != SCHED_END; after++)
        sched_also(s, step, *after);
    return step;
}

int sched_send(struct sched *s, struct coll_block block, int dest, int sub, const int *after)
{
    return add(s, (struct sched_step){ .kind = SCHED_SEND, .from = block, .peer = dest,
                                       .sub = (uint8_t)(sub % SCHED_SUBS) }, after);
}

int sched_recv(struct sched *s, struct coll_block block, int source, int sub, const int *after)
{
    return add(s, (struct sched_step){ .kind = SCHED_RECV, .from = block, .peer = source,
                                       .sub = (uint8_t)(sub % SCHED_SUBS) }, after);
}

int sched_send_local(struct sched *s, struct coll_block block, int dest, int sub, const int *after)
{
    return add(s, (struct sched_step){ .kind = SCHED_SEND, .from = block, .peer = dest,
                                       .sub = (uint8_t)(sub % SCHED_SUBS), .is_local = s->comm->is_inter }, after);
}

int sched_recv_local(struct sched *s, struct coll_block block, int source, int sub, const int *after)
{
    return add(s, (struct sched_step){ .kind = SCHED_RECV, .from = block, .peer = source,
                                       .sub = (uint8_t)(sub % SCHED_SUBS), .is_local = s->comm->is_inter }, after);
}

int sched_copy(struct sched *s, struct coll_block from, struct coll_block to, const int *after)
{
    return add(s, (struct sched_step){ .kind = SCHED_COPY, .from = from, .to = to }, after);
}

int sched_reduce(struct sched *s, struct coll_block in, struct coll_block inout, const int *after)
{
    return add(s, (struct sched_step){ .kind = SCHED_REDUCE, .from = in, .to = inout }, after);
}

int sched_join(struct sched *s, const int *after)
{
    return add(s, (struct sched_step){ .kind = SCHED_NOTHING }, after);
}

int sched_recv_up_to(struct sched *s, struct coll_block block, int source, int sub, const int *after)
{
    return add(s, (struct sched_step){ .kind = SCHED_RECV, .from = block, .peer = source,
                                       .sub = (uint8_t)(sub % SCHED_SUBS), .is_up_to = true }, after);
}

int sched_recv_perhaps(struct sched *s, struct coll_block block, int source, int sub, const int *after)
{
    s->has_choices = true;
    return sched_recv(s, block, source, sub, after);
}

void sched_drop(const struct sched *s, int step)
{
    struct req *req = s->steps[step].req;

    s->steps[step].is_dropped = true;
    if (req)
        req->ops->cancel(req);
}

int sched_call(struct sched *s, sched_call_fn *fn, void *arg, const int *after)
{
    return add(s, (struct sched_step){ .kind = SCHED_CALL, .call = fn, .from = { arg, 0, NULL } }, after);
}

int sched_meet(struct sched *s, int word, const int *after)
{
    s->has_choices = true;
    return add(s, (struct sched_step){ .kind = SCHED_MEET, .sub = (uint8_t)word }, after);
}

void sched_set_send(const struct sched *s, int step, struct coll_block bytes)
{
    s->steps[step].kind = bytes.count ? SCHED_SEND : SCHED_NOTHING;
    s->steps[step].from = bytes;
}

void sched_set_from(const struct sched *s, int step, struct coll_block bytes)
{
    s->steps[step].from = bytes;
}

/* From the room in the schedule; NULL: it is used up. */
static void *first_bytes(struct sched *s, size_t len)
{
    char *const start = s->first_bytes + s->bytes_used;
    const size_t gap = -(uintptr_t)start % MEMORY_ALIGN, left = SCHED_FIRST_BYTES - s->bytes_used;

    if (len > left || gap > left - len)
        return NULL;
    s->bytes_used += gap + len;
    return start + gap;
}

static NOINLINE void *more_bytes(struct sched *s, size_t len)
{
    struct sched_memory *memory = s->failed ? NULL : spare_alloc(sizeof *memory + len);

    if (!memory) {
        no_memory(s, len, "intermediate results");
        return NULL;
    }
    memory->next = s->memory;
    s->memory = memory;
    s->bytes_more += len;
    return memory + 1;
}

void *sched_bytes(struct sched *s, size_t len)
{
    void *bytes = first_bytes(s, len);

    return bytes ? bytes : more_bytes(s, len);
}

struct coll_block sched_items(struct sched *s, struct type *type, MPI_Count count)
{
    const struct type_span span = type_room(type, count);
    const void *memory = sched_bytes(s, span.len + COLL_ITEMS_ALIGN);

    return (struct coll_block){ coll_place_items(memory, span), count, type };
}

/* --- the order of a run --- */

void sched_enqueue(struct sched *s, int i)
{
    struct sched_step *step = &s->steps[i];
    const bool is_message = step->kind == SCHED_SEND || step->kind == SCHED_RECV;
    struct sched_queue *queue = is_message ? &s->messages : &s->work;

    step->next = -1;
    if (queue->first < 0)
        queue->first = i;
    else
        s->steps[queue->last].next = i;
    queue->last = i;
}

static int dequeue(const struct sched *s, struct sched_queue *queue)
{
    const int i = queue->first;

    if (i >= 0)
        queue->first = s->steps[i].next;
    return i;
}

void sched_rewind(struct sched *s)
{
    s->left = s->step_count;
    s->error = 0;
    s->messages.first = s->work.first = -1;
    for (int i = 0; i < s->step_count; i++) {
        struct sched_step *step = &s->steps[i];
        step->waits = step->needs;
        step->req = NULL;
        step->is_put_off = step->is_dropped = false;
        step->is_void = s->is_void;
        if (!step->waits)
            sched_enqueue(s, i);
    }
}

int sched_next(struct sched *s)
{
    int i = dequeue(s, &s->messages);

    while (i >= 0 && unlikely(s->steps[i].is_dropped)) {
        sched_over(s, i);
        i = dequeue(s, &s->messages);
    }
    return i >= 0 ? i : dequeue(s, &s->work);
}

int sched_next_turn(struct sched *s)
{
    int i;

    while ((i = sched_next(s)) >= 0) {
        struct sched_step *step = &s->steps[i];

        if (step->kind != SCHED_RECV || step->is_put_off || s->messages.first < 0)
            break;
        step->is_put_off = true;
        sched_enqueue(s, i);
    }
    return i;
}

void sched_make_turns(struct sched *s)
{
    if (s->has_choices)
        return;
    sched_rewind(s);
    s->has_receives = false;
    for (int turn = 0; turn < s->step_count; turn++) {
        const int i = sched_next_turn(s);

        assert(i >= 0);
        s->steps[turn].turn = i;
        s->has_receives |= s->steps[i].kind == SCHED_RECV;
        s->steps[i].is_short = s->steps[i].kind == SCHED_RECV && coll_bytes(&s->steps[i].from) <= SCHED_SHORT;
        sched_over(s, i);
    }
    s->has_turns = true;
}

void sched_over(struct sched *s, int step)
{
    const bool is_void = s->steps[step].is_void;

    s->left--;
    for (int e = s->steps[step].first_edge; e >= 0; e = s->edges[e].next) {
        struct sched_step *follower = &s->steps[s->edges[e].to];
        follower->is_void |= is_void;
        if (!--follower->waits)
            sched_enqueue(s, s->edges[e].to);
    }
}

/* What should have told lengths tells that there is nothing, so calls that read it set sends that can be begun. */
void sched_make_void(struct sched_step *step)
{
    step->is_void = true;
    if (step->is_up_to)
        memset(step->from.buf, 0, coll_bytes(&step->from));
}

int sched_work(const struct sched *s, const struct sched_step *step)
{
    switch (step->kind) {
    case SCHED_COPY: return coll_copy(&step->from, &step->to);
    case SCHED_REDUCE: op_reduce(s->op, step->from.buf, step->to.buf, step->from.count, step->from.type); break;
    case SCHED_CALL: return step->call(s, step->from.buf);
    default: break;
    }
    return 0;
}
