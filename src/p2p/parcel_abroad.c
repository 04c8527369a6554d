/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. Parcels between clients of IMPI, which has none: only between processes of this library whose data are
 * the same in memory (p2p_check_kin), for their bytes go as they are. A parcel is short messages of the protocol in the
 * context of collective calls, one behind the other and marked where IMPI has the sender's datatype: srqid is the
 * user's word, count the bytes of the parcel, seqnum where in it these begin. So the credit of the protocol counts for
 * them; who has no memory for a parcel leaves its first packet in the transport.
 * Knows: net/impi. Does not know: what parcels say. */
#include <string.h>

#include "base/err.h"
#include "net/impi/impi.h"
#include "p2p/int_abroad.h"
#include "p2p/int_parcel.h"

/* --- out --- */

struct parcel_out {
    struct outgoing out;   /* first */
    struct p2p_box *box;
    uint32_t word;
    const char *data;
    size_t at, len;
    p2p_letter_gone *gone; /* NULL: the bytes are a copy, behind this, or nobody wants to know */
    void *arg;
    unsigned char copy[];
};

/* The next bytes. False: there is no room now. */
static bool send_part(struct parcel_out *p, const struct peer *peer)
{
    const struct channel *channel = p->box->channel;
    const size_t len = size_min(p->len - p->at, foreign_maxlen(peer));
    const struct impi_packet packet = {
        .type = IMPI_DATA, .len = (uint32_t)len, .msglen = len, .lsrank = channel->comm->rank,
        .cid = channel->ctx + 1 - P2P_CTX_FOREIGN, .srqid = p->word, .count = (int64_t)p->len, .seqnum = p->at,
        .dtype = (uint64_t)P2P_NOTE_PARCEL << P2P_NOTE_BITS,
    };
    struct impi_out *out = impi_begin(peer->ep, &packet);

    if (!out)
        return false;
    if (len)
        memcpy(impi_data(out), p->data + p->at, len);
    p->at += len;
    impi_send(peer->ep, out);
    return true;
}

/* To one that is lost it has gone. */
static bool send_rest(struct parcel_out *p, const struct peer *peer)
{
    bool has_room = true;

    while (!peer->lost && has_room && p->at < p->len)
        has_room = send_part(p, peer);
    return has_room;
}

static int push_parcel(struct outgoing *out, struct peer *peer)
{
    struct parcel_out *p = (struct parcel_out *)(void *)out;

    if (!peer->lost && !p->len && !send_part(p, peer))
        return NET_AGAIN;
    if (!send_rest(p, peer))
        return NET_AGAIN;
    p->box->parcels_moving--;
    if (p->gone)
        p->gone(p->arg);
    mem_free(p);
    return 0;
}

int parcel_send_abroad(struct p2p_box *box, struct peer *peer, uint32_t word, const void *data, size_t len,
                       p2p_letter_gone *gone, void *arg)
{
    struct parcel_out now = { .box = box, .word = word, .data = data, .len = len, .gone = gone, .arg = arg };
    struct parcel_out *p;

    if (peer->lost || (len <= foreign_maxlen(peer) && list_is_empty(&peer->controls) && send_part(&now, peer))) {
        if (gone)
            gone(arg);
        return 0;
    }
    p = mem_alloc(sizeof *p + (gone ? 0 : len));
    if (!p)
        return err(MPI_ERR_NO_MEM, "no memory for a parcel of %zu bytes", len);
    *p = now;
    if (!gone && len)
        p->data = memcpy(p->copy, data, len);
    p->out.push = push_parcel;
    box->parcels_moving++;
    outgoing_control(&p->out, peer);
    return 0;
}

/* --- in --- */

bool parcel_is_abroad(const struct impi_packet *packet)
{
    return packet->type == IMPI_DATA && packet->cid & 1 &&
           packet->dtype == (uint64_t)P2P_NOTE_PARCEL << P2P_NOTE_BITS;
}

/* NULL: it is for nobody. */
static struct p2p_box *box_of(const struct peer *peer, const struct impi_packet *packet, int *source)
{
    struct channel *channel = NULL;

    if (packet->cid < P2P_CTX_SPREAD - P2P_CTX_FOREIGN)
        channel = channel_find(peer->lane, P2P_CTX_FOREIGN + (uint32_t)packet->cid);
    *source = channel ? foreign_source(channel, peer->proc, packet->lsrank) : MPI_UNDEFINED;
    return *source == MPI_UNDEFINED ? NULL : channel->comm->p2p->box;
}

static bool makes_sense(const struct peer *peer, const struct p2p_box *box, const struct impi_packet *packet)
{
    const bool is_new = !peer->landing.box;

    if (!box || packet->count < 0 || packet->len != packet->msglen || (!packet->len && packet->count) ||
        packet->seqnum > (uint64_t)packet->count || packet->len > (uint64_t)packet->count - packet->seqnum)
        return false;
    if (is_new)
        return !packet->seqnum;
    return peer->landing.box == box && peer->landing.at == packet->seqnum &&
           peer->landing.len == (uint64_t)packet->count;
}

int parcel_on_packet(struct peer *peer, const struct impi_packet *packet, const void *data, const char **wrong)
{
    int source;
    struct p2p_box *box = box_of(peer, packet, &source);
    void *token;

    *wrong = "a part of a parcel that makes no sense";
    if (!makes_sense(peer, box, packet))
        return IMPI_WRONG;
    if (!peer->landing.box) {
        token = NULL;
        peer->landing.place = box->parcels->begin(box->arg, source, (uint32_t)packet->srqid, (size_t)packet->count,
                                                  &token);
        if (!peer->landing.place)
            return NET_AGAIN;
        peer->landing.token = token ? token : peer->landing.place;
        peer->landing.box = box;
        peer->landing.at = 0;
        peer->landing.len = (size_t)packet->count;
        box->parcels_moving++;
    }
    if (packet->len)
        memcpy(peer->landing.place + peer->landing.at, data, packet->len);
    peer->landing.at += packet->len;
    if (peer->landing.at < peer->landing.len)
        return 0;
    peer->landing.box = NULL;
    box->parcels_moving--;
    box->parcels->end(box->arg, peer->landing.token, 0);
    return 0;
}
