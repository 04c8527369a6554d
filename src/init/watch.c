/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: init. This rank's status page in the job segment: what it is blocked in, written on the way into a long wait
 * and taken back after it, for mpiexec's report. Of several threads that wait, the first is told of. */
#include <stdio.h>

#include "coll/coll.h"
#include "comm/comm.h"
#include "init/int_init.h"
#include "obj/comm.h"
#include "obj/req.h"
#include "p2p/lane.h"
#include "progress/progress.h"
#include "sys/clock.h"

static struct job_status *own_page(void)
{
    return &job_proc(process.job.head, process.job.local_rank)->status;
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

static void write_comm(struct job_status *page, const struct comm *comm)
{
    page->ctx = comm->ctx;
    page->comm_size = comm->size;
    if (*comm->name)
        snprintf(page->comm_name, sizeof page->comm_name, "%s", comm->name);
    else
        snprintf(page->comm_name, sizeof page->comm_name, "a communicator of %d", comm->size);
}

static void write_peer(struct job_status *page, const struct blocked *b)
{
    page->way = b->way == BLOCKED_SENDING ? JOB_SENDING : JOB_RECEIVING;
    page->peer = b->peer;
    if (b->peer >= 0)
        page->peer_world = group_proc(b->comm->remote_group, b->peer);
    if (b->is_coll) {
        page->sequence = b->comm->coll_sequence;
        return;
    }
    page->tag = b->tag;
    page->count = b->count;
    snprintf(page->type_name, sizeof page->type_name, "%s", b->type ? b->type : "");
}

static void write_page(struct job_status *page, const struct blocked *b)
{
    begin_writing(page);
    page->way = JOB_BLOCKED_OTHERWISE;
    page->peer = page->tag = JOB_NO_VALUE;
    page->count = page->peer_world = -1;
    page->comm_size = 0;
    page->ctx = page->sequence = 0;
    page->since_ns = (int64_t)clock_ns();
    page->comm_name[0] = page->type_name[0] = '\0';
    snprintf(page->call_name, sizeof page->call_name, "%s%s%s", b->call, b->of ? " of " : "",
             b->of ? b->of : "");
    if (b->comm)
        write_comm(page, b->comm);
    if (b->comm && b->way != BLOCKED_OTHERWISE)
        write_peer(page, b);
    end_writing(page);
}

static bool enter(const _Atomic uint32_t *done, progress_done_fn *is_done, const void *arg)
{
    struct blocked b = { .call = "MPI_Finalize" }; /* the only call that waits for something else */

    if (atomic_exchange_explicit(&process.is_told, true, memory_order_acquire)) /* pairs with leave */
        return false;
    if (!coll_describe_wait(is_done, arg, &b) && !req_describe_wait(done, is_done, arg, &b) &&
        !p2p_describe_probe(is_done, arg, &b))
        comm_describe_wait(is_done, arg, &b);
    write_page(own_page(), &b);
    return true;
}

static void leave(void)
{
    struct job_status *page = own_page();

    begin_writing(page);
    page->way = JOB_NOT_BLOCKED;
    end_writing(page);
    atomic_store_explicit(&process.is_told, false, memory_order_release);
}

void init_watch(void)
{
    static const struct progress_watch watch = { enter, leave };

    if (process.job.head)
        progress_set_watch(&watch);
}
