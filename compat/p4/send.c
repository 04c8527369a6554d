/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4. The eight forms of sending. None waits for the receiver, but the r forms for its library: what
 * cannot go out at once is copied and goes out in later calls. */
#include <stdlib.h>

#include "base/mem.h"
#include "p4/int_door.h"
#include "p4/int_message.h"

/* An error that the user has made. -1, where it is no p4_error. */
static int COLD refuse(const char *call, int type, int to, int len, int datatype)
{
    char what[96], text[256];

    if (p4_own.soft_errors)
        return -1;
    if (to < 0 || to >= p4_own.total)
        snprintf(what, sizeof what, "there is no process %d, only 0 to %d", to, p4_own.total - 1);
    else if (datatype < P4NOX || datatype > P4DBL)
        snprintf(what, sizeof what, "%d is no datatype", datatype);
    else
        p4_fail("E0610: %s of type %d to %d: the length is %d; it must be from 0 to %d", call, type, to, len,
                P4_MAX_MSGLEN);
    snprintf(text, sizeof text, "E0610: %s of type %d: %s; the call returns -1", call, type, what);
    door->diagnose(text);
    return -1;
}

static bool is_right(int to, int len, int datatype)
{
    return (unsigned)to < (unsigned)p4_own.total && (unsigned)len <= P4_MAX_MSGLEN && (unsigned)datatype <= P4DBL;
}

static void free_copy(void *copy)
{
    mem_free(copy);
}

static void keep(void *arg)
{
    (void)arg;
}

/* With the lock: the buffer is the library's now. */
static void free_buffer(void *m)
{
    buffer_free(m);
}

static int no_memory(size_t len)
{
    if (!p4_own.soft_errors)
        p4_error("alloc_p4_msg failed", (int)len);
    return -1;
}

/* In external form: a message of another length, made for it. */
static int send_xdr(int to, struct envelope *e, const void *msg, size_t len)
{
    const size_t wire_len = xdr_len(e->datatype, len);
    void *copy = mem_alloc(wire_len + 1);
    int rc;

    if (!copy)
        return no_memory(wire_len);
    xdr_encode(e->datatype, msg, len, copy);
    e->is_xdr = true;
    rc = route_send(to, e, copy, wire_len, free_copy, copy);
    if (rc)
        mem_free(copy);
    return rc;
}

/* P4_SENDB_HANDOFF=1: the buffer of a b form goes to the library, and to the receiver without a copy. */
static bool is_handed_off(void)
{
    static int chosen = -1;

    if (chosen < 0) {
        const char *text = getenv("P4_SENDB_HANDOFF");
        chosen = text && *text == '1';
    }
    return chosen;
}

static int send_owned(int to, const struct envelope *e, void *msg, size_t len)
{
    struct message *m;

    message_lock();
    m = buffer_find(msg);
    message_unlock();
    if (m && m->state == MESSAGE_LIVE)
        return route_send(to, e, msg, len, free_buffer, m);
    return route_send(to, e, msg, len, NULL, NULL);
}

/* The receiver need not know what it consists of, and finds it the sooner. */
static int send_as_it_is(int to, struct envelope *e, void *msg, size_t len, unsigned how)
{
    e->datatype = P4NOX;
    if (how & SEND_ACK)
        return route_send(to, e, msg, len, keep, NULL);
    if (how & SEND_OWN && is_handed_off())
        return send_owned(to, e, msg, len);
    return route_send(to, e, msg, len, NULL, NULL);
}

static NOINLINE int send_specially(const char *call, int to, struct envelope *e, void *msg, size_t len, unsigned how)
{
    int rc;

    if (how & SEND_ACK)
        e->ack = intake_ack_begin(to, e->type, call);
    if (xdr_is_wanted(to, e->datatype))
        rc = send_xdr(to, e, msg, len);
    else
        rc = send_as_it_is(to, e, msg, len, how);
    if (!(how & SEND_ACK))
        return rc;
    if (rc)
        intake_ack_cancel();
    else if (!intake_ack_wait())
        rc = -1;
    return rc;
}

/* Connections come up, and end, in polls only: who does nothing but send has to look at times. */
static bool is_time_to_poll(void)
{
    enum { EVERY = 16 };
    static unsigned sends;

    return ++sends % EVERY == 0;
}

int send_user(const char *call, int type, int to, const void *msg, int len, int datatype, unsigned how)
{
    struct envelope e = { .type = type, .from = p4_own.id, .datatype = (uint8_t)datatype };

    if (unlikely(p4_own.stage != P4_RUNNING))
        p4_need_running(call);
    if (unlikely(!is_right(to, len, datatype)))
        return refuse(call, type, to, len, datatype);
    if (to == p4_own.id)
        how &= ~(unsigned)SEND_ACK; /* it is taken in during the call */
    if (unlikely(how || datatype))
        return send_specially(call, to, &e, (void *)(uintptr_t)msg, (size_t)len, how);
    if (unlikely(*door->pending || (route_is_far(to) && is_time_to_poll())))
        intake_poll();
    return route_send(to, &e, msg, (size_t)len, NULL, NULL);
}

int p4_send(int type, int to, void *msg, int len)
{
    if (likely(p4_own.stage == P4_RUNNING && is_right(to, len, P4NOX)) &&
        likely(route_send_at_once(to, type, msg, (size_t)len)))
        return 0;
    return send_user("p4_send", type, to, msg, len, P4NOX, 0);
}

int p4_sendr(int type, int to, void *msg, int len)
{
    return send_user("p4_sendr", type, to, msg, len, P4NOX, SEND_ACK);
}

int p4_sendx(int type, int to, void *msg, int len, int datatype)
{
    return send_user("p4_sendx", type, to, msg, len, datatype, 0);
}

int p4_sendrx(int type, int to, void *msg, int len, int datatype)
{
    return send_user("p4_sendrx", type, to, msg, len, datatype, SEND_ACK);
}

int p4_sendb(int type, int to, void *msg, int len)
{
    return send_user("p4_sendb", type, to, msg, len, P4NOX, SEND_OWN);
}

int p4_sendbr(int type, int to, void *msg, int len)
{
    return send_user("p4_sendbr", type, to, msg, len, P4NOX, SEND_OWN | SEND_ACK);
}

int p4_sendbx(int type, int to, void *msg, int len, int datatype)
{
    return send_user("p4_sendbx", type, to, msg, len, datatype, SEND_OWN);
}

int p4_sendbrx(int type, int to, void *msg, int len, int datatype)
{
    return send_user("p4_sendbrx", type, to, msg, len, datatype, SEND_OWN | SEND_ACK);
}
