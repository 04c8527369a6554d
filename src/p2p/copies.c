/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. Long messages that the system copies from one process to the other: both claim parts of the message from
 * a counter in a shared record, the sender writes its parts, the receiver reads its own. A sender that is computing
 * claims nothing, and the receiver does it alone. Whoever sees all parts done completes its side.
 *
 * The system may come to refuse what it has allowed before: a process changes its user, what others may see of it, or
 * which calls it may make. Nothing is lost by that: when all parts have been tried, the receiver asks for the message
 * as a stream (CTS_STREAM), and the sender, which sees the same error in the record, waits for that; the pair does not
 * try again.
 *
 * Knows: net, obj, type (runs). Does not know: matching, how the way is chosen (rndv.c). */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/memcheck.h"
#include "p2p/int_p2p.h"
#include "sys/peek.h"

enum {
    PART_MIN = 16384,
    PART_ENOUGH = 262144, /* parts are not made smaller than this for the sake of balance alone */
    PART_MAX = 1048576,   /* a call that only tests copies no more than this */
    PART_AHEAD = 8192,    /* where lines are far the sender hears of it so much later */
    PART_ALIGN = 4096,
};

/* Half of what is left: as few system calls as possible while both sides end at about the same time. `ahead`: what the
 * receiver takes more of the whole. */
static size_t part_size(size_t len, size_t left, size_t ahead)
{
    const size_t least = size_max(PART_MIN, size_min(len / 2, PART_ENOUGH));
    const size_t part = size_min(size_max(left / 2, least) + (left == len ? ahead : 0), PART_MAX);

    return size_min((part + PART_ALIGN - 1) / PART_ALIGN * PART_ALIGN, left);
}

/* The next part of the message that nobody copies yet; 0 bytes: there is none. */
static size_t claim_part(const struct p2p_req *r, uint64_t *at)
{
    const size_t ahead = !r->req.is_send && r->peer->pace->is_far ? PART_AHEAD : 0;
    struct net_record *record = r->record;
    size_t part;

    *at = atomic_load_explicit(&record->next, memory_order_relaxed);
    do {
        if (*at >= record->len)
            return 0;
        part = part_size(record->len, record->len - *at, ahead);
    } while (!atomic_compare_exchange_weak_explicit(&record->next, at, *at + part, memory_order_relaxed,
                                                    memory_order_relaxed));
    return part;
}

/* A part; 0 or an errno. */
static int copy_part(struct p2p_req *r, uint64_t at, size_t len)
{
    const struct net_ops *ops = r->peer->ops;
    char *const own = type_run(r->type, r->buf) + r->moved + at;

    if (r->flags & P2P_LISTS)
        return lists_copy(r, at, len);
    if (r->req.is_send)
        return ops->copy_to(r->peer->ep, own, r->record->address + at, len);
    return ops->copy_from(r->peer->ep, own, r->remote_address + at, len);
}

/* Does this side not know where the other one's bytes lie? Then that one copies alone. */
static bool is_blind(const struct p2p_req *r)
{
    return r->flags & P2P_LISTS ? !lists_can_copy(r) : r->record->blocks > 0;
}

/* What only one way cannot do counts less than what none can. */
static COLD void note_failure(struct net_record *record, int failed)
{
    int32_t none = 0;

    if (peek_is_refused(failed))
        atomic_compare_exchange_strong_explicit(&record->error, &none, failed, memory_order_relaxed,
                                                memory_order_relaxed);
    else
        atomic_store_explicit(&record->error, failed, memory_order_relaxed);
}

/* Claim one part and copy it. */
static bool copy_some(struct p2p_req *r)
{
    const struct net_ops *ops = r->peer->ops;
    struct net_record *record = r->record;
    uint64_t at;
    const size_t len = is_blind(r) ? 0 : claim_part(r, &at);
    int failed;

    if (!len)
        return false;
    failed = copy_part(r, at, len);
    if (unlikely(failed))
        note_failure(record, failed);
    /* acquire and release: whoever sees all bytes counted sees them copied */
    if (atomic_fetch_add_explicit(&record->done, len, memory_order_acq_rel) + len == record->len)
        ops->wake(r->peer->ep);
    return true;
}

static COLD int copy_failed(const struct p2p_req *r, int failed)
{
    if (failed == ESRCH)
        return p2p_gone(r->peer->proc, "a message", r->wanted);
    return err(MPI_ERR_BUFFER, "E0337: copying a message of %zu bytes to or from process %d: %s", r->wanted,
               r->peer->proc, strerror(failed));
}

static void measured(const struct p2p_req *r, size_t len)
{
    if (!r->started)
        return;
    if (r->flags & P2P_LISTS)
        speed_gaps_end(&r->peer->speed, lists_block(r, len), len);
    else
        speed_long_end(&r->peer->speed, len);
}

/* Receiver: the whole is there, partly written by the sender. */
static void all_copied(struct p2p_req *r)
{
    const size_t len = r->wanted - r->moved;

    if (r->flags & P2P_LISTS)
        lists_written(r);
    else
        memcheck_written(type_run(r->type, r->buf) + r->moved, len);
    measured(r, len);
}

/* From now on this pair goes another way, whose speed is not known yet. */
static COLD void refused(struct peer *peer)
{
    peer->ops->refuse_copy(peer->ep);
    peer->speed = (struct speed){ 0 };
    ask_limit(peer);
}

/* All parts have been tried, and the system has refused some: the whole comes once more. */
static COLD void copy_again(struct p2p_req *r)
{
    copies_end(r);
    if (r->req.is_send)
        return; /* the receiver asks for it */
    if (r->flags & P2P_LISTS)
        lists_close(r);
    r->started = 0;
    rndv_stream(r);
}

void copies_end(struct p2p_req *r)
{
    if (list_is_empty(&r->link))
        return;
    r->peer->ops->record_close(r->peer->ep, r->record);
    work_remove(r->channel->lane, &r->link);
    refused(r->peer);
}

static void copy_finish(struct p2p_req *r)
{
    const int failed = atomic_load_explicit(&r->record->error, memory_order_relaxed);

    if (unlikely(peek_is_refused(failed))) {
        copy_again(r);
        return;
    }
    if (failed && !r->req.error)
        r->req.error = copy_failed(r, failed);
    r->peer->ops->record_close(r->peer->ep, r->record);
    if (!r->req.is_send)
        all_copied(r);
    work_remove(r->channel->lane, &r->link);
    p2p_complete(r);
}

int copies_step(struct p2p_req *r)
{
    const int moved = copy_some(r);

    if (atomic_load_explicit(&r->record->done, memory_order_acquire) == r->record->len) {
        copy_finish(r);
        return 1;
    }
    return moved;
}

static int copy_whole(struct p2p_req *r, size_t len)
{
    if (unlikely(r->flags & P2P_LISTS))
        return lists_copy(r, 0, len);
    return r->peer->ops->copy_from(r->peer->ep, type_run(r->type, r->buf) + r->moved, r->remote_address, len);
}

/* Where bringing the sender in would take longer, or there is no record for that. */
void copies_alone(struct p2p_req *r)
{
    const uint64_t start = speed_start(&r->peer->speed);
    const size_t len = r->wanted - r->moved;
    const int failed = copy_whole(r, len);

    if (unlikely(peek_is_refused(failed))) {
        refused(r->peer);
        if (r->flags & P2P_LISTS)
            lists_close(r);
        r->started = 0;
        rndv_stream(r);
        return;
    }
    if (len < SPEED_TOGETHER)
        speed_alone(&r->peer->speed, len, start, r->peer->ops->eager_max);
    if (r->flags & P2P_LISTS)
        lists_written(r);
    measured(r, len);
    ask_limit(r->peer);
    if (failed && !r->req.error)
        r->req.error = copy_failed(r, failed);
    r->control.reply = (struct wire_reply){ r->remote_id };
    control_send(r, WIRE_FIN, sizeof r->control.reply, THEN_COMPLETE);
}

bool copies_begin(struct p2p_req *r)
{
    uint32_t index;

    r->record = r->peer->ops->record_open(r->peer->ep, &index);
    if (!r->record)
        return false;
    r->record->len = r->wanted - r->moved;
    if (type_is_run(r->type, r->count)) {
        r->record->address = (uintptr_t)type_run(r->type, r->buf) + r->moved;
        r->record->blocks = 0;
    } else {
        r->record->address = (uintptr_t)lists_own(r, &r->record->blocks);
    }
    r->control.cts = (struct wire_cts){ .id = r->remote_id, .len = r->wanted, .record = index };
    control_send(r, WIRE_CTS_COPY, sizeof r->control.cts, THEN_COPY);
    return true;
}
