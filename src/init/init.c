/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: init. Bringing the rooms up in order and down in the reverse order. On one machine nothing is waited for:
 * the segment is there before the first rank starts, and what is in it says the rest. */
#include "init/int_init.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "comm/comm.h"
#include "obj/errhandler.h"
#include "obj/info.h"
#include "op/op.h"
#include "p2p/lane.h"
#include "progress/progress.h"
#include "sys/clock.h"
#include "sys/wake.h"
#include "type/type.h"

struct process process;

static int check_level(int required)
{
    switch (required) {
    case MPI_THREAD_SINGLE:
    case MPI_THREAD_FUNNELED:
    case MPI_THREAD_SERIALIZED:
    case MPI_THREAD_MULTIPLE:
        return 0;
    }
    return err(MPI_ERR_ARG, "required is %d; it must be one of the four levels MPI_THREAD_SINGLE to "
               "MPI_THREAD_MULTIPLE", required);
}

static int check_first(void)
{
    switch (atomic_load(&process.state)) {
    case INIT_NOT_YET:
        return 0;
    case INIT_FINALIZED:
        return err(MPI_ERR_OTHER, "MPI has been finalized and cannot be initialized again");
    }
    return err(MPI_ERR_OTHER, "MPI is initialized already");
}

/* What is data only and needs nothing. */
static void init_objects(void)
{
    errhandler_init();
    group_init();
    info_init();
    type_init();
    op_init();
}

static void fini_objects(void)
{
    type_fini();
    info_fini();
    obj_fini();
}

static int start_transports(bool is_threaded)
{
    struct pm_job *job = &process.job;
    struct p2p_config config = {
        .proc = job->rank, .procs = job->size, .is_threaded = is_threaded, .flooded = notice_flooded,
    };
    struct progress_config waiting = { .local_ranks = job->local_size };
    int rc = notice_init();

    if (rc)
        return rc;
    if (job->size > 1) {
        if (!pm_map(job, p2p_segment_needed(job->size), &rc))
            return rc;
        config.segment = job->head;
        waiting.sleep_word = &job_proc(job->head, job->rank)->sleep;
        waiting.cpus = (int)job->head->cpus;
        waiting.has_fences = waiting.cpus && waiting.local_ranks > waiting.cpus;
        wake_barrier_init();
    }
    progress_init(&waiting);
    return p2p_init(&config);
}

static int start_communicators(void)
{
    const struct pm_job *job = &process.job;
    int rc = comm_init(job->rank, job->size);

    if (rc)
        return rc;
    comm_set_environment(&(struct comm_environment){ .appnum = job->appnum, .universe_size = job->universe_size });
    if (job->errhandler != JOB_ERRORS_ARE_FATAL) {
        struct errhandler *chosen = job->errhandler == JOB_ERRORS_ABORT ? &errhandler_abort : &errhandler_return;
        obj_comm(MPI_COMM_WORLD)->errhandler = obj_comm(MPI_COMM_SELF)->errhandler = chosen;
    }
    return 0;
}

static const char *level_name(int level)
{
    return level == MPI_THREAD_SINGLE       ? "MPI_THREAD_SINGLE"
           : level == MPI_THREAD_FUNNELED   ? "MPI_THREAD_FUNNELED"
           : level == MPI_THREAD_SERIALIZED ? "MPI_THREAD_SERIALIZED"
                                            : "MPI_THREAD_MULTIPLE";
}

/* §10.2.9: what is known without asking anybody. */
static int fill_info_env(void)
{
    char size[16];
    int rc;

    snprintf(size, sizeof size, "%d", process.job.size);
    rc = info_set(&info_env, "command", program_invocation_name);
    if (!rc)
        rc = info_set(&info_env, "maxprocs", size);
    return rc ? rc : info_set(&info_env, "thread_level", level_name(process.thread_level));
}

int init_start(int required, int *provided)
{
    int rc = check_first();

    if (!rc)
        rc = check_level(required);
    if (!rc)
        rc = pm_open(&process.job);
    if (rc)
        return rc;
    process.thread_level = required;
    process.main_thread = pthread_self();
    init_objects();
    rc = start_transports(required == MPI_THREAD_MULTIPLE);
    if (rc)
        goto close_job;
    rc = start_communicators();
    if (!rc)
        rc = fill_info_env();
    if (rc)
        goto stop_transports;
    init_watch();
    atomic_store(&process.state, INIT_RUNNING);
    pm_started(&process.job);
    if (provided)
        *provided = required;
    return 0;

stop_transports:
    p2p_fini();
    progress_fini();
close_job:
    fini_objects();
    pm_close(&process.job);
    return rc;
}

int init_finish(void)
{
    atomic_store(&process.state, INIT_FINALIZING);
    p2p_flush();
    notice_counters();
    comm_fini();
    p2p_fini();
    progress_fini();
    fini_objects();
    atomic_store(&process.state, INIT_FINALIZED);
    pm_finalised(&process.job);
    pm_close(&process.job);
    return 0;
}

int init_initialized(int *flag)
{
    *flag = atomic_load(&process.state) != INIT_NOT_YET;
    return 0;
}

int init_finalized(int *flag)
{
    *flag = atomic_load(&process.state) == INIT_FINALIZED;
    return 0;
}

int init_query_thread(int *provided)
{
    *provided = process.thread_level;
    return 0;
}

int init_is_thread_main(int *flag)
{
    *flag = pthread_equal(process.main_thread, pthread_self()) != 0;
    return 0;
}

/* What the program has printed and not flushed yet must not be lost; a stream that another thread holds is left. */
static void flush_stdout(void)
{
    if (ftrylockfile(stdout))
        return;
    fflush(stdout);
    funlockfile(stdout);
}

_Noreturn void init_abort(int code, const char *text)
{
    flush_stdout();
    pm_abort(&process.job, code, text);
}

int init_processor_name(char *name, int *len)
{
    if (gethostname(name, MPI_MAX_PROCESSOR_NAME))
        return err(MPI_ERR_OTHER, "the system does not say the name of this host: %s", strerror(errno));
    name[MPI_MAX_PROCESSOR_NAME - 1] = 0;
    *len = (int)strlen(name);
    return 0;
}

double init_wtime(void)
{
    return (double)clock_ns() * 1e-9;
}

double init_wtick(void)
{
    struct timespec tick;

    clock_getres(CLOCK_MONOTONIC, &tick);
    return (double)tick.tv_sec + (double)tick.tv_nsec * 1e-9;
}
