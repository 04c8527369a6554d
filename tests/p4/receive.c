/* SPDX-License-Identifier: BSD-3-Clause */
/* What p4_recv and p4_messages_available do: wildcards, order, own buffers, truncation, empty messages, what is freed
 * and what is not. One process with itself, then with the next one. */
#include "p4_test.h"

static void check_order(int to)
{
    char *msg;

    for (int i = 0; i < 10; i++)
        CHECK_INT(p4_send(i % 3, to, &i, sizeof i), 0);
    if (to != p4_get_my_id())
        return;
    for (int i = 1; i < 10; i += 3) { /* one type, in order */
        msg = recv_exactly(1, to, sizeof i);
        CHECK_INT(*(int *)msg, i);
        p4_msg_free(msg);
    }
    for (int i = 0; i < 10; i++) { /* then the rest, in order of arrival */
        int type = -1, from = -1, len;
        if (i % 3 == 1)
            continue;
        msg = recv_new(&type, &from, &len);
        CHECK_INT(type, i % 3);
        CHECK_INT(from, to);
        CHECK_INT(*(int *)msg, i);
        p4_msg_free(msg);
    }
}

/* A type of -1 can be sent and only the wildcard finds it. */
static void check_minus_one(int me)
{
    int type = -1, from = me, len;

    CHECK_INT(p4_send(-1, me, "a", 1), 0);
    CHECK_INT(p4_send(5, me, "b", 1), 0);
    p4_msg_free(recv_exactly(5, me, 1));
    p4_msg_free(recv_new(&type, &from, &len));
    CHECK_INT(type, -1);
}

static void check_buffers(int me)
{
    char *buffer = p4_msg_alloc(10), *shared, text[] = "0123456789abcdef", own[8];
    char *before = buffer;
    int type = 3, from = me, len = 0;

    CHECK_INT(p4_send(3, me, text, 16), 0); /* longer than the buffer, whose length counts, not *len */
    CHECK_INT(p4_recv(&type, &from, &buffer, &len), 0);
    CHECK(buffer == before && len == 10 && !memcmp(buffer, text, 10));
    CHECK_INT(p4_send(3, me, text, 4), 0); /* again, shorter */
    CHECK_INT(p4_recv(&type, &from, &buffer, &len), 0);
    CHECK(buffer == before && len == 4 && !memcmp(buffer, text, 10));
    p4_msg_free(buffer);
    CHECK(!memcmp(buffer, text, 10)); /* readable until it is used again */
    p4_msg_free(NULL);

    shared = own; /* no buffer of p4's: *len says what there is room for */
    len = sizeof own;
    CHECK_INT(p4_send(3, me, text, 16), 0);
    CHECK_INT(p4_recv(&type, &from, &shared, &len), 0);
    CHECK(shared == own && len == 8 && !memcmp(own, text, 8));

    CHECK_INT(p4_send(3, me, NULL, 0), 0); /* nothing, in a buffer all the same */
    p4_msg_free(recv_exactly(3, me, 0));

    CHECK_INT(p4_send(3, me, text, 16), 0); /* one that was received goes on by a b form */
    buffer = recv_exactly(3, me, 16);
    CHECK_INT(p4_sendb(4, me, buffer, 16), 0);
    before = recv_exactly(4, me, 16);
    CHECK(!memcmp(before, text, 16));
    p4_msg_free(before);
}

static void check_available(int me)
{
    int type = 9, from = me;

    CHECK(!p4_messages_available(&type, &from));
    CHECK(type == 9 && from == me);
    type = from = -1;
    CHECK(!p4_messages_available(&type, &from) && !p4_any_messages_available());
    CHECK(type == -1 && from == -1);
    CHECK_INT(p4_send(8, me, "x", 1), 0);
    CHECK_INT(p4_send(9, me, "yy", 2), 0);
    CHECK_INT(p4_waitformsg(), 1);
    CHECK(p4_any_messages_available());
    CHECK(p4_messages_available(&type, &from));
    CHECK(type == 8 && from == me); /* the first one, and it is this that is received */
    p4_msg_free(recv_exactly(8, me, 1));
    type = 9;
    CHECK(p4_messages_available(&type, &from));
    p4_msg_free(recv_exactly(9, me, 2));
    CHECK(!p4_any_messages_available());
}

/* Everybody tells the first one, who takes them as they come. */
static void check_any(int me, int total)
{
    char seen[P4_MAXPROCS] = { 0 };

    if (me) {
        p4_msg_free(recv_exactly(76, 0, 0)); /* the first one has looked for what is not there */
        CHECK_INT(p4_send(77, 0, &me, sizeof me), 0);
        p4_msg_free(recv_exactly(78, 0, 0));
        return;
    }
    for (int i = 1; i < total; i++)
        CHECK_INT(p4_send(76, i, NULL, 0), 0);
    for (int i = 1; i < total; i++) {
        int type = 77, from = -1, len;
        char *msg = recv_new(&type, &from, &len);
        CHECK_INT(*(int *)msg, from);
        CHECK(!seen[from]++);
        p4_msg_free(msg);
    }
    for (int i = 1; i < total; i++)
        CHECK_INT(p4_send(78, i, NULL, 0), 0);
}

int main(int argc, char **argv)
{
    int me;

    start(&argc, argv);
    me = p4_get_my_id();
    p4_set_avail_buff(0, 100);
    p4_set_avail_buff(7, 2000000);
    check_order(me);
    check_minus_one(me);
    check_buffers(me);
    if (!me) /* nobody sends before the first one says so */
        check_available(me);
    check_any(me, p4_num_total_ids());
    p4_wait_for_end();
    return 0;
}
