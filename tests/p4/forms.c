/* SPDX-License-Identifier: BSD-3-Clause */
/* Every form of sending, types of any sign, lengths from none to 300,000 bytes, from everybody to everybody, itself
 * included: the bytes, the type, the sender and the length are those that were sent, in the order sent. */
#include "p4_test.h"

enum { FORMS = 8 };

static const int lens[] = { 0, 1, 40, 41, 160, 161, 4096, 32768, 32769, 300000 };
static const int types[] = { 0, 1, -2, -7, 2147483647, -2147483647 - 1, 12345 };
#define COUNT(a) ((int)(sizeof(a) / sizeof(a)[0]))

static char pattern(int from, int to, int i, int k)
{
    return (char)(from * 7 + to * 13 + i * 31 + k);
}

static int send_form(int form, int type, int to, char *msg, int len)
{
    switch (form) {
    case 0: return p4_send(type, to, msg, len);
    case 1: return p4_sendr(type, to, msg, len);
    case 2: return p4_sendx(type, to, msg, len, P4NOX);
    case 3: return p4_sendrx(type, to, msg, len, P4NOX);
    case 4: return p4_sendb(type, to, msg, len);
    case 5: return p4_sendbr(type, to, msg, len);
    case 6: return p4_sendbx(type, to, msg, len, P4NOX);
    }
    return p4_sendbrx(type, to, msg, len, P4NOX);
}

static void send_all(int to)
{
    const int me = p4_get_my_id();

    for (int i = 0; i < COUNT(lens) * COUNT(types); i++) {
        const int len = lens[i % COUNT(lens)];
        char *msg = p4_msg_alloc(len);
        for (int k = 0; k < len; k++)
            msg[k] = pattern(me, to, i, k);
        CHECK_INT(send_form(i % FORMS, types[i % COUNT(types)], to, msg, len), 0);
        p4_msg_free(msg);
    }
}

static void receive_all(int from)
{
    const int me = p4_get_my_id();

    for (int i = 0; i < COUNT(lens) * COUNT(types); i++) {
        int type = -1, source = from, len = -1;
        char *msg = recv_new(&type, &source, &len);
        CHECK_INT(type, types[i % COUNT(types)]);
        CHECK_INT(source, from);
        CHECK_INT(len, lens[i % COUNT(lens)]);
        CHECK((size_t)msg % 16 == 0);
        for (int k = 0; k < len; k++)
            CHECK_INT(msg[k], pattern(from, me, i, k));
        p4_msg_free(msg);
    }
}

int main(int argc, char **argv)
{
    int me, total;

    start(&argc, argv);
    me = p4_get_my_id();
    total = p4_num_total_ids();
    for (int step = 0; step < total; step++) { /* a sendr is taken in by whoever receives or sends as well */
        send_all((me + step) % total);
        receive_all((me - step + total) % total);
    }
    p4_wait_for_end();
    return 0;
}
