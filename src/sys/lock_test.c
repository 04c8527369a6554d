/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of the lock: one holder at a time, with few and many threads, with and without a favourite; favour comes,
 * goes and comes back; passers-by take over from a favourite that has left; the holder may come in again. */
#include "sys/lock.h"

#include <pthread.h>

#include "base/check.h"

enum { THREADS = 4, ROUNDS = 20000, ROW = 1000 };

static struct lock lock;
static long counter;             /* guarded by the lock; plain, so that the thread sanitizer sees a hole in it */
static _Atomic int inside;
static _Atomic int turn;
static bool has_favours;

static void visit(void)
{
    CHECK_INT(atomic_fetch_add_explicit(&inside, 1, memory_order_relaxed), 0);
    counter++;
    atomic_fetch_sub_explicit(&inside, 1, memory_order_relaxed);
    lock_release(&lock);
}

static void visit_again(void)
{
    lock_take(&lock);
    CHECK(lock_try(&lock));
    visit();
    CHECK(lock_try(&lock));
    lock_release(&lock);
    visit();
}

static void take_in_row(int n)
{
    for (int i = 0; i < n; i++) {
        lock_take(&lock);
        if (i % 4 == 0)
            visit_again();
        visit();
    }
}

static void *hammer(void *arg)
{
    const int thread = *(const int *)arg;

    for (int i = 0; i < ROUNDS; i++) {
        if ((i + thread) % 3)
            lock_take(&lock);
        else if (!lock_try(&lock))
            continue;
        if (i % 5 == 0)
            visit_again();
        visit();
        if (thread == 0 && i % 5000 == 0)
            take_in_row(ROW); /* long enough for a favour now and then */
    }
    return NULL;
}

static void run(void *(*body)(void *), int threads)
{
    pthread_t ids[THREADS];
    int numbers[THREADS];

    for (int i = 0; i < threads; i++) {
        numbers[i] = i;
        CHECK(!pthread_create(&ids[i], NULL, body, &numbers[i]));
    }
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
}

static void test_hammer(bool has_cores)
{
    lock_init(&lock, has_cores);
    counter = 0;
    run(hammer, THREADS);
    run(hammer, 2);
    CHECK(counter >= 6 * ROUNDS * 2 / 3);
    CHECK(!(atomic_load(&lock.word) & 1));
    lock_take(&lock);
    CHECK(!atomic_load(&lock.tokens));
    lock_release(&lock);
}

static void test_favour_comes(void)
{
    lock_init(&lock, true);
    has_favours = lock.row_wanted;
    CHECK_INT(atomic_load(&lock.favourite), LOCK_NOBODY);
    take_in_row(ROW);
    CHECK((atomic_load(&lock.favourite) == lock_self) == has_favours);
    CHECK(lock_try(&lock));
    lock_release(&lock);
}

/* A passer-by leaves a favourite alone that is active and takes the lock of one that is not. */
static void *pass_by(void *arg)
{
    int tries = 0;

    (void)arg;
    while (!lock_try(&lock))
        CHECK(++tries < 1000);
    CHECK(tries > 2 || !has_favours);
    CHECK_INT(atomic_load(&lock.favourite), LOCK_NOBODY);
    visit();
    return NULL;
}

static int favoured;

/* Its number may be that of a slot which another thread has: then it is never favoured. */
static void *take_over(void *arg)
{
    (void)arg;
    take_in_row(10 * ROW);
    favoured += atomic_load(&lock.favourite) == lock_self;
    return NULL;
}

static void test_favour_moves(void)
{
    run(pass_by, 1);
    take_in_row(ROW);
    CHECK((atomic_load(&lock.favourite) == lock_self) == has_favours);
    for (int i = 0; i < 2; i++)
        run(take_over, 1);
    CHECK(favoured >= has_favours);
    for (int i = 0; i < 2 * LOCK_SLOTS; i++) /* more threads than slots */
        run(take_over, 1);
    CHECK(favoured < 2 * LOCK_SLOTS);
}

/* Two threads alternate, each in rows: the favour is ended while its owner comes and goes. */
static void *alternate(void *arg)
{
    const int own = *(const int *)arg;

    for (int round = 0; round < 50; round++) {
        take_in_row(200);
        if (round % 10 == own)
            while (atomic_load_explicit(&turn, memory_order_relaxed) < round - 10)
                take_in_row(1);
        atomic_store_explicit(&turn, round, memory_order_relaxed);
    }
    atomic_store_explicit(&turn, 1000, memory_order_relaxed);
    return NULL;
}

/* One thread is there all the time; another one, that only passes by, gets in all the same. */
static void *stay(void *arg)
{
    (void)arg;
    while (!atomic_load_explicit(&turn, memory_order_relaxed))
        take_in_row(1);
    return NULL;
}

static void *pass_by_often(void *arg)
{
    (void)arg;
    for (int i = 0; i < 3; i++) {
        while (!lock_try(&lock))
            cpu_relax();
        visit();
    }
    atomic_store_explicit(&turn, 1, memory_order_relaxed);
    return NULL;
}

static void test_stay(void)
{
    pthread_t stays, passes;

    lock_init(&lock, true);
    atomic_store(&turn, 0);
    CHECK(!pthread_create(&stays, NULL, stay, NULL));
    CHECK(!pthread_create(&passes, NULL, pass_by_often, NULL));
    pthread_join(passes, NULL);
    pthread_join(stays, NULL);
}

/* Who passes by leaves the lock to a thread that waits to take it, for as long as that may take. */
static void test_takers(void)
{
    int tries = 0;

    lock_init(&lock, true);
    atomic_store(&lock.takers, 1);
    while (!lock_try(&lock))
        CHECK(++tries < 100000);
    CHECK(tries > 100);
    lock_release(&lock);
    CHECK(!lock_try(&lock));
    atomic_store(&lock.takers, 0);
    CHECK(lock_try(&lock));
    lock_release(&lock);
    run(hammer, THREADS);
    CHECK_INT(atomic_load(&lock.takers), 0);
}

/* Many short lives of a lock: the first favours are won and lost at once. */
static void test_many_ends(void)
{
    for (int i = 0; i < 40; i++) {
        lock_init(&lock, i % 2);
        atomic_store(&turn, 0);
        counter = 0;
        run(alternate, 2);
        CHECK(counter >= 2 * 50 * 200);
    }
}

int main(void)
{
    test_hammer(true);
    test_hammer(false);
    test_favour_comes();
    test_favour_moves();
    test_stay();
    test_takers();
    test_many_ends();
    return 0;
}
