/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: for parallel debuggers (The MPIR Process Acquisition Interface, version 1.1, of the MPI Forum's tools
 * group). A debugger reads and writes the variables below by their names, in our memory:
 *
 *   it starts mpiexec     sets MPIR_being_debugged before main, and a breakpoint at MPIR_Breakpoint. The ranks are
 *                         held inside MPI_Init (job_head.hold) until all have come there and we leave MPIR_Breakpoint
 *   it attaches later     reads the table, which is always filled
 *
 * MPIR_partial_attach_ok: nobody but us has to let the ranks go. This file is compiled with debug information in every
 * build, for the struct. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "far.h"
#include "launch.h"
#include "sys/wake.h"

#define POLL_SECONDS 0.01

enum {
    POLLS_MAX = 500,    /* a rank that has not called MPI_Init by then may never do so */
    DEBUG_SPAWNED = 1,  /* values of MPIR_debug_state */
    DEBUG_ABORTING = 2,
};

typedef struct {
    char *host_name;
    char *executable_name;
    int pid;
} MPIR_PROCDESC;

#define KEPT __attribute__((used, visibility("default")))

extern MPIR_PROCDESC *MPIR_proctable;
extern int MPIR_proctable_size;
extern volatile int MPIR_being_debugged, MPIR_debug_state, MPIR_i_am_starter, MPIR_partial_attach_ok,
    MPIR_ignore_queues, MPIR_force_to_main;
extern char *volatile MPIR_debug_abort_string;
void MPIR_Breakpoint(void);

KEPT MPIR_PROCDESC *MPIR_proctable;
KEPT int MPIR_proctable_size;
KEPT volatile int MPIR_being_debugged;
KEPT volatile int MPIR_debug_state;
KEPT char *volatile MPIR_debug_abort_string;
/* That these are there says it. */
KEPT volatile int MPIR_i_am_starter;
KEPT volatile int MPIR_partial_attach_ok;
KEPT volatile int MPIR_force_to_main;
KEPT volatile int MPIR_ignore_queues;

KEPT NOINLINE void MPIR_Breakpoint(void)
{
    __asm__ volatile("" : : : "memory"); /* a place to stop at */
}

static char *own_host(void)
{
    char name[HOST_NAME_MAX + 1] = "localhost";

    (void)gethostname(name, sizeof name - 1);
    return need_text(name);
}

/* On another machine the name is all we know. */
static const char *program_of(const struct job *job, int rank)
{
    const struct app *app = job->ranks[rank].app;

    return is_far(job, rank) ? app->argv.at[0] : app->program;
}

/* What process `pid` runs; else the program as we found it. */
static char *executable_of(const struct job *job, int rank, int pid)
{
    char link[32], path[PATH_MAX];
    ssize_t length;

    snprintf(link, sizeof link, "/proc/%d/exe", pid);
    length = is_far(job, rank) ? -1 : readlink(link, path, sizeof path - 1);
    if (length <= 0)
        return need_text(program_of(job, rank));
    path[length] = '\0';
    return need_text(path);
}

/* The MPI process, if it is known by now, else what we have started: the same, or its wrapper. */
static int pid_of(const struct job *job, int rank)
{
    const int claimed = atomic_load_explicit(&job_proc(job->head, rank)->pid, memory_order_relaxed);

    return claimed ? claimed : job->ranks[rank].pid;
}

void mpir_update(const struct job *job, int rank)
{
    MPIR_PROCDESC *entry;
    int pid;

    if (!MPIR_proctable || rank >= job->size)
        return;
    entry = &MPIR_proctable[rank];
    pid = pid_of(job, rank);
    if (pid == entry->pid)
        return;
    entry->executable_name = executable_of(job, rank, pid); /* a debugger may hold the old one */
    entry->pid = pid;
}

void mpir_prepare(struct job *job)
{
    if (MPIR_being_debugged)
        atomic_store_explicit(&job->head->hold, 1, memory_order_relaxed);
}

static void release(struct job *job)
{
    MPIR_debug_state = DEBUG_SPAWNED;
    MPIR_Breakpoint();
    atomic_store_explicit(&job->head->hold, 0, memory_order_release);
    wake_all(&job->head->hold);
    far_release(job);
}

/* Have all ranks come to MPI_Init, or ended? */
static bool are_all_there(const struct job *job)
{
    for (int i = 0; i < job->size; i++)
        if (!job->ranks[i].is_over && !is_far(job, i) &&
            !atomic_load_explicit(&job_proc(job->head, i)->pid, memory_order_relaxed))
            return false;
    return true;
}

void mpir_started(struct job *job)
{
    MPIR_PROCDESC *table = need((size_t)job->size * sizeof *table);
    char *host = ranks_here(job) > 0 ? own_host() : NULL;

    for (int i = 0; i < job->size; i++)
        table[i].host_name = is_far(job, i) ? need_text(job->nodes.at[job->ranks[i].node].name) : host;
    MPIR_proctable = table;
    for (int i = 0; i < job->size; i++)
        mpir_update(job, i);
    MPIR_proctable_size = job->size;
    if (MPIR_being_debugged)
        timer_set(job, TIMER_MPIR, POLL_SECONDS);
}

void mpir_poll(struct job *job)
{
    static int polls; /* since the ranks have been started */

    if (!are_all_there(job) && ++polls < POLLS_MAX) {
        timer_set(job, TIMER_MPIR, POLL_SECONDS);
        return;
    }
    for (int i = 0; i < job->size; i++)
        mpir_update(job, i);
    release(job);
}

void mpir_aborting(const char *why)
{
    if (!MPIR_being_debugged)
        return;
    MPIR_debug_abort_string = need_text(why);
    MPIR_debug_state = DEBUG_ABORTING;
    MPIR_Breakpoint();
}
