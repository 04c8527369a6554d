/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of room progress: who moves to which processor when ranks share them unevenly, and that masks stay. */
#include "progress/int_spread.h"

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
    CHECK(cpus_parse("0-1,2000", &allowed)); /* beyond what is counted */
    CHECK_INT(spread_goal(&count, 0, &allowed), -1);
}

/* All ranks say that they are where this one is; wherever it is then, its mask is the same and the others know. */
static void test_look(void)
{
    struct job_head *head = aligned_alloc(JOB_PAGE, job_transport_offset(RANKS));
    struct cpus before, after;

    CHECK(head);
    memset(head, 0, job_transport_offset(RANKS));
    head->size = head->slots = RANKS;
    progress_init(&(struct progress_config){ .segment = head, .proc = RANKS - 1, .local_ranks = RANKS,
                                             .is_oversubscribed = true, .has_fences = true });
    CHECK(cpus_allowed(&before));
    for (uint64_t now = 1; now < UINT64_C(10000000000); now = 2 * now + SPREAD_EVERY_NS) {
        const uint32_t cpu = job_proc(head, RANKS - 1)->cpu;

        for (int proc = 0; proc < RANKS - 1; proc++)
            job_proc(head, proc)->cpu = cpu;
        if (now > 1000000000)
            spread_foreign(now);
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

int main(void)
{
    test_goal();
    test_look();
    test_elsewhere();
    return 0;
}
