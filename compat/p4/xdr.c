/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4. Elements in external form (XDR, RFC 4506), for processes on unlike machines, by libtirpc, which is
 * loaded when it is needed first. A `long` has 8 bytes out there, whatever it has here. */
#include <dlfcn.h>
#include <rpc/xdr.h>
#include <stdlib.h>

#include "p4/int_message.h"
#include "p4/int_remote.h"
#include "p4/int_start.h"

typedef bool_t convert_fn(XDR *xdr, void *element);

static struct {
    void (*create)(XDR *xdr, char *place, u_int len, enum xdr_op op);
    convert_fn *convert[P4DBL + 1];
} lib;

static const struct {
    const char *function;
    size_t wire, local; /* bytes of an element */
} forms[] = {
    [P4NOX] = { NULL, 1, 1 },
    [P4INT] = { "xdr_int", 4, sizeof(int) },
    [P4LNG] = { "xdr_int", 8, sizeof(long) }, /* twice */
    [P4FLT] = { "xdr_float", 4, sizeof(float) },
    [P4DBL] = { "xdr_double", 8, sizeof(double) },
};

bool xdr_is_forced(void)
{
    static int forced = -1;

    if (forced < 0) {
        const char *text = getenv("P4_FORCE_XDR");
        forced = options.is_xdr_forced || (text && *text && *text != '0');
    }
    return forced;
}

bool xdr_is_wanted(int to, int datatype)
{
    return datatype != P4NOX && (xdr_is_forced() || remote_is_unlike(to));
}

size_t xdr_len(int datatype, size_t len)
{
    return len / forms[datatype].local * forms[datatype].wire;
}

static void load(void)
{
    void *handle;

    if (lib.create)
        return;
    handle = dlopen("libtirpc.so.3", RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        p4_fail("E0616: elements are to be converted, and libtirpc cannot be loaded: %s", dlerror());
    for (int i = P4INT; i <= P4DBL; i++)
        lib.convert[i] = (convert_fn *)(uintptr_t)dlsym(handle, forms[i].function);
    lib.create = (void (*)(XDR *, char *, u_int, enum xdr_op))(uintptr_t)dlsym(handle, "xdrmem_create");
}

/* The upper half first. A value from outside that is too large for a `long` here is an error. */
static bool convert_long(XDR *xdr, long *element, enum xdr_op op)
{
    int64_t value = op == XDR_ENCODE ? *element : 0;
    int32_t upper = (int32_t)(value >> 32), lower = (int32_t)(uint32_t)value;

    if (!lib.convert[P4LNG](xdr, &upper) || !lib.convert[P4LNG](xdr, &lower))
        return false;
    if (op == XDR_ENCODE)
        return true;
    value = (int64_t)((uint64_t)(uint32_t)upper << 32 | (uint32_t)lower);
    *element = (long)value;
    return *element == value;
}

static void convert(int datatype, size_t count, void *elements, void *wire, enum xdr_op op)
{
    char *element = elements;
    XDR xdr;

    load();
    lib.create(&xdr, wire, (u_int)(count * forms[datatype].wire), op);
    for (size_t i = 0; i < count; i++, element += forms[datatype].local) {
        const bool is_done = datatype == P4LNG ? convert_long(&xdr, (long *)(void *)element, op)
                                               : (bool)lib.convert[datatype](&xdr, element);
        if (!is_done)
            p4_fail("E0616: element %zu of %zu, of type %d, cannot be converted", i, count, datatype);
    }
}

void xdr_encode(int datatype, const void *data, size_t len, void *out)
{
    convert(datatype, len / forms[datatype].local, (void *)(uintptr_t)data, out, XDR_ENCODE);
}

struct message *xdr_decode(struct message *m)
{
    const size_t count = m->len / forms[m->datatype].wire, len = count * forms[m->datatype].local;
    struct message *own;

    message_lock();
    own = buffer_alloc(len);
    message_unlock();
    if (!own)
        p4_error("alloc_p4_msg failed", (int)len);
    convert(m->datatype, count, message_data(own), message_data(m), XDR_DECODE);
    own->type = m->type;
    own->from = m->from;
    own->len = len;
    message_lock();
    buffer_free(m);
    message_unlock();
    return own;
}
