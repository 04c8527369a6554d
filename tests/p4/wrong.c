/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrong uses, one a run, by name; runs.txt says what must be printed. */
#include "p4_test.h"

static void mismatch_barrier(int me)
{
    int x = 1;

    if (me == 0)
        p4_global_op(44, &x, 1, sizeof x, p4_int_sum_op, P4INT);
    else
        p4_global_barrier(7);
}

static void mismatch_count(int me)
{
    int x[20] = { 0 };

    p4_global_op(44, x, me ? 20 : 10, sizeof x[0], p4_int_sum_op, P4INT);
}

/* Process `who` ends; the others go on when that has reached them. */
static void one_leaves(int me, int who)
{
    if (me == who)
        exit(0);
    while (p4_send(1, who, &me, sizeof me) == 0)
        usleep(1000);
}

static void soft(void)
{
    int x = 1;

    CHECK_INT(p4_soft_errors(1), 0);
    CHECK_INT(p4_soft_errors(1), 1);
    CHECK_INT(p4_global_op(1, &x, -1, sizeof x, p4_int_sum_op, P4INT), -1);
    CHECK_INT(p4_global_op(1, &x, 1, 0, p4_int_sum_op, P4INT), -1);
    CHECK_INT(p4_global_op(1, &x, 1, sizeof x, NULL, P4INT), -1);
    CHECK_INT(p4_global_op(1, NULL, 1, sizeof x, p4_int_sum_op, P4INT), -1);
    CHECK_INT(p4_global_op(1, &x, 1, sizeof x, p4_int_sum_op, 5), -1);
    CHECK_INT(p4_broadcast(1, &x, -1), p4_num_total_ids() > 1 ? -1 : 0);
    CHECK_INT(p4_soft_errors(0), 1);
}

int main(int argc, char **argv)
{
    const char *name;
    int x = 1;

    p4_initenv(&argc, argv);
    name = argc > 1 ? argv[1] : "";
    p4_create_procgroup();
    if (!strcmp(name, "barrier"))
        mismatch_barrier(p4_get_my_id());
    else if (!strcmp(name, "count"))
        mismatch_count(p4_get_my_id());
    else if (!strcmp(name, "gone_barrier")) {
        one_leaves(p4_get_my_id(), 0);
        p4_global_barrier(7);
    } else if (!strcmp(name, "gone_broadcast")) {
        one_leaves(p4_get_my_id(), 1);
        p4_broadcast(1, &x, sizeof x);
    } else if (!strcmp(name, "size"))
        p4_global_op(1, &x, 1, -4, p4_int_sum_op, P4INT);
    else if (!strcmp(name, "datatype"))
        p4_global_op(1, &x, 1, sizeof x, p4_int_sum_op, 9);
    else if (!strcmp(name, "broadcast"))
        p4_broadcast(1, &x, -1);
    else if (!strcmp(name, "free"))
        p4_shfree(&x);
    else
        soft();
    p4_wait_for_end();
    return 0;
}
