/* SPDX-License-Identifier: BSD-3-Clause */
/* Ways to end: without p4_wait_for_end right after a send, whose message arrives all the same; with it, twice; and what
 * may still be called then. The exit status of a slave means nothing. */
#include "p4_test.h"

enum { LEN = 200000 };

int main(int argc, char **argv)
{
    static char data[LEN];
    int me, total;

    start(&argc, argv);
    me = p4_get_my_id();
    total = p4_num_total_ids();
    if (me) {
        memset(data, me, LEN);
        CHECK_INT(p4_send(1, 0, data, me % 2 ? 10 : LEN), 0);
        exit(0);
    }
    usleep(20000);
    for (int i = 1; i < total; i++) {
        char *msg = recv_exactly(1, i, i % 2 ? 10 : LEN);
        CHECK_INT(msg[i % 2 ? 9 : LEN - 1], i);
        p4_msg_free(msg);
    }
    CHECK_INT(p4_wait_for_end(), 0);
    CHECK_INT(p4_wait_for_end(), 0);
    p4_dprintfl(99, "not shown\n");
    CHECK_INT(p4_get_my_id(), 0);
    CHECK_INT(p4_num_total_ids(), total);
    return 0;
}
