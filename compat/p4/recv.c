/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4. Receiving: p4_recv, looking for messages, and the library's own messages. */
#include <string.h>

#include "p4/arena.h"
#include "p4/int_door.h"
#include "p4/int_message.h"

/* What the caller's variables hold already is not stored: they may be constants of a Fortran program. */
static void store(int *variable, int value)
{
    if (*variable != value)
        *variable = value;
}

/* Bytes that the user's own memory holds: a buffer of ours or a block of shared memory knows, else the user says it. */
static size_t capacity_of(const void *data, int len)
{
    const struct message *m;
    size_t bytes;

    message_lock();
    m = buffer_find(data);
    message_unlock();
    if (m && m->state == MESSAGE_LIVE)
        return m->capacity;
    if (arena_is_block(data, &bytes))
        return bytes;
    if (len < 0)
        p4_fail("E0611: p4_recv into memory that is no buffer of p4_msg_alloc needs its length; *len is %d", len);
    return (size_t)len;
}

static void release(struct message *m)
{
    message_lock();
    buffer_free(m);
    message_unlock();
}

/* To the user: the buffer itself, or its bytes, as many as there is room for. */
static void hand_over(struct message *m, char **msg, int *len)
{
    size_t got = m->len;

    if (likely(!*msg)) {
        *msg = message_data(m);
    } else {
        got = size_min(got, capacity_of(*msg, *len));
        if (got)
            memcpy(*msg, message_data(m), got);
        release(m);
    }
    *len = (int)got;
}

static void check_from(const char *call, int from)
{
    if (unlikely(p4_own.stage != P4_RUNNING))
        p4_need_running(call);
    if (unlikely(from < -1 || from >= p4_own.total))
        p4_fail("E0611: %s from %d: ids are 0 to %d, and -1 stands for any", call, from, p4_own.total - 1);
}

static _Noreturn void COLD deserted(const char *call, int type, int from)
{
    char what[32] = "any type", who[64] = "anybody, and there is nobody else";

    if (type != -1)
        snprintf(what, sizeof what, "type %d", type);
    if (from == p4_own.id)
        snprintf(who, sizeof who, "itself, and has sent none");
    else if (from >= 0)
        snprintf(who, sizeof who, "%d, which has ended", from);
    else if (p4_own.total > 1)
        snprintf(who, sizeof who, "anybody, and all others have ended");
    p4_fail("E0612: process %d waits in %s for %s from %s", p4_own.id, call, what, who);
}

int p4_recv(int *type, int *from, void *msg, int *len)
{
    const struct pattern p = { KIND_USER, *type, *from };
    struct message *m;

    check_from("p4_recv", *from);
    m = intake_take(&p, "p4_recv");
    if (unlikely(!m))
        deserted("p4_recv", *type, *from);
    if (unlikely(m->is_xdr))
        m = xdr_decode(m);
    store(type, m->type);
    store(from, m->from);
    hand_over(m, msg, len);
    return 0;
}

/* Look at everything that has come. */
static bool look(const struct pattern *p, int *type, int *from)
{
    const struct message *m;

    intake_poll();
    message_lock();
    m = intake_find(p);
    if (m && type) {
        store(type, m->type);
        store(from, m->from);
    }
    message_unlock();
    if (!m)
        door->in_vain();
    return m;
}

P4BOOL p4_messages_available(int *type, int *from)
{
    const struct pattern p = { KIND_USER, *type, *from };

    check_from("p4_messages_available", *from);
    return look(&p, type, from);
}

P4BOOL p4_any_messages_available(void)
{
    const struct pattern p = { KIND_USER, -1, -1 };

    check_from("p4_any_messages_available", -1);
    return look(&p, NULL, NULL);
}

int p4_waitformsg(void)
{
    const struct pattern p = { KIND_USER, -1, -1 };

    check_from("p4_waitformsg", -1);
    if (!intake_await(&p, "p4_waitformsg"))
        deserted("p4_waitformsg", -1, -1);
    return 1;
}

/* --- the library's own messages --- */

int inner_send(enum inner_kind kind, int to, const void *data, size_t len)
{
    const struct envelope e = { .kind = (uint8_t)kind, .from = p4_own.id };

    return route_send(to, &e, data, len, NULL, NULL);
}

size_t inner_recv(enum inner_kind kind, int from, void *data, size_t room, const char *call, int type)
{
    const struct pattern p = { (uint8_t)kind, type, from };
    struct message *m = intake_take(&p, call);
    size_t len;

    if (!m)
        deserted(call, type, from);
    len = m->len;
    memcpy(data, message_data(m), size_min(len, room));
    release(m);
    return len;
}
