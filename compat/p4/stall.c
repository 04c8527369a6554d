/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4. In the keeper of a run on one host: do all processes wait for each other? Each that has waited for
 * long says in its page of the segment what for (sys/job.h); nobody is woken for this. When all wait, and nothing has
 * come for any of them since, there is nobody left to send. */
#include <stdlib.h>
#include <string.h>

#include "p4/int_door.h"
#include "p4/int_keeper.h"
#include "sys/clock.h"

enum { DEFAULT_S = 10, TEXT_SIZE = 3000 };

/* What stands in a page, whole. False: it is just being written. */
static bool read_page(const struct job_proc *proc, struct job_status *out)
{
    const uint32_t before = atomic_load_explicit(&proc->status.lock, memory_order_acquire);

    memcpy(out, &proc->status, sizeof *out);
    atomic_thread_fence(memory_order_acquire);
    return before % 2 == 0 && atomic_load_explicit(&proc->status.lock, memory_order_relaxed) == before;
}

static uint64_t limit_ns(void)
{
    const char *text = getenv("PARLEY_HANG_REPORT");

    return (uint64_t)(text ? strtoul(text, NULL, 10) : DEFAULT_S) * 1000000000;
}

static void add_line(char *text, int id, const struct job_status *page)
{
    const size_t length = strlen(text);
    const char *word = page->way == JOB_SENDING ? "to" : "from";
    char type[40] = "", peer[40] = "";

    if (page->tag >= 0)
        snprintf(type, sizeof type, " for type %d", page->tag);
    else if (page->tag != JOB_NO_VALUE)
        snprintf(type, sizeof type, " for any type");
    if (page->peer >= 0)
        snprintf(peer, sizeof peer, " %s %d", word, page->peer);
    else if (page->peer != JOB_NO_VALUE)
        snprintf(peer, sizeof peer, " %s anybody", word);
    snprintf(text + length, TEXT_SIZE - length, "\n    process %d waits in %s%s%s", id, page->call_name, type, peer);
}

void stall_look(int count)
{
    static bool is_told;
    const uint64_t limit = limit_ns(), now = clock_ns();
    struct job_status page;
    char text[TEXT_SIZE];
    int waiting = 0;

    if (is_told || !limit)
        return;
    snprintf(text, sizeof text, "E0620: all processes wait for ever; nothing has moved for %u s",
             (unsigned)(limit / 1000000000));
    for (int place = 0; place < count; place++) {
        const struct job_proc *proc = keeper_proc(place);
        if (atomic_load_explicit(&proc->state, memory_order_acquire) >= JOB_FINALISED)
            continue;
        if (!read_page(proc, &page) || page.way == JOB_NOT_BLOCKED || page.flags & JOB_WAIT_THREADS ||
            now - (uint64_t)page.since_ns < limit || now - (uint64_t)page.moved_ns < limit)
            return;
        add_line(text, p4_own.first + place, &page);
        waiting++;
    }
    if (!waiting)
        return;
    is_told = true;
    door->diagnose(text);
}
