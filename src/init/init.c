/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: init. The world model: coming up, going down, what it is asked about; the end of the job; the clock. */
#include "init/int_init.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/setting.h"
#include "coll/coll.h"
#include "comm/comm.h"
#include "dyn/dyn.h"
#include "obj/errhandler.h"
#include "obj/info.h"
#include "p2p/lane.h"
#include "sys/clock.h"
#include "sys/control.h"

struct process process;

static struct setting multiple = {
    .name = "THREAD_MULTIPLE",
    .help = "as if MPI_Init had asked for MPI_THREAD_MULTIPLE, for programs whose threads call MPI all the same",
    .topic = "threads",
    .kind = SETTING_BOOL,
};
SETTING_LISTED(multiple);

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

int init_check_forked(void)
{
    const struct pm_job *job = &process.job;

    if (!process.is_forked)
        return 0;
    if (job->size == 1)
        return err(MPI_ERR_OTHER, "process %d is a child that process %d has forked; only that one is inside MPI",
                   (int)getpid(), job->pid);
    return err(MPI_ERR_OTHER,
               "process %d is a child that rank %d of %d (process %d) has forked; only that one is inside MPI",
               (int)getpid(), job->rank, job->size, job->pid);
}

static int check_first(void)
{
    if (process.is_forked)
        return init_check_forked();
    switch (atomic_load(&process.state)) {
    case INIT_NOT_YET:
        return 0;
    case INIT_FINALIZED:
        return err(MPI_ERR_OTHER, "E0303: MPI has been finalized and cannot be initialized again");
    }
    return err(MPI_ERR_OTHER, "E0303: MPI is initialized already");
}

/* Before anything is in use a rank knows it by its environment only. */
static enum job_errhandler asked_errhandler(void)
{
    const char *name = getenv(CONTROL_JOB_VARIABLE) ? getenv("PARLEY_ERRHANDLER") : NULL;

    for (int i = JOB_ERRORS_ARE_FATAL; name && i <= JOB_ERRORS_RETURN; i++)
        if (!strcmp(name, job_errhandler_name((enum job_errhandler)i)))
            return (enum job_errhandler)i;
    return JOB_ERRORS_ARE_FATAL;
}

struct errhandler *init_errhandler(void)
{
    static struct errhandler *const handlers[] = {
        [JOB_ERRORS_ARE_FATAL] = &errhandler_fatal,
        [JOB_ERRORS_ABORT] = &errhandler_abort,
        [JOB_ERRORS_RETURN] = &errhandler_return,
    };

    return handlers[init_is_open() ? (enum job_errhandler)process.job.errhandler : asked_errhandler()];
}

static int start_world(void)
{
    const int rc = comm_open_world();

    if (!rc)
        obj_comm(MPI_COMM_WORLD)->errhandler = obj_comm(MPI_COMM_SELF)->errhandler = init_errhandler();
    return rc;
}

const char *init_level_name(int level)
{
    return level == MPI_THREAD_SINGLE       ? "MPI_THREAD_SINGLE"
           : level == MPI_THREAD_FUNNELED   ? "MPI_THREAD_FUNNELED"
           : level == MPI_THREAD_SERIALIZED ? "MPI_THREAD_SERIALIZED"
                                            : "MPI_THREAD_MULTIPLE";
}

/* Ranks that run the same program block of mpiexec as this one. */
static int count_app(const struct pm_job *job)
{
    int count = 0;

    if (!job->head || (!job->world && job->head->apps < 2))
        return job->size;
    for (int rank = 0; rank < job->size; rank++)
        count += (int)job_place(job->head, job->first + rank)->appnum == job->appnum;
    return count;
}

/* §10: what was asked for, by mpiexec's options and by MPI_Init_thread. Of a child that a rank has started, its
 * environment tells what the rank was asked to be. */
static int fill_info_env(int level)
{
    char size[16];
    int rc;

    if (process.job.is_singleton)
        info_hide_requests();
    rc = info_fill_env(&info_env, 0, NULL);

    snprintf(size, sizeof size, "%d", count_app(&process.job));
    if (!rc)
        rc = info_set(&info_env, "maxprocs", size);
    if (!rc)
        rc = info_set(&info_env, "thread_level", init_level_name(level));
    return rc ? rc : info_set(&info_env, "mpi_initial_errhandler", job_errhandler_name(process.job.errhandler));
}

int init_start(int required, int *provided)
{
    int rc = check_first(), level;

    if (!rc)
        rc = check_level(required);
    if (!rc)
        rc = setting_read(&multiple);
    if (!rc)
        rc = core_acquire(multiple.value ? MPI_THREAD_MULTIPLE : required, true, &level);
    if (rc)
        return rc;
    process.thread_level = level;
    process.main_thread = pthread_self();
    rc = start_world();
    if (rc)
        goto release_core;
    if (process.job.joint && (rc = p2p_foreign_connect()))
        goto close_world;
    rc = fill_info_env(required);
    if (!rc && process.job.parent >= 0)
        rc = dyn_meet_parents(obj_comm(MPI_COMM_WORLD));
    if (rc)
        goto close_world;
    atomic_store(&process.state, INIT_RUNNING);
    if (provided)
        *provided = level;
    return 0;

close_world:
    comm_close_world();
release_core:
    core_release(level, true);
    return rc;
}

/* §12 of IMPI: nobody goes before all have come. Sessions may have communicators over clients, too. */
static int leave_clients(void)
{
    const int rc = coll_barrier(obj_comm(MPI_COMM_WORLD));

    return rc || core_has_sessions() ? rc : core_leave_clients();
}

int init_finish(void)
{
    const int state = atomic_load(&process.state);
    int rc;

    if (process.is_forked)
        return init_check_forked();
    if (state != INIT_RUNNING)
        return err(MPI_ERR_OTHER, "E0304: MPI_COMM_WORLD %s; only sessions run",
                   state == INIT_NOT_YET ? "has not been initialised" : "has been finalised already");
    rc = comm_end_world_attrs(); /* before anything else; callbacks may call all of MPI */
    if (rc)
        return rc;
    atomic_store(&process.state, INIT_FINALIZING);
    p2p_flush();
    rc = process.job.joint ? leave_clients() : 0;
    if (rc)
        return rc;
    comm_leave_parent();
    notice_leftovers();
    notice_counters();
    notice_protocols();
    watch_world_end();
    comm_close_world();
    atomic_store(&process.state, INIT_FINALIZED);
    core_release(process.thread_level, true);
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

void init_flush_stdout(void)
{
    if (ftrylockfile(stdout))
        return;
    fflush(stdout);
    funlockfile(stdout);
}

_Noreturn void init_abort(int code, const char *text, uint64_t call_site)
{
    init_flush_stdout();
    pm_abort(&process.job, code, text, call_site);
}

int init_processor_name(char *name, int *len)
{
    if (gethostname(name, MPI_MAX_PROCESSOR_NAME))
        return err(MPI_ERR_OTHER, "the system does not say the name of this host: %s", strerror(errno));
    name[MPI_MAX_PROCESSOR_NAME - 1] = 0;
    if (!*name) /* a container may have none; programs count on one (MPI 5.0 §9.1.2) */
        strcpy(name, "localhost");
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
