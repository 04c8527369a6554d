/* SPDX-License-Identifier: BSD-3-Clause */
/* No send waits for the receiver: many messages each way before anybody receives, of 64 KB and of 1 MB, then 10,000
 * short ones that are asked for in the opposite order, and one of 100 MB. Arguments: how many of 64 KB, of 1 MB. */
#include "p4_test.h"

enum { SHORT_ONES = 10000, HUGE_LEN = 100000000 };

static void both_ways(int me, int count, int len)
{
    char *data = malloc((size_t)len);

    for (int i = 0; i < count; i++) {
        memset(data, i, (size_t)len);
        CHECK_INT(p4_send(i, !me, data, len), 0);
    }
    for (int i = 0; i < count; i++) {
        char *msg = recv_exactly(i, !me, len);
        CHECK(msg[0] == (char)i && msg[len - 1] == (char)i);
        p4_msg_free(msg);
    }
    free(data);
}

static void many(int me)
{
    for (int i = 0; i < SHORT_ONES; i++)
        CHECK_INT(p4_send(i, !me, &i, sizeof i), 0);
    for (int i = SHORT_ONES - 1; i >= 0; i--) {
        char *msg = recv_exactly(i, !me, sizeof i);
        CHECK_INT(*(int *)msg, i);
        p4_msg_free(msg);
    }
}

static void huge(int me)
{
    char *data;

    if (me) {
        data = recv_exactly(1, 0, HUGE_LEN);
        for (int i = 0; i < HUGE_LEN; i += 4093)
            CHECK_INT(data[i], (char)i);
        p4_msg_free(data);
        return;
    }
    data = malloc(HUGE_LEN);
    for (int i = 0; i < HUGE_LEN; i++)
        data[i] = (char)i;
    CHECK_INT(p4_send(1, 1, data, HUGE_LEN), 0);
    memset(data, 0, HUGE_LEN); /* ours again */
    free(data);
}

int main(int argc, char **argv)
{
    int me;

    start(&argc, argv);
    me = p4_get_my_id();
    if (me < 2 && p4_num_total_ids() > 1) {
        both_ways(me, atoi(argv[1]), 65536);
        both_ways(me, atoi(argv[2]), 1048576);
        many(me);
        huge(me);
    }
    p4_wait_for_end();
    return 0;
}
