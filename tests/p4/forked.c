/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared memory and monitors in one cluster: what main allocates before the procgroup is there in all slaves; children
 * of p4_create share it, too. Only for processes that the program forks itself. */
#include "p4_test.h"

enum { CHILDREN = 3, NUMBERS = 500, ADDED = 70 };

static struct shared {
    p4_lock_t lock;
    p4_barrier_monitor_t barrier;
    p4_getsub_monitor_t getsub;
    p4_askfor_monitor_t askfor;
    p4_monitor_t monitor;
    int sum, turn, pool, added, resets, children, ended[P4_MAXPROCS];
    char *passed;
} *shared;

static int me, n;

static int child(void)
{
    CHECK_INT(p4_get_my_id(), -1);
    for (int i = 0; i < 1000; i++) {
        p4_lock(&shared->lock);
        shared->children++;
        p4_unlock(&shared->lock);
    }
    return 5; /* is not looked at */
}

static int get(void *problem)
{
    if (shared->pool == 0)
        return 1;
    *(int *)problem = shared->pool--;
    return 0;
}

static int put(void *problem)
{
    (void)problem;
    if (shared->added == ADDED)
        return 0;
    shared->added++;
    shared->pool++;
    return 1;
}

static void reset(void)
{
    shared->resets++;
}

static void test_lock(void)
{
    for (int i = 0; i < 2000; i++) {
        p4_lock(&shared->lock);
        shared->sum++;
        p4_unlock(&shared->lock);
    }
    p4_barrier(&shared->barrier, n);
    CHECK_INT(shared->sum, n * 2000);
}

static void test_getsub(void)
{
    int s, own = 0;

    for (int round = 0; round < 3; round++)
        for (p4_getsub(&shared->getsub, &s, NUMBERS - 1, n); s >= 0; p4_getsub(&shared->getsub, &s, NUMBERS - 1, n))
            own++;
    CHECK_INT(p4_global_op(1, &own, 1, sizeof own, p4_int_sum_op, P4INT), 0);
    CHECK_INT(own, 3 * NUMBERS);
}

/* Each problem is solved once; a solved one that can be divided by 10 adds another, up to a limit. How many those are
 * depends on who solves when: a number comes again if its addition is there before the next one is taken. */
static void test_askfor(void)
{
    int problem, rc, own = 0;

    while ((rc = p4_askfor(&shared->askfor, n, get, &problem, reset)) == 0) {
        own++;
        if (problem % 10 == 0)
            p4_update(&shared->askfor, put, NULL);
    }
    CHECK_INT(rc, 1);
    CHECK_INT(p4_global_op(1, &own, 1, sizeof own, p4_int_sum_op, P4INT), 0);
    CHECK_INT(own, NUMBERS + shared->added);
    CHECK(shared->added >= NUMBERS / 10);
    CHECK_INT(shared->pool, 0);
    CHECK_INT(shared->resets, 1);
}

/* A process waits in its queue until the one before it lets it go: the turn goes round. */
static void test_monitor(void)
{
    p4_menter(&shared->monitor);
    while (shared->turn != me)
        p4_mdelay(&shared->monitor, me);
    shared->turn++;
    p4_mcontinue(&shared->monitor, (me + 1) % n);
}

/* A block from one process is freed by the next. */
static void test_pass(void)
{
    int from = (me + n - 1) % n, type = 9, len;
    char *block = p4_shmalloc(5000), *msg = NULL;

    CHECK(block);
    memset(block, me, 5000);
    CHECK_INT(p4_send(9, (me + 1) % n, &block, sizeof block), 0);
    CHECK_INT(p4_recv(&type, &from, &msg, &len), 0);
    memcpy(&block, msg, sizeof block);
    p4_msg_free(msg);
    CHECK_INT(block[0], from);
    CHECK_INT(block[4999], from);
    p4_shfree(block);
}

/* A receive into shared memory knows how long the block is: what is too long is cut. */
static void test_recv(void)
{
    int from = (me + n - 1) % n, type = 10, len = -1;
    char *block = p4_shmalloc(100), data[300];

    memset(data, me, sizeof data);
    CHECK_INT(p4_send(10, (me + 1) % n, data, sizeof data), 0);
    CHECK_INT(p4_recv(&type, &from, &block, &len), 0);
    CHECK_INT(len, 100);
    CHECK_INT(block[99], from);
    p4_shfree(block);
}

static void test_sync(void)
{
    int *p = NULL;

    if (me == 0) {
        p = (int *)(void *)p4_shmalloc(sizeof *p);
        *p = 4711;
    }
    p4_cluster_shmem_sync(&p);
    CHECK_INT(*p, 4711);
}

int main(int argc, char **argv)
{
    p4_initenv(&argc, argv);
    shared = (struct shared *)(void *)p4_shmalloc(sizeof *shared);
    CHECK(shared);
    memset(shared, 0, sizeof *shared);
    shared->pool = NUMBERS;
    p4_lock_init(&shared->lock);
    CHECK_INT(p4_barrier_init(&shared->barrier), 0);
    CHECK_INT(p4_getsub_init(&shared->getsub), 0);
    CHECK_INT(p4_askfor_init(&shared->askfor), 0);
    CHECK_INT(p4_moninit(&shared->monitor, P4_MAXPROCS), 0);
    for (int i = 0; i < CHILDREN; i++)
        CHECK(p4_create(child) > 0);
    CHECK_INT(p4_create_procgroup(), 0);
    me = p4_get_my_id();
    n = p4_num_total_ids();
    test_lock();
    test_getsub();
    test_askfor();
    test_monitor();
    test_pass();
    test_recv();
    test_sync();
    p4_global_barrier(3);
    p4_wait_for_end();
    if (me == 0)
        CHECK_INT(shared->children, CHILDREN * 1000); /* the master has waited for them */
    return 0;
}
