/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: rma. Operations by messages, at the origin: calls go out with a copy of their data, so the user's buffer is
 * free at once; answers come in; a flush is a parcel behind all others, and its answer. serve.c is the other end.
 * Knows: int_message.h. Does not know: what a target does. */
#include "rma/message.h"

#include <string.h>

#include "base/err.h"
#include "obj/req.h"
#include "op/op.h"
#include "rma/int_message.h"

/* --- what is read --- */

/* An operation that brings something back. Guarded by the lock of the box. */
struct asked {
    struct win *win;
    int rank;
    struct win_data result;  /* with a reference to the type */
    size_t left;             /* bytes that have not come */
    int error;               /* the target has refused it; 0: it has not */
    struct req *req;         /* NULL: nobody waits for it alone */
};

static struct win_messages *messages_of(const struct win *win)
{
    return win->messages;
}

static int asked_create(struct win *win, const struct win_data *result, int rank, const char *call,
                        struct req **request, struct asked **out)
{
    struct asked *a = mem_alloc(sizeof *a);
    int rc = 0;

    if (!a)
        return err(MPI_ERR_NO_MEM, "no memory for an operation on rank %d", rank);
    *a = (struct asked){ .win = win, .rank = rank, .result = *result };
    a->left = type_bytes(result->type, result->count);
    if (request)
        rc = win_request_create(win, call, rank, &a->req);
    if (rc) {
        mem_free(a);
        return rc;
    }
    if (request)
        *request = a->req;
    type_ref(a->result.type);
    *out = a;
    return 0;
}

/* With the lock: `a` counts from now on. */
static void reading(struct asked *a)
{
    struct win_messages *m = messages_of(a->win);

    m->peer[a->rank].reading++;
    atomic_fetch_add_explicit(&a->win->pending, 1, memory_order_relaxed);
}

/* All has come, or been given up. */
static void asked_end(struct asked *a)
{
    struct win_messages *m = messages_of(a->win);

    m->peer[a->rank].reading--;
    if (a->req)
        win_request_complete(a->req, a->error);
    else if (a->error)
        m->peer[a->rank].error = a->error;
    atomic_fetch_sub_explicit(&a->win->pending, 1, memory_order_release);
    progress_notify();
    type_unref(a->result.type);
    mem_free(a);
}

/* So many bytes could not be asked for. With the lock. */
static COLD void asked_less(struct asked *a, size_t bytes)
{
    if (a->req)
        a->req->ops->detach(a->req); /* the user is not given it */
    a->left -= bytes;
    if (!a->left)
        asked_end(a);
}

/* --- going out --- */

/* Head, outline and room for `len` bytes of data in one; `*data` is where these go. */
static void *new_call(const struct win_call_head *head, const struct type_outline *outline, size_t len, char **data)
{
    char *bytes = mem_alloc(sizeof *head + outline->len + len);

    if (bytes) {
        memcpy(bytes, head, sizeof *head);
        memcpy(bytes + sizeof *head, outline->bytes, outline->len);
        *data = bytes + sizeof *head + outline->len;
    }
    return bytes;
}

static void call_gone(void *bytes)
{
    mem_free(bytes);
}

/* Takes over `bytes`. */
static int send_call(struct win *win, int rank, void *bytes, size_t len)
{
    const int rc = p2p_parcel_send(win->comm, rank, PARCEL_CALL, bytes, len, call_gone, bytes);

    if (rc)
        mem_free(bytes);
    return rc;
}

void win_unflushed(struct win_messages *m, int rank)
{
    struct win_peer *peer = &m->peer[rank];

    if (!peer->is_unflushed) {
        peer->is_unflushed = true;
        atomic_fetch_add_explicit(&m->win->pending, 1, memory_order_relaxed);
    }
}

static struct win_call_head head_of(enum win_action action, const struct win_aim *aim, const struct win_place *place,
                                    const struct type_outline *outline)
{
    return (struct win_call_head){ .address = place->address, .count = aim->count, .action = (uint8_t)action,
                                   .outline_len = (uint32_t)outline->len };
}

static COLD int no_memory(int rank, size_t len)
{
    return err(MPI_ERR_NO_MEM, "no memory for a message of %zu bytes to rank %d", len, rank);
}

static int send_piece(struct win *win, const struct win_data *from, int rank, const struct win_call_head *head,
                      const struct type_outline *outline)
{
    char *data;
    void *bytes = new_call(head, outline, head->len, &data);

    if (!bytes)
        return no_memory(rank, head->len);
    type_pack(from->type, from->buf, from->count, head->at, data, head->len);
    return send_call(win, rank, bytes, sizeof *head + outline->len + head->len);
}

/* One without data. */
static int send_bare(struct win *win, int rank, const struct win_call_head *head, const struct type_outline *outline)
{
    char *data;
    void *bytes = new_call(head, outline, 0, &data);

    return bytes ? send_call(win, rank, bytes, sizeof *head + outline->len) : no_memory(rank, 0);
}

/* Bytes of data in one parcel. */
static size_t piece_of(const struct type_outline *outline)
{
    return size_max(MESSAGE_PIECE, 4 * outline->len);
}

/* All pieces of an operation with data. After an error head->at says how much has gone. */
static int send_pieces(struct win *win, const struct win_data *from, int rank, struct win_call_head *head,
                       const struct type_outline *outline, size_t bytes, size_t most)
{
    int rc = 0;

    for (size_t at = 0; at < bytes && !rc; at += most) {
        head->at = at;
        head->len = size_min(bytes - at, most);
        rc = send_piece(win, from, rank, head, outline);
    }
    return rc;
}

int win_message_put(struct win *win, const struct win_data *data, const struct win_aim *aim,
                    const struct win_place *place, struct req **request)
{
    const struct type_outline *outline;
    struct win_call_head head;
    int rc = type_get_outline(aim->type, &outline);

    if (rc)
        return rc;
    head = head_of(ACTION_PUT, aim, place, outline);
    p2p_box_lock(win->comm);
    win_unflushed(messages_of(win), aim->rank);
    rc = send_pieces(win, data, aim->rank, &head, outline, place->bytes, piece_of(outline));
    p2p_box_unlock(win->comm);
    if (!rc && request)
        *request = win_done_request();
    return rc;
}

int win_message_get(struct win *win, const struct win_data *data, const struct win_aim *aim,
                    const struct win_place *place, struct req **request)
{
    const struct type_outline *outline;
    struct win_call_head head;
    struct asked *a = NULL;
    int rc = type_get_outline(aim->type, &outline);

    if (!rc)
        rc = asked_create(win, data, aim->rank, "MPI_Rget", request, &a);
    if (rc)
        return rc;
    head = head_of(ACTION_GET, aim, place, outline);
    head.asked = (uintptr_t)a;
    head.len = place->bytes;
    p2p_box_lock(win->comm);
    reading(a);
    rc = send_bare(win, aim->rank, &head, outline);
    if (rc)
        asked_less(a, place->bytes);
    p2p_box_unlock(win->comm);
    return rc;
}

/* --- combining --- */

/* In pieces of whole elements, each with a reply if something is asked for. */
static int send_combine(struct win *win, const struct win_data *from, int rank, struct win_call_head *head,
                        const struct type_outline *outline, size_t bytes, size_t element)
{
    const size_t most = piece_of(outline) / element * element;
    int rc = 0;

    if (head->op != (uintptr_t)MPI_NO_OP)
        return send_pieces(win, from, rank, head, outline, bytes, most);
    for (size_t at = 0; at < bytes && !rc; at += most) {
        head->at = at;
        head->len = size_min(bytes - at, most);
        rc = send_bare(win, rank, head, outline);
    }
    return rc;
}

int win_message_combine(struct win *win, const struct win_data *from, const struct win_data *result,
                        const struct win_aim *aim, const struct win_place *place, const struct op *op,
                        const struct type *element, struct req **request)
{
    const struct type_outline *outline;
    struct win_call_head head;
    struct asked *a = NULL;
    int rc = type_get_outline(aim->type, &outline);

    if (!rc && result)
        rc = asked_create(win, result, aim->rank, "MPI_Rget_accumulate", request, &a);
    if (rc)
        return rc;
    head = head_of(ACTION_COMBINE, aim, place, outline);
    head.asked = (uintptr_t)a;
    head.op = op->obj.predefined;
    head.kind = element->kind;
    p2p_box_lock(win->comm);
    if (a)
        reading(a);
    else
        win_unflushed(messages_of(win), aim->rank);
    rc = send_combine(win, from, aim->rank, &head, outline, place->bytes, (size_t)element->size);
    if (rc && a)
        asked_less(a, place->bytes - head.at);
    p2p_box_unlock(win->comm);
    if (!rc && request && !a)
        *request = win_done_request();
    return rc;
}

int win_message_swap(struct win *win, const void *from, const void *compare, const struct win_data *result,
                     const struct win_aim *aim, const struct win_place *place)
{
    const size_t len = (size_t)aim->type->size;
    const struct type_outline *outline;
    struct win_call_head head;
    struct asked *a = NULL;
    void *bytes;
    char *data;
    int rc = type_get_outline(aim->type, &outline);

    if (!rc)
        rc = asked_create(win, result, aim->rank, "MPI_Compare_and_swap", NULL, &a);
    if (rc)
        return rc;
    head = head_of(ACTION_SWAP, aim, place, outline);
    head.asked = (uintptr_t)a;
    head.kind = aim->type->kind;
    head.len = len;
    bytes = new_call(&head, outline, 2 * len, &data);
    if (bytes) {
        memcpy(data, from, len);
        memcpy(data + len, compare, len);
    }
    p2p_box_lock(win->comm);
    reading(a);
    rc = bytes ? send_call(win, aim->rank, bytes, sizeof head + outline->len + 2 * len) : no_memory(aim->rank, len);
    if (rc)
        asked_less(a, len);
    p2p_box_unlock(win->comm);
    return rc;
}

/* --- coming in --- */

static void on_reply(const struct win_parcel_in *in)
{
    const struct win_reply_head *head = (const struct win_reply_head *)(const void *)in->bytes;
    struct asked *a = (struct asked *)(uintptr_t)head->asked;
    const size_t len = in->len - sizeof *head;

    type_unpack(a->result.type, a->result.buf, a->result.count, head->at, in->bytes + sizeof *head, len);
    a->left -= len;
    if (!a->left)
        asked_end(a);
}

static COLD int refused(const struct win_parcel_in *in)
{
    const struct win_refusal *refusal = (const struct win_refusal *)(const void *)in->bytes;

    return err(MPI_ERR_RMA_RANGE, "E0802: %llu bytes at address 0x%llx of rank %d are not attached to the window",
               (unsigned long long)refusal->len, (unsigned long long)refusal->address, in->rank);
}

static void on_refused(const struct win_parcel_in *in)
{
    const struct win_refusal *refusal = (const struct win_refusal *)(const void *)in->bytes;
    struct asked *a = (struct asked *)(uintptr_t)refusal->asked;

    a->error = refused(in);
    a->left -= refusal->left;
    if (!a->left)
        asked_end(a);
}

static void on_flushed(struct win_messages *m, const struct win_parcel_in *in)
{
    struct win_peer *peer = &m->peer[in->rank];

    peer->is_flushing = false;
    if (unlikely(in->len))
        peer->error = refused(in);
    atomic_fetch_sub_explicit(&m->win->pending, 1, memory_order_release);
    progress_notify();
}

static bool is_ordered(const struct win_parcel_in *in)
{
    return in->word <= PARCEL_ORDERED_LAST;
}

static void *begin(void *arg, int rank, uint32_t word, size_t len)
{
    struct win_messages *m = arg;
    struct win_parcel_in *in = mem_alloc(sizeof *in + len);

    if (!in)
        return NULL;
    *in = (struct win_parcel_in){ .rank = rank, .word = word, .len = len };
    if (is_ordered(in))
        list_append(&m->peer[rank].queue, &in->link);
    return in->bytes;
}

static void end(void *arg, void *place)
{
    struct win_messages *m = arg;
    struct win_parcel_in *in = CONTAINER_OF(place, struct win_parcel_in, bytes);

    in->is_here = true;
    if (is_ordered(in)) {
        win_serve(m, in->rank);
        return;
    }
    switch (in->word) {
    case PARCEL_REPLY: on_reply(in); break;
    case PARCEL_REFUSED: on_refused(in); break;
    case PARCEL_FLUSHED: on_flushed(m, in); break;
    default: win_serve_notice(m, in);
    }
    mem_free(in);
}

static const struct p2p_parcel_sink sink = { begin, end };

/* --- flush --- */

struct flush {
    struct win_wait wait; /* first */
    struct win_messages *m;
    int rank;             /* -1: all */
    bool is_local;
};

/* A flush behind what has been sent, unless one is there or there is no memory for it now. */
static void push_flush(struct win_messages *m, int rank)
{
    struct win_peer *peer = &m->peer[rank];

    if (!peer->is_unflushed || peer->is_flushing)
        return;
    peer->is_unflushed = false; /* what `pending` counted for it counts now for the answer, … */
    peer->is_flushing = true;
    if (likely(!p2p_parcel_send(m->win->comm, rank, PARCEL_FLUSH, NULL, 0, NULL, NULL))) {
        peer->is_unheard = false; /* … which may be here already */
        return;
    }
    peer->is_unflushed = true;
    peer->is_flushing = false;
}

static bool is_flushed_at(struct flush *f, int rank)
{
    const struct win_peer *peer = &f->m->peer[rank];

    if (!f->is_local)
        push_flush(f->m, rank);
    if (!peer->reading && (f->is_local || (!peer->is_flushing && !peer->is_unflushed)))
        return true;
    f->wait.peer = rank;
    return false;
}

static bool is_flushed(struct win_wait *wait)
{
    struct flush *f = (struct flush *)(void *)wait;
    const int first = f->rank < 0 ? 0 : f->rank, last = f->rank < 0 ? f->m->win->size - 1 : f->rank;
    bool is_done = true;

    p2p_box_lock(f->m->win->comm);
    for (int rank = first; rank <= last; rank++)
        is_done &= is_flushed_at(f, rank);
    p2p_box_unlock(f->m->win->comm);
    return is_done;
}

/* What targets have refused, once. */
static int take_error(const struct flush *f)
{
    const int first = f->rank < 0 ? 0 : f->rank, last = f->rank < 0 ? f->m->win->size - 1 : f->rank;
    int rc = 0;

    p2p_box_lock(f->m->win->comm);
    for (int rank = first; rank <= last; rank++) {
        rc = rc ? rc : f->m->peer[rank].error;
        f->m->peer[rank].error = 0;
    }
    p2p_box_unlock(f->m->win->comm);
    return rc;
}

int win_message_flush(struct win *win, int rank, bool is_local, const char *call)
{
    struct flush f = { .wait = { win, call, MPI_ANY_SOURCE, is_flushed },
                       .m = messages_of(win), .rank = rank, .is_local = is_local };

    if (!is_flushed(&f.wait))
        win_wait_for_messages(&f.wait, rank);
    return win->create_flavor == MPI_WIN_FLAVOR_DYNAMIC ? take_error(&f) : 0;
}

/* --- opening and closing --- */

int win_message_open(struct win *win)
{
    struct win_messages *m = mem_zalloc(sizeof *m + (size_t)win->size * sizeof m->peer[0]);
    int rc;

    if (!m)
        return err(MPI_ERR_NO_MEM, "no memory for a window of %d processes", win->size);
    m->win = win;
    for (int rank = 0; rank < win->size; rank++)
        list_init(&m->peer[rank].queue);
    rc = p2p_box_open(win->comm, &sink, m);
    if (rc) {
        mem_free(m);
        return rc;
    }
    win->messages = m;
    win_serve_open(m);
    return 0;
}

/* What has gone and what has come may still be on its way through this room's last doors. */
static bool is_empty(struct win_wait *wait)
{
    unsigned pending;

    p2p_box_lock(wait->win->comm);
    pending = p2p_box_pending(wait->win->comm);
    p2p_box_unlock(wait->win->comm);
    return !pending;
}

void win_message_close(struct win *win)
{
    struct win_wait wait = { win, "MPI_Win_free", MPI_ANY_SOURCE, is_empty };
    struct win_messages *m = messages_of(win);

    if (!m)
        return;
    if (!is_empty(&wait))
        win_wait_for_messages(&wait, -1);
    win_serve_close(m);
    p2p_box_close(win->comm);
    mem_free(m);
    win->messages = NULL;
}
