/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks and monitors with more processes than there are processors: exclusion, handing over, rounds, ends. */
#include "p4/forks.h"

enum { PROCESSES = 5, ROUNDS = 2000, NUMBERS = 100 };

static struct shared {
    p4_lock_t lock, other_lock;
    p4_barrier_monitor_t barrier;
    p4_monitor_t monitor;
    p4_getsub_monitor_t getsub;
    p4_askfor_monitor_t askfor;
    int count, turn, inside, resets, results[PROCESSES], dealt[NUMBERS];
    int pool, made, done, ended[PROCESSES];
} *shared;

static void meet(void)
{
    p4_barrier(&shared->barrier, PROCESSES);
}

static void test_exclusion(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        p4_lock(&shared->lock);
        CHECK_INT(shared->inside++, 0);
        shared->count++;
        shared->inside--;
        p4_unlock(&shared->lock);
    }
    meet();
    CHECK_INT(shared->count, PROCESSES * ROUNDS);
    meet();
}

/* 0 closes, the others wait until 0 opens for each: by somebody who does not hold it. */
static void test_lock_of_others(void)
{
    if (p4_own.id == 0) {
        p4_unlock(&shared->lock); /* open: no change */
        p4_unlock(&shared->lock);
        p4_lock(&shared->lock);
        shared->count = 0;
    }
    meet();
    if (p4_own.id == 0) {
        for (int i = 1; i < PROCESSES; i++) {
            p4_unlock(&shared->lock);
            p4_lock(&shared->other_lock); /* closed by 0, opened by who got through */
        }
    } else {
        p4_lock(&shared->lock);
        CHECK_INT(shared->count++, shared->count - 1);
        p4_unlock(&shared->other_lock);
    }
    meet();
    CHECK_INT(shared->count, PROCESSES - 1);
    meet();
    if (p4_own.id == 0) {
        p4_unlock(&shared->lock);
        p4_unlock(&shared->other_lock);
    }
    meet();
}

/* 1 waits in queue 0 or 1; 0 sets the turn and continues it; the others try to get in between. */
static void test_hand_over(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        p4_menter(&shared->monitor);
        if (p4_own.id == 1) {
            p4_mdelay(&shared->monitor, i % 2);
            CHECK_INT(shared->turn, i + 1); /* nobody has come between */
            shared->turn = 0;
            p4_mcontinue(&shared->monitor, 1 - i % 2); /* nobody is there: out */
        } else if (p4_own.id == 0) {
            while (shared->monitor.first.count + shared->monitor.more[0].count == 0) {
                p4_mexit(&shared->monitor);
                usleep(1);
                p4_menter(&shared->monitor);
            }
            shared->turn = i + 1;
            p4_mcontinue(&shared->monitor, i % 2);
        } else {
            CHECK_INT(shared->turn, 0);
            p4_mexit(&shared->monitor);
        }
    }
    meet();
}

static void test_getsub(void)
{
    for (int round = 0; round < 3; round++) {
        const int stride = round + 1;
        int s;

        do {
            p4_getsubs(&shared->getsub, &s, NUMBERS - 1, PROCESSES, stride);
            if (s >= 0) {
                CHECK_INT(s % stride, 0);
                __atomic_fetch_add(&shared->dealt[s], 1, __ATOMIC_RELAXED);
            }
        } while (s >= 0);
        CHECK_INT(s, -1);
        meet();
        for (int i = 0; i < NUMBERS; i++)
            CHECK_INT(shared->dealt[i], i % stride == 0);
        meet();
        if (p4_own.id == 0)
            memset(shared->dealt, 0, sizeof shared->dealt);
        meet();
    }
}

static void test_barrier(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        shared->results[p4_own.id] = i;
        meet();
        for (int p = 0; p < PROCESSES; p++)
            CHECK_INT(shared->results[p], i);
        meet();
    }
    p4_barrier(&shared->barrier, 1);
    p4_barrier(&shared->barrier, 0);
    meet();
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
    const int added = (int)(intptr_t)problem;

    shared->pool += added;
    shared->made += added;
    return added;
}

static void count_reset(void)
{
    shared->resets++;
}

/* Who solves a problem makes two, until there are enough; then everybody learns once that no more will come. */
static void solve(int enough, int code)
{
    int problem, rc;

    if (p4_own.id == 0)
        CHECK_INT(p4_update(&shared->askfor, put, (void *)1), 1);
    while ((rc = p4_askfor(&shared->askfor, PROCESSES, get, &problem, count_reset)) == 0) {
        __atomic_fetch_add(&shared->done, 1, __ATOMIC_RELAXED);
        if (code && problem && shared->made >= enough / 2)
            p4_probend(&shared->askfor, code);
        CHECK_INT(p4_update(&shared->askfor, put, shared->made < enough ? (void *)2 : (void *)0) >= 0, 1);
    }
    shared->ended[p4_own.id] = rc;
    meet();
}

static void test_askfor(void)
{
    for (int round = 1; round <= 20; round++) {
        const int code = round % 2 ? 0 : round;

        solve(500, code);
        CHECK_INT(shared->resets, round);
        for (int p = 0; p < PROCESSES; p++)
            CHECK_INT(shared->ended[p], code ? code : 1);
        if (!code)
            CHECK_INT(shared->done, shared->made);
        meet();
        if (p4_own.id == 0)
            shared->done = shared->made = shared->pool = 0;
        meet();
    }
}

/* All but 0 sleep, or come later; 0 ends everything, for good. */
static void test_progend(void)
{
    int problem;

    if (p4_own.id == 0)
        p4_progend(&shared->askfor);
    for (int i = 0; i < 3; i++)
        CHECK_INT(p4_askfor(&shared->askfor, PROCESSES, get, &problem, count_reset), -1);
    meet();
    CHECK_INT(shared->resets, 20);
    if (p4_own.id == 0)
        p4_askfor_init(&shared->askfor);
    meet();
    CHECK_INT(p4_askfor(&shared->askfor, PROCESSES, get, &problem, count_reset), 1);
    meet();
}

static void test_all(void)
{
    test_exclusion();
    test_lock_of_others();
    test_hand_over();
    test_getsub();
    test_barrier();
    test_askfor();
    test_progend();
}

static void test_alone(void)
{
    p4_monitor_t plain;
    p4_getsub_monitor_t getsub;
    int s;

    CHECK_INT(p4_moninit(&plain, -1), -1);
    CHECK_INT(p4_moninit(&plain, INT_MAX), -1);
    CHECK_INT(p4_moninit(&plain, 0), 0);
    p4_menter(&plain);
    CHECK_FAILS(p4_mcontinue(&plain, 0), "E0652: p4_mcontinue: queue 0; the monitor has 0");
    p4_mexit(&plain);
    CHECK_INT(p4_moninit(&plain, 2), 0);
    CHECK_FAILS(p4_mdelay(&plain, -1), "E0652: p4_mdelay: queue -1; the monitor has 2");
    CHECK_INT(p4_getsub_init(&getsub), 0);
    for (int i = 0; i < 6; i++) {
        p4_getsub(&getsub, &s, 1, 1);
        CHECK_INT(s, i % 3 == 2 ? -1 : i % 3);
    }
    p4_getsubs(&getsub, &s, INT_MAX, 1, INT_MAX);
    p4_getsubs(&getsub, &s, INT_MAX, 1, INT_MAX);
    CHECK_INT(s, INT_MAX);
    p4_getsubs(&getsub, &s, INT_MAX, 1, INT_MAX);
    CHECK_INT(s, -1);
}

int main(void)
{
    open_arena(1 << 20);
    test_alone();
    shared = (struct shared *)(void *)p4_shmalloc(sizeof *shared);
    memset(shared, 0, sizeof *shared);
    p4_lock_init(&shared->lock);
    p4_lock_init(&shared->other_lock);
    p4_lock(&shared->other_lock);
    p4_barrier_init(&shared->barrier);
    CHECK_INT(p4_moninit(&shared->monitor, 2), 0);
    p4_getsub_init(&shared->getsub);
    p4_askfor_init(&shared->askfor);
    in_processes(PROCESSES, test_all);
    return 0;
}
