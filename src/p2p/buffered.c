/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. Buffered sends (MPI 5.0 §3.4, §3.6) and the buffers attached for them. A message that cannot go out at
 * once is packed into the buffer of its communicator, its session or its process, the first that there is, and sent
 * from there by a request that nobody waits for. What has gone makes room when its request completes.
 *
 * The messages of a buffer may belong to communicators of different lanes, so buffers have a lock of their own. It is
 * taken last: who holds it takes no lane's lock. While a message's lane is locked, the message stays where it is.
 *
 * Knows: bsend_space, requests, type, progress. Does not know: how messages travel. */
#include <pthread.h>

#include "base/err.h"
#include "obj/session.h"
#include "p2p/int_abroad.h"
#include "p2p/int_bsend_space.h"
#include "p2p/int_p2p.h"

/* Guards all attached buffers, where they are attached, and what waits for them. */
static pthread_mutex_t buffers_lock = PTHREAD_MUTEX_INITIALIZER;

static struct send_buffer *of_process; /* NULL: none */

/* One attached buffer. */
struct send_buffer {
    struct bsend_space space;
    const char *owner;     /* "the communicator", for messages */
    struct list messages;  /* struct bsend_segment, oldest first */
    uint64_t next;         /* number of the next message */
    struct list flushes;   /* struct flush, oldest first */
    int error;             /* of the first message that failed since this was last told */
};

/* Waits for the messages of a buffer that are in it when this begins. */
struct flush {
    struct req req;              /* first: the handle is its address */
    struct list link;            /* in buffer->flushes until it completes */
    struct send_buffer *buffer;
    uint64_t end;                /* it waits for messages with smaller numbers */
    bool is_detached;            /* the user has freed it */
};

/* The request of MPI_Ibsend: complete from the beginning, but for the time that a cancellation takes. */
struct ibsend {
    struct req req;                /* first: the handle is its address */
    struct lane *lane;
    struct bsend_segment *segment; /* the message; NULL: gone */
};

/* --- what is waited for --- */

static struct bsend_segment *oldest_of(const struct send_buffer *buffer)
{
    return CONTAINER_OF(buffer->messages.next, struct bsend_segment, age);
}

/* True if it is complete. */
static bool flush_check(struct flush *f)
{
    if (!list_is_empty(&f->buffer->messages) && oldest_of(f->buffer)->number < f->end)
        return false;
    f->req.error = f->buffer->error;
    f->buffer->error = 0;
    return true;
}

static void flush_complete(struct flush *f)
{
    list_remove(&f->link);
    if (f->is_detached)
        mem_free(f);
    else
        req_complete(&f->req);
}

static void flush_release(struct req *req)
{
    pthread_mutex_lock(&buffers_lock); /* who has completed it may still look at it */
    mem_free(req);
    pthread_mutex_unlock(&buffers_lock);
}

static int flush_detach(struct req *req)
{
    pthread_mutex_lock(&buffers_lock);
    if (req_is_done(req))
        mem_free(req);
    else
        ((struct flush *)(void *)req)->is_detached = true;
    pthread_mutex_unlock(&buffers_lock);
    return 0;
}

static int flush_cancel(struct req *req)
{
    (void)req;
    return err(MPI_ERR_REQUEST, "the request is that of a flush, which cannot be cancelled");
}

/* The lane of the oldest message, NULL if all have gone; and the request that sends it. */
static struct lane *awaited_by(const struct flush *f, const struct p2p_req **r)
{
    struct lane *lane = NULL;

    pthread_mutex_lock(&buffers_lock);
    if (!list_is_empty(&f->link)) {
        *r = oldest_of(f->buffer)->r;
        lane = (*r)->channel->lane;
    }
    pthread_mutex_unlock(&buffers_lock);
    return lane;
}

/* The oldest message says what is missing. It stays the oldest while its lane is locked; one that is still being packed
 * has nothing to say. */
static void flush_describe(const struct req *req, struct blocked *out)
{
    const struct flush *f = (const struct flush *)(const void *)req;
    const struct p2p_req *r;
    struct lane *lane = awaited_by(f, &r);

    *out = (struct blocked){ 0 };
    if (lane) {
        lane_lock(lane);
        if (awaited_by(f, &r) == lane && r->req.is_send)
            request_describe(&r->req, out);
        lane_unlock(lane);
    }
    out->call = "detaching or flushing the buffer";
    out->of = "MPI_Bsend or MPI_Ibsend";
}

static const struct req_ops flush_ops = {
    .release = flush_release,
    .cancel = flush_cancel,
    .detach = flush_detach,
    .describe = flush_describe,
};

/* False if there is nothing to wait for; its error is set then. */
static bool flush_begin(struct flush *f, struct send_buffer *buffer)
{
    *f = (struct flush){
        .req = { .obj = { .kind = OBJ_REQUEST, .refs = 1 }, .is_send = true, .ops = &flush_ops },
        .buffer = buffer,
        .end = buffer->next,
    };
    if (flush_check(f))
        return false;
    list_append(&buffer->flushes, &f->link);
    return true;
}

/* A message has left the buffer. */
static void flushes_check(struct send_buffer *buffer)
{
    LIST_FOR_EACH_SAFE(link, &buffer->flushes) {
        struct flush *f = CONTAINER_OF(link, struct flush, link);
        if (!flush_check(f))
            return; /* those behind it wait for as much */
        flush_complete(f);
    }
}

/* --- attached buffers --- */

static int none_attached(const char *owner)
{
    return err(MPI_ERR_BUFFER, "E0331: no buffer is attached to %s", owner);
}

struct send_buffer **p2p_buffer_of_process(void)
{
    return &of_process;
}

int p2p_buffer_attach(struct send_buffer **place, const char *owner, void *address, MPI_Count size)
{
    struct send_buffer *buffer;
    int rc = 0;

    if (!address && size)
        return err(MPI_ERR_BUFFER, "buffer is NULL; size is %lld", (long long)size);
    buffer = mem_zalloc(sizeof *buffer);
    if (!buffer)
        return err(MPI_ERR_NO_MEM, "no memory to attach a buffer");
    bsend_space_init(&buffer->space, address, (size_t)size);
    buffer->owner = owner;
    list_init(&buffer->messages);
    list_init(&buffer->flushes);
    pthread_mutex_lock(&buffers_lock);
    if (*place)
        rc = err(MPI_ERR_BUFFER, "E0332: %s has a buffer already (%s); detach it first", owner,
                 (*place)->space.is_automatic ? "MPI_BUFFER_AUTOMATIC" : "attached before");
    else
        *place = buffer;
    pthread_mutex_unlock(&buffers_lock);
    if (rc)
        send_buffer_destroy(buffer);
    return rc;
}

void send_buffer_destroy(struct send_buffer *buffer)
{
    mem_free(buffer);
}

/* Wait for the messages that are in the buffer now; `leaves` takes the buffer out of its place as well. */
static int wait_for_messages(struct send_buffer **place, const char *owner, bool leaves, struct send_buffer **out)
{
    struct flush f;
    bool has_to_wait;

    pthread_mutex_lock(&buffers_lock);
    *out = *place;
    if (!*out) {
        pthread_mutex_unlock(&buffers_lock);
        return none_attached(owner);
    }
    if (leaves)
        *place = NULL;
    has_to_wait = flush_begin(&f, *out);
    pthread_mutex_unlock(&buffers_lock);
    if (has_to_wait)
        progress_wait(&f.req.done, f.req.hint);
    return f.req.error;
}

int p2p_buffer_flush(struct send_buffer **place, const char *owner)
{
    struct send_buffer *buffer;

    return wait_for_messages(place, owner, false, &buffer);
}

int p2p_buffer_detach(struct send_buffer **place, const char *owner, void *address_out, MPI_Count *size)
{
    struct send_buffer *buffer;
    const int rc = wait_for_messages(place, owner, true, &buffer);

    if (!buffer)
        return rc;
    *(void **)address_out = buffer->space.address;
    *size = (MPI_Count)buffer->space.size;
    pthread_mutex_lock(&buffers_lock); /* who has completed the flush may still look at the buffer */
    send_buffer_destroy(buffer);
    pthread_mutex_unlock(&buffers_lock);
    return rc;
}

int p2p_buffer_drop(struct send_buffer **place)
{
    void *address;
    MPI_Count size;

    return *place ? p2p_buffer_detach(place, "", &address, &size) : 0;
}

static int iflush_locked(struct send_buffer *buffer, struct req **out)
{
    struct flush *f = mem_alloc(sizeof *f);

    if (!f)
        return err(MPI_ERR_NO_MEM, "no memory for a request");
    if (!flush_begin(f, buffer))
        atomic_store_explicit(&f->req.done, 1, memory_order_release); /* as req_complete; nobody waits yet */
    f->req.waiter = REQ_IN_WAIT;
    *out = &f->req;
    return 0;
}

int p2p_buffer_iflush(struct send_buffer **place, const char *owner, struct req **out)
{
    int rc;

    pthread_mutex_lock(&buffers_lock);
    rc = *place ? iflush_locked(*place, out) : none_attached(owner);
    pthread_mutex_unlock(&buffers_lock);
    return rc;
}

/* --- the request of MPI_Ibsend --- */

static void ibsend_release(struct req *req)
{
    struct ibsend *handle = (struct ibsend *)(void *)req;
    struct lane *lane = handle->lane;

    lane_lock(lane);
    if (handle->segment)
        handle->segment->handle = NULL;
    mem_free(handle);
    lane_unlock(lane);
}

/* Freed, whether it is being cancelled or not: the message goes its way. */
static int ibsend_detach(struct req *req)
{
    ibsend_release(req);
    return 0;
}

/* Locally complete, but the message may still be here: then it is taken back, which frees its space (§3.8.4), and the
 * request waits for how that ends. A message that has met its receive goes its way. */
static int ibsend_cancel(struct req *req)
{
    struct ibsend *handle = (struct ibsend *)(void *)req;
    struct lane *lane = handle->lane;
    struct p2p_req *r;

    lane_lock(lane);
    r = handle->segment ? handle->segment->r : NULL;
    if (r && (r->state == P2P_QUEUED || r->state == P2P_OFFERED)) {
        atomic_store_explicit(&req->done, 0, memory_order_relaxed); /* nobody waits: the user is here */
        p2p_req_ops.cancel(&r->req);
    }
    lane_unlock(lane);
    return 0;
}

static void ibsend_describe(const struct req *req, struct blocked *out)
{
    const struct ibsend *handle = (const struct ibsend *)(const void *)req;

    lane_lock(handle->lane);
    *out = (struct blocked){ .comm = req->comm };
    if (handle->segment)
        request_describe(&handle->segment->r->req, out);
    out->call = "MPI_Wait";
    out->of = "MPI_Ibsend, cancelled";
    lane_unlock(handle->lane);
}

static const struct req_ops ibsend_ops = {
    .release = ibsend_release,
    .cancel = ibsend_cancel,
    .detach = ibsend_detach,
    .describe = ibsend_describe,
};

static struct ibsend *ibsend_create(struct channel *channel)
{
    struct ibsend *handle = mem_alloc(sizeof *handle);

    if (handle)
        *handle = (struct ibsend){
            .req = { .obj = { .kind = OBJ_REQUEST, .refs = 1 }, .done = 1, .is_send = true, .ops = &ibsend_ops },
            .lane = channel->lane,
        };
    return handle;
}

/* --- messages in a buffer --- */

/* A message leaves its buffer. */
static void leave_buffer(struct bsend_segment *segment, int error)
{
    struct send_buffer *buffer = segment->buffer;

    pthread_mutex_lock(&buffers_lock);
    if (error && !buffer->error)
        buffer->error = error;
    list_remove(&segment->age);
    bsend_space_give(&buffer->space, segment);
    flushes_check(buffer);
    pthread_mutex_unlock(&buffers_lock);
}

/* The message has gone or has been taken back. With its lane's lock. */
static void message_release(struct req *req)
{
    struct p2p_req *r = (struct p2p_req *)(void *)req;
    struct bsend_segment *segment = CONTAINER_OF(r->buf, struct bsend_segment, data);
    struct ibsend *handle = segment->handle;

    if (handle) {
        handle->segment = NULL;
        handle->req.is_cancelled = req->is_cancelled;
        if (!req_is_done(&handle->req))
            req_complete(&handle->req);
    }
    req->ops = segment->request_ops;
    leave_buffer(segment, req->error);
    req->ops->release(req); /* may be the end of the communicator, and of its buffer */
}

static const struct req_ops message_ops = { .release = message_release };

static struct send_buffer *buffer_of(const struct comm *comm)
{
    const struct session *session = session_alive(comm->session);

    if (comm->buffer)
        return comm->buffer;
    return session && session->buffer ? session->buffer : of_process;
}

static int no_room(const struct send_buffer *buffer, size_t len)
{
    if (!buffer)
        return err(MPI_ERR_BUFFER, "E0331: a message of %zu bytes must be buffered, but no buffer is attached",
                   len);
    return err(MPI_ERR_BUFFER,
               "E0333: a message of %zu bytes takes %zu with MPI_BSEND_OVERHEAD; of the %zu bytes of the buffer "
               "attached to %s %zu are free",
               len, len + MPI_BSEND_OVERHEAD, buffer->space.size, buffer->owner, buffer->space.free);
}

static int no_memory(size_t len)
{
    return err(MPI_ERR_NO_MEM, "no memory to buffer a message of %zu bytes", len);
}

/* What has gone without our knowing makes room; it may have gone in any lane. Without any lock. */
static void make_room(const struct comm *comm, size_t len)
{
    bool has;

    do {
        const struct send_buffer *buffer;
        pthread_mutex_lock(&buffers_lock);
        buffer = buffer_of(comm);
        has = !buffer || bsend_space_has(&buffer->space, len);
        pthread_mutex_unlock(&buffers_lock);
    } while (!has && progress_poll_last());
}

/* Space for a message, which is the youngest of the buffer from now on. With the lock of the buffers. */
static int take_space(struct send_buffer *buffer, size_t len, struct p2p_req *r, struct bsend_segment **out)
{
    *out = buffer ? bsend_space_take(&buffer->space, len) : NULL;
    if (!*out)
        return buffer && bsend_space_has(&buffer->space, len) ? no_memory(len) : no_room(buffer, len);
    (*out)->buffer = buffer;
    (*out)->r = r;
    (*out)->handle = NULL;
    (*out)->request_ops = r->req.ops;
    (*out)->number = buffer->next++;
    list_append(&buffer->messages, &(*out)->age);
    return 0;
}

/* A place for the message, NULL if this fails, and the request that will send it from there: packed bytes, but for
 * types that are one run anyway. */
static int message_create(struct channel *channel, size_t len, struct type *type, struct bsend_segment **out)
{
    struct p2p_req *r = request_create(channel, type->is_contig ? type : obj_type(MPI_PACKED));
    int rc;

    if (!r)
        return no_memory(len);
    pthread_mutex_lock(&buffers_lock);
    rc = take_space(buffer_of(channel->comm), len, r, out);
    pthread_mutex_unlock(&buffers_lock);
    if (rc) {
        r->req.ops->release(&r->req);
        return rc;
    }
    r->req.ops = &message_ops;
    r->is_special = r->is_detached = true;
    channel->lane->detached++;
    return 0;
}

/* What p2p_bsend is called with. */
struct bsend {
    const void *buf;
    MPI_Count count;
    struct type *type;
    int dest, tag;
};

/* By way of the buffer. With the lock, which others may have while room is looked for and while the data is copied:
 * once the message is in its buffer's list, nobody ends the buffer without it. */
static int send_buffered(struct channel *channel, const struct bsend *args, struct ibsend *handle)
{
    const bool is_foreign = p2p_is_foreign(channel->comm, args->dest);
    const bool is_external = is_foreign && !args->type->is_contig;
    const size_t len = is_external ? external_bytes(args->type, args->count) : type_bytes(args->type, args->count);
    struct bsend_segment *segment = NULL;
    int rc = is_foreign ?
             foreign_check_fit(channel, args->type, args->buf, args->count, args->dest, args->tag) : 0;

    if (rc)
        return rc;
    lane_unlock(channel->lane);
    make_room(channel->comm, len);
    lane_lock(channel->lane);
    rc = message_create(channel, len, args->type, &segment);
    if (rc)
        return rc;
    segment->handle = handle;
    if (handle)
        handle->segment = segment;
    lane_unlock(channel->lane);
    if (is_external)
        external_pack_range(args->type, args->buf, args->count, 0, segment->data, len);
    else if (len)
        type_pack(args->type, args->buf, args->count, 0, segment->data, len);
    lane_lock(channel->lane);
    rc = send_set_up(segment->r, segment->data, args->type->is_contig ? args->count : (MPI_Count)len, args->dest,
                     args->tag);
    send_start(segment->r);
    return rc;
}

/* The same for MPI_Ibsend. */
static int isend_buffered(struct channel *channel, const struct bsend *args, struct req **out)
{
    struct ibsend *handle = ibsend_create(channel);
    int rc;

    if (!handle)
        return err(MPI_ERR_NO_MEM, "no memory for a send request");
    rc = send_buffered(channel, args, handle);
    if (rc)
        mem_free(handle);
    else
        *out = &handle->req;
    return rc;
}

static ALWAYS_INLINE int bsend(struct comm *comm, const struct bsend *args, struct req **out)
{
    struct channel *channel = channel_of(comm, P2P_STANDARD);
    struct peer *peer;
    int rc;

    if (args->dest == MPI_PROC_NULL)
        return 0;
    lane_lock(channel->lane);
    rc = peer_get_rank(channel, args->dest, &peer);
    if (!rc && !send_now(channel, args->buf, args->count, args->type, args->dest, args->tag))
        rc = out ? isend_buffered(channel, args, out) : send_buffered(channel, args, NULL);
    lane_unlock(channel->lane);
    return rc;
}

int p2p_bsend(struct comm *comm, const void *buf, MPI_Count count, struct type *type, int dest, int tag)
{
    return bsend(comm, &(struct bsend){ buf, count, type, dest, tag }, NULL);
}

int p2p_ibsend(struct comm *comm, const void *buf, MPI_Count count, struct type *type, int dest, int tag,
               struct req **out)
{
    *out = req_sent();
    return bsend(comm, &(struct bsend){ buf, count, type, dest, tag }, out);
}
