/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/ofi. Receiving: frames of a process are put in order by their numbers, and what they carry is handed on,
 * or copied to where a long record belongs. What cannot be handed on now is moved out of the buffer that it came into.
 * Knows: base, net. The frames come from a process that has the job's token, but nothing in them is believed that could
 * lead beyond a buffer. */
#include <endian.h>
#include <string.h>

#include "base/copy.h"
#include "base/err.h"
#include "net/ofi/int_ofi.h"

static struct ofi_frame frame_of(const struct ofi_parcel *parcel)
{
    struct ofi_frame frame;

    memcpy(&frame, parcel->at, sizeof frame);
    return frame;
}

static struct net_head head_of(const struct ofi_frame *frame)
{
    return (struct net_head){ { le64toh(frame->head.word[0]), le64toh(frame->head.word[1]) } };
}

/* Something is left for the next poll. */
static void set_input(struct ofi *ofi)
{
    atomic_store_explicit(&ofi->has_input, true, memory_order_relaxed);
}

enum taken { TAKEN, TAKEN_NO_RECORD, NOT_NOW, NOT_UNDERSTOOD };

static enum taken arrive(struct ofi_peer *peer, struct net_head head, const void *payload, uint32_t len)
{
    const struct net_sink *sink = &peer->ep.net->sink;

    return sink->arrive(sink->arg, peer->ep.proc, head, payload, len) ? NOT_NOW : TAKEN;
}

/* Whoever looks into a payload may expect it at an address that a number can have. */
static enum taken take_record(struct ofi_peer *peer, const struct ofi_frame *frame, const unsigned char *payload)
{
    struct ofi *ofi = ofi_of(peer);
    const uint32_t len = le32toh(frame->len);

    if (unlikely((uintptr_t)payload % OFI_ALIGN) && len) {
        if (len > OFI_EAGER_MAX)
            return NOT_UNDERSTOOD;
        if (!ofi->aligned)
            ofi->aligned = mem_alloc(OFI_EAGER_MAX);
        if (!ofi->aligned)
            return NOT_NOW;
        memcpy(ofi->aligned, payload, len);
        payload = ofi->aligned;
    }
    return arrive(peer, head_of(frame), payload, len);
}

/* --- records in several frames --- */

static enum taken finish_landing(struct ofi_peer *peer)
{
    struct ofi_in *in = &peer->in;

    if (arrive(peer, in->head, in->at, in->whole) == NOT_NOW)
        return NOT_NOW;
    mem_free(in->own);
    *in = (struct ofi_in){ 0 };
    return TAKEN;
}

/* Where does it belong? */
static enum taken begin_landing(struct ofi_peer *peer, const struct ofi_frame *frame)
{
    const struct net_sink *sink = &peer->ep.net->sink;
    struct ofi_in *in = &peer->in;

    if (in->at)
        return in->got == 0 ? TAKEN : NOT_UNDERSTOOD;
    in->whole = le32toh(frame->whole);
    in->head = head_of(frame);
    if (in->whole <= le32toh(frame->len))
        return NOT_UNDERSTOOD;
    if (sink->land && !in->has_asked && in->whole >= OFI_LAND_MIN)
        in->at = sink->land(sink->arg, peer->ep.proc, in->head, in->whole);
    in->has_asked = true;
    if (!in->at)
        in->at = in->own = mem_alloc(in->whole);
    return in->at ? TAKEN : NOT_NOW;
}

static enum taken take_part(struct ofi_peer *peer, const struct ofi_frame *frame, const unsigned char *payload)
{
    struct ofi_in *in = &peer->in;
    const uint32_t len = le32toh(frame->len);

    if (in->at && in->got == in->whole) /* this one has been copied, and the sink had no memory */
        return finish_landing(peer);
    if (frame->kind == OFI_FIRST) {
        const enum taken rc = begin_landing(peer, frame);
        if (rc != TAKEN)
            return rc;
    }
    if (!in->at || len > in->whole - in->got)
        return NOT_UNDERSTOOD;
    copy_long(in->at + in->got, payload, len);
    in->got += len;
    return in->got == in->whole ? finish_landing(peer) : TAKEN_NO_RECORD;
}

/* --- frames --- */

static enum taken take_wish(struct ofi_peer *peer, const struct ofi_frame *frame)
{
    struct ofi *ofi = ofi_of(peer);

    for (int i = 0; i < NET_WISHES; i++)
        atomic_store_explicit(&ofi->heard[peer->ep.proc * NET_WISHES + i], (uint32_t)le64toh(frame->head.word[i]),
                              memory_order_relaxed);
    return TAKEN_NO_RECORD;
}

static enum taken take_frame(struct ofi_peer *peer, const struct ofi_parcel *parcel)
{
    const struct ofi_frame frame = frame_of(parcel);
    const unsigned char *payload = parcel->at + OFI_FRAME_SIZE;

    switch (frame.kind) {
    case OFI_RECORD:
        return peer->in.at ? NOT_UNDERSTOOD : take_record(peer, &frame, payload);
    case OFI_FIRST:
    case OFI_MORE:
        return take_part(peer, &frame, payload);
    case OFI_WISH:
        return take_wish(peer, &frame);
    case OFI_BYE:
        peer->has_left = true;
        peer->owes_answer = le64toh(frame.head.word[0]);
        ofi_of(peer)->owes_answers |= peer->owes_answer;
        return TAKEN_NO_RECORD;
    case OFI_BYE_HEARD:
        peer->has_heard = true;
        return TAKEN_NO_RECORD;
    default:
        return NOT_UNDERSTOOD;
    }
}

static void bad_frame(struct ofi_peer *peer)
{
    struct ofi_hub *hub = ofi_of(peer)->hub;

    ofi_lock(hub);
    ofi_end(peer, err(MPI_ERR_OTHER, "E0362: process %d sends by libfabric what cannot be understood", peer->ep.proc));
    ofi_unlock(hub);
}

/* --- order --- */

/* Is `a` to be looked at before `b`? Numbers go round. */
static bool is_before(const struct ofi_frame *a, const struct ofi_frame *b)
{
    const uint32_t tenant_a = le32toh(a->tenant), tenant_b = le32toh(b->tenant);

    return tenant_a != tenant_b ? tenant_a < tenant_b : (int32_t)(le32toh(a->number) - le32toh(b->number)) < 0;
}

/* What comes out of order comes late or early by little: looked for from behind. */
static void keep(struct ofi_peer *peer, struct ofi_parcel *parcel)
{
    struct ofi_hub *hub = ofi_of(peer)->hub;
    const struct ofi_frame frame = frame_of(parcel);
    struct list *at = &peer->waiting;

    while (at->prev != &peer->waiting) {
        const struct ofi_frame before = frame_of(CONTAINER_OF(at->prev, struct ofi_parcel, link));
        if (!is_before(&frame, &before))
            break;
        at = at->prev;
    }
    list_append(at, &parcel->link);
    ofi_lock(hub);
    (void)ofi_parcel_move(parcel);
    ofi_unlock(hub);
}

enum turn { TURN_NOW, TURN_LATER, TURN_NEVER };

static enum turn turn_of(const struct ofi_peer *peer, const struct ofi_parcel *parcel)
{
    const struct ofi_frame frame = frame_of(parcel);
    const uint32_t tenant = le32toh(frame.tenant), number = le32toh(frame.number);

    if (peer->state == OFI_BROKEN || tenant < peer->tenant)
        return TURN_NEVER;
    if (tenant > peer->tenant && peer->in_number)
        return TURN_LATER; /* of a process that we have not yet been told of */
    if (number == peer->in_number)
        return TURN_NOW;
    return (int32_t)(number - peer->in_number) < 0 ? TURN_NEVER : TURN_LATER;
}

/* The parcel, which is in no list, has its turn; false: not now. */
static bool hand_on(struct ofi_peer *peer, struct ofi_parcel *parcel, int *events)
{
    const uint32_t tenant = le32toh(frame_of(parcel).tenant);
    const enum taken taken = take_frame(peer, parcel);

    if (taken == NOT_NOW)
        return false;
    if (taken == NOT_UNDERSTOOD) {
        bad_frame(peer);
        return true;
    }
    peer->tenant = tenant;
    peer->in_number++;
    *events += taken == TAKEN;
    return true;
}

/* Those that have waited for their turn. */
static int look_at_waiting(struct ofi_peer *peer, struct list *done)
{
    int events = 0;

    while (!list_is_empty(&peer->waiting)) {
        struct ofi_parcel *parcel = CONTAINER_OF(peer->waiting.next, struct ofi_parcel, link);
        const enum turn turn = turn_of(peer, parcel);
        if (turn == TURN_LATER)
            break;
        list_remove(&parcel->link);
        if (turn == TURN_NOW && !hand_on(peer, parcel, &events)) {
            list_prepend(&peer->waiting, &parcel->link);
            set_input(ofi_of(peer));
            break;
        }
        list_append(done, &parcel->link);
    }
    return events;
}

static int take_parcel(struct ofi *ofi, struct ofi_parcel *parcel, struct list *done)
{
    struct ofi_peer *peer = ofi_peer(ofi, (int)le32toh(frame_of(parcel).from));
    enum turn turn;
    int events = 0;

    list_remove(&parcel->link);
    if (unlikely(!peer)) {
        list_append(&ofi->orphans, &parcel->link);
        set_input(ofi);
        return 0;
    }
    turn = turn_of(peer, parcel);
    if (unlikely(turn == TURN_LATER)) {
        keep(peer, parcel);
        return 0;
    }
    if (likely(turn == TURN_NOW) && unlikely(!hand_on(peer, parcel, &events))) {
        keep(peer, parcel);
        set_input(ofi);
        return 0;
    }
    list_append(done, &parcel->link);
    return likely(list_is_empty(&peer->waiting)) ? events : events + look_at_waiting(peer, done);
}

/* What was left before. */
static NOINLINE int retry(struct ofi *ofi, struct list *done)
{
    struct list orphans;
    int events = 0;

    atomic_store_explicit(&ofi->has_input, false, memory_order_relaxed);
    list_init(&orphans);
    LIST_FOR_EACH_SAFE(link, &ofi->orphans) {
        list_remove(link);
        list_append(&orphans, link);
    }
    LIST_FOR_EACH_SAFE(link, &orphans)
        events += take_parcel(ofi, CONTAINER_OF(link, struct ofi_parcel, link), done);
    for (int proc = 0; proc < ofi->procs; proc++) {
        if (ofi->peers[proc])
            events += look_at_waiting(ofi->peers[proc], done);
    }
    return events;
}

int ofi_receive(struct ofi *ofi, struct list *taken, struct list *done)
{
    int events = 0;

    if (unlikely(atomic_load_explicit(&ofi->has_input, memory_order_relaxed)))
        events += retry(ofi, done);
    LIST_FOR_EACH_SAFE(link, taken)
        events += take_parcel(ofi, CONTAINER_OF(link, struct ofi_parcel, link), done);
    return events;
}
