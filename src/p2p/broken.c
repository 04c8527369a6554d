/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. Communicators that not all of their members have: one of them has failed in the call that made it, most
 * likely for want of memory. It tells the others by a record, which finds the communicator by its context whether it is
 * open there yet or not. From then on whatever is begun there ends with the error, and so does what waits, as with a
 * process that is lost: receives that are posted, sends that wait for room; sends that are offered are asked back, for
 * their receivers, who are alive, may be taking them. Messages that have come can be received.
 *
 * Those records, and causes (cause.c) of who has no memory, go out when there is memory for the connection.
 * Knows: match, net, obj. */
#include <limits.h>
#include <pthread.h>
#include <string.h>

#include "base/err.h"
#include "p2p/int_part.h"
#include "p2p/int_p2p.h"

enum { SPARE_TELLINGS = 16, TAG_BROKEN = INT_MIN };

/* What is to be sent without a request. */
struct telling {
    struct list link;        /* in the lane's */
    struct net_head head;
    int proc;
    bool is_used;            /* a spare one */
    struct p2p_cause cause;
};

/* For want of memory. */
static struct {
    pthread_mutex_t lock;
    struct telling telling[SPARE_TELLINGS]; /* is_used is guarded by lock */
} spare = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* The same in lanes that could not be opened yet. */
static struct {
    pthread_mutex_t lock;
    struct list list;        /* guarded by lock */
    bool is_polled;
} unopened = { PTHREAD_MUTEX_INITIALIZER, { &unopened.list, &unopened.list }, false };

/* A communicator that this process has or will have. */
struct broken {
    struct list link;        /* in the lane's */
    uint32_t ctx;
    int proc;                /* who has failed */
    struct p2p_cause cause;
    peer_ref peers[];        /* nobody can be sent to; as many as the lane has */
};

/* --- telling --- */

static struct telling *telling_alloc(void)
{
    struct telling *telling = mem_alloc(sizeof *telling);

    if (telling) {
        telling->is_used = false;
        return telling;
    }
    pthread_mutex_lock(&spare.lock);
    for (int i = 0; i < SPARE_TELLINGS && !telling; i++)
        if (!spare.telling[i].is_used)
            telling = &spare.telling[i];
    if (telling)
        telling->is_used = true;
    pthread_mutex_unlock(&spare.lock);
    return telling;
}

/* NULL: there are too many. */
static struct telling *telling_copy(const struct telling *telling)
{
    struct telling *copy = telling_alloc();

    if (copy) {
        copy->head = telling->head;
        copy->proc = telling->proc;
        copy->cause = telling->cause;
    }
    return copy;
}

static void telling_free(struct telling *telling)
{
    if (!telling->is_used) {
        mem_free(telling);
        return;
    }
    pthread_mutex_lock(&spare.lock);
    telling->is_used = false;
    pthread_mutex_unlock(&spare.lock);
}

/* With the lock. False: not yet. */
static bool tell_now(struct lane *lane, const struct telling *telling)
{
    const size_t len = offsetof(struct p2p_cause, text) + strlen(telling->cause.text) + 1;
    struct peer *peer;

    if (peer_get(lane, telling->proc, &peer))
        return false;
    return peer->is_foreign || !peer->ops->send(peer->ep, telling->head, &telling->cause, (uint32_t)len);
}

static void tell(struct lane *lane, const struct telling *telling)
{
    struct telling *later;

    lane_lock(lane);
    if (!tell_now(lane, telling) && (later = telling_copy(telling)))
        work_add(lane, &lane->tellings, &later->link);
    lane_unlock(lane);
}

/* Whoever tells waits for memory only, or for room: nobody is held back. */
static int tell_waiting(struct lane *lane)
{
    int sent = 0;

    LIST_FOR_EACH_SAFE(link, &lane->tellings) {
        struct telling *telling = CONTAINER_OF(link, struct telling, link);
        if (!tell_now(lane, telling))
            continue;
        work_remove(lane, link);
        telling_free(telling);
        sent++;
    }
    return sent;
}

static int poll_unopened(void *arg)
{
    struct lane *lane;
    int sent = 0;

    (void)arg;
    if (pthread_mutex_trylock(&unopened.lock))
        return 0;
    LIST_FOR_EACH_SAFE(link, &unopened.list) {
        struct telling *telling = CONTAINER_OF(link, struct telling, link);
        if (lane_get(p2p_lane_of(wire_ctx(telling->head)), &lane))
            break;
        list_remove(link);
        progress_work(-1);
        tell(lane, telling);
        telling_free(telling);
        sent++;
    }
    pthread_mutex_unlock(&unopened.lock);
    return sent;
}

static void tell_when_open(const struct telling *telling)
{
    struct telling *later;

    pthread_mutex_lock(&unopened.lock);
    later = telling_copy(telling);
    if (later) {
        if (!unopened.is_polled)
            progress_add(poll_unopened, NULL);
        unopened.is_polled = true;
        list_append(&unopened.list, &later->link);
        progress_work(1);
    }
    pthread_mutex_unlock(&unopened.lock);
}

void broken_fini(void)
{
    if (unopened.is_polled)
        progress_remove(poll_unopened, NULL);
    unopened.is_polled = false;
    LIST_FOR_EACH_SAFE(link, &unopened.list) {
        list_remove(link);
        progress_work(-1);
        telling_free(CONTAINER_OF(link, struct telling, link));
    }
}

void p2p_break(uint32_t ctx, int proc, int rc)
{
    struct telling telling = { .head = wire_head(WIRE_EAGER, WIRE_CAUSE, 0, ctx, match_key(0, TAG_BROKEN)),
                               .proc = proc };
    struct lane *lane;

    if (p2p_is_foreign_ctx(ctx))
        return;
    p2p_cause_of(&telling.cause, rc);
    if (lane_get(p2p_lane_of(ctx), &lane))
        tell_when_open(&telling);
    else
        tell(lane, &telling);
}

void p2p_tell_cause(struct comm *comm, int rc, int dest, int tag, int mode)
{
    const struct channel *channel = channel_of(comm, mode);
    struct telling telling = { .head = wire_head(WIRE_EAGER, WIRE_CAUSE, 0, channel->ctx, match_key(comm->rank, tag)),
                               .proc = group_proc(comm->remote_group, dest) };

    if (p2p_is_foreign(comm, dest))
        return;
    p2p_cause_of(&telling.cause, rc);
    tell(channel->lane, &telling);
}

/* --- being told --- */

bool broken_is_meant(struct net_head head)
{
    return wire_flags(head) & WIRE_CAUSE && wire_tag(head) == TAG_BROKEN;
}

static struct broken *find(const struct lane *lane, uint32_t ctx)
{
    LIST_FOR_EACH(link, &lane->broken) {
        struct broken *broken = CONTAINER_OF(link, struct broken, link);
        if (broken->ctx == (ctx & ~UINT32_C(1)))
            return broken;
    }
    return NULL;
}

int broken_arrive(struct lane *lane, int proc, struct net_head head, const void *payload, uint32_t len)
{
    const uint32_t ctx = wire_ctx(head);
    struct broken *broken;

    if (arrive_is_too_late(lane, ctx) || find(lane, ctx))
        return 0;
    broken = mem_zalloc(sizeof *broken + (size_t)lane->procs * sizeof *broken->peers);
    if (!broken)
        return NET_AGAIN;
    broken->ctx = ctx;
    broken->proc = proc;
    memcpy(&broken->cause, payload, size_min(len, sizeof broken->cause - 1));
    work_add(lane, &lane->broken, &broken->link);
    lane->losses++;
    return 0;
}

static void drop(struct lane *lane, struct broken *broken)
{
    work_remove(lane, &broken->link);
    lane->losses--;
    mem_free(broken);
}

void broken_forget(struct lane *lane, uint32_t ctx)
{
    struct broken *broken = find(lane, ctx);

    if (broken)
        drop(lane, broken);
}

void broken_close(struct lane *lane)
{
    LIST_FOR_EACH_SAFE(link, &lane->broken)
        drop(lane, CONTAINER_OF(link, struct broken, link));
    LIST_FOR_EACH_SAFE(link, &lane->tellings) {
        work_remove(lane, link);
        telling_free(CONTAINER_OF(link, struct telling, link));
    }
}

/* --- what becomes of it --- */

int broken_error(const struct channel *channel)
{
    const struct broken *broken = find(channel->lane, channel->ctx);
    const struct comm *comm = channel->comm;
    const char *side = "";
    int rank;

    if (!broken)
        return 0;
    rank = group_rank_of(comm->group, broken->proc);
    if (rank == MPI_UNDEFINED) {
        rank = group_rank_of(comm->remote_group, broken->proc);
        side = " of the remote group";
    }
    return err(broken->cause.error_class, "E0339: the communicator cannot be used, since the call that made it has "
               "failed at its rank %d%s: %s", rank, side, p2p_cause_text(&broken->cause));
}

int p2p_check_whole(const struct comm *comm)
{
    const struct channel *channel = channel_of(comm, 0);
    int rc;

    if (likely(!channel->lane->losses))
        return 0;
    lane_lock(channel->lane);
    rc = broken_error(channel);
    lane_unlock(channel->lane);
    return rc;
}

static void fail(struct p2p_req *r)
{
    r->req.error = broken_error(r->channel);
    p2p_complete(r);
}

static void visit(const struct match_entry *recv, void *arg)
{
    const struct match_entry **found = arg;

    if (!(recv->mask >> 32) || match_key_source(recv->node.key) >= 0) /* partitioned ones have sources of their own */
        *found = recv;
}

static void fail_posted(struct channel *channel)
{
    const struct match_entry *found = NULL;

    while (channel->match.posted_count) {
        struct match_entry *entry;

        found = NULL;
        match_each_posted(&channel->match, visit, &found);
        entry = (struct match_entry *)(uintptr_t)found;
        if (!entry || !match_cancel(&channel->match, entry))
            return;
        fail(CONTAINER_OF(entry, struct p2p_req, match));
    }
}

static void fail_waiting(struct peer *peer, const struct channel *channel)
{
    LIST_FOR_EACH_SAFE(link, &peer->waiting) {
        struct outgoing *out = CONTAINER_OF(link, struct outgoing, link);
        struct p2p_req *r = CONTAINER_OF(out, struct p2p_req, out);
        if (!lost_is_send(out) || r->channel != channel)
            continue;
        list_remove(link);
        fail(r);
    }
}

/* Within the process an answer may come at once: from the beginning again. */
static bool ask_one_back(const struct channel *channel)
{
    LIST_FOR_EACH(link, &channel->lane->offers) {
        struct p2p_req *s = CONTAINER_OF(link, struct p2p_req, link);
        if (s->channel != channel || s->is_cancelling)
            continue;
        s->req.error = broken_error(channel);
        request_ask_back(s);
        return true;
    }
    return false;
}

/* So that it stays while requests end that have it; not if it goes already. */
static bool hold(struct comm *comm)
{
    uint32_t refs = atomic_load_explicit(&comm->obj.refs, memory_order_relaxed);

    while (refs && !atomic_compare_exchange_weak_explicit(&comm->obj.refs, &refs, refs + 1, memory_order_relaxed,
                                                          memory_order_relaxed))
        ;
    return refs;
}

static void end_in(struct channel *channel)
{
    struct lane *lane = channel->lane;

    fail_posted(channel);
    LIST_FOR_EACH_SAFE(link, &lane->crowded)
        fail_waiting(CONTAINER_OF(link, struct peer, link), channel);
    while (ask_one_back(channel))
        ;
    part_break(channel);
}

static void end_all(struct lane *lane, struct broken *broken)
{
    struct channel *const channel = channel_find(lane, broken->ctx);
    struct comm *const comm = channel ? channel->comm : NULL;

    if (!comm || !hold(comm))
        return;
    for (int i = 0; i < 2; i++) {
        comm->p2p->channel[i].peers = broken->peers;
        end_in(&comm->p2p->channel[i]);
    }
    comm_unref(comm);
}

int broken_work(struct lane *lane)
{
    LIST_FOR_EACH(link, &lane->broken) {
        const unsigned losses = lane->losses;

        end_all(lane, CONTAINER_OF(link, struct broken, link));
        if (lane->losses != losses) /* requests were the last to have their communicator: the list is another one */
            break;
    }
    return tell_waiting(lane);
}
