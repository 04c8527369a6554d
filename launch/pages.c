/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: what each rank says of itself in the job segment, and what the system says of it. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "client.h"
#include "hang.h"
#include "source.h"

/* A copy of a status page that was not being written meanwhile; false: no luck. */
static bool read_status(const struct job_status *page, struct job_status *copy)
{
    for (int tries = 0; tries < 100; tries++) {
        const uint32_t before = atomic_load_explicit(&page->lock, memory_order_acquire);
        memcpy(copy, page, sizeof *copy);
        atomic_thread_fence(memory_order_acquire);
        if (!(before & 1) && atomic_load_explicit(&page->lock, memory_order_relaxed) == before)
            return true;
    }
    return false;
}

/* The letter behind the name, which may hold anything. */
static char system_state(int pid)
{
    char path[64], text[512], *end;
    size_t got;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    file = fopen(path, "re");
    if (!file)
        return 0;
    got = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[got] = 0;
    end = strrchr(text, ')');
    return end && end[1] == ' ' ? end[2] : 0;
}

/* How many threads a process has; 0: not known. */
static unsigned count_threads(int pid)
{
    const struct dirent *entry;
    unsigned count = 0;
    char path[64];
    DIR *dir;

    snprintf(path, sizeof path, "/proc/%d/task", pid);
    dir = opendir(path);
    while (dir && (entry = readdir(dir)))
        count += entry->d_name[0] != '.';
    if (dir)
        closedir(dir);
    return count;
}

static void read_page(struct job *job, int rank, struct page_view *page, bool with_source)
{
    struct job_proc *proc = job_proc(job->head, rank);
    const int pid = atomic_load_explicit(&proc->pid, memory_order_relaxed);

    page->rank = job->ranks[rank].number;
    page->world = job->ranks[rank].world ? job->ranks[rank].world->number : -1;
    if (client_joint(job) && !page->world)
        page->rank += (int)client_joint(job)->first;
    page->state = (enum job_state)atomic_load_explicit(&proc->state, memory_order_acquire);
    page->is_abroad = proc->abroad.bond && page->state == JOB_STARTED;
    if (page->is_abroad)
        page->rank = (int)proc->abroad.home;
    page->is_absent = page->world && ((page->state != JOB_STARTED && page->state != JOB_INITIALISED) ||
                                       page->is_abroad);
    page->exit_status = proc->exit_status;
    page->has_answer = atomic_load_explicit(&proc->answer.number, memory_order_acquire) ==
                       atomic_load_explicit(&proc->question.number, memory_order_relaxed);
    memcpy(&page->answer, &proc->answer, sizeof page->answer);
    if (page->state != JOB_INITIALISED)
        return;
    page->system = system_state(pid);
    page->is_blocked = read_status(&proc->status, &page->status) && page->status.way != JOB_NOT_BLOCKED;
    if (!page->is_blocked)
        return;
    if (page->status.flags & JOB_WAIT_THREADS)
        page->has_more_threads =
            count_threads(pid) > atomic_load_explicit(&page->status.threads, memory_order_relaxed);
    if (with_source)
        page->where = source_line(pid, page->status.call_site);
}

struct hang_view *pages_read(struct job *job, bool with_source)
{
    struct hang_view *view = need(sizeof *view);

    view->size = job->used;
    view->joint = client_joint(job);
    view->page = need((size_t)job->used * sizeof *view->page);
    view->node = need((size_t)job->used * sizeof *view->node);
    for (int i = 0; i < job->used; i++) {
        if (is_far(job, i))
            hang_far_read(job, i, &view->page[i]);
        else
            read_page(job, i, &view->page[i], with_source);
        view->blocked += view->page[i].is_blocked;
        view->present += !view->page[i].is_absent;
    }
    view->now = now_ns();
    return view;
}

void pages_free(struct hang_view *view)
{
    mem_free(view->page);
    mem_free(view->node);
    mem_free(view);
}
