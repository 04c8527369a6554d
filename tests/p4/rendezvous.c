/* SPDX-License-Identifier: BSD-3-Clause */
/* A rendezvous form returns when the receiver's library has taken the message in, in whatever call: so a receive of
 * another type is enough, or a look; two that send so to each other go on; to itself there is nothing to wait for. */
#include "p4_test.h"

enum { LONG = 500000 };

static char data[LONG];

/* sendr(2), send(1) against recv(1), recv(2). */
static void check_other_type(int me, int len)
{
    if (me == 0) {
        CHECK_INT(p4_sendr(2, 1, data, len), 0);
        CHECK_INT(p4_send(1, 1, data, 1), 0);
    } else if (me == 1) {
        p4_msg_free(recv_exactly(1, 0, 1));
        p4_msg_free(recv_exactly(2, 0, len));
    }
}

static void check_mutual(int me, int len)
{
    if (me > 1)
        return;
    CHECK_INT(p4_sendr(3, !me, data, len), 0);
    p4_msg_free(recv_exactly(3, !me, len));
}

/* One that only looks takes it in as well. */
static void check_look(int me, int len)
{
    int type = 99, from = 0;

    if (me == 0) {
        CHECK_INT(p4_sendr(4, 1, data, len), 0);
        CHECK_INT(p4_send(99, 1, data, 1), 0);
    } else if (me == 1) {
        while (!p4_messages_available(&type, &from))
            usleep(100);
        p4_msg_free(recv_exactly(99, 0, 1));
        p4_msg_free(recv_exactly(4, 0, len));
    }
}

int main(int argc, char **argv)
{
    static const int lens[] = { 0, 1, 20000, LONG };
    int me;

    start(&argc, argv);
    me = p4_get_my_id();
    CHECK_INT(p4_sendr(5, me, data, LONG), 0);
    p4_msg_free(recv_exactly(5, me, LONG));
    for (int i = 0; i < 4 && p4_num_total_ids() > 1; i++) {
        check_other_type(me, lens[i]);
        check_mutual(me, lens[i]);
        check_look(me, lens[i]);
    }
    p4_wait_for_end();
    return 0;
}
