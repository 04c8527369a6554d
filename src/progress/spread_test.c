/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of room progress: who moves to which processor when ranks share them unevenly, and that masks stay. */
#include "progress/int_spread.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "progress/progress.h"
#include "sys/job.h"

enum { RANKS = 4 };

static void test_goal(void)
{
    static struct spread_count count;
    struct cpus allowed;

    CHECK(cpus_parse("0-2", &allowed));
    count.ranks[0] = 3;
    count.ranks[1] = 2;
    count.ranks[2] = 1;
    CHECK_INT(spread_goal(&count, 0, &allowed), 2);
    CHECK_INT(spread_goal(&count, 1, &allowed), -1); /* one less is as even as it gets */
    CHECK_INT(spread_goal(&count, 2, &allowed), -1);
    count.ranks[3] = 0;
    CHECK_INT(spread_goal(&count, 1, &allowed), -1); /* not allowed there */
    CHECK(cpus_parse("0-1", &allowed));
    CHECK_INT(spread_goal(&count, 0, &allowed), -1);
    count.ranks[1] += SPREAD_USED;
    CHECK_INT(spread_goal(&count, 0, &allowed), -1);
    count.ranks[0] += SPREAD_USED;
    CHECK(cpus_parse("0-2", &allowed));
    CHECK_INT(spread_goal(&count, 0, &allowed), 2);
    CHECK(cpus_parse("0-1,2000", &allowed)); /* beyond what is counted */
    CHECK_INT(spread_goal(&count, 0, &allowed), -1);
}

/* A job of which this process is the last rank. */
static struct job_head *begin(void)
{
    struct job_head *head = aligned_alloc(JOB_PAGE, job_transport_offset(RANKS));

    CHECK(head);
    memset(head, 0, job_transport_offset(RANKS));
    head->size = head->slots = RANKS;
    progress_init(&(struct progress_config){ .segment = head, .proc = RANKS - 1, .local_ranks = RANKS,
                                             .is_oversubscribed = true, .has_fences = true });
    return head;
}

static void end(struct job_head *head)
{
    progress_fini();
    free(head);
}

/* All ranks say that they are where this one is; wherever it is then, its mask is the same and the others know. */
static void test_look(void)
{
    struct job_head *head = begin();
    struct cpus before, after;

    CHECK(cpus_allowed(&before));
    for (uint64_t now = 1; now < UINT64_C(10000000000); now = 2 * now + SPREAD_EVERY_NS) {
        const uint32_t cpu = job_proc(head, RANKS - 1)->cpu;

        for (int proc = 0; proc < RANKS - 1; proc++)
            job_proc(head, proc)->cpu = cpu;
        spread_look(now);
        CHECK(cpus_has(&before, (int)(job_proc(head, RANKS - 1)->cpu & 2047) - 1));
        CHECK(cpus_allowed(&after) && memcmp(&after, &before, sizeof before) == 0);
    }
    progress_fini();
    CHECK(!progress_is_elsewhere(job_proc(head, 0))); /* alone */
    free(head);
}

static void test_elsewhere(void)
{
    struct job_head *head = aligned_alloc(JOB_PAGE, job_transport_offset(RANKS));

    CHECK(head);
    memset(head, 0, job_transport_offset(RANKS));
    head->size = head->slots = RANKS;
    progress_init(&(struct progress_config){ .segment = head, .proc = 1, .local_ranks = RANKS });
    CHECK(!progress_is_elsewhere(job_proc(head, 0))); /* not known */
    job_proc(head, 0)->cpu = 5 << 11 | 1;
    CHECK(!progress_is_elsewhere(job_proc(head, 0)));
    job_proc(head, 1)->cpu = 7 << 11 | 1; /* the same processor, at another time */
    CHECK(!progress_is_elsewhere(job_proc(head, 0)));
    CHECK(!progress_is_elsewhere(job_proc(head, 1)));
    job_proc(head, 0)->cpu = 7 << 11 | 2;
    CHECK(progress_is_elsewhere(job_proc(head, 0)));
    progress_fini();
    free(head);
}

enum { MS = 1000000 };

/* What the other ranks say that they have done. */
static void say_worked(struct job_head *head, uint64_t word)
{
    for (int proc = 0; proc < RANKS - 1; proc++)
        job_proc(head, proc)->worked = word;
}

/* Only if all others have waited all the time it was somebody else who ran. */
static void test_worked(void)
{
    struct job_head *head = begin();
    const uint64_t now = UINT64_C(1000) * MS;

    CHECK(!others_have_run(now - 5 * MS, now)); /* nothing is known of them */
    say_worked(head, (now - 6 * MS) << 1);
    CHECK(others_have_run(now - 5 * MS, now));
    CHECK(!others_have_run(now - 7 * MS, now)); /* they have worked since */
    job_proc(head, 1)->worked = (now - MS / 10) << SPREAD_WORKED | SPREAD_OUT; /* between two waits */
    CHECK(others_have_run(now - 5 * MS, now));
    job_proc(head, 1)->worked = (now - MS) << SPREAD_WORKED | SPREAD_OUT; /* at work */
    CHECK(!others_have_run(now - 5 * MS, now));
    /* it has looked at the clock after this rank */
    job_proc(head, 1)->worked = (now + MS) << SPREAD_WORKED | SPREAD_OUT;
    CHECK(others_have_run(now - 5 * MS, now));
    end(head);
}

static void test_own_work(void)
{
    struct job_head *head = begin();
    const struct job_proc *own = job_proc(head, RANKS - 1);

    others_wait_begins(100 * MS);
    CHECK(own->worked == UINT64_C(100) * MS << 1);
    others_wait_ends(101 * MS);
    CHECK(own->worked == (UINT64_C(101) * MS << SPREAD_WORKED | SPREAD_OUT));
    others_wait_begins(101 * MS + MS / 10); /* hardly left */
    CHECK(own->worked == UINT64_C(100) * MS << 1);
    others_wait_ends(102 * MS);
    others_wait_begins(103 * MS);
    CHECK(own->worked == UINT64_C(103) * MS << 1);
    progress_set_threaded(true); /* what other threads do is not known */
    others_wait_begins(104 * MS);
    CHECK(own->worked == 0);
    others_wait_ends(105 * MS);
    CHECK(own->worked == 0);
    progress_set_threaded(false);
    others_wait_begins(106 * MS);
    CHECK(own->worked);
    progress_fini();
    CHECK(own->worked == 0);
    free(head);
}

/* What one has found counts for all, for a while. */
static void test_found(void)
{
    struct job_head *head = begin();
    const uint64_t now = UINT64_C(5000) * MS;
    struct spread_count count = { .ranks = { 1, 2, 3, 4 } };

    CHECK(!others_found(3, now - 10 * MS, now - 5 * MS)); /* the first time … */
    CHECK(!others_found(3, now - 6 * MS, now - 4 * MS));  /* … found again */
    CHECK(!others_found(2, now - 3 * MS, now - 2 * MS));
    CHECK(!others_use(3));
    job_proc(head, 0)->once_cpu = spread_stamp(now - 2 * MS) | 4; /* by another one */
    CHECK(others_found(3, now - MS, now));
    CHECK(others_use(3) && !others_use(2) && !others_use(-1) && !others_use(SPREAD_CPUS));
    job_proc(head, 0)->used_cpu = job_proc(head, RANKS - 1)->used_cpu - 2;
    others_look(now + 100 * MS);
    CHECK(others_use(3) && others_use(1));
    others_count(&count);
    CHECK(count.ranks[0] == 1 && count.ranks[1] == 2 + SPREAD_USED && count.ranks[3] == 4 + SPREAD_USED);
    others_look(now + 300 * MS);
    CHECK(!others_use(3) && !others_use(1) && !others_are_here());
    CHECK(!others_found(4, now + 300 * MS, now + 301 * MS));
    CHECK(others_found(1, now + 400 * MS, now + 401 * MS)); /* it is not long ago that it counted */
    others_look(now + 401 * MS);
    CHECK(others_use(1) && !others_use(3));
    CHECK(!others_found(1, now + 2000 * MS, now + 2001 * MS));
    end(head);
}

/* A yield was long: a rank has worked, or somebody else has, and then this rank goes elsewhere or knows that it cannot.
 * Its mask stays. */
static void test_judge(void)
{
    struct job_head *head = begin();
    uint64_t now = UINT64_C(5000) * MS;
    struct cpus mask, one = { 0 }, after;
    bool has_left = false;
    int cpu;

    CHECK(cpus_allowed(&mask));
    cpu = cpus_next(&mask, 0);
    cpus_add(&one, cpu);
    say_worked(head, now << SPREAD_WORKED | SPREAD_OUT);
    CHECK_INT(spread_judge(cpu, now, now + 3 * MS), SPREAD_UNKNOWN);
    CHECK(job_proc(head, RANKS - 1)->used_cpu == 0);
    CHECK(cpus_go(cpu, &one));
    say_worked(head, now << 1);
    CHECK_INT(spread_judge(cpu, now - 4 * MS, now - MS), SPREAD_UNKNOWN);
    CHECK_INT(spread_judge(cpu, now, now + 3 * MS), SPREAD_ONCE);
    CHECK(!others_are_here());
    now += 4 * MS;
    CHECK_INT(spread_judge(cpu, now, now + 3 * MS), SPREAD_STAYS);
    CHECK(others_are_here());
    CHECK(cpus_go(cpu, &mask));
    if (cpus_count(&mask) > 1) {
        CHECK_INT(spread_judge(cpu, now, now + 3 * MS), SPREAD_LEFT);
        CHECK(cpus_allowed(&after) && memcmp(&after, &mask, sizeof mask) == 0);
        for (int i = 0; i < 100 && !has_left; i++) { /* the system may move it, too, even back */
            now += MS;
            CHECK(cpus_go(cpu, &mask));
            spread_look(now); /* whoever is there leaves without a long yield */
            has_left = (int)(job_proc(head, RANKS - 1)->cpu & SPREAD_PLACE) - 1 != cpu;
        }
        CHECK(has_left);
        CHECK(cpus_allowed(&after) && memcmp(&after, &mask, sizeof mask) == 0);
    }
    end(head);
}

int main(void)
{
    test_worked();
    test_own_work();
    test_found();
    test_judge();
    test_goal();
    test_look();
    test_elsewhere();
    return 0;
}
