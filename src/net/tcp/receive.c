/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/tcp. Receiving. One read of the system brings as many frames as have come; all connections share the buffer
 * that it goes to. Of a frame that has come in part a few bytes are kept with the connection, more in the buffer, which
 * then belongs to it until the rest is there, and a long payload is read straight to where the sink wants it.
 * Knows: base, net. The bytes come from a process that has proved itself, but nothing in them is believed that could
 * lead beyond a buffer. */
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "base/copy.h"
#include "base/err.h"
#include "net/tcp/int_tcp.h"

/* Bytes that have come: [begin, end) of `buf`. */
struct span {
    unsigned char *buf;
    uint32_t begin, end;
};

static ALWAYS_INLINE struct net_head head_of(const struct tcp_frame *frame)
{
    return (struct net_head){ { le64toh(frame->head.word[0]), le64toh(frame->head.word[1]) } };
}

static bool is_stalled(const struct tcp_peer *peer)
{
    return !list_is_empty(&peer->stalled_link);
}

/* The sink has no memory: the next poll offers it again. */
static void stall(struct tcp_peer *peer)
{
    list_remove(&peer->stalled_link);
    list_append(&tcp_of(peer)->stalled, &peer->stalled_link);
    atomic_store_explicit(&peer->has_input, true, memory_order_relaxed);
}

static bool arrive(struct tcp_peer *peer, struct net_head head, const void *payload, uint32_t len)
{
    const struct net_sink *sink = &peer->ep.net->sink;

    if (unlikely(sink->arrive(sink->arg, peer->ep.proc, head, payload, len))) {
        stall(peer);
        return false;
    }
    peer->kept_come += tcp_kept_cost(peer, head, len);
    return true;
}

/* The payload that was read to its place is there; true if it has been taken. */
static bool finish_landing(struct tcp_peer *peer)
{
    struct tcp_in *in = &peer->in;

    if (!arrive(peer, in->head, in->at, in->len))
        return false;
    mem_free(in->own);
    in->own = in->at = NULL;
    return true;
}

/* Of a long payload only a part has come: where is the rest to be read to? False: there is no memory now. */
static bool begin_landing(struct tcp_peer *peer, const struct tcp_frame *frame, struct span *span)
{
    const struct net_sink *sink = &peer->ep.net->sink;
    struct tcp_in *in = &peer->in;
    const uint32_t come = span->end - span->begin - TCP_FRAME_SIZE;

    in->len = le32toh(frame->len);
    in->head = head_of(frame);
    if (sink->land && !in->has_asked)
        in->at = sink->land(sink->arg, peer->ep.proc, in->head, in->len);
    in->has_asked = true;
    if (!in->at)
        in->at = in->own = mem_alloc(in->len);
    if (!in->at) {
        stall(peer);
        return false;
    }
    in->has_asked = false;
    in->got = (uint32_t)size_min(come, in->len);
    copy_long(in->at, span->buf + span->begin + TCP_FRAME_SIZE, in->got);
    in->skip = (uint32_t)(tcp_padded(in->len) - in->len);
    span->begin += TCP_FRAME_SIZE + in->got;
    return true;
}

static void bad_frame(struct tcp_peer *peer)
{
    tcp_end(peer, err(MPI_ERR_OTHER, "E0362: process %d sends over its connection what cannot be understood",
                      peer->ep.proc));
}

/* What is no record; false: it is not understood. */
static bool take_other(struct tcp_peer *peer, const struct tcp_frame *frame)
{
    struct tcp *tcp = tcp_of(peer);
    const struct net_head head = head_of(frame);

    if (frame->len)
        return false;
    if (frame->kind == htole32(TCP_BYE)) {
        peer->is_leaving = true;
        return true;
    }
    if (frame->kind != htole32(TCP_WISH))
        return false;
    peer->asked = (uint32_t)head.word[0];
    peer->kept_may = (uint32_t)(head.word[0] >> 32);
    tcp_show_wish(peer);
    for (int i = 1; i < NET_WISHES; i++)
        atomic_store_explicit(&tcp->heard[peer->ep.proc * NET_WISHES + i], (uint32_t)head.word[i],
                              memory_order_relaxed);
    return true;
}

enum taken { TAKEN, TAKEN_NO_RECORD, NOT_ALL_THERE, NOT_NOW, NOT_UNDERSTOOD };

/* The next frame of the span. */
static ALWAYS_INLINE enum taken take_frame(struct tcp_peer *peer, struct span *span)
{
    const struct tcp_frame *frame = (const struct tcp_frame *)(const void *)(span->buf + span->begin);
    const uint32_t come = span->end - span->begin;
    uint32_t len;

    if (come < TCP_FRAME_SIZE)
        return NOT_ALL_THERE;
    if (unlikely(peer->is_leaving))
        return NOT_UNDERSTOOD;
    if (unlikely(frame->kind != htole32(TCP_RECORD))) {
        span->begin += TCP_FRAME_SIZE;
        return take_other(peer, frame) ? TAKEN_NO_RECORD : NOT_UNDERSTOOD;
    }
    len = le32toh(frame->len);
    if (unlikely(come - TCP_FRAME_SIZE < tcp_padded(len))) {
        if (len < TCP_LAND_MIN)
            return NOT_ALL_THERE;
        return begin_landing(peer, frame, span) ? TAKEN_NO_RECORD : NOT_NOW;
    }
    if (!arrive(peer, head_of(frame), frame + 1, len))
        return NOT_NOW;
    span->begin += TCP_FRAME_SIZE + (uint32_t)tcp_padded(len);
    return TAKEN;
}

/* Hand on what is whole; how many records there were. */
static int take_frames(struct tcp_peer *peer, struct span *span)
{
    enum taken taken = TAKEN;
    int events = 0;

    while (taken <= TAKEN_NO_RECORD && !peer->in.at) {
        taken = take_frame(peer, span);
        events += taken == TAKEN;
    }
    if (taken == NOT_UNDERSTOOD)
        bad_frame(peer);
    return events;
}

/* --- reading --- */

/* Where the bytes that come next are put, behind those of a frame that has begun, whether any come or not. False: no
 * memory now. */
static bool span_open(struct tcp_peer *peer, struct span *span)
{
    struct tcp *tcp = tcp_of(peer);
    struct tcp_in *in = &peer->in;
    const uint32_t size = in->end - in->begin, start = (TCP_ALIGN - in->skip) % TCP_ALIGN; /* frames lie aligned */

    if (in->buf) {
        memmove(in->buf + start, in->buf + in->begin, size);
        in->begin = start;
        in->end = start + size;
        *span = (struct span){ in->buf, in->begin, in->end };
        return true;
    }
    if (!tcp->in)
        tcp->in = mem_pool_get(&tcp->buffers);
    if (!tcp->in)
        return false;
    *span = (struct span){ tcp->in, start, start + size };
    memcpy(tcp->in + start, in->stash, size);
    return true;
}

/* Keep what has not been handed on. */
static void span_close(struct tcp_peer *peer, const struct span *span)
{
    struct tcp *tcp = tcp_of(peer);
    struct tcp_in *in = &peer->in;
    const uint32_t size = span->end - span->begin;

    if (size <= TCP_STASH) {
        memcpy(in->stash, span->buf + span->begin, size);
        in->begin = 0;
        in->end = size;
        if (in->buf && tcp->in)
            mem_pool_put(&tcp->buffers, in->buf);
        else
            tcp->in = span->buf;
        in->buf = NULL;
        return;
    }
    if (!in->buf)
        tcp->in = NULL;
    in->buf = span->buf;
    in->begin = span->begin;
    in->end = span->end;
}

/* It has closed the connection, or the connection is broken. */
static void find_end(struct tcp_peer *peer, int error)
{
    const int cause = peer->out_error ? peer->out_error : error;

    if (peer->is_leaving && peer->unsent <= peer->behind && !peer->has_forgotten)
        tcp_end(peer, 0);
    else if (peer->is_leaving)
        tcp_end(peer, err(MPI_ERR_OTHER, "E0362: process %d has left MPI before all that was sent to it could go out",
                          peer->ep.proc));
    else if (cause)
        tcp_end(peer, err(MPI_ERR_OTHER, "E0362: the connection to process %d is broken: %s", peer->ep.proc,
                          strerror(cause)));
    else
        tcp_end(peer, err(MPI_ERR_OTHER, "E0362: process %d has ended without leaving MPI: its connection was closed",
                          peer->ep.proc));
}

/* One read; how many bytes it has brought, 0 if none has come, and whether there may be more. */
static size_t read_some(struct tcp_peer *peer, struct span *span, bool *is_all)
{
    struct tcp_in *in = &peer->in;
    struct iovec pieces[2];
    struct msghdr message = { .msg_iov = pieces, .msg_iovlen = 1 };
    size_t room = TCP_IN_SIZE - span->end;
    ssize_t got;

    if (likely(!in->at)) {
        got = recv(peer->fd, span->buf + span->end, room, MSG_DONTWAIT);
    } else {
        pieces[0] = (struct iovec){ in->at + in->got, in->len - in->got };
        pieces[1] = (struct iovec){ span->buf + span->end, room };
        message.msg_iovlen = 2;
        room += in->len - in->got;
        got = recvmsg(peer->fd, &message, MSG_DONTWAIT);
    }
    *is_all = got < (ssize_t)room;
    if (likely(got > 0))
        return (size_t)got;
    if (got == 0 || (errno != EAGAIN && errno != EINTR && errno != ENOMEM))
        find_end(peer, got ? errno : 0);
    return 0;
}

/* So many bytes have come: to the landing first, then behind the span. */
static void sort_in(struct tcp_peer *peer, struct span *span, size_t got)
{
    struct tcp_in *in = &peer->in;
    const uint32_t landed = in->at ? (uint32_t)size_min(got, in->len - in->got) : 0;

    in->got += landed;
    span->end += (uint32_t)(got - landed);
}

/* Hand on what there is: the landed payload, what fills it up, the frames behind it. */
static int hand_on(struct tcp_peer *peer, struct span *span)
{
    struct tcp_in *in = &peer->in;
    uint32_t skipped;
    int events = 0;

    if (in->at) {
        if (in->got < in->len || !finish_landing(peer))
            return 0;
        events++;
    }
    skipped = (uint32_t)size_min(in->skip, span->end - span->begin);
    in->skip -= skipped;
    span->begin += skipped;
    return events + take_frames(peer, span);
}

int tcp_receive(struct tcp_peer *peer, const _Atomic uint32_t *done)
{
    struct span span;
    bool has_come = false;
    int events = 0;

    for (int i = 0; i < TCP_READS && peer->state == TCP_UP && !is_stalled(peer); i++) {
        bool is_all;
        size_t got;
        if (!span_open(peer, &span))
            break;
        got = read_some(peer, &span, &is_all);
        if (!got)
            break;
        has_come = true;
        sort_in(peer, &span, got);
        events += hand_on(peer, &span);
        if (peer->state == TCP_UP)
            span_close(peer, &span);
        if (is_all || (done && atomic_load_explicit(done, memory_order_relaxed)))
            break;
    }
    if (events)
        tcp_tell(peer);
    return events ? events : has_come; /* who waits for the rest of a long one must not take this for idle time */
}

/* Each once; some of them are in the list again then, behind `last`. */
static int retry_stalled(struct tcp *tcp)
{
    struct list *last = tcp->stalled.prev, *link = NULL;
    int events = 0;

    while (link != last) {
        struct tcp_peer *peer;
        struct span span;
        link = tcp->stalled.next;
        peer = CONTAINER_OF(link, struct tcp_peer, stalled_link);
        list_remove(link);
        atomic_store_explicit(&peer->has_input, false, memory_order_relaxed);
        if (!span_open(peer, &span)) {
            stall(peer);
            return events;
        }
        events += hand_on(peer, &span);
        if (peer->state == TCP_UP)
            span_close(peer, &span);
        tcp_tell(peer);
    }
    return events;
}

int tcp_retry_stalled(struct tcp *tcp)
{
    return likely(list_is_empty(&tcp->stalled)) ? 0 : retry_stalled(tcp);
}

void tcp_drop_input(struct tcp_peer *peer)
{
    struct tcp *tcp = tcp_of(peer);

    if (peer->in.buf)
        mem_pool_put(&tcp->buffers, peer->in.buf);
    mem_free(peer->in.own);
    list_remove(&peer->stalled_link);
    atomic_store_explicit(&peer->has_input, false, memory_order_relaxed);
    peer->in = (struct tcp_in){ 0 };
}
