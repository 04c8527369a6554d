/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: does the default binding stand in somebody's way? A rank may start threads of which nobody has told us. When
 * two looks in a row see more of them wanting to run than their rank has processors, while other ranks leave some of
 * theirs idle, that is said once. A rank with more threads than there are processors for all has them for other reasons
 * than speed, and is left alone. The looks are few, further and further apart, and only at bound ranks. */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bind.h"
#include "launch.h"
#include "sys/text.h"

#define FIRST_SECONDS 0.5

enum { LOOKS = 7 }; /* the last one after a minute */

/* Does the thread run, or wait for a processor? Those of the library do so now and then. */
static bool is_running(int pid, const char *thread)
{
    char path[64], text[512];
    const char *after_name;

    snprintf(path, sizeof path, "/proc/%d/task/%.16s/stat", pid, thread);
    text_read(path, text, sizeof text);
    after_name = strrchr(text, ')');
    return after_name && !strncmp(after_name, ") R", 3) && !strstr(text, "(parley-");
}

/* How many run; 0 if there are more than `most` of them in all. */
static int running_threads(int pid, int most)
{
    char path[64];
    const struct dirent *entry;
    DIR *directory;
    int count = 0, running = 0;

    snprintf(path, sizeof path, "/proc/%d/task", pid);
    directory = opendir(path);
    if (!directory)
        return 0;
    while ((entry = readdir(directory))) {
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        count++;
        running += is_running(pid, entry->d_name);
    }
    closedir(directory);
    return count > most ? 0 : running;
}

static int threads_of_rank(struct job *job, int rank, int most)
{
    const struct job_proc *proc = job_proc(job->head, rank);
    const int pid = atomic_load_explicit(&proc->pid, memory_order_relaxed);

    return job->ranks[rank].is_over ? 0 : running_threads(pid ? pid : proc->child_pid, most);
}

/* The rank that suffers most, and by how much; -1 if none does, or if no processor is idle. */
static int find_squeezed(struct job *job, int *threads)
{
    const int most = cpus_in_mask() + 1; /* one that only waits for the others */
    int idle = 0, worst = 0, found = -1;

    for (int rank = 0; rank < job->size; rank++) {
        const int running = threads_of_rank(job, rank, most), more = running - cpus_count(&job->masks[rank]);
        if (more < 0)
            idle -= more;
        if (more > worst) {
            worst = more;
            found = rank;
            *threads = running;
        }
    }
    return idle > 0 ? found : -1;
}

void bind_watch(struct job *job)
{
    int threads, rank;

    if (!job->masks || job->is_bound_as_asked || job->bind_looks > LOOKS)
        return;
    if (job->bind_looks > 0) {
        rank = find_squeezed(job, &threads);
        if (rank >= 0 && rank == job->squeezed_rank) {
            report_rank(job, rank, "E0140: %d threads want to run on %d of the processors, while others are idle\n"
                        "set OMP_NUM_THREADS to the threads of a rank, or start with --bind-to none", threads,
                        cpus_count(&job->masks[rank]));
            return;
        }
        job->squeezed_rank = rank;
    }
    timer_set(job, TIMER_BINDING, FIRST_SECONDS * (1 << job->bind_looks++));
}
