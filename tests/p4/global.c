/* SPDX-License-Identifier: BSD-3-Clause */
/* Global operations against what one process computes, barriers, broadcasts; user messages of the same types between.
 * */
#include "p4_test.h"

enum { ELEMENTS = 37, TYPE = 44, MANY = 300000 };

static int me, n;

typedef void op_fn(char *x, char *y, int nelem);

static int int_value(int id, int i)
{
    return (id * 7 + i * 3) % 11 - 5;
}

static double real_value(int id, int i)
{
    return (id + 1) * 0.37 - (i % 5) * 0.71;
}

/* What `kind` of sum, mult, max, min, absmax, absmin gives of two. */
static double combine(int kind, double a, double b)
{
    const double abs_a = a < 0 ? -a : a, abs_b = b < 0 ? -b : b;

    switch (kind) {
    case 0: return a + b;
    case 1: return a * b;
    case 2: return a > b ? a : b;
    case 3: return a < b ? a : b;
    case 4: return abs_a > abs_b ? abs_a : abs_b;
    default: return abs_a < abs_b ? abs_a : abs_b;
    }
}

static double serial(int kind, int i, int is_int)
{
    double all = is_int ? int_value(0, i) : real_value(0, i);

    for (int id = 1; id < n; id++)
        all = combine(kind, all, is_int ? int_value(id, i) : real_value(id, i));
    return all;
}

static void check_near(double came, double expected, double relative)
{
    const double limit = relative * (1 + (expected < 0 ? -expected : expected));

    if (came - expected > limit || expected - came > limit) {
        fprintf(stderr, "process %d: %.17g came, %.17g expected\n", me, came, expected);
        p4_error("test", 0);
    }
}

static void test_int_ops(void)
{
    static op_fn *const ops[] = { p4_int_sum_op, p4_int_mult_op,   p4_int_max_op,
                                  p4_int_min_op, p4_int_absmax_op, p4_int_absmin_op };
    int x[ELEMENTS];

    for (int kind = 0; kind < 6; kind++) {
        for (int i = 0; i < ELEMENTS; i++)
            x[i] = int_value(me, i);
        CHECK_INT(p4_global_op(TYPE, x, ELEMENTS, sizeof(int), ops[kind], P4INT), 0);
        for (int i = 0; i < ELEMENTS; i++)
            CHECK_INT(x[i], serial(kind, i, 1));
    }
}

static void test_flt_ops(void)
{
    static op_fn *const ops[] = { p4_flt_sum_op, p4_flt_mult_op,   p4_flt_max_op,
                                  p4_flt_min_op, p4_flt_absmax_op, p4_flt_absmin_op };
    float x[ELEMENTS];

    for (int kind = 0; kind < 6; kind++) {
        for (int i = 0; i < ELEMENTS; i++)
            x[i] = (float)real_value(me, i);
        CHECK_INT(p4_global_op(TYPE, (char *)x, ELEMENTS, sizeof(float), ops[kind], P4FLT), 0);
        for (int i = 0; i < ELEMENTS; i++)
            check_near(x[i], serial(kind, i, 0), 1e-5);
    }
}

/* Everybody has the same bits: process 0 sends its own round and the others compare. */
static void check_same_bits(double *x, int nelem)
{
    double *other = NULL;
    int type = TYPE, from = 0, len;

    if (me == 0) {
        CHECK_INT(p4_broadcastx(TYPE, x, nelem * (int)sizeof *x, P4DBL), 0);
        return;
    }
    CHECK_INT(p4_recv(&type, &from, &other, &len), 0);
    CHECK_INT(len, nelem * (int)sizeof *x);
    CHECK(!memcmp(other, x, (size_t)len));
    p4_msg_free(other);
}

static void test_dbl_ops(void)
{
    static op_fn *const ops[] = { p4_dbl_sum_op, p4_dbl_mult_op,   p4_dbl_max_op,
                                  p4_dbl_min_op, p4_dbl_absmax_op, p4_dbl_absmin_op };
    double x[ELEMENTS];

    for (int kind = 0; kind < 6; kind++) {
        for (int i = 0; i < ELEMENTS; i++)
            x[i] = real_value(me, i);
        CHECK_INT(p4_global_op(TYPE, (char *)x, ELEMENTS, sizeof(double), ops[kind], P4DBL), 0);
        for (int i = 0; i < ELEMENTS; i++)
            check_near(x[i], serial(kind, i, 0), 1e-13);
        check_same_bits(x, ELEMENTS);
    }
}

/* Extremes: sums wrap, magnitudes are not negative. */
static void test_extremes(void)
{
    int x[2] = { INT_MAX, -INT_MAX };
    int y[2] = { 1, 3 };

    p4_int_sum_op((char *)x, (char *)y, 1);
    CHECK_INT(x[0], INT_MIN);
    p4_int_absmin_op((char *)(x + 1), (char *)(y + 1), 1);
    CHECK_INT(x[1], 3);
    x[1] = -INT_MAX;
    p4_int_absmax_op((char *)(x + 1), (char *)(y + 1), 1);
    CHECK_INT(x[1], INT_MAX);
}

/* An element of the program's own: the two greatest of all values, with their owners. */
struct top {
    int value, owner;
};

static void keep_top(char *x, char *y, int nelem)
{
    struct top *to = (struct top *)(void *)x;
    const struct top *from = (const struct top *)(void *)y;

    for (int i = 0; i < nelem; i++)
        if (from[i].value > to[i].value)
            to[i] = from[i];
}

static void test_own_operation(void)
{
    struct top top[3];

    for (int i = 0; i < 3; i++)
        top[i] = (struct top){ (me * 5 + i) % (2 * n + 1), me };
    CHECK_INT(p4_global_op(-7, (char *)top, 3, sizeof top[0], keep_top, P4NOX), 0);
    for (int i = 0; i < 3; i++)
        CHECK_INT((top[i].owner * 5 + i) % (2 * n + 1), top[i].value);
}

static void test_sizes(void)
{
    double *x = malloc(MANY * sizeof *x);
    int none = 5;

    CHECK(x);
    for (int i = 0; i < MANY; i++)
        x[i] = me + i;
    CHECK_INT(p4_global_op(TYPE, x, MANY, sizeof *x, p4_dbl_sum_op, P4DBL), 0);
    for (int i = 0; i < MANY; i++)
        CHECK_INT(x[i], n * (n - 1) / 2 + (long long)i * n);
    free(x);
    CHECK_INT(p4_global_op(TYPE, &none, 0, sizeof none, p4_int_sum_op, P4INT), 0);
    CHECK_INT(none, 5);
}

/* All send to all with rendezvous of one kind and another, then meet: whoever meets still takes in and answers. */
static void test_messages_between(void)
{
    int x = me, type, from, len, *msg;

    for (int to = 0; to < n; to++) {
        if (to < me)
            CHECK_INT(p4_sendr(TYPE, to, &x, sizeof x), 0);
        else if (to > me)
            CHECK_INT(p4_send(TYPE, to, &x, sizeof x), 0);
    }
    p4_global_barrier(TYPE);
    CHECK_INT(p4_global_op(TYPE, &x, 1, sizeof x, p4_int_sum_op, P4INT), 0);
    CHECK_INT(x, n * (n - 1) / 2);
    for (int i = 0; i < n - 1; i++) {
        type = TYPE;
        from = -1;
        msg = NULL;
        CHECK_INT(p4_recv(&type, &from, &msg, &len), 0);
        CHECK_INT(*msg, from);
        p4_msg_free(msg);
    }
    CHECK(!p4_any_messages_available());
    p4_global_barrier(TYPE);
}

static void test_broadcast(void)
{
    int value = me * 1000, type, from, len, *msg;

    CHECK_INT(p4_broadcast(TYPE, &value, sizeof value), 0); /* all at once */
    for (int i = 0; i < n; i++) {
        if (i == me)
            continue;
        type = TYPE;
        from = i;
        msg = NULL;
        CHECK_INT(p4_recv(&type, &from, &msg, &len), 0);
        CHECK_INT(len, sizeof value);
        CHECK_INT(*msg, i * 1000);
        p4_msg_free(msg);
    }
    p4_global_barrier(1);
    if (me == n - 1) /* nothing, from a slave */
        CHECK_INT(p4_broadcast(TYPE + 1, NULL, 0), 0);
    if (me != n - 1) {
        type = from = -1;
        msg = NULL;
        CHECK_INT(p4_recv(&type, &from, &msg, &len), 0);
        CHECK_INT(type, TYPE + 1);
        CHECK_INT(from, n - 1);
        CHECK_INT(len, 0);
        CHECK(msg);
        p4_msg_free(msg);
    }
    CHECK(!p4_any_messages_available());
    p4_global_barrier(1);
}

static void test_barrier(void)
{
    int x;

    for (int round = 0; round < 300; round++) {
        p4_global_barrier(round);
        if (round % 50)
            continue;
        x = round + me;
        p4_global_op(round, &x, 1, sizeof x, p4_int_max_op, P4INT);
        CHECK_INT(x, round + n - 1);
    }
}

int main(int argc, char **argv)
{
    p4_initenv(&argc, argv);
    p4_create_procgroup();
    me = p4_get_my_id();
    n = p4_num_total_ids();
    test_int_ops();
    test_flt_ops();
    test_dbl_ops();
    test_extremes();
    test_own_operation();
    test_sizes();
    test_messages_between();
    test_broadcast();
    test_barrier();
    p4_wait_for_end();
    return 0;
}
