/* SPDX-License-Identifier: BSD-3-Clause */
/* The x forms carry elements: what arrives is what was sent, whether they are converted on the way (P4_FORCE_XDR=1) or
 * not; a remainder that is no element is dropped if they are. The argument is 1 if they are. */
#include "p4_test.h"

enum { COUNT = 1000 };

static void exchange(int type, int to, int from, void *data, int len, int datatype)
{
    CHECK_INT(p4_sendx(type, to, data, len, datatype), 0);
    {
        char *msg = recv_exactly(type, from, len);
        CHECK(!memcmp(msg, data, (size_t)len));
        p4_msg_free(msg);
    }
    if (to == p4_get_my_id() || p4_get_my_id() % 2) { /* some wait for the others */
        CHECK_INT(p4_sendrx(type, to, data, len, datatype), 0);
        p4_msg_free(recv_exactly(type, from, len));
    } else {
        p4_msg_free(recv_exactly(type, from, len));
        CHECK_INT(p4_sendbx(type, to, data, len, datatype), 0);
    }
}

int main(int argc, char **argv)
{
    static int ints[COUNT];
    static long longs[COUNT];
    static float floats[COUNT];
    static double doubles[COUNT];
    int me, to;

    start(&argc, argv);
    me = p4_get_my_id();
    to = p4_num_total_ids() % 2 ? me : me ^ 1; /* in pairs, or alone */
    for (int i = 0; i < COUNT; i++) {
        ints[i] = i * 1234567 * (i % 2 ? 1 : -1);
        longs[i] = ints[i] * 1000003L;
        floats[i] = (float)i / 7;
        doubles[i] = 1e300 / (i + 1);
    }
    exchange(1, to, to, ints, sizeof ints, P4INT);
    exchange(2, to, to, longs, sizeof longs, P4LNG);
    exchange(3, to, to, floats, sizeof floats, P4FLT);
    exchange(4, to, to, doubles, sizeof doubles, P4DBL);
    exchange(5, to, to, doubles, 7, P4NOX);
    exchange(6, to, to, doubles, 0, P4DBL);
    CHECK_INT(p4_sendx(7, to, doubles, 17, P4DBL), 0);
    p4_msg_free(recv_exactly(7, to, atoi(argv[1]) ? 16 : 17));
    p4_wait_for_end();
    return 0;
}
