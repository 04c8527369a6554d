/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: rma. Operations by messages, at the origin: short ones go with a copy of their data, so the user's buffer is
 * free at once; long puts are sent from the user's buffer. Replies come in the order in which they were asked for, and
 * are read to where they belong. outbox.c sends and waits, serve.c is the other end.
 * Knows: int_message.h. Does not know: what a target does. */
#include "rma/message.h"

#include <string.h>

#include "base/err.h"
#include "obj/req.h"
#include "op/op.h"
#include "p2p/p2p.h"
#include "rma/int_message.h"

static COLD int no_memory(int rank, size_t len)
{
    return err(MPI_ERR_NO_MEM, "no memory for a message of %zu bytes to rank %d", len, rank);
}

/* --- what is read --- */

/* An operation that brings something back. Guarded by the lock of the box. */
struct win_asked {
    struct list link;        /* in peer->asked until all replies have begun */
    struct win_peer *peer;
    struct win_data result;  /* with a reference to the type */
    size_t wanted;           /* bytes of replies, … */
    size_t begun;            /* … that have begun to come or been refused … */
    size_t ended;            /* … and are there */
    int error;               /* the target has refused it, or is lost; 0: it has not */
    struct req *req;         /* NULL: nobody waits for it alone */
};

static int asked_create(struct win *win, const struct win_data *result, int rank, const char *call,
                        struct req **request, struct win_asked **out)
{
    struct win_asked *a = mem_alloc(sizeof *a);
    int rc = 0;

    if (!a)
        return err(MPI_ERR_NO_MEM, "no memory for an operation on rank %d", rank);
    *a = (struct win_asked){ .peer = &win_messages_of(win)->peer[rank], .result = *result };
    a->wanted = type_bytes(result->type, result->count);
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

/* With the lock: replies to it come behind those to all before it. */
static void asked_begin(struct win_asked *a)
{
    a->peer->reading++;
    win_pending(a->peer->m->win, 1);
    list_append(&a->peer->asked, &a->link);
}

/* All has come, or been given up. */
static void asked_end(struct win_asked *a)
{
    struct win *win = a->peer->m->win;

    a->peer->reading--;
    if (a->req)
        win_request_complete(a->req, a->error);
    else if (a->error)
        a->peer->error = a->error;
    win_pending(win, -1);
    progress_notify();
    type_unref(a->result.type);
    mem_free(a);
}

/* So many bytes more have begun to come, … */
static void asked_more(struct win_asked *a, size_t len)
{
    a->begun += len;
    if (a->begun == a->wanted)
        list_remove(&a->link);
}

/* … are there or will not come. */
static void asked_less(struct win_asked *a, size_t len)
{
    a->ended += len;
    if (a->ended == a->wanted)
        asked_end(a);
}

/* The last bytes could not be asked for. */
static COLD void asked_shorten(struct win_asked *a, size_t len)
{
    if (a->req)
        a->req->ops->detach(a->req); /* the user is not given it */
    a->wanted -= len;
    asked_more(a, 0);
    asked_less(a, 0);
}

void win_forget_asked(struct win_peer *peer, int rc)
{
    while (!list_is_empty(&peer->asked)) {
        struct win_asked *a = CONTAINER_OF(list_first(&peer->asked), struct win_asked, link);
        const size_t left = a->wanted - a->begun;
        a->error = rc;
        asked_more(a, left);
        asked_less(a, left);
    }
}

/* --- operations --- */

/* One on its way: where its bytes are written. */
struct call {
    struct win_messages *m;
    int rank;
    struct win_call_head *head;
    char *data;
    void *alone;             /* the memory of one that goes alone; NULL: it is in the batch */
};

static size_t call_size(size_t outline, size_t data)
{
    return (sizeof(struct win_call_head) + outline + data + WIN_CALL_ALIGN - 1) & ~(size_t)(WIN_CALL_ALIGN - 1);
}

/* Room for an operation with `len` bytes of data: false, and nothing has happened: no memory. */
static bool call_open(struct call *call, const struct win_call_head *head, const void *outline, size_t len)
{
    const size_t size = call_size(head->outline_len, len);
    char *bytes;

    call->alone = size > MESSAGE_ENOUGH ? mem_alloc(size) : NULL;
    if (size > MESSAGE_ENOUGH)
        bytes = call->alone;
    else
        bytes = win_outbox_room(call->m, call->rank, size);
    if (!bytes)
        return false;
    memset(bytes + size - WIN_CALL_ALIGN, 0, WIN_CALL_ALIGN);
    call->head = (struct win_call_head *)(void *)bytes;
    *call->head = *head;
    call->head->size = (uint32_t)size;
    if (head->outline_len)
        memcpy(bytes + sizeof *head, outline, head->outline_len);
    call->data = bytes + sizeof *head + head->outline_len;
    return true;
}

static void call_gone(void *bytes)
{
    mem_free(bytes);
}

/* It is written. Error: MPI_ERR_NO_MEM, and it does not go. */
static int call_close(struct call *call)
{
    int rc;

    if (!call->alone) {
        win_outbox_added(call->m, call->rank, call->head->is_asked);
        return 0;
    }
    if (!call->head->is_asked)
        win_unflushed(call->m, call->rank);
    rc = win_outbox_alone(call->m, call->rank, PARCEL_CALLS, call->alone, call->head->size, call_gone, call->alone);
    if (rc)
        mem_free(call->alone);
    return rc;
}

/* What does not differ between the pieces of an operation. */
struct operation {
    struct win *win;
    int rank;
    struct win_call_head head;
    const struct type_outline *outline; /* NULL: the target's side is one run */
    struct win_data from;    /* type NULL: no data */
};

static int operation_init(struct operation *o, struct win *win, const struct win_aim *aim,
                          const struct win_place *place, enum win_action action, bool is_moved)
{
    const bool is_run = is_moved && type_is_run(aim->type, aim->count);
    int rc = p2p_lost_rank(win->comm, aim->rank);

    *o = (struct operation){ .win = win, .rank = aim->rank };
    if (unlikely(rc))
        return rc;
    o->head = (struct win_call_head){ .address = place->address, .count = aim->count, .action = (uint8_t)action };
    if (is_run) {
        o->head.address = (uintptr_t)type_run(aim->type, (const void *)(uintptr_t)place->address);
        o->head.count = (int64_t)place->bytes;
        return 0;
    }
    rc = type_get_outline(aim->type, &o->outline);
    if (!rc)
        o->head.outline_len = (uint32_t)o->outline->len;
    return rc;
}

/* Bytes of data in one parcel. */
static size_t piece_of(const struct operation *o)
{
    return size_max(MESSAGE_PIECE, 4 * (size_t)o->head.outline_len);
}

/* The piece that the head tells, with its data. */
static int send_piece(const struct operation *o)
{
    struct call call = { .m = win_messages_of(o->win), .rank = o->rank };
    const size_t len = o->from.type ? o->head.len : 0;

    if (!call_open(&call, &o->head, o->outline ? o->outline->bytes : NULL, len))
        return no_memory(o->rank, len);
    if (len)
        type_pack(o->from.type, o->from.buf, o->from.count, o->head.at, call.data, len);
    return call_close(&call);
}

/* All from head.at on, in pieces of at most so many bytes. After an error head.at says how much has gone. */
static int send_pieces(struct operation *o, size_t bytes, size_t most)
{
    int rc = 0;

    for (size_t at = o->head.at; at < bytes && !rc; at += most) {
        o->head.at = at;
        o->head.len = size_min(bytes - at, most);
        rc = send_piece(o);
    }
    return rc;
}

/* --- long puts --- */

struct sending {
    struct win_peer *peer;
    struct req *req;         /* NULL: nobody waits for it alone */
};

static void sending_end(struct sending *s)
{
    s->peer->sending--;
    if (s->req)
        win_request_complete(s->req, 0);
    win_pending(s->peer->m->win, -1);
    progress_notify();
    mem_free(s);
}

static void sent(void *arg)
{
    sending_end(arg);
}

static int sending_begin(struct win *win, int rank, struct req **request, struct sending **out)
{
    struct sending *s = mem_alloc(sizeof *s);
    int rc = 0;

    if (!s)
        return no_memory(rank, 0);
    *s = (struct sending){ .peer = &win_messages_of(win)->peer[rank] };
    if (request)
        rc = win_request_create(win, "MPI_Rput", rank, &s->req);
    if (rc) {
        mem_free(s);
        return rc;
    }
    if (request)
        *request = s->req;
    s->peer->sending++;
    win_pending(win, 1);
    *out = s;
    return 0;
}

/* From the user's memory, all at once. */
static int send_run(const struct operation *o, size_t bytes, struct req **request)
{
    struct sending *s = NULL;
    int rc = sending_begin(o->win, o->rank, request, &s);

    if (rc)
        return rc;
    rc = win_outbox_alone(win_messages_of(o->win), o->rank, PARCEL_DATA, type_run(o->from.type, o->from.buf), bytes,
                          sent, s);
    if (!rc)
        return 0;
    if (request)
        s->req->ops->detach(s->req);
    sending_end(s);
    return rc;
}

static int send_packed(const struct operation *o, size_t bytes)
{
    int rc = 0;

    for (size_t at = 0; at < bytes && !rc; at += MESSAGE_PIECE) {
        const size_t len = size_min(bytes - at, MESSAGE_PIECE);
        char *data = mem_alloc(len);
        if (!data)
            return no_memory(o->rank, len);
        type_pack(o->from.type, o->from.buf, o->from.count, at, data, len);
        win_unflushed(win_messages_of(o->win), o->rank);
        rc = win_outbox_alone(win_messages_of(o->win), o->rank, PARCEL_DATA, data, len, call_gone, data);
        if (rc)
            mem_free(data);
    }
    return rc;
}

/* Both sides are runs, or at least the target's: it is told, and the data follow. */
static int put_data(struct operation *o, size_t bytes, struct req **request)
{
    struct win_messages *m = win_messages_of(o->win);
    struct win_call_head *head = win_outbox_room(m, o->rank, sizeof *head);
    int rc;

    if (!head)
        return no_memory(o->rank, sizeof *head);
    *head = o->head;
    head->action = ACTION_PUT_DATA;
    head->len = bytes;
    head->size = sizeof *head;
    win_unflushed(m, o->rank);
    rc = win_outbox_send(m, o->rank, ALSO_DATA);
    if (rc) {
        m->peer[o->rank].batch->len -= sizeof *head;
        return rc;
    }
    if (type_is_run(o->from.type, o->from.count))
        return send_run(o, bytes, request);
    rc = send_packed(o, bytes);
    if (!rc && request)
        *request = win_done_request();
    return rc;
}

int win_message_put(struct win *win, const struct win_data *data, const struct win_aim *aim,
                    const struct win_place *place, struct req **request)
{
    struct operation o;
    int rc = operation_init(&o, win, aim, place, ACTION_PUT, true);

    if (rc)
        return rc;
    o.from = *data;
    p2p_box_lock(win->comm);
    if (place->bytes >= MESSAGE_DIRECT && !o.outline) {
        rc = put_data(&o, place->bytes, request);
    } else {
        rc = send_pieces(&o, place->bytes, piece_of(&o));
        if (!rc && request)
            *request = win_done_request();
    }
    p2p_box_unlock(win->comm);
    return rc;
}

int win_message_get(struct win *win, const struct win_data *data, const struct win_aim *aim,
                    const struct win_place *place, struct req **request)
{
    struct win_asked *a = NULL;
    struct operation o;
    int rc = operation_init(&o, win, aim, place, ACTION_GET, true);

    if (!rc)
        rc = asked_create(win, data, aim->rank, "MPI_Rget", request, &a);
    if (rc)
        return rc;
    o.head.is_asked = true;
    o.head.len = place->bytes;
    p2p_box_lock(win->comm);
    asked_begin(a);
    rc = send_piece(&o);
    if (rc)
        asked_shorten(a, place->bytes);
    p2p_box_unlock(win->comm);
    return rc;
}

/* --- combining --- */

int win_message_combine(struct win *win, const struct win_data *from, const struct win_data *result,
                        const struct win_aim *aim, const struct win_place *place, const struct op *op,
                        const struct type *element, struct req **request)
{
    struct win_asked *a = NULL;
    struct operation o;
    int rc = operation_init(&o, win, aim, place, ACTION_COMBINE, false);

    if (!rc && result)
        rc = asked_create(win, result, aim->rank, "MPI_Rget_accumulate", request, &a);
    if (rc)
        return rc;
    o.head.is_asked = a;
    o.head.at = place->done;
    o.head.op = op->obj.predefined;
    o.head.kind = element->kind;
    if (o.head.op != (uintptr_t)MPI_NO_OP)
        o.from = *from;
    p2p_box_lock(win->comm);
    if (a) {
        a->wanted = place->bytes; /* perhaps not to the end of the result */
        a->begun = a->ended = place->done;
        asked_begin(a);
    }
    rc = send_pieces(&o, place->bytes, piece_of(&o) / (size_t)element->size * (size_t)element->size);
    if (rc && a)
        asked_shorten(a, place->bytes - o.head.at);
    p2p_box_unlock(win->comm);
    if (!rc && request && !a)
        *request = win_done_request();
    return rc;
}

static int send_swap(const struct operation *o, const void *from, const void *compare)
{
    struct call call = { .m = win_messages_of(o->win), .rank = o->rank };
    const size_t len = o->head.len;

    if (!call_open(&call, &o->head, o->outline->bytes, 2 * len))
        return no_memory(o->rank, 2 * len);
    memcpy(call.data, from, len);
    memcpy(call.data + len, compare, len);
    return call_close(&call);
}

int win_message_swap(struct win *win, const void *from, const void *compare, const struct win_data *result,
                     const struct win_aim *aim, const struct win_place *place)
{
    struct win_asked *a = NULL;
    struct operation o;
    int rc = operation_init(&o, win, aim, place, ACTION_SWAP, false);

    if (!rc)
        rc = asked_create(win, result, aim->rank, "MPI_Compare_and_swap", NULL, &a);
    if (rc)
        return rc;
    o.head.is_asked = true;
    o.head.kind = aim->type->kind;
    o.head.len = (size_t)aim->type->size;
    p2p_box_lock(win->comm);
    asked_begin(a);
    rc = send_swap(&o, from, compare);
    if (rc)
        asked_shorten(a, o.head.len);
    p2p_box_unlock(win->comm);
    return rc;
}

/* --- coming in --- */

static void on_reply(struct win_parcel_in *in, int rc)
{
    struct win_asked *a = in->asked;

    if (unlikely(rc))
        a->error = rc;
    else if (!in->is_in_place)
        type_unpack(a->result.type, a->result.buf, a->result.count, in->at, in->bytes, in->len);
    asked_less(a, in->len);
}

static COLD int refused(const struct win_parcel_in *in)
{
    const struct win_refusal *refusal = (const struct win_refusal *)(const void *)in->bytes;

    return err(MPI_ERR_RMA_RANGE, "E0802: %llu bytes at address 0x%llx of rank %d are not attached to the window",
               (unsigned long long)refusal->len, (unsigned long long)refusal->address, in->rank);
}

static void on_refused(struct win_peer *peer, const struct win_parcel_in *in)
{
    const struct win_refusal *refusal = (const struct win_refusal *)(const void *)in->bytes;
    struct win_asked *a = CONTAINER_OF(list_first(&peer->asked), struct win_asked, link);

    a->error = refused(in);
    asked_more(a, refusal->left);
    asked_less(a, refusal->left);
}

/* The next bytes of the oldest that has not all. */
static void *begin_reply(struct win_peer *peer, struct win_parcel_in *in)
{
    struct win_asked *a = CONTAINER_OF(list_first(&peer->asked), struct win_asked, link);

    in->asked = a;
    in->at = a->begun;
    asked_more(a, in->len);
    return in->is_in_place ? type_run(a->result.type, a->result.buf) + in->at : (char *)in->bytes;
}

/* Do the bytes that come next belong into the user's memory in a row? */
static bool is_for_user(const struct win_peer *peer)
{
    const struct win_asked *a = CONTAINER_OF(peer->asked.next, const struct win_asked, link);

    return type_is_run(a->result.type, a->result.count);
}

static void *begin(void *arg, int rank, uint32_t word, size_t len, void **token)
{
    struct win_messages *m = arg;
    struct win_peer *peer = &m->peer[rank];
    const enum win_parcel kind = word & WIN_PARCEL_KIND;
    const bool is_in_place = kind == PARCEL_REPLY  ? is_for_user(peer)
                             : kind == PARCEL_DATA ? peer->puts_come == peer->puts_done && peer->landing
                                                   : false;
    struct win_parcel_in *in = mem_alloc(sizeof *in + (is_in_place ? 0 : len));

    if (!in)
        return NULL;
    *in = (struct win_parcel_in){ .rank = rank, .word = word, .len = len, .is_in_place = is_in_place };
    *token = in;
    switch (kind) {
    case PARCEL_CALLS:
    case PARCEL_DATA: return win_serve_begin(m, in);
    case PARCEL_REPLY: return begin_reply(peer, in);
    default: return in->bytes;
    }
}

static void end(void *arg, void *token, int rc)
{
    struct win_messages *m = arg;
    struct win_parcel_in *in = token;
    const enum win_parcel kind = in->word & WIN_PARCEL_KIND;

    in->is_here = true;
    if (kind == PARCEL_CALLS || kind == PARCEL_DATA) {
        if (likely(!rc)) {
            win_serve(m, in->rank);
            return;
        }
        list_remove(&in->link); /* the rank is lost, and nothing has begun */
    } else if (kind == PARCEL_REPLY) {
        on_reply(in, rc);
    } else if (!rc) {
        switch (kind) {
        case PARCEL_REFUSED: on_refused(&m->peer[in->rank], in); break;
        case PARCEL_ANSWER: win_outbox_answered(m, in->rank, in->word, in->len ? refused(in) : 0); break;
        default: win_serve_notice(m, in->rank, false);
        }
    }
    mem_free(in);
}

static void lost(void *arg, int rank)
{
    struct win_messages *m = arg;

    if (m->peer[rank].is_lost)
        return;
    m->peer[rank].is_lost = true;
    win_outbox_lost(m, rank);
    win_serve_lost(m, rank);
    progress_notify();
}

static const struct p2p_parcel_sink sink = { begin, end, lost };

/* --- opening and closing --- */

int win_message_open(struct win *win)
{
    struct win_messages *m = mem_zalloc(sizeof *m + (size_t)win->size * sizeof m->peer[0]);
    int rc;

    if (!m)
        return err(MPI_ERR_NO_MEM, "no memory for a window of %d processes", win->size);
    m->win = win;
    for (int rank = 0; rank < win->size; rank++) {
        m->peer[rank].m = m;
        list_init(&m->peer[rank].queue);
        m->peer[rank].begun = &m->peer[rank].queue;
        list_init(&m->peer[rank].asked);
    }
    rc = p2p_box_open(win->comm, &sink, m);
    if (rc) {
        mem_free(m);
        return rc;
    }
    win->messages = m;
    win_serve_open(m);
    if (win->has_far)
        attend_begin(win->comm);
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
    struct win_messages *m = win_messages_of(win);

    if (!m)
        return;
    if (!is_empty(&wait))
        win_wait_for_messages(&wait, -1);
    if (win->has_far)
        attend_end(win->comm);
    win_serve_close(m);
    p2p_box_close(win->comm);
    for (int rank = 0; rank < win->size; rank++)
        mem_free(m->peer[rank].batch);
    mem_free(m);
    win->messages = NULL;
}
