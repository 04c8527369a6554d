/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. Processes whose way has broken: what has been begun with them and what is begun later ends with the
 * transport's error, so that nobody waits for what cannot come. A receive from any source does as well, if the lost
 * process may have been the one: whether the message comes is not known any more.
 *
 * A lost peer is work of its lane for good, so that each poll looks for what has been posted since. What is still sent
 * to it, answers mostly, goes to a transport that forgets it.
 * Knows: match, net, obj. */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "p2p/int_part.h"
#include "p2p/int_p2p.h"

/* --- the way to nobody --- */

static int forget(struct net_ep *ep, struct net_head head, const void *payload, uint32_t len)
{
    (void)ep, (void)head, (void)payload, (void)len;
    return 0;
}

static int no_buffer(struct net_ep *ep, struct net_buffer *buffer)
{
    (void)ep, (void)buffer;
    return NET_AGAIN;
}

static int no_news(void *ep, const _Atomic uint32_t *done)
{
    (void)ep, (void)done;
    return 0;
}

static bool silence(const struct net_ep *ep)
{
    (void)ep;
    return true;
}

static void wake_nobody(struct net_ep *ep)
{
    (void)ep;
}

static const struct net_ops to_nobody = {
    .name = "nobody",
    .short_max = 160,
    .eager_max = 160,
    .send = forget,
    .send_soon = forget,
    .alloc = no_buffer,
    .poll_ep = no_news,
    .is_silent = silence,
    .wake = wake_nobody,
    .take = net_take_nothing,
    .can_copy = net_cannot_copy,
};

/* --- lost and found --- */

/* For want of memory. */
static char no_text[] = "E0362: the connection to it is broken";

void p2p_lost(void *arg, int proc, int error)
{
    struct lane *lane = arg;
    struct peer *peer;

    if (peer_get(lane, proc, &peer) || peer->lost) /* without memory for it nothing has been begun with it */
        return;
    peer->lost = mem_alloc(ERR_TEXT_SIZE);
    peer->lost_class = err_class(error);
    if (peer->lost) {
        snprintf(peer->lost, ERR_TEXT_SIZE, "E%04d: ", err_id(error));
        err_text(error, peer->lost + strlen(peer->lost), ERR_TEXT_SIZE - strlen(peer->lost));
    } else {
        peer->lost = no_text;
    }
    lane_tell_lost(proc);
    peer->ops = &to_nobody;
    peer_set_crowded(peer, true); /* the short ways lead past it */
    work_add(lane, &lane->lost, &peer->lost_link);
    lane->losses++;
}

void lost_drop_text(struct peer *peer)
{
    if (peer->lost != no_text)
        mem_free(peer->lost);
    peer->lost = NULL;
}

void lost_forget(struct peer *peer)
{
    if (!peer->lost)
        return;
    work_remove(peer->lane, &peer->lost_link);
    peer->lane->losses--;
    lost_drop_text(peer);
    peer->ops = peer->ep->net->ops;
    peer_set_crowded(peer, !list_is_empty(&peer->link));
}

int p2p_gone(int proc, const char *what, size_t len)
{
    lane_tell_lost(proc);
    return err(MPI_ERR_PROC_ABORTED, "E0338: process %d has ended, in the middle of %s of %zu bytes", proc, what, len);
}

int lost_error(const struct peer *peer)
{
    return err_told(peer->lost_class, peer->lost);
}

static void fail(struct p2p_req *r)
{
    r->req.error = lost_error(r->peer);
    p2p_complete(r);
}

/* --- sends --- */

bool lost_is_send(const struct outgoing *out)
{
    for (int i = 0; send_pushes[i]; i++) {
        if (out->push == send_pushes[i])
            return true;
    }
    return false;
}

/* Other records go out, to nobody. */
static void fail_waiting(struct peer *peer)
{
    LIST_FOR_EACH_SAFE(link, &peer->waiting) {
        struct outgoing *out = CONTAINER_OF(link, struct outgoing, link);
        if (!lost_is_send(out))
            continue;
        list_remove(link);
        fail(CONTAINER_OF(out, struct p2p_req, out));
    }
}

static void fail_offers(struct peer *peer)
{
    LIST_FOR_EACH_SAFE(link, &peer->lane->offers) {
        struct p2p_req *s = CONTAINER_OF(link, struct p2p_req, link);
        if (s->peer != peer)
            continue;
        send_answered(s);
        fail(s);
    }
}

/* The lane's work completes them when the transport has let go of their memory. */
static void end_streams(struct peer *peer)
{
    LIST_FOR_EACH(link, &peer->lane->streams) {
        struct p2p_req *s = CONTAINER_OF(link, struct p2p_req, link);
        if (s->peer != peer || s->moved == s->wanted)
            continue;
        s->moved = s->wanted;
        s->req.error = lost_error(peer);
    }
}

/* --- receives --- */

static void fail_landings(struct peer *peer)
{
    LIST_FOR_EACH_SAFE(link, &peer->lane->landings) {
        struct p2p_req *r = CONTAINER_OF(link, struct p2p_req, link);
        if (r->peer != peer)
            continue;
        list_remove(link);
        fail(r);
    }
}

struct search {
    struct channel *channel;
    int rank;                  /* of the lost one */
    struct match_entry *found;
};

static void visit(const struct match_entry *recv, void *arg)
{
    struct search *search = arg;

    if (!(recv->mask >> 32) || match_key_source(recv->node.key) == search->rank)
        search->found = (struct match_entry *)(uintptr_t)recv;
}

/* Partitioned ones have sources of their own. */
static struct p2p_req *find_posted(struct channel *channel, int rank)
{
    struct search search = { channel, rank, NULL };

    match_each_posted(&channel->match, visit, &search);
    if (!search.found || !match_cancel(&channel->match, search.found))
        return NULL;
    return CONTAINER_OF(search.found, struct p2p_req, match);
}

static void fail_posted_in(struct channel *channel, struct peer *peer)
{
    const int rank = group_rank_of(channel->comm->remote_group, peer->proc);
    struct p2p_req *r;

    if (rank == MPI_UNDEFINED)
        return;
    while (channel->match.posted_count && (r = find_posted(channel, rank))) {
        r->peer = peer;
        fail(r);
    }
}

static void fail_posted(struct peer *peer)
{
    struct lane *lane = peer->lane;

    for (unsigned i = 0; i < lane->channel_slots; i++) {
        if (lane->channels[i])
            fail_posted_in(lane->channels[i], peer);
    }
}

/* --- all --- */

static void fail_boxes(struct peer *peer)
{
    struct lane *lane = peer->lane;

    for (unsigned i = 0; i < lane->channel_slots; i++) {
        const struct channel *channel = lane->channels[i];
        if (channel && channel == &channel->comm->p2p->channel[0] && channel->comm->p2p->box)
            box_fail(channel->comm->p2p->box, peer);
    }
}

void lost_work(struct lane *lane)
{
    LIST_FOR_EACH_SAFE(link, &lane->lost) {
        struct peer *peer = CONTAINER_OF(link, struct peer, lost_link);
        fail_waiting(peer);
        fail_offers(peer);
        end_streams(peer);
        if (list_is_empty(&peer->controls)) /* else one of theirs may stand there, for this poll */
            fail_landings(peer);
        fail_posted(peer);
        fail_boxes(peer);
        part_fail(peer);
    }
}

int lost_of_key(const struct channel *channel, uint64_t key, uint64_t mask)
{
    const int rc = broken_error(channel);

    if (rc)
        return rc;
    LIST_FOR_EACH(link, &channel->lane->lost) {
        const struct peer *peer = CONTAINER_OF(link, const struct peer, lost_link);
        const int rank = group_rank_of(channel->comm->remote_group, peer->proc);
        if (rank != MPI_UNDEFINED && (!(mask >> 32) || match_key_source(key) == rank))
            return lost_error(peer);
    }
    return 0;
}

int p2p_lost_rank(const struct comm *comm, int rank)
{
    const struct channel *channel = channel_of(comm, 0);
    const struct peer *peer = peer_of_rank(channel, rank);
    int rc;

    if (likely(!channel->lane->losses))
        return 0;
    lane_lock(channel->lane);
    rc = broken_error(channel);
    if (!rc && peer && peer->lost)
        rc = lost_error(peer);
    lane_unlock(channel->lane);
    return rc;
}
