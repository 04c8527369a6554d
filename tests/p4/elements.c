/* SPDX-License-Identifier: BSD-3-Clause */
/* The x forms with each type of elements, from every process to every other and to itself: values at the edges, lengths
 * that are no multiple of an element, broadcast. The same whether elements are converted on the way or not. */
#include <float.h>
#include <math.h>

#include "p4_test.h"

static const int ints[] = { 0, 1, -1, INT_MAX, INT_MIN, 0x01020304 };
static const long longs[] = { 0, 1, -1, LONG_MAX, LONG_MIN, 0x0102030405060708 };
static const float flts[] = { 0, -0.0f, 1.5f, FLT_MAX, FLT_MIN, -INFINITY };
static const double dbls[] = { 0, -0.0, 1.0 / 3, DBL_MAX, DBL_MIN, INFINITY };
static const char bytes[] = "no elements at all";

static const struct {
    const void *data;
    int len, size;
} kinds[] = {
    [P4NOX] = { bytes, sizeof bytes, 1 },       [P4INT] = { ints, sizeof ints, sizeof ints[0] },
    [P4LNG] = { longs, sizeof longs, sizeof longs[0] }, [P4FLT] = { flts, sizeof flts, sizeof flts[0] },
    [P4DBL] = { dbls, sizeof dbls, sizeof dbls[0] },
};

static void recv_kind(int kind, int from, int cut)
{
    const int expected = kinds[kind].len - cut;
    int type = 10 + kind, len;
    char *msg = NULL;

    CHECK_INT(p4_recv(&type, &from, &msg, &len), 0);
    CHECK(len == expected || len == expected / kinds[kind].size * kinds[kind].size);
    CHECK(!memcmp(msg, kinds[kind].data, (size_t)len));
    p4_msg_free(msg);
}

/* Every form of x send; the b forms from a buffer of p4's own. */
static void send_kind(int kind, int to, int form)
{
    const int len = kinds[kind].len, type = 10 + kind;
    char *buffer = p4_msg_alloc(len), *plain = malloc((size_t)len);

    CHECK(buffer && plain);
    memcpy(buffer, kinds[kind].data, (size_t)len);
    memcpy(plain, kinds[kind].data, (size_t)len);
    if (form == 0)
        CHECK_INT(p4_sendx(type, to, plain, len, kind), 0);
    else if (form == 1)
        CHECK_INT(p4_sendbx(type, to, buffer, len, kind), 0);
    else if (form == 2)
        CHECK_INT(p4_sendrx(type, to, plain, len, kind), 0);
    else
        CHECK_INT(p4_sendbrx(type, to, buffer, len, kind), 0);
    memset(plain, 0, (size_t)len); /* the program's again */
    free(plain);
    p4_msg_free(buffer);
}

int main(int argc, char **argv)
{
    int me, n;

    p4_initenv(&argc, argv);
    p4_create_procgroup();
    me = p4_get_my_id();
    n = p4_num_total_ids();
    for (int kind = P4NOX; kind <= P4DBL; kind++) {
        for (int form = 0; form < 4; form++)
            for (int i = 0; i < n; i++)
                send_kind(kind, (me + i) % n, form);
        for (int form = 0; form < 4; form++)
            for (int i = 0; i < n; i++)
                recv_kind(kind, i, 0);
        CHECK_INT(p4_sendx(10 + kind, (me + 1) % n, (void *)kinds[kind].data, kinds[kind].len - 1, kind), 0);
        recv_kind(kind, (me + n - 1) % n, 1);
        p4_global_barrier(kind);
        CHECK_INT(p4_broadcastx(10 + kind, (void *)kinds[kind].data, kinds[kind].len, kind), 0);
        for (int i = 0; i < n; i++)
            if (i != me)
                recv_kind(kind, i, 0);
    }
    p4_wait_for_end();
    return 0;
}
