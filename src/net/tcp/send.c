/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/tcp. Sending. When nothing waits, a record is written to the socket at the call, a long one straight from
 * the caller's memory. What the system does not take, and what is kept back to go out with others, is copied into
 * chunks; they form a queue with the records that stay where they are (send_from), and a flush writes as much of it as
 * the system takes with one call.
 * Knows: base, progress (waking), net. */
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "net/tcp/int_tcp.h"
#include "progress/progress.h"

enum { PIECES = 24 };           /* of one call of the system */

static const unsigned char zeroes[TCP_ALIGN];

static struct tcp_peer *peer_of(struct net_ep *ep)
{
    return (struct tcp_peer *)(void *)ep;
}

static ALWAYS_INLINE struct tcp_frame frame_of(enum tcp_kind kind, struct net_head head, uint32_t len)
{
    return (struct tcp_frame){
        htole32(len), htole32((uint32_t)kind), { { htole64(head.word[0]), htole64(head.word[1]) } },
    };
}

/* For the next poll. */
static void make_dirty(struct tcp_peer *peer)
{
    list_remove(&peer->dirty_link);
    list_append(&tcp_of(peer)->dirty, &peer->dirty_link);
}

static struct tcp_chunk *chunk_get(struct tcp *tcp)
{
    struct tcp_chunk *chunk = mem_pool_get(&tcp->chunks);

    if (chunk) {
        chunk->item.is_direct = false;
        chunk->begin = chunk->end = 0;
    }
    return chunk;
}

/* Is there a chunk for what a write leaves over? */
static ALWAYS_INLINE bool has_spare(struct tcp *tcp)
{
    return likely(tcp->spare) || (tcp->spare = chunk_get(tcp));
}

/* Whoever has seen room may send: as long as nothing waits. Callers look without the guard, so the keeper leaves it as
 * it is: 0. */
static ALWAYS_INLINE void set_room(struct tcp_peer *peer)
{
    if (unlikely(tcp_of(peer)->is_kept_by_keeper))
        return;
    peer->ep.room = list_is_empty(&peer->out) && peer->state == TCP_UP && !peer->out_error && has_spare(tcp_of(peer));
}

/* The spare chunk, and another one for who comes next; without one nobody has room any more. Not for the keeper. */
static struct tcp_chunk *take_spare(struct tcp *tcp)
{
    struct tcp_chunk *chunk = tcp->spare;

    tcp->spare = chunk_get(tcp);
    for (int proc = 0; unlikely(!tcp->spare) && proc < tcp->procs; proc++) {
        if (tcp->peers[proc])
            tcp->peers[proc]->ep.room = 0;
    }
    return chunk;
}

static void set_blocked(struct tcp_peer *peer)
{
    peer->is_blocked = true;
    tcp_leave_some(tcp_of(peer));
    if (peer->watches_output)
        return;
    peer->watches_output = !tcp_watch(tcp_of(peer), peer->fd, &peer->watch, true);
    if (!peer->watches_output) {
        peer->is_blocked = false; /* then each poll tries */
        make_dirty(peer);
    }
}

/* A write has failed for good. What can still be read is read first; then receive.c finds the end. */
static void set_out_error(struct tcp_peer *peer, int error)
{
    peer->out_error = error;
    set_room(peer);
}

/* --- chunks --- */

/* Its last bytes, if it is a chunk with room for so many more. */
static struct tcp_chunk *last_chunk(struct tcp_peer *peer, size_t need)
{
    struct tcp_item *item = CONTAINER_OF(peer->out.prev, struct tcp_item, link);
    struct tcp_chunk *chunk;

    if (list_is_empty(&peer->out) || item->is_direct)
        return NULL;
    chunk = CONTAINER_OF(item, struct tcp_chunk, item);
    return need <= sizeof chunk->data - chunk->end ? chunk : NULL;
}

/* Room for `need` bytes behind what waits, at most what a chunk has. NULL: not now. */
static unsigned char *extend(struct tcp_peer *peer, size_t need)
{
    struct tcp_chunk *chunk = last_chunk(peer, need);
    unsigned char *at;

    if (!chunk) {
        if (peer->chunks >= TCP_CHUNKS_MAX)
            return NULL;
        chunk = chunk_get(tcp_of(peer));
        if (!chunk)
            return NULL;
        peer->chunks++;
        list_append(&peer->out, &chunk->item.link);
    }
    at = chunk->data + chunk->end;
    chunk->end += (uint32_t)need;
    peer->unsent += need;
    peer->behind = 0;
    peer->ep.room = 0;
    return at;
}

/* The frame with its payload and what fills it up, but for its first `done` bytes. */
static void write_frame(unsigned char *to, const struct tcp_frame *frame, const void *payload, uint32_t len,
                        size_t done)
{
    const size_t whole = TCP_FRAME_SIZE + tcp_padded(len);

    if (done < TCP_FRAME_SIZE) {
        memcpy(to, (const char *)frame + done, TCP_FRAME_SIZE - done);
        to += TCP_FRAME_SIZE - done;
        done = TCP_FRAME_SIZE;
    }
    if (done < TCP_FRAME_SIZE + (size_t)len) {
        memcpy(to, (const char *)payload + (done - TCP_FRAME_SIZE), TCP_FRAME_SIZE + len - done);
        to += TCP_FRAME_SIZE + len - done;
        done = TCP_FRAME_SIZE + len;
    }
    memset(to, 0, whole - done);
}

/* Behind what waits. 0 or NET_AGAIN. */
static int append(struct tcp_peer *peer, const struct tcp_frame *frame, const void *payload, uint32_t len)
{
    unsigned char *at = extend(peer, TCP_FRAME_SIZE + tcp_padded(len));

    if (!at)
        return NET_AGAIN;
    write_frame(at, frame, payload, len, 0);
    return 0;
}

/* --- writing --- */

/* The frame up to its end, but for its first `done` bytes, as pieces for the system; how many. */
static int frame_pieces(struct iovec *pieces, const struct tcp_frame *frame, const void *payload, uint32_t len,
                        size_t done)
{
    const size_t ends[] = { TCP_FRAME_SIZE, TCP_FRAME_SIZE + (size_t)len, TCP_FRAME_SIZE + tcp_padded(len) };
    const void *const parts[] = { frame, payload, zeroes };
    size_t start = 0;
    int count = 0;

    for (int i = 0; i < 3; start = ends[i++]) {
        if (done >= ends[i])
            continue;
        pieces[count].iov_base = (char *)(uintptr_t)parts[i] + (done - start);
        pieces[count++].iov_len = ends[i] - done;
        done = ends[i];
    }
    return count;
}

/* How many bytes the system has taken; 0 if none. */
static size_t write_pieces(struct tcp_peer *peer, struct iovec *pieces, int count)
{
    const struct msghdr message = { .msg_iov = pieces, .msg_iovlen = (size_t)count };
    const ssize_t sent = sendmsg(peer->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (likely(sent >= 0))
        return (size_t)sent;
    if (errno != EAGAIN && errno != EINTR && errno != ENOBUFS && errno != ENOMEM)
        set_out_error(peer, errno);
    return 0;
}

/* A short frame, put together here: one piece goes faster than three. */
static ALWAYS_INLINE size_t write_small(struct tcp_peer *peer, const struct tcp_frame *frame, const void *payload,
                                        uint32_t len)
{
    unsigned char bytes[TCP_FRAME_SIZE + TCP_SMALL] ALIGNED(TCP_ALIGN);
    const size_t size = TCP_FRAME_SIZE + tcp_padded(len);
    ssize_t sent;

    memcpy(bytes, frame, TCP_FRAME_SIZE);
    if (len) {
        memset(bytes + size - TCP_ALIGN, 0, TCP_ALIGN);
        memcpy(bytes + TCP_FRAME_SIZE, payload, len);
    }
    sent = send(peer->fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (likely(sent >= 0))
        return (size_t)sent;
    if (errno != EAGAIN && errno != EINTR && errno != ENOBUFS && errno != ENOMEM)
        set_out_error(peer, errno);
    return 0;
}

/* Nothing waits: write the frame now. What the system does not take waits from now on. */
static void write_first(struct tcp_peer *peer, const struct tcp_frame *frame, const void *payload, uint32_t len)
{
    const size_t whole = TCP_FRAME_SIZE + tcp_padded(len);
    struct tcp_chunk *chunk;
    size_t sent;

    if (likely(len <= TCP_SMALL)) {
        sent = write_small(peer, frame, payload, len);
    } else {
        struct iovec pieces[3];
        sent = write_pieces(peer, pieces, frame_pieces(pieces, frame, payload, len, 0));
    }
    if (likely(sent == whole))
        return;
    peer->has_forgotten = peer->out_error;
    if (peer->out_error)
        return;
    chunk = take_spare(tcp_of(peer));
    peer->chunks++;
    list_append(&peer->out, &chunk->item.link);
    chunk->begin = 0;
    chunk->end = (uint32_t)(whole - sent);
    peer->unsent += whole - sent;
    peer->behind = 0;
    write_frame(chunk->data, frame, payload, len, sent);
    set_room(peer);
    set_blocked(peer);
}

static int item_pieces(const struct tcp_item *item, struct iovec *pieces)
{
    if (item->is_direct) {
        const struct tcp_direct *direct = CONTAINER_OF(item, struct tcp_direct, item);
        return frame_pieces(pieces, &direct->frame, direct->payload, le32toh(direct->frame.len), direct->done);
    }
    const struct tcp_chunk *chunk = CONTAINER_OF(item, struct tcp_chunk, item);
    pieces->iov_base = (unsigned char *)(uintptr_t)chunk->data + chunk->begin;
    pieces->iov_len = chunk->end - chunk->begin;
    return 1;
}

static size_t item_left(const struct tcp_item *item)
{
    if (item->is_direct) {
        const struct tcp_direct *direct = CONTAINER_OF(item, struct tcp_direct, item);
        return TCP_FRAME_SIZE + tcp_padded(le32toh(direct->frame.len)) - direct->done;
    }
    const struct tcp_chunk *chunk = CONTAINER_OF(item, struct tcp_chunk, item);
    return chunk->end - chunk->begin;
}

/* It has gone out, or never will. */
static void item_free(struct tcp_peer *peer, struct tcp_item *item)
{
    struct tcp *tcp = tcp_of(peer);

    list_remove(&item->link);
    if (item->is_direct) {
        struct tcp_direct *direct = CONTAINER_OF(item, struct tcp_direct, item);
        /* release: the memory is the caller's again */
        atomic_fetch_sub_explicit(direct->pending, 1, memory_order_release);
        if (unlikely(tcp->is_kept_by_keeper)) { /* who waits for that sleeps till there is room, and may miss it */
            atomic_thread_fence(memory_order_seq_cst);
            progress_notify();
        }
        peer->directs--;
        mem_pool_put(&tcp->directs, direct);
    } else {
        struct tcp_chunk *chunk = CONTAINER_OF(item, struct tcp_chunk, item);
        peer->chunks--;
        if (tcp->spare)
            mem_pool_put(&tcp->chunks, chunk);
        else
            tcp->spare = chunk;
    }
}

/* So many bytes of what waits have gone out. */
static void advance(struct tcp_peer *peer, size_t sent)
{
    peer->unsent -= sent;
    while (!list_is_empty(&peer->out)) {
        struct tcp_item *item = CONTAINER_OF(peer->out.next, struct tcp_item, link);
        const size_t left = item_left(item);
        if (sent < left) {
            if (item->is_direct)
                CONTAINER_OF(item, struct tcp_direct, item)->done += sent;
            else
                CONTAINER_OF(item, struct tcp_chunk, item)->begin += (uint32_t)sent;
            return;
        }
        sent -= left;
        item_free(peer, item);
    }
}

/* One call of the system; true if it has taken all that was offered. */
static bool flush_some(struct tcp_peer *peer)
{
    struct iovec pieces[PIECES];
    size_t offered = 0, sent;
    int count = 0;

    LIST_FOR_EACH(link, &peer->out) {
        const struct tcp_item *item = CONTAINER_OF(link, struct tcp_item, link);
        if (count > PIECES - 3)
            break;
        count += item_pieces(item, pieces + count);
        offered += item_left(item);
    }
    sent = write_pieces(peer, pieces, count);
    advance(peer, sent);
    return sent == offered;
}

void tcp_flush(struct tcp_peer *peer)
{
    if (peer->state != TCP_UP || peer->is_blocked || peer->out_error)
        return;
    while (!list_is_empty(&peer->out)) {
        if (!flush_some(peer)) {
            if (!peer->out_error)
                set_blocked(peer);
            return;
        }
    }
    set_room(peer);
}

bool tcp_unblock(struct tcp_peer *peer)
{
    const uint64_t unsent = peer->unsent;

    peer->is_blocked = false;
    tcp_flush(peer);
    if (!peer->is_blocked && peer->watches_output) {
        peer->watches_output = false;
        (void)tcp_watch(tcp_of(peer), peer->fd, &peer->watch, false);
    }
    return peer->unsent < unsent;
}

void tcp_tell_flushed(struct tcp *tcp)
{
    tcp->has_kept = false;
    if (!tcp->net.flushed)
        return;
    atomic_store_explicit(tcp->net.flushed, 1, memory_order_release);
    progress_notify();
}

void tcp_flush_all(struct tcp *tcp)
{
    struct list dirty;

    list_init(&dirty);
    list_move_all(&tcp->dirty, &dirty); /* some may be put there again */
    LIST_FOR_EACH_SAFE(link, &dirty) {
        struct tcp_peer *peer = CONTAINER_OF(link, struct tcp_peer, dirty_link);
        list_remove(link);
        peer->in_burst = false;
        tcp_flush(peer);
    }
}

void tcp_flush_dirty(struct tcp *tcp)
{
    tcp_flush_all(tcp);
    if (tcp->has_kept)
        tcp_tell_flushed(tcp);
}

void tcp_drop_unsent(struct tcp_peer *peer)
{
    LIST_FOR_EACH_SAFE(link, &peer->out)
        item_free(peer, CONTAINER_OF(link, struct tcp_item, link));
    list_remove(&peer->dirty_link);
    peer->unsent = peer->behind = 0;
    peer->is_blocked = peer->watches_output = peer->in_burst = false;
    peer->ep.room = 0;
}

/* --- what callers see --- */

enum { FORGET = 1 };

/* A record is on its way. */
static ALWAYS_INLINE void count_kept(struct tcp_peer *peer, struct net_head head, uint32_t len)
{
    peer->kept_sent += tcp_kept_cost(peer, head, len);
    if (unlikely(!tcp_has_room(peer)))
        tcp_show_wish(peer);
}

/* May something be put behind what waits? 0; NET_AGAIN; or FORGET, when it would never arrive. Begins to connect. Until
 * there is a connection nothing is taken: its sender would believe that it is on its way, and might then wait for what
 * comes of it where nobody polls. */
static NOINLINE int prepare(struct tcp_peer *peer)
{
    if (peer->state == TCP_IDLE)
        (void)tcp_dial(peer);
    if (peer->state == TCP_GONE)
        tcp_lose(peer);
    if (peer->state == TCP_BROKEN || peer->out_error) {
        peer->has_forgotten = true;
        return FORGET;
    }
    return peer->state == TCP_UP ? 0 : NET_AGAIN;
}

static int put_behind(struct tcp_peer *peer, struct net_head head, const void *payload, uint32_t len)
{
    const struct tcp_frame frame = frame_of(TCP_RECORD, head, len);
    const int rc = prepare(peer);

    if (rc)
        return rc == FORGET ? 0 : rc;
    if (append(peer, &frame, payload, len))
        return NET_AGAIN;
    count_kept(peer, head, len);
    return 0;
}

static ALWAYS_INLINE int send_in_room(struct tcp_peer *peer, struct net_head head, const void *payload, uint32_t len)
{
    const struct tcp_frame frame = frame_of(TCP_RECORD, head, len);

    count_kept(peer, head, len);
    write_first(peer, &frame, payload, len);
    return 0;
}

static NOINLINE int send_behind(struct tcp_peer *peer, struct net_head head, const void *payload, uint32_t len)
{
    if (len > TCP_SMALL || list_is_empty(&peer->out))
        tcp_flush(peer); /* perhaps it need not be copied */
    if (peer->ep.room > 0)
        return send_in_room(peer, head, payload, len);
    if (put_behind(peer, head, payload, len))
        return NET_AGAIN;
    tcp_flush(peer);
    return 0;
}

static ALWAYS_INLINE int send_now(struct tcp_peer *peer, struct net_head head, const void *payload, uint32_t len)
{
    return likely(peer->ep.room > 0) ? send_in_room(peer, head, payload, len) : send_behind(peer, head, payload, len);
}

/* The first of a burst goes out at once, those that follow it before the next poll wait for that, or until they are
 * many, or for the keeper. */
static ALWAYS_INLINE int send_soon(struct tcp_peer *peer, struct net_head head, const void *payload, uint32_t len)
{
    if (!peer->in_burst && unlikely(peer->ep.room <= 0) && list_is_empty(&peer->out))
        set_room(peer);
    if (!peer->in_burst && peer->ep.room > 0) {
        peer->in_burst = true;
        make_dirty(peer);
        return send_in_room(peer, head, payload, len);
    }
    if (len > TCP_KEPT_MAX)
        return send_now(peer, head, payload, len);
    if (put_behind(peer, head, payload, len))
        return NET_AGAIN;
    make_dirty(peer);
    tcp_of(peer)->has_kept = true;
    tcp_leave_some(tcp_of(peer));
    if (peer->unsent >= TCP_COALESCE)
        tcp_flush(peer);
    return NET_KEPT;
}

int tcp_send_in_room(struct net_ep *ep, struct net_head head, const void *payload, uint32_t len)
{
    struct tcp *tcp = tcp_enter(ep->net);
    const int rc = send_in_room(peer_of(ep), head, payload, len);

    tcp_leave(tcp);
    return rc;
}

int tcp_send(struct net_ep *ep, struct net_head head, const void *payload, uint32_t len)
{
    struct tcp *tcp = tcp_enter(ep->net);
    const int rc = send_now(peer_of(ep), head, payload, len);

    tcp_leave(tcp);
    return rc;
}

int tcp_send_soon(struct net_ep *ep, struct net_head head, const void *payload, uint32_t len)
{
    struct tcp *tcp = tcp_enter(ep->net);
    const int rc = send_soon(peer_of(ep), head, payload, len);

    tcp_leave(tcp);
    return rc;
}

bool tcp_append_frame(struct tcp_peer *peer, enum tcp_kind kind, struct net_head head)
{
    const struct tcp_frame frame = frame_of(kind, head, 0);
    const uint64_t behind = peer->behind;

    if (append(peer, &frame, NULL, 0))
        return false;
    peer->behind = behind + TCP_FRAME_SIZE;
    make_dirty(peer);
    return true;
}

static int chunk_give(struct tcp_peer *peer, struct net_buffer *buffer)
{
    struct tcp_chunk *chunk;

    if (peer->chunks >= TCP_CHUNKS_MAX || prepare(peer) == NET_AGAIN)
        return NET_AGAIN;
    chunk = chunk_get(tcp_of(peer));
    if (!chunk)
        return NET_AGAIN;
    peer->chunks++;
    list_init(&chunk->item.link);
    buffer->data = chunk->data + TCP_FRAME_SIZE;
    return 0;
}

static struct tcp_chunk *chunk_of(const struct net_buffer *buffer)
{
    return CONTAINER_OF((unsigned char *)buffer->data - TCP_FRAME_SIZE, struct tcp_chunk, data);
}

static int chunk_commit(struct tcp_peer *peer, struct net_head head, const struct net_buffer *buffer, uint32_t len)
{
    struct tcp_chunk *chunk = chunk_of(buffer);
    const struct tcp_frame frame = frame_of(TCP_RECORD, head, len);

    const int rc = prepare(peer);

    if (rc == FORGET)
        item_free(peer, &chunk->item);
    if (rc)
        return rc == FORGET ? 0 : rc;
    memcpy(chunk->data, &frame, TCP_FRAME_SIZE);
    memset(chunk->data + TCP_FRAME_SIZE + len, 0, tcp_padded(len) - len);
    chunk->end = TCP_FRAME_SIZE + (uint32_t)tcp_padded(len);
    list_append(&peer->out, &chunk->item.link);
    peer->unsent += chunk->end;
    peer->behind = 0;
    peer->ep.room = 0;
    count_kept(peer, head, len);
    tcp_flush(peer);
    return 0;
}

static int send_from(struct tcp_peer *peer, struct net_head head, const void *payload, uint32_t len,
                     _Atomic uint32_t *pending)
{
    struct tcp_direct *direct;
    const int rc = prepare(peer);

    if (rc == FORGET)
        atomic_fetch_sub_explicit(pending, 1, memory_order_release);
    if (rc)
        return rc == FORGET ? 0 : rc;
    if (peer->directs >= TCP_DIRECTS_MAX)
        return NET_AGAIN;
    direct = mem_pool_get(&tcp_of(peer)->directs);
    if (!direct)
        return NET_AGAIN;
    *direct = (struct tcp_direct){
        .item.is_direct = true, .frame = frame_of(TCP_RECORD, head, len), .payload = payload, .pending = pending,
    };
    list_append(&peer->out, &direct->item.link);
    peer->directs++;
    peer->unsent += TCP_FRAME_SIZE + tcp_padded(len);
    peer->behind = 0;
    peer->ep.room = 0;
    tcp_flush(peer);
    return 0;
}

int tcp_alloc(struct net_ep *ep, struct net_buffer *buffer)
{
    struct tcp *tcp = tcp_enter(ep->net);
    const int rc = chunk_give(peer_of(ep), buffer);

    tcp_leave(tcp);
    return rc;
}

int tcp_commit(struct net_ep *ep, struct net_head head, const struct net_buffer *buffer, uint32_t len)
{
    struct tcp *tcp = tcp_enter(ep->net);
    const int rc = chunk_commit(peer_of(ep), head, buffer, len);

    tcp_leave(tcp);
    return rc;
}

void tcp_release(struct net_ep *ep, const struct net_buffer *buffer)
{
    struct tcp *tcp = tcp_enter(ep->net);

    item_free(peer_of(ep), &chunk_of(buffer)->item);
    tcp_leave(tcp);
}

int tcp_send_from(struct net_ep *ep, struct net_head head, const void *payload, uint32_t len,
                  _Atomic uint32_t *pending)
{
    struct tcp *tcp = tcp_enter(ep->net);
    const int rc = send_from(peer_of(ep), head, payload, len, pending);

    tcp_leave(tcp);
    return rc;
}
