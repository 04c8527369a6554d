/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: rma. Favours, both ends. A word of the pair of ranks, in the target's control part, says how it stands:
 *
 *   IDLE
 *   OFFERED, at    the origin has sent a parcel that tells all; it has done, or is about to do, what is before `at`,
 *                  and moves `at` on before it does more
 *   TAKEN          the target does the rest: it reads the origin's data and writes its results by peeking
 *   DONE, at       it has come so far: to the end, or to a stripe that somebody has
 *   DECLINED, at   it can't peek
 *   FAILED, at     it could not write the results: some are lost
 *   WITHDRAWN      the origin has done all; the parcel has not been looked at
 *
 * Whoever moves the word from OFFERED on has the bytes behind `at`. Only the target ends WITHDRAWN, only the origin
 * DONE; until it is IDLE again nothing more is offered, so a target that computes has one such parcel at most.
 * Knows: parcels, combining. Does not know: how the origin does its own part. */
#include "rma/favour.h"

#include "base/err.h"
#include "base/mem.h"
#include "p2p/p2p.h"
#include "rma/combine.h"
#include "rma/int_message.h"

enum state { IDLE, OFFERED, TAKEN, DONE, DECLINED, FAILED, WITHDRAWN, STATES = 8 };

enum {
    SMALL = 256,             /* a piece has fewer bytes than this, … */
    MANY = 64,               /* … and there are as many; measured: 0.4 us each against 5 to 10 us to tell */
    FIRST = 8, MOST = 256,   /* pieces that the origin does at a time */
    PART = 1 << 20,          /* bytes of data in one favour, unless the outline is long, too */
    CHUNK = 16384,           /* that a target reads at a time */
};

static uint64_t word_of(enum state state, size_t at)
{
    return (uint64_t)at * STATES + state;
}

static enum state state_of(uint64_t word)
{
    return (enum state)(word % STATES);
}

/* --- the origin --- */

/* One that is being run: a part of the call. */
struct running {
    const struct win_favour *call;
    const struct type_outline *outline;
    _Atomic uint64_t *word;
    size_t begin, end;
    char *from, *result; /* of byte `begin`; NULL: no result is wanted */
    bool is_out;         /* offered by us */
    bool is_declined;
    size_t hole, hole_end; /* refused after the target had taken what is behind; equal: there is none */
};

bool win_favour_pays(const struct win *win, const struct win_aim *aim, const struct win_place *place)
{
    const size_t pieces = type_block_count(aim->type, aim->count);

    return win->messages && pieces >= MANY && place->bytes / pieces < SMALL && !type_is_run(aim->type, aim->count);
}

static _Atomic uint64_t *word_at(const struct win *win, int target, int origin)
{
    return &win_member(win, target)->pair[origin].favour;
}

/* What stands behind head and outline in the parcel. */
struct told {
    uint64_t from, result; /* where the data of byte head.at lie at the origin, and what was there goes; 0: nowhere */
};

static int send(const struct running *r, size_t at, size_t end)
{
    const struct win_favour *call = r->call;
    const size_t len = sizeof(struct win_call_head) + r->outline->len, size = len + sizeof(struct told);
    const struct told told = { (uintptr_t)(r->from + (at - r->begin)),
                               r->result ? (uintptr_t)(r->result + (at - r->begin)) : 0 };
    char *const bytes = mem_alloc(size);
    int rc;

    if (!bytes)
        return MPI_ERR_NO_MEM;
    *(struct win_call_head *)(void *)bytes = (struct win_call_head){
        .address = call->place->address, .count = call->aim->count, .at = at, .len = end - at,
        .size = (uint32_t)size, .outline_len = (uint32_t)r->outline->len,
        .op = call->op ? (uint16_t)call->op->obj.predefined : 0, .action = ACTION_FAVOUR,
        .kind = call->op ? (uint8_t)call->element->kind : 0,
    };
    memcpy(bytes + sizeof(struct win_call_head), r->outline->bytes, r->outline->len);
    memcpy(bytes + len, &told, sizeof told);
    p2p_box_lock(call->win->comm);
    rc = p2p_parcel_send(call->win->comm, call->aim->rank, PARCEL_CALLS, bytes, size, NULL, NULL);
    p2p_box_unlock(call->win->comm);
    mem_free(bytes);
    return rc;
}

/* Nothing happens if the target has not seen an older one, or another thread has one there, or it can't be told. */
static void offer(struct running *r, size_t at, size_t end)
{
    uint64_t idle = IDLE;

    if (r->is_declined ||
        !atomic_compare_exchange_strong_explicit(r->word, &idle, word_of(OFFERED, at), memory_order_acq_rel,
                                                 memory_order_relaxed))
        return;
    r->is_out = !send(r, at, end);
    if (!r->is_out)
        atomic_store_explicit(r->word, IDLE, memory_order_relaxed);
}

/* Is it still ours to say who does what is behind `at`? Then it becomes this. */
static bool change(const struct running *r, size_t at, uint64_t word)
{
    uint64_t offered = word_of(OFFERED, at);

    return atomic_compare_exchange_strong_explicit(r->word, &offered, word, memory_order_acq_rel,
                                                   memory_order_relaxed);
}

struct favour_wait {
    struct win_wait wait; /* first */
    const _Atomic uint64_t *word;
    uint64_t seen;
    int error;            /* the target is lost */
};

static bool is_done(struct win_wait *wait)
{
    struct favour_wait *w = (struct favour_wait *)(void *)wait;

    w->seen = atomic_load_explicit(w->word, memory_order_acquire);
    if (state_of(w->seen) != OFFERED && state_of(w->seen) != TAKEN)
        return true;
    w->error = p2p_lost_rank(wait->win->comm, wait->peer);
    return w->error;
}

/* The target has it, and is at it now, or will have it. */
static int await(struct running *r, size_t *at)
{
    struct favour_wait w = { .wait = { r->call->win, r->call->call, r->call->aim->rank, is_done }, .word = r->word };

    win_wait_for(&w.wait);
    r->is_out = false;
    if (w.error)
        return w.error;
    *at = (size_t)(w.seen / STATES);
    r->is_declined = state_of(w.seen) == DECLINED;
    atomic_store_explicit(r->word, IDLE, memory_order_relaxed);
    if (state_of(w.seen) == FAILED)
        return err(MPI_ERR_OTHER, "E0805: copying %zu bytes from or to the memory of rank %d: %s", r->end - r->begin,
                   r->call->aim->rank, "the results could not be written");
    return 0;
}

static int withdraw(struct running *r, size_t *at)
{
    if (!r->is_out)
        return 0;
    if (!change(r, *at, WITHDRAWN))
        return await(r, at);
    r->is_out = false;
    return 0;
}

/* `rc` came of bytes [*at, next). What is behind may be the target's already. */
static int give_up(struct running *r, size_t *at, size_t next, int rc)
{
    size_t behind = next;
    int failed = withdraw(r, &behind);

    if (failed || rc != WIN_REFUSED || behind == next)
        return failed ? failed : rc;
    r->hole = *at;
    r->hole_end = next;
    *at = behind;
    return rc;
}

static int do_self(struct running *r, size_t *at, size_t end)
{
    const size_t begin = *at - r->begin;

    return r->call->self(r->call->arg, r->from + begin, r->result ? r->result + begin : NULL, at, end);
}

/* The first few alone: that shows whether the system allows it now. */
static int run_part(struct running *r, size_t *at)
{
    const struct win_favour *call = r->call;
    const size_t unit = call->element ? (size_t)call->element->size : 1;
    const size_t piece = call->place->bytes / type_block_count(call->aim->type, call->aim->count) / unit * unit;
    size_t step = FIRST * size_max(piece, unit);
    int rc = do_self(r, at, size_min(*at + step, r->end));

    while (!rc && *at < r->end) {
        const size_t next = size_min(*at + step, r->end);

        if (!r->is_out)
            offer(r, *at, r->end);
        if (r->is_out && !change(r, *at, word_of(OFFERED, next))) {
            rc = await(r, at);
            continue;
        }
        rc = do_self(r, at, next);
        if (unlikely(rc))
            return give_up(r, at, next, rc);
        step = size_min(2 * step, MOST * size_max(piece, unit));
        progress_poll();
    }
    return rc ? rc : withdraw(r, at);
}

/* Memory that has the streams of a part: the user's, or our own. */
static char *memory_of(const struct win_data *data, size_t at, char *own)
{
    return own ? own : type_run(data->type, data->buf) + at;
}

/* By messages, as the caller will do the rest, if there is any. Of a put everything is done again. */
static COLD int fill_hole(const struct running *r, size_t at)
{
    const struct win_favour *call = r->call;
    struct win_place place = *call->place;
    int rc;

    if (!call->op)
        return WIN_REFUSED;
    place.done = r->hole;
    place.bytes = r->hole_end;
    rc = win_message_combine(call->win, call->from, call->result, call->aim, &place, call->op, call->element, NULL);
    if (!rc)
        rc = win_message_flush(call->win, call->aim->rank, false, call->call);
    return rc || at == call->place->bytes ? rc : WIN_REFUSED;
}

static int run_parts(struct running *r, size_t *at, size_t most, char *own_from, char *own_result)
{
    const struct win_favour *call = r->call;
    int rc = 0;

    while (!rc && *at < call->place->bytes) {
        r->begin = *at;
        r->end = size_min(*at + most, call->place->bytes);
        r->from = memory_of(call->from, *at, own_from);
        if (own_from)
            type_pack(call->from->type, call->from->buf, call->from->count, *at, own_from, r->end - *at);
        if (call->result)
            r->result = memory_of(call->result, *at, own_result);
        rc = run_part(r, at);
        if (r->result)
            memcheck_written(r->result, *at - r->begin);
        if (own_result)
            type_unpack(call->result->type, call->result->buf, call->result->count, r->begin, own_result,
                        *at - r->begin);
    }
    return likely(r->hole == r->hole_end) ? rc : fill_hole(r, *at);
}

int win_favour_run(const struct win_favour *favour, size_t *at)
{
    const size_t unit = favour->element ? (size_t)favour->element->size : 1;
    const struct win_data *from = favour->from, *result = favour->result;
    struct running r = { .call = favour, .word = word_at(favour->win, favour->aim->rank, favour->win->rank) };
    char *own_from = NULL, *own_result = NULL;
    const bool is_packed = !type_is_run(from->type, from->count);
    const bool is_unpacked = result && !type_is_run(result->type, result->count);
    size_t most;
    int rc = type_get_outline(favour->aim->type, &r.outline);

    if (rc)
        return rc;
    most = size_min(size_max(PART, 4 * r.outline->len), favour->place->bytes) / unit * unit;
    if (is_packed)
        own_from = mem_alloc(most);
    if (is_unpacked)
        own_result = mem_alloc(most);
    if ((is_packed && !own_from) || (is_unpacked && !own_result))
        rc = err(MPI_ERR_NO_MEM, "no memory for copying %zu bytes with gaps", most);
    else
        rc = run_parts(&r, at, most, own_from, own_result);
    mem_free(own_from);
    mem_free(own_result);
    return rc;
}

struct settle {
    struct win_wait wait; /* first */
    int next;
};

static bool have_all_seen(struct win_wait *wait)
{
    struct settle *s = (struct settle *)(void *)wait;
    const struct win *win = wait->win;

    for (; s->next < win->size; s->next++) {
        wait->peer = s->next;
        if (!win->target[s->next].is_far && !p2p_lost_rank(win->comm, s->next) &&
            atomic_load_explicit(word_at(win, s->next, win->rank), memory_order_relaxed) != IDLE)
            return false;
    }
    return true;
}

void win_favour_settle(struct win *win)
{
    struct settle s = { { win, "MPI_Win_free", 0, have_all_seen }, 0 };

    if (win->messages && !have_all_seen(&s.wait))
        win_wait_for(&s.wait);
}

/* --- the target --- */

struct served {
    struct win *win;
    int rank; /* of the origin */
    const struct win_call_head *head;
    const struct type *type;
    struct told told;
};

/* Bytes [*at, at + len), whose data are `from`. Not all: a stripe was taken. */
static void change_memory(const struct served *s, size_t *at, char *from, char *old, size_t len)
{
    const struct win_call_head *head = s->head;
    struct type *const byte = obj_type(MPI_BYTE);
    struct combine c = { .win = s->win, .rank = s->win->rank, .way = WIN_WAY_DIRECT, .address = head->address,
                         .type = s->type, .count = head->count, .at = *at, .end = *at + len,
                         .from = { from, (MPI_Count)len, byte }, .from_at = *at, .result_at = *at };
    struct type *element;

    if (!head->op) {
        type_unpack(s->type, (void *)(uintptr_t)head->address, head->count, *at, from, len);
        *at += len;
        return;
    }
    if (type_of_kind((enum type_kind)head->kind, &element))
        return;
    c.op = obj_op((MPI_Op)(uintptr_t)head->op);
    c.element = element ? element : byte;
    if (s->told.result)
        c.result = (struct win_data){ old, (MPI_Count)len, byte };
    (void)combine_run(&c);
    *at = c.at;
}

static enum state serve(const struct served *s, size_t *at)
{
    _Alignas(16) char from[CHUNK], old[CHUNK];
    const size_t begin = s->head->at, end = begin + s->head->len;
    const size_t most = CHUNK / TYPE_ELEMENT_MAX * TYPE_ELEMENT_MAX;

    while (*at < end) {
        const size_t len = size_min(most, end - *at), first = *at;

        if (win_peek(s->win, s->rank, from, s->told.from + (first - begin), len, false))
            return DECLINED;
        change_memory(s, at, from, old, len);
        if (s->told.result &&
            win_peek(s->win, s->rank, old, s->told.result + (first - begin), *at - first, true))
            return FAILED;
        if (*at < first + len)
            break;
    }
    return DONE;
}

static bool is_possible(const struct served *s)
{
    const struct win_part part = { s->type, s->head->count, s->head->address, s->head->at, s->head->len };
    struct win_range missing;

    return win_way_to(s->win, s->rank) == WIN_WAY_PEEK &&
           (s->win->create_flavor != MPI_WIN_FLAVOR_DYNAMIC ||
            win_is_part_attached(s->win, s->win->rank, &part, &missing));
}

void win_serve_favour(struct win_messages *m, int rank, const struct win_call_head *head, const struct type *type,
                      const char *data)
{
    struct served s = { m->win, rank, head, type, { 0, 0 } };
    _Atomic uint64_t *const word = word_at(m->win, m->win->rank, rank);
    uint64_t seen = atomic_load_explicit(word, memory_order_acquire);
    enum state state;
    size_t at;

    memcpy(&s.told, data, sizeof s.told);
    while (state_of(seen) == OFFERED && !atomic_compare_exchange_weak_explicit(word, &seen, TAKEN, memory_order_acq_rel,
                                                                               memory_order_acquire))
        ;
    at = (size_t)(seen / STATES);
    if (state_of(seen) == OFFERED) {
        state = is_possible(&s) ? serve(&s, &at) : DECLINED;
        atomic_store_explicit(word, word_of(state, at), memory_order_release);
    } else {
        atomic_store_explicit(word, IDLE, memory_order_release);
    }
    win_wake(m->win, rank);
}
