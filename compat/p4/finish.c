/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4. Going down: p4_wait_for_end, what is done at exit for those who do not call it, the end of all. And
 * p4_create, whose processes are waited for here. */
#include <errno.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "p4/int_door.h"
#include "p4/int_message.h"
#include "p4/int_remote.h"
#include "p4/int_start.h"
#include "sys/clock.h"
#include "sys/wake.h"

enum { GRACE_S = 10 };

static int children[P4_CHILDREN]; /* indexes in control->child, of those that this process has made */
static int child_count;
static int parent; /* whose they are: slaves are forked with their master's numbers and must not touch them */

/* --- processes of p4_create --- */

static _Noreturn void run_child(int (*fxn)(void))
{
    p4_own.is_child = true;
    p4_own.pid = getpid();
    snprintf(p4_own.who, sizeof p4_own.who, "p4_create_%d", p4_own.pid);
    child_count = 0;
    remote_forked();
    p4_unbind();
    __fpurge(stdin); /* what the parent has read is the parent's */
    fxn();
    exit(0);
}

static int free_slot(void)
{
    for (int i = 0; i < P4_CHILDREN; i++) {
        int none = 0;
        if (atomic_compare_exchange_strong(&control->child[i], &none, -1))
            return i;
    }
    p4_fail("E0608: p4_create: there are %d such processes already", P4_CHILDREN);
}

int p4_create(int (*fxn)(void))
{
    int slot, pid;

    p4_need_started("p4_create");
    if (parent != getpid())
        child_count = 0;
    parent = getpid();
    slot = free_slot();
    fflush(stdout);
    fflush(stderr);
    pid = fork();
    if (!pid)
        run_child(fxn);
    if (pid < 0)
        atomic_store(&control->child[slot], 0);
    if (pid < 0)
        p4_fail("E0608: p4_create cannot make a process: %s", strerror(errno));
    atomic_store(&control->child[slot], pid);
    children[child_count++ % P4_CHILDREN] = slot;
    return pid;
}

static void wait_for_children(void)
{
    while (parent == getpid() && child_count > 0) {
        const int slot = children[--child_count % P4_CHILDREN], pid = atomic_load(&control->child[slot]);
        while (pid > 1 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
        atomic_store(&control->child[slot], 0);
    }
}

/* --- the end of this process --- */

void finish_check_keeper(void)
{
    const int keeper = atomic_load_explicit(&control->keeper, memory_order_relaxed);

    if (p4_own.id != p4_own.first || keeper <= 0 || waitpid(keeper, NULL, WNOHANG) != keeper)
        return;
    atomic_store(&control->keeper, 0);
    if (p4_own.first && !p4_is_ending()) { /* the first keeper misses the connection to ours, and says so */
        finish_all(1);
        exit(1);
    }
    if (!p4_is_ending() && !atomic_load_explicit(&control->all_gone, memory_order_acquire)) /* pairs with keep */
        p4_fail("E0604: the keeper has been ended");
}

/* Has every slave ended? Or the keeper, who was to tell? */
static bool are_slaves_gone(void *arg)
{
    static unsigned calls;
    const int keeper = atomic_load_explicit(&control->keeper, memory_order_relaxed);

    (void)arg;
    if (atomic_load_explicit(&control->all_gone, memory_order_acquire)) /* pairs with keep */
        return true;
    return ++calls % 64 == 0 && (keeper <= 1 || (kill(keeper, 0) && errno == ESRCH));
}

static bool are_gone_in_time(void *arg)
{
    const uint64_t *limit = arg;

    return are_slaves_gone(NULL) || clock_ns() >= *limit;
}

static void wait_for_slaves(bool is_at_exit)
{
    static const struct blocked words = { .call = "p4_wait_for_end" };
    const int keeper = atomic_load(&control->keeper);
    const char *text = getenv("P4_GRACE");
    uint64_t limit = clock_ns() + (uint64_t)(text ? atoi(text) : GRACE_S) * 1000000000;

    if (is_at_exit)
        door->wait_until(are_gone_in_time, &limit, &words);
    else
        door->wait_until(are_slaves_gone, NULL, &words);
    if (!are_slaves_gone(NULL)) {
        door->diagnose("E0606: the master has ended without p4_wait_for_end, and others have not followed it; they are "
                       "ended now");
        finish_all(0);
    }
    if (p4_own.first) /* this keeper goes after its master */
        return;
    while (keeper > 1 && waitpid(keeper, NULL, 0) < 0 && errno == EINTR)
        ;
    atomic_store(&control->keeper, 0);
}

static bool is_cluster_master(void)
{
    return p4_own.id == p4_own.first && atomic_load_explicit(&control->keeper, memory_order_relaxed);
}

int p4_wait_for_end(void)
{
    p4_need_started("p4_wait_for_end");
    if (p4_own.is_child || p4_own.stage == P4_ENDED)
        return 0;
    fflush(stdout);
    if (p4_own.stage == P4_RUNNING) {
        remote_end();
        intake_flush();
        if (is_cluster_master())
            wait_for_slaves(false);
        remote_stop();
        door->stop();
        intake_close();
    }
    wait_for_children();
    p4_own.stage = P4_ENDED;
    return 0;
}

/* A process that ends without p4_wait_for_end: what it has sent arrives all the same. */
static void at_exit(void)
{
    if (getpid() != p4_own.pid || p4_own.is_child || p4_own.stage != P4_RUNNING || p4_is_ending())
        return;
    p4_own.stage = P4_ENDED;
    remote_end();
    intake_flush();
    if (is_cluster_master()) {
        fflush(stdout);
        wait_for_slaves(true);
    }
    remote_stop();
    door->leave();
}

void finish_at_exit(void)
{
    atexit(at_exit);
}

/* --- the end of all --- */

void finish_signal(int pid, int number)
{
    if (pid > 0)
        kill(pid, number);
}

void finish_let_tell(void)
{
    enum { PATIENCE_NS = 1500000000, LOOK_NS = 100000000 };
    const uint64_t limit = clock_ns() + PATIENCE_NS;

    while (!atomic_load(&control->is_told) && clock_ns() < limit)
        wake_sleep(&control->is_told, 0, LOOK_NS);
}

bool finish_claim(int code)
{
    uint64_t none = 0;

    if (!control || atomic_compare_exchange_strong(&control->end, &none, job_end(p4_own.id, code)))
        return true;
    finish_let_tell();
    return false;
}

void finish_all(int code)
{
    uint64_t none = 0;
    int keeper, master;

    if (!control)
        return;
    atomic_compare_exchange_strong(&control->end, &none, job_end(p4_own.id, code));
    atomic_store(&control->is_told, 1);
    wake_all(&control->is_told);
    keeper = atomic_load(&control->keeper);
    master = atomic_load(&control->master);
    if (keeper > 0) {
        finish_signal(keeper, SIGUSR1);
        return;
    }
    for (int i = 0; i < P4_CHILDREN; i++) {
        const int pid = atomic_load_explicit(&control->child[i], memory_order_relaxed);
        if (pid != getpid())
            finish_signal(pid, SIGTERM);
    }
    if (master != getpid())
        finish_signal(master, SIGUSR1);
}
