/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of room progress: the wait ends in each of its three steps, wakes come through, idle waits sleep. */
#include "progress/progress.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "sys/bell.h"
#include "sys/wake.h"

struct source {
    _Atomic uint32_t done;
    int polls_until_done; /* 0: never by polling */
    int polls;
};

static int poll_source(void *arg)
{
    struct source *source = arg;

    source->polls++;
    if (source->polls == source->polls_until_done) {
        atomic_store(&source->done, 1);
        return 1;
    }
    return 0;
}

static int poll_hinted(void *arg, const _Atomic uint32_t *done)
{
    CHECK(done == &((struct source *)arg)->done);
    return poll_source(arg);
}

static bool source_is_done(void *arg)
{
    return atomic_load(&((struct source *)arg)->done);
}

static void test_poll_and_remove(void)
{
    struct source a = { .polls_until_done = 1 }, b = { .polls_until_done = 3 };

    progress_add(poll_source, &a);
    progress_add(poll_source, &b);
    CHECK_INT(progress_poll(), 1);
    progress_remove(poll_source, &a);
    CHECK_INT(progress_poll(), 0);
    CHECK_INT(progress_poll(), 1);
    CHECK_INT(a.polls, 1);
    CHECK_INT(b.polls, 3);
    progress_remove(poll_source, &b);
}

static void test_done_after_polls(int polls)
{
    struct source source = { .polls_until_done = polls };
    const struct progress_hint hint = { poll_hinted, &source };

    progress_add(poll_source, &source);
    progress_wait(&source.done, hint);
    CHECK(source.polls == polls);
    progress_remove(poll_source, &source);
    source = (struct source){ .polls_until_done = polls };
    progress_add(poll_source, &source);
    progress_wait_until(source_is_done, &source);
    CHECK(source.polls == polls);
    progress_remove(poll_source, &source);
}

static _Atomic uint32_t late_word;

static void *set_late(void *arg)
{
    const struct timespec pause = { 0, 1000000 };

    (void)arg;
    while (!atomic_load(&progress.sleeps))
        nanosleep(&pause, NULL);
    nanosleep(&pause, NULL);
    atomic_store(&late_word, 1);
    progress_notify();
    return NULL;
}

/* The waiter sleeps before the other thread sets the word; the notice wakes it, and it has used little time. */
static void test_sleep(void)
{
    const struct progress_hint none = { NULL, NULL };
    struct timespec before, after;
    pthread_t thread;

    atomic_store(&progress.sleeps, 0);
    CHECK(!pthread_create(&thread, NULL, set_late, NULL));
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
    progress_wait(&late_word, none);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
    CHECK((after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec < 15000000);
    pthread_join(thread, NULL);
    CHECK_INT(atomic_load(&progress.sleepers), 0);
}

/* --- sleeping for descriptors --- */

enum { SLOTS = 8 };

static _Atomic uint32_t shared_word; /* the sleep word */

struct tube {
    _Atomic uint32_t done;
    int fd;
};

static int poll_tube(void *arg)
{
    struct tube *tube = arg;
    uint64_t count;

    if (read(tube->fd, &count, sizeof count) != sizeof count)
        return 0;
    atomic_store(&tube->done, 1);
    return 1;
}

static void *write_late(void *arg)
{
    const struct timespec pause = { 0, 20000000 };
    const uint64_t one = 1;

    nanosleep(&pause, NULL);
    CHECK(write(((struct tube *)arg)->fd, &one, sizeof one) == sizeof one);
    return NULL;
}

/* Nobody but the descriptor says that something has come. */
static void test_descriptor(void)
{
    const struct progress_hint none = { NULL, NULL };
    struct tube tube = { .fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC) };
    pthread_t thread;

    progress_add(poll_tube, &tube);
    progress_listen(tube.fd);
    CHECK(!pthread_create(&thread, NULL, write_late, &tube));
    progress_wait(&tube.done, none);
    pthread_join(thread, NULL);
    progress_unlisten(tube.fd);
    progress_remove(poll_tube, &tube);
    close(tube.fd);
    CHECK_INT(atomic_load(&progress.sleepers), 0);
}

/* As another process does it. */
static void *wake_late(void *arg)
{
    const struct timespec pause = { 0, 3000000 };
    _Atomic uint32_t *words = arg;

    nanosleep(&pause, NULL);
    atomic_store(&words[0], 1);
    atomic_store(&words[1], 1);
    progress_wake(&shared_word);
    return NULL;
}

static void *wait_for(void *word)
{
    const struct progress_hint none = { NULL, NULL };

    progress_wait(word, none);
    return NULL;
}

/* `waiters` threads, one ring. */
static void test_bell(int waiters)
{
    _Atomic uint32_t words[2] = { 0, 0 };
    pthread_t waker, waiter;

    CHECK(!pthread_create(&waker, NULL, wake_late, (void *)words));
    if (waiters > 1)
        CHECK(!pthread_create(&waiter, NULL, wait_for, (void *)&words[1]));
    wait_for((void *)&words[0]);
    if (waiters > 1)
        pthread_join(waiter, NULL);
    pthread_join(waker, NULL);
    CHECK_INT(atomic_load(&progress.sleepers), 0);
}

static void begin_crowded(struct job_head *head)
{
    progress_init(&(struct progress_config){ .sleep_word = &shared_word, .local_ranks = 1000, .segment = head,
                                             .proc = 5 });
}

/* A name that is taken is no reason not to come up. */
static void test_deaf(struct job_head *head)
{
    const int taken = bell_open(head, 5);

    CHECK(taken >= 0 && bell_open(head, 5) < 0);
    begin_crowded(head);
    test_descriptor();
    CHECK_INT(progress.sleep_value, SLEEP_ON_WORD);
    atomic_store(&late_word, 0);
    test_sleep();
    test_bell(1);
    progress_fini();
    close(taken);
}

static void test_descriptors(void)
{
    struct job_head *head = aligned_alloc(JOB_PAGE, job_transport_offset(SLOTS));
    struct timespec now;

    CHECK(head != NULL);
    memset(head, 0, job_transport_offset(SLOTS));
    head->size = head->slots = SLOTS;
    clock_gettime(CLOCK_MONOTONIC, &now);
    head->token[0] = (uint64_t)getpid() << 32 ^ (uint64_t)now.tv_nsec;
    begin_crowded(head);
    test_descriptor();
    CHECK_INT(progress.sleep_value, SLEEP_AT_BELL + 5);
    atomic_store(&late_word, 0);
    test_sleep();
    for (int i = 0; i < 10; i++)
        test_bell(1);
    progress_set_threaded(true);
    test_descriptor();
    for (int i = 0; i < 10; i++)
        test_bell(2);
    progress_fini();
    test_deaf(head);
    free(head);
}

/* --- a helper --- */

static _Atomic unsigned unfinished;

/* It polls for who does not: when something comes by the descriptor, and when something has been left; but not before
 * others have stopped looking. */
static void test_helper(void)
{
    struct tube tube = { .fd = eventfd(0, EFD_NONBLOCK) };
    _Atomic uint32_t looks = 0;
    const struct progress_helper config = { tube.fd, poll_tube, &tube, &looks, &unfinished };

    CHECK(progress_help(&config));
    CHECK(write(tube.fd, &(uint64_t){ 1 }, sizeof(uint64_t)) == sizeof(uint64_t));
    while (!atomic_load(&tube.done))
        sched_yield();
    progress_help_end();
    atomic_store(&tube.done, 0);
    CHECK(progress_help(&config)); /* and another time */
    atomic_store(&unfinished, 1);
    progress_help_soon();
    CHECK(write(tube.fd, &(uint64_t){ 1 }, sizeof(uint64_t)) == sizeof(uint64_t));
    progress_wait(&tube.done, (struct progress_hint){ NULL, NULL }); /* it wakes us */
    atomic_store(&unfinished, 0);
    for (uint32_t i = 0; i < 1000; i++) {
        atomic_fetch_add(&looks, 1);
        sched_yield();
    }
    atomic_store(&tube.done, 0);
    CHECK(write(tube.fd, &(uint64_t){ 1 }, sizeof(uint64_t)) == sizeof(uint64_t));
    while (!atomic_load(&tube.done))
        sched_yield();
    progress_help_end();
    close(tube.fd);
}

int main(void)
{
    _Atomic uint32_t word = 0;

    wake_barrier_init();
    progress_init(&(struct progress_config){ .sleep_word = &word, .local_ranks = 1 });
    test_poll_and_remove();
    test_done_after_polls(1);
    test_done_after_polls(100);
    test_sleep();
    test_helper();
    progress_init(&(struct progress_config){ .local_ranks = 1000 }); /* more ranks than processors */
    test_done_after_polls(100);
    atomic_store(&late_word, 0);
    test_sleep();
    progress_init(&(struct progress_config){ .local_ranks = 1000, .has_fences = true, .is_threaded = true });
    atomic_store(&late_word, 0);
    test_sleep();
    progress_wake(&word);
    progress_fini();
    test_descriptors();
    return 0;
}
