/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4. Broadcast, global operations and the barrier of all processes. Knows messages of the user (broadcast
 * is a loop of sends, received as any other) and the library's own; not how either moves.
 *
 * Operations and barriers go up a binomial tree to process 0 and down again: 2(n-1) messages, and the same bits in all
 * processes. Each message says what its sender is in, so that two who do not agree are told so. */
#include "base/mem.h"
#include "p4/int_p4.h"

struct global {
    int is_barrier, type, nelem, size; /* of each element, bytes; a barrier has none */
};

enum { SHORT_BUFFER = 1024 };

struct work {
    struct global *what; /* in front of the elements, which are for a message on its way in or out */
    char *elements;
    size_t bytes;        /* of all elements */
    const char *call;
};

static int fault(const char *text, int value)
{
    if (p4_own.soft_errors)
        return -1;
    p4_fail("%s: %d", text, value);
}

static void tell(const struct global *global, char *text, size_t size)
{
    if (global->is_barrier)
        snprintf(text, size, "p4_global_barrier(%d)", global->type);
    else
        snprintf(text, size, "p4_global_op(%d, ...) with %d elements of %d bytes", global->type, global->nelem,
                 global->size);
}

static int send_to(struct work *work, int to, const void *x)
{
    if (work->bytes)
        memcpy(work->elements, x, work->bytes);
    return inner_send(INNER_GLOBAL, to, work->what, sizeof *work->what + work->bytes);
}

/* Leaves the elements of `from` in work->elements. */
static void recv_from(struct work *work, int from)
{
    const struct global own = *work->what;
    char his_text[96], own_text[96];
    const size_t len = inner_recv(INNER_GLOBAL, from, work->what, sizeof own + work->bytes, work->call, own.type);

    if (len == sizeof own + work->bytes && !memcmp(work->what, &own, sizeof own))
        return;
    tell(work->what, his_text, sizeof his_text);
    tell(&own, own_text, sizeof own_text);
    p4_fail("E0653: process %d is in %s, process %d in %s", from, his_text, p4_own.id, own_text);
}

static int go_up(struct work *work, void *x, void (*op)(char *, char *, int))
{
    for (int bit = 1; bit < p4_own.total; bit <<= 1) {
        if (p4_own.id & bit)
            return send_to(work, p4_own.id - bit, x);
        if (p4_own.id + bit < p4_own.total) {
            recv_from(work, p4_own.id + bit);
            if (work->what->nelem)
                op(x, work->elements, work->what->nelem);
        }
    }
    return 0;
}

static int go_down(struct work *work, void *x)
{
    const int own_bit = p4_own.id ? p4_own.id & -p4_own.id : P4_MAXPROCS * 2;
    int bit = 1, rc = 0;

    if (p4_own.id) {
        recv_from(work, p4_own.id - own_bit);
        if (work->bytes)
            memcpy(x, work->elements, work->bytes);
    }
    while (bit < own_bit && p4_own.id + bit < p4_own.total)
        bit <<= 1;
    for (bit >>= 1; bit; bit >>= 1)
        rc |= send_to(work, p4_own.id + bit, x);
    return rc;
}

static int run(const struct global *what, void *x, void (*op)(char *, char *, int), const char *call)
{
    char buffer[SHORT_BUFFER] ALIGNED(16);
    struct work work = { .bytes = (size_t)what->nelem * (size_t)what->size, .call = call };
    int rc;

    work.what = (struct global *)(void *)buffer;
    if (sizeof *what + work.bytes > sizeof buffer)
        work.what = mem_alloc(sizeof *what + work.bytes);
    if (!work.what)
        return fault("E0654: p4_global_op: no memory for a copy of the elements, bytes of each", what->size);
    *work.what = *what;
    work.elements = (char *)(work.what + 1);
    rc = go_up(&work, x, op);
    if (!rc)
        rc = go_down(&work, x);
    if (work.what != (struct global *)(void *)buffer)
        mem_free(work.what);
    return rc ? fault("E0655: a process is gone that a global operation needs; type", what->type) : 0;
}

int p4_global_op(int type, void *x, int nelem, int size, void (*op)(char *, char *, int), int datatype)
{
    const struct global what = { 0, type, nelem, size };

    p4_need_started("p4_global_op");
    if (nelem < 0)
        return fault("E0654: p4_global_op: number of elements", nelem);
    if (size <= 0)
        return fault("E0654: p4_global_op: bytes of an element", size);
    if (datatype < P4NOX || datatype > P4DBL)
        return fault("E0654: p4_global_op: no such type of elements", datatype);
    if (!op || (!x && nelem))
        return fault("E0654: p4_global_op: a null pointer for the elements or the operation; type", type);
    if (p4_own.is_child)
        return fault("E0654: p4_global_op: a process that p4_create made takes no part; type", type);
    return run(&what, x, op, "p4_global_op");
}

void p4_global_barrier(int type)
{
    const struct global what = { 1, type, 0, 0 };

    p4_need_started("p4_global_barrier");
    if (p4_own.is_child)
        p4_fail("E0654: p4_global_barrier(%d): a process that p4_create made takes no part", type);
    if (run(&what, NULL, NULL, "p4_global_barrier"))
        p4_fail("E0655: p4_global_barrier(%d): a process is gone", type);
}

/* From the next id on, so that not all origins begin with the same receiver. */
int p4_broadcastx(int type, void *data, int len, int datatype)
{
    p4_need_started("p4_broadcast");
    for (int i = 1; i < p4_own.total; i++) {
        const int to = (p4_own.id + i) % p4_own.total;

        if (p4_sendx(type, to, data, len, datatype))
            return fault("E0656: p4_broadcast: the message cannot be sent to process", to);
    }
    return 0;
}

int p4_broadcast(int type, void *data, int len)
{
    return p4_broadcastx(type, data, len, P4NOX);
}
