/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: init. When this rank's status page in the job segment is written: what it is blocked in, on the way into a
 * long wait; the rest of it once the wait has lasted, or the launcher asks; and taken back after it. The launcher's
 * questions are answered here. Of several threads that wait, one is told of. What stands in the page: watch_fill.c. */
#include <stdio.h>

#include "coll/coll.h"
#include "comm/comm.h"
#include "dyn/dyn.h"
#include "init/int_init.h"
#include "io/io.h"
#include "obj/comm.h"
#include "obj/req.h"
#include "p2p/lane.h"
#include "progress/progress.h"
#include "rma/rma.h"
#include "sys/clock.h"

/* When it is time to unwind the stack and go through all requests: nothing has happened for so long. */
enum { LASTING_NS = 50000000 };

static struct job_proc *own_proc(void)
{
    return job_proc(process.job.head, process.job.proc);
}

/* A reader takes what lies between two equal even values of the lock for whole. */
static void begin_writing(struct job_status *page)
{
    const uint32_t lock = atomic_load_explicit(&page->lock, memory_order_relaxed);

    atomic_store_explicit(&page->lock, lock + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
}

static void end_writing(struct job_status *page)
{
    const uint32_t lock = atomic_load_explicit(&page->lock, memory_order_relaxed);

    atomic_store_explicit(&page->lock, lock + 1,
                          memory_order_release); /* pairs with the reader's first look */
}

static void describe(const struct progress_long *wait, struct blocked *b)
{
    *b = (struct blocked){ .call = "waiting for the system" };
    if (coll_describe_wait(wait, b) || req_describe_wait(wait, b) || comm_describe_wait(wait, b) ||
        rma_describe_wait(wait, b) || io_describe_wait(wait, b) || dyn_describe_wait(wait, b) ||
        !p2p_describe_wait(wait, b))
        return;
    if (b->is_of_anyone && atomic_load_explicit(&process.state, memory_order_relaxed) != INIT_FINALIZING)
        b->call = "MPI_Session_finalize";
}

static void begin_telling(struct job_status *page, const struct progress_long *wait, int64_t now)
{
    struct blocked b;

    describe(wait, &b);
    begin_writing(page);
    watch_fill(page, &b);
    page->since_ns = now;
    atomic_store_explicit(&page->moved_ns, now, memory_order_relaxed);
    atomic_store_explicit(&page->looks, 0, memory_order_relaxed);
    end_writing(page);
}

/* One look more at everything. Of several requests some may be complete by now, if something has happened. */
static void count_look(struct job_status *page, bool has_moved, int64_t now)
{
    const uint32_t looks = atomic_load_explicit(&page->looks, memory_order_relaxed);

    if (has_moved) {
        atomic_store_explicit(&page->moved_ns, now, memory_order_relaxed);
        begin_writing(page);
        page->flags &= ~(uint32_t)JOB_WAIT_WHOLE;
        end_writing(page);
    }
    atomic_store_explicit(&page->looks, looks + 1, memory_order_release); /* with it, what has moved before */
}

/* What is waited for in shared memory, and not by messages, may come without anything happening here. */
static bool has_changed(const struct job_status *page, const struct progress_long *wait)
{
    struct blocked b;

    if (page->peer == JOB_NO_VALUE || (!page->sequence && page->tag != JOB_NO_VALUE) ||
        !(page->flags & JOB_WAIT_WHOLE))
        return false;
    describe(wait, &b);
    return b.peer != page->peer;
}

/* Everything, once nothing has happened for a while. */
static void tell_whole(struct job_status *page, const struct progress_long *wait)
{
    struct blocked b;

    describe(wait, &b);
    begin_writing(page);
    watch_fill(page, &b);
    watch_fill_rest(page, wait, &b);
    end_writing(page);
}

static void answer_question(struct job_proc *proc, uint32_t number)
{
    struct job_answer *answer = &proc->answer;
    const char *call = NULL;

    answer->ctx = JOB_NO_CTX;
    answer->sequence = 0;
    if (proc->question.sequence &&
        p2p_find_calls((uint32_t)proc->question.ctx, proc->question.sequence, &answer->sequence, &call))
        answer->ctx = proc->question.ctx;
    snprintf(answer->call_name, sizeof answer->call_name, "%s", call ? call : "");
    watch_fill_queues(answer, &proc->status);
    atomic_store_explicit(&answer->number, number, memory_order_release); /* pairs with the launcher's look */
}

/* The page says how many threads wait; the library's own are there only with MPI_THREAD_MULTIPLE. */
static _Thread_local int own_waits; /* one within another */

static void enter_thread(struct job_status *page)
{
    if (own_waits++)
        return;
    if (atomic_fetch_add_explicit(&page->threads, 1, memory_order_relaxed) && !init_has_threads())
        notice_threads();
}

static void leave_thread(struct job_status *page)
{
    if (!--own_waits)
        atomic_fetch_sub_explicit(&page->threads, 1, memory_order_relaxed);
}

static void look(struct progress_long *wait)
{
    struct job_proc *proc = own_proc();
    struct job_status *page = &proc->status;
    const int64_t now = (int64_t)clock_ns();
    /* acquire pairs with the launcher that has written the question */
    const uint32_t asked = atomic_load_explicit(&proc->question.number, memory_order_acquire);
    const bool is_asked = asked != atomic_load_explicit(&proc->answer.number, memory_order_relaxed);
    struct progress_long *told = NULL;

    if (!wait->is_known)
        enter_thread(page);
    wait->is_known = true;
    if (atomic_load_explicit(&process.told, memory_order_relaxed) == wait)
        count_look(page, wait->has_moved || has_changed(page, wait), now);
    else if (atomic_compare_exchange_strong_explicit(&process.told, &told, wait, memory_order_acquire,
                                                     memory_order_relaxed)) /* pairs with leave */
        begin_telling(page, wait, now);
    else
        return;
    if (!(page->flags & JOB_WAIT_WHOLE) &&
        (is_asked || now - atomic_load_explicit(&page->moved_ns, memory_order_relaxed) >= LASTING_NS))
        tell_whole(page, wait);
    if (unlikely(is_asked))
        answer_question(proc, asked);
}

static void leave(struct progress_long *wait)
{
    struct job_status *page = &own_proc()->status;

    leave_thread(page);
    if (atomic_load_explicit(&process.told, memory_order_relaxed) != wait)
        return;
    begin_writing(page);
    page->way = JOB_NOT_BLOCKED;
    page->left_ns = (int64_t)clock_ns();
    end_writing(page);
    atomic_store_explicit(&process.told, NULL, memory_order_release);
}

void init_watch(void)
{
    static const struct progress_watch watch = { look, leave };

    if (!process.job.head)
        return;
    own_proc()->status.left_ns = (int64_t)clock_ns();
    own_proc()->answer.ctx = JOB_NO_CTX;
    progress_set_watch(&watch);
}

void watch_world_end(void)
{
    const struct comm *world = obj_comm(MPI_COMM_WORLD);
    struct job_answer *answer;

    if (!process.job.head)
        return;
    answer = &own_proc()->answer;
    answer->ctx = world->ctx;
    answer->sequence = world->coll_sequence;
    answer->stray_count = answer->posted_count = 0;
    snprintf(answer->call_name, sizeof answer->call_name, "%s",
             world->coll_sequence ? comm_call_name(world, world->coll_sequence) : "");
}
