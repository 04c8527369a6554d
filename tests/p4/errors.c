/* SPDX-License-Identifier: BSD-3-Clause */
/* A run that goes wrong in the way that the first argument names; errors_test.py says what must come of it. */
#include "p4_test.h"

static int me, total, type, from, len;
static char *msg, text[8] = "text";

static int child_with_error(void)
{
    p4_error("child", 1);
    return 0;
}

/* In one process before it waits. */
static void do_wrong(const char *what)
{
    if (!strcmp(what, "error") && me == total - 1)
        p4_error("no good", 42);
    if (!strcmp(what, "negative") && !me)
        p4_error("no good", -42);
    if (!strcmp(what, "all"))
        p4_msg_free(text);
    if (!strcmp(what, "segv") && me == total - 1)
        raise(SIGSEGV);
    if (!strcmp(what, "interrupt") && !me)
        raise(SIGINT);
    if (!strcmp(what, "killed") && me == total - 1)
        raise(SIGKILL);
    if (!strcmp(what, "master-killed") && !me)
        raise(SIGKILL);
    if (!strcmp(what, "left") && me == total - 1)
        _exit(3);
    if (!strcmp(what, "hang")) {
        from = (me + 1) % total;
        if (!me)
            alarm((unsigned)atoi(getenv("HANG_SECONDS")));
    }
    if (!strcmp(what, "keeper-killed") && me == 3)
        kill(getppid(), SIGKILL);
    if (!strcmp(what, "child") && !me)
        p4_create(child_with_error);
}

/* Others have ended, and this one goes on with them. */
static void be_deserted(const char *what)
{
    if (me) {
        p4_wait_for_end();
        exit(me); /* means nothing */
    }
    if (!strcmp(what, "gone"))
        from = total - 1;
    if (!strcmp(what, "gone-long")) { /* offers and what they move, in all states */
        static char data[200000];
        while (p4_send(7, total - 1, data, sizeof data) == 0)
            usleep(100);
        p4_wait_for_end();
        exit(0);
    }
    if (!strcmp(what, "gone-send")) {
        while (p4_send(7, total - 1, text, 8) == 0)
            usleep(1000);
        CHECK_INT(p4_sendr(7, total - 1, text, 8), -1);
        p4_wait_for_end();
        exit(0);
    }
    p4_recv(&type, &from, &msg, &len);
}

/* Wrong arguments. */
static void be_wrong(const char *what)
{
    type = from = -1;
    if (!strcmp(what, "ids")) {
        CHECK_INT(p4_send(7, total, text, 8), -1);
        CHECK_INT(p4_sendr(7, -1, text, 8), -1);
        CHECK_INT(p4_sendx(7, 0, text, 8, 9), -1);
        p4_soft_errors(1);
        CHECK_INT(p4_send(7, 0, text, -1), -1);
        CHECK_INT(p4_send(7, 0, text, P4_MAX_MSGLEN + 1), -1);
        p4_soft_errors(0);
        from = total;
        p4_recv(&type, &from, &msg, &len);
    }
    if (!strcmp(what, "length"))
        p4_send(7, 0, text, -1);
    if (!strcmp(what, "twice")) {
        msg = p4_msg_alloc(10);
        p4_msg_free(msg);
        p4_msg_free(msg);
    }
    if (!strcmp(what, "class"))
        p4_set_avail_buff(8, 100);
    if (!strcmp(what, "itself")) {
        from = me;
        p4_recv(&type, &from, &msg, &len);
    }
    if (!strcmp(what, "ended")) {
        p4_wait_for_end();
        p4_send(7, 0, text, 8);
    }
}

int main(int argc, char **argv)
{
    const char *what = argv[1];

    if (!strcmp(what, "early"))
        p4_msg_alloc(1);
    p4_initenv(&argc, argv);
    if (!strcmp(what, "no-procgroup"))
        p4_send(7, 0, text, 8);
    if (!strcmp(what, "create"))
        p4_create(child_with_error);
    p4_create_procgroup();
    me = p4_get_my_id();
    total = p4_num_total_ids();
    type = 7;
    from = -1;
    if (!strncmp(what, "gone", 4))
        be_deserted(what);
    if (!strcmp(what, "no-end") && !me)
        return 0;
    do_wrong(what);
    if (!me && strcmp(what, "hang") != 0)
        be_wrong(what);
    p4_recv(&type, &from, &msg, &len); /* nobody sends */
    return 0;
}
