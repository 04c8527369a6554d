/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. Partitioned messages (MPI 5.0 §4) between clients of IMPI, which has none: only between processes of this
 * library. All that travels are short messages of the protocol, in the context of collective calls, marked where IMPI
 * has the sender's datatype:
 *
 *   SETUP   srqid: the send's id, count: its bytes. Matched as within a job
 *   GRANT   srqid: the receive's id, drqid: the send's, count: bytes that the receive is for
 *   DATA    drqid: the receive's id, count: where in the stream, and the bytes, which end with a packet or partitions
 *   VOID    the same without bytes, which do not fit external32; seqnum: how many
 *
 * Lengths and places are those of the stream in external32. Ids are looked up, since they come from elsewhere.
 * Knows: net/impi, type. Does not know: matching. */
#include "p2p/int_abroad.h"
#include "p2p/int_part.h"

#include "base/err.h"
#include "net/impi/impi.h"
#include "sys/joint.h"

enum part_kind { PART_SETUP = 1, PART_GRANT, PART_DATA, PART_VOID };

/* --- both sides --- */

int part_open_abroad(struct part_req *p)
{
    if (!foreign_is_parley(p->peer))
        return err(MPI_ERR_UNSUPPORTED_OPERATION,
                   "E1211: partitioned communication is not part of IMPI, and rank %d is of another MPI implementation",
                   p->rank);
    p->abroad.id = foreign_next_id(p->channel->lane);
    return 0;
}

static uint64_t mark_of(enum part_kind kind)
{
    return (uint64_t)P2P_NOTE_PART << P2P_NOTE_BITS | (uint64_t)kind;
}

/* The packet, without what is its own. NULL: there is no room now. */
static struct impi_out *begin_packet(const struct part_req *p, enum part_kind kind, struct impi_packet packet)
{
    packet.type = IMPI_DATA;
    packet.srqid = p->abroad.id;
    packet.drqid = p->remote_id;
    packet.msglen = packet.len;
    packet.lsrank = p->channel->comm->rank;
    packet.tag = p->tag;
    packet.cid = p->channel->ctx - P2P_CTX_FOREIGN;
    packet.dtype = mark_of(kind);
    return impi_begin(p->peer->ep, &packet);
}

static bool send_empty(const struct part_req *p, enum part_kind kind, size_t count, size_t more)
{
    struct impi_out *out = begin_packet(p, kind, (struct impi_packet){ .count = (int64_t)count, .seqnum = more });

    if (out)
        impi_send(p->peer->ep, out);
    return out;
}

bool part_control_abroad(const struct part_req *p)
{
    return p->peer->lost || send_empty(p, p->req.is_send ? PART_SETUP : PART_GRANT, p->len, 0);
}

/* --- sending --- */

/* Where the data lie is known for all partitions together only, and there may be something that does not fit. */
static bool is_looked_at_whole(const struct part_req *s)
{
    return s->is_laid_out && external_bytes(s->type, s->count) != type_bytes(s->type, s->count);
}

static int check_run(const struct part_req *s)
{
    const struct channel *channel = channel_of(s->channel->comm, P2P_STANDARD);
    const MPI_Count items = s->count / s->partitions;
    const char *begin = (const char *)s->buf + items * s->abroad.run.first * s->type->extent;

    if (s->is_laid_out)
        return foreign_check_fit(channel, s->type, s->buf, is_looked_at_whole(s), s->rank, s->tag);
    return foreign_check_fit(channel, s->type, begin, items * s->abroad.run.count, s->rank, s->tag);
}

/* The next partitions, if all before are out. */
static bool has_run(struct part_req *s)
{
    struct part_abroad *abroad = &s->abroad;

    if (abroad->run.count)
        return true;
    if ((is_looked_at_whole(s) && !s->is_all_ready) || !part_marks_next(&s->marks, s->partitions, &abroad->run))
        return false;
    part_marks_take(&s->marks, abroad->run);
    abroad->at = 0;
    abroad->error = check_run(s);
    return true;
}

static bool send_bytes(const struct part_req *s, size_t offset, size_t len)
{
    struct impi_out *out = begin_packet(s, PART_DATA, (struct impi_packet){ .len = (uint32_t)len,
                                                                            .count = (int64_t)offset });

    if (!out)
        return false;
    external_pack_range(s->type, s->buf, s->count, offset, impi_data(out), len);
    impi_send(s->peer->ep, out);
    return true;
}

/* What is left of the partitions under way. False: there is no room now. */
static bool send_run(struct part_req *s)
{
    struct part_abroad *abroad = &s->abroad;
    const size_t first = (size_t)abroad->run.first * s->part_len, len = (size_t)abroad->run.count * s->part_len;

    if (abroad->error) {
        if (!send_empty(s, PART_VOID, first, len))
            return false;
        s->req.error = s->req.error ? s->req.error : abroad->error;
        return true;
    }
    while (abroad->at < len) {
        const size_t part = size_min(len - abroad->at, foreign_maxlen(s->peer));

        if (!send_bytes(s, first + abroad->at, part))
            return false;
        abroad->at += part;
    }
    return true;
}

int part_push_abroad(struct part_req *s)
{
    int sent = 0;

    while (has_run(s) && send_run(s)) {
        atomic_fetch_add_explicit(&s->taken, s->abroad.run.count, memory_order_relaxed);
        s->abroad.run.count = 0;
        sent++;
    }
    return sent;
}

bool part_end_abroad(const struct part_req *s)
{
    return send_empty(s, PART_DATA, 0, 0);
}

/* --- receiving --- */

static struct part_req *find(const struct peer *peer, uint64_t id, bool is_send)
{
    LIST_FOR_EACH(link, &peer->lane->part_all) {
        struct part_req *p = CONTAINER_OF(link, struct part_req, all_link);
        if (p->peer == peer && p->abroad.id == id && p->req.is_send == is_send && !p->is_released)
            return p;
    }
    return NULL;
}

static int on_setup(const struct peer *peer, const struct impi_packet *packet, const char **wrong)
{
    struct lane *lane = peer->lane;
    const uint32_t ctx = P2P_CTX_FOREIGN + (uint32_t)packet->cid;
    const struct channel *channel = channel_find(lane, ctx);
    const int source = channel ? foreign_source(channel, peer->proc, packet->lsrank) : packet->lsrank;
    const struct arrival a = {
        .proc = peer->proc, .source = source | PART_SOURCE_BIT, .tag = packet->tag, .kind = WIRE_PART_SETUP,
        .signature = TYPE_SIGNATURE_ANY, .len = (size_t)packet->count, .sync_id = packet->srqid,
    };

    *wrong = "a message in a communicator of which it is no member";
    if (source < 0)
        return IMPI_WRONG;
    return arrive_message(lane, ctx, &a, NULL);
}

/* Does it belong to what the receive still waits for? */
static bool is_asked_for(const struct part_req *r, size_t offset, size_t len)
{
    return r && r->is_running && !part_recv_is_refused(r) && offset <= r->remote_len && len <= r->remote_len - offset &&
           len <= r->fill.total_left;
}

static int on_data(const struct peer *peer, const struct impi_packet *packet, const void *data, const char **wrong)
{
    const bool is_void = packet->dtype == mark_of(PART_VOID);
    const size_t offset = (size_t)packet->count, len = is_void ? packet->seqnum : packet->len;
    struct part_req *r = find(peer, packet->drqid, false);

    *wrong = "a part of a message that nobody receives";
    if (!is_asked_for(r, offset, len))
        return IMPI_WRONG;
    if (is_void) {
        r->req.error = err(MPI_ERR_CONVERSION,
                           "E1242: rank %d has not sent bytes %zu to %zu of a partitioned message with tag %d: a "
                           "number there does not fit between clients of IMPI (external32)",
                           r->rank, offset, offset + len - 1, r->tag);
    } else {
        if (r->abroad.cursor.at != offset)
            r->abroad.cursor = (struct external_cursor){ .at = offset };
        external_unpack_next(&r->abroad.cursor, r->type, r->buf, r->count, data, len);
    }
    part_recv_done(r, offset, len);
    return 0;
}

bool part_is_abroad(const struct impi_packet *packet)
{
    return packet->type == IMPI_DATA && packet->cid & 1 && packet->dtype >> P2P_NOTE_BITS == P2P_NOTE_PART;
}

int part_on_packet(const struct peer *peer, const struct impi_packet *packet, const void *data, const char **wrong)
{
    struct part_req *s;

    *wrong = "a part of a message that makes no sense";
    if (packet->count < 0 || packet->len != packet->msglen || packet->cid >= P2P_CTX_SPREAD - P2P_CTX_FOREIGN)
        return IMPI_WRONG;
    if (packet->dtype == mark_of(PART_SETUP))
        return on_setup(peer, packet, wrong);
    if (packet->dtype == mark_of(PART_DATA) || packet->dtype == mark_of(PART_VOID))
        return on_data(peer, packet, data, wrong);
    if (packet->dtype != mark_of(PART_GRANT))
        return IMPI_WRONG;
    s = find(peer, packet->drqid, true);
    if (s)
        part_granted(s, packet->srqid, (size_t)packet->count);
    return 0;
}
