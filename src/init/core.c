/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: init. What the world model and every session share: the rooms below, brought up with the first of them. They
 * stay up when the last one has ended, since another may come, and the rings to other processes can only go on; what
 * they hold is given back when the process ends. On one machine nothing is waited for: the segment is there before the
 * first rank starts, and what is in it says the rest. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/setting.h"
#include "coll/coll.h"
#include "comm/comm.h"
#include "dyn/dyn.h"
#include "init/int_init.h"
#include "io/io.h"
#include "obj/errhandler.h"
#include "obj/info.h"
#include "obj/memory_kinds.h"
#include "op/op.h"
#include "p2p/attend.h"
#include "p2p/lane.h"
#include "progress/progress.h"
#include "rma/rma.h"
#include "sys/cpus.h"
#include "sys/joint.h"
#include "sys/place.h"
#include "sys/wake.h"
#include "type/type.h"

static struct {
    pthread_mutex_t lock;
    _Atomic bool is_open; /* changed with the lock */
    bool has_job;       /* process.job says who we are; guarded by lock, as is all below */
    bool is_shared;     /* it has been alone, and is part of a job now */
    bool is_threaded;   /* several threads may be in a call */
    int users;          /* the world and sessions */
    bool has_left_clients; /* not locked */
    int in_threads;     /* of these, those that may be in a call in a thread that is not known */
} core = { .lock = PTHREAD_MUTEX_INITIALIZER };

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

/* In a segment with others. */
static struct coll_config coll_of(const struct pm_job *job)
{
    return (struct coll_config){ .segment = job->head, .segment_fd = job->segment_fd,
                                 .offset = p2p_segment_end(job->procs), .procs = job->procs, .joint = job->joint };
}

/* Ranks of the first world that are on this machine. */
static int ranks_here(const struct job_head *head)
{
    return (int)(head->here ? head->here : head->size);
}

/* All worlds must say the same on one machine. */
static void share_waiting(const struct pm_job *job, struct progress_config *waiting)
{
    waiting->segment = job->head;
    waiting->proc = job->proc;
    waiting->sleep_word = &job_proc(job->head, job->proc)->sleep;
    waiting->cpus = (int)job->head->cpus;
    waiting->is_oversubscribed = waiting->cpus && ranks_here(job->head) > waiting->cpus;
    waiting->has_fences = waiting->is_oversubscribed || job->head->no_barrier;
    waiting->needs_fence = !wake_barrier_init();
}

/* Nothing of those who had our places before is left when we begin. He who has started us clears those of his machine,
 * each of us on another one does it itself. */
static void clear_places(struct pm_job *job)
{
    if (!job->head || job->parent < 0)
        return;
    if (!job_is_near(job->head, job->parent, job->proc) && job_desk(job->head, job->proc)->hold) {
        p2p_clear_place(job->head, job->segment_fd, job->procs, job->proc);
        pm_let_go(job, job->proc);
    }
    for (int proc = job->first; proc < job->first + job->size; proc++)
        if (job_is_near(job->head, proc, job->proc))
            pm_await_place(job, proc);
}

static int start_transports(bool is_threaded)
{
    struct pm_job *job = &process.job;
    struct p2p_config config = {
        .proc = job->proc, .procs = job->procs, .ranks = job->first + job->size, .is_threaded = is_threaded,
        .flooded = notice_flooded, .joint = job->joint, .listener_fd = job->listener_fd,
        .broken = notice_broken,
    };
    struct progress_config waiting = { .local_ranks = job->first + job->size, .is_threaded = is_threaded };
    struct coll_config coll = { .procs = job->procs, .joint = job->joint };
    int rc;

    clear_places(job);
    config.mismatched = notice_is_checking() ? notice_mismatched : NULL;
    if (job->procs > 1) {
        coll = coll_of(job);
        config.segment = job->head;
        config.segment_fd = job->segment_fd;
        if (!job->world)
            waiting.local_ranks = ranks_here(job->head);
        share_waiting(job, &waiting);
    }
    rc = coll_init(&coll);
    if (rc)
        return rc;
    place_open(coll.segment);
    rma_init(&(struct rma_config){ coll.segment, coll.segment_fd, coll_segment_end(&coll), job->proc, job->procs });
    progress_init(&waiting);
    return p2p_init(&config);
}

static bool bound_of(int proc, struct cpus *cpus)
{
    const struct job_proc *place = job_proc(process.job.head, proc);

    memset(cpus, 0, sizeof *cpus);
    if (!job_is_near(process.job.head, proc, process.job.proc))
        return false;
    memcpy(cpus->word, place->bound, sizeof place->bound);
    return cpus_count(cpus) > 0;
}

static int app_of(int proc)
{
    return (int)job_place(process.job.head, proc)->appnum;
}

/* Programs of our world. */
static int count_apps(const struct pm_job *job)
{
    int apps = job->world ? 1 : (int)job->head->apps;

    for (int proc = job->first; job->world && proc < job->first + job->size; proc++)
        apps = app_of(proc) >= apps ? app_of(proc) + 1 : apps;
    return apps;
}

static struct comm_place place_of(const struct pm_job *job)
{
    return (struct comm_place){
        .proc = job->proc, .procs = job->procs, .first = job->first, .size = job->size, .world = job->world,
        .ranks = job->head ? (int)job->head->size : 1,
        .joint = job->joint,
        .links = job->head ? job_desk(job->head, job->proc)->links : NULL,
        .contexts = job->head ? job_desk(job->head, job->proc)->contexts : NULL,
    };
}

static int start_communicators(void)
{
    const struct pm_job *job = &process.job;
    struct comm_environment environment = { .appnum = job->appnum, .universe_size = job->universe_size };
    const struct comm_place place = place_of(job);
    const int rc = comm_init(&place);

    if (job->joint) /* what is known of is this client's alone */
        environment.universe_size = -1;
    process.memory_kinds_wanted = job->is_singleton ? NULL : getenv("PARLEY_MEMORY_KINDS");
    memory_kinds_provide(process.memory_kinds_wanted, process.memory_kinds);
    environment.memory_kinds = process.memory_kinds;
    if (job->head) {
        environment.node = place_node(job->proc);
        environment.node_of = place_node;
        environment.bound = bound_of;
        environment.apps = count_apps(job);
        environment.app = app_of;
    }
    if (job->head && !job->world) {
        environment.psets = job->head->psets;
        environment.pset_bytes = sizeof job->head->psets;
    }
    if (!rc)
        comm_set_environment(&environment);
    return rc;
}

/* Everything that knows of other processes learns of the segment. What fails now leaves a process that can go on
 * alone. */
static int share_all(void)
{
    const struct pm_job *job = &process.job;
    const struct p2p_config config = { .procs = job->procs, .ranks = 1, .segment = job->head,
                                       .segment_fd = job->segment_fd };
    const struct coll_config coll = coll_of(job);
    const struct comm_place place = place_of(job);
    struct progress_config waiting = { .local_ranks = 1 };
    int rc = coll_share(&coll);

    if (rc)
        return rc;
    place_open(coll.segment);
    rma_init(&(struct rma_config){ coll.segment, coll.segment_fd, coll_segment_end(&coll), job->proc, job->procs });
    share_waiting(job, &waiting);
    progress_share(&waiting);
    rc = p2p_grow(&config);
    return rc ? rc : comm_grow(&place);
}

/* For room dyn: this process was started without mpiexec, and needs one now. */
static int begin_job(const char *what)
{
    int rc = 0;

    pthread_mutex_lock(&core.lock);
    if (!process.job.head)
        rc = pm_begin_job(&process.job, what);
    if (!rc && process.job.procs > 1 && !core.is_shared) {
        rc = share_all();
        core.is_shared = !rc;
        init_watch();
        (void)pm_started(&process.job); /* under our own mpiexec it cannot fail */
    }
    pthread_mutex_unlock(&core.lock);
    return rc;
}

/* Runs in a child after fork, where only this thread is left and any lock may be held. */
static void leave_to_parent(void)
{
    if (!core.is_open || process.is_forked)
        return;
    process.is_forked = true;
    process.has_old_world = init_has_world();
    atomic_store(&process.is_running, false);
    if (process.has_old_world)
        atomic_store(&process.state, INIT_FINALIZED);
    pm_forked(&process.job);
}

static int find_job(void)
{
    int rc;

    if (core.has_job)
        return 0;
    if (process.job.foreign) /* a first attempt has failed */
        pm_close(&process.job);
    rc = pm_open(&process.job);
    core.has_job = !rc;
    return rc;
}

static int core_open(bool is_threaded)
{
    int rc = find_job();

    if (!rc)
        rc = setting_read_all(); /* whoever reads one later has nobody to tell what is wrong */
    if (!rc && pthread_atfork(NULL, NULL, leave_to_parent))
        rc = err(MPI_ERR_NO_MEM, "no memory to be told of forks");
    if (rc)
        return rc;
    is_threaded = is_threaded || attend_is_for_clients(process.job.joint);
    init_objects();
    dyn_init(&process.job, begin_job);
    rc = start_transports(is_threaded);
    if (rc)
        goto drop_objects;
    rc = start_communicators();
    if (rc)
        goto stop_transports;
    init_watch();
    core.is_open = true;
    core.is_threaded = is_threaded;
    return 0;

stop_transports:
    coll_fini();
    p2p_fini();
    progress_fini();
drop_objects:
    fini_objects();
    if (process.job.is_singleton) { /* a rank keeps the way to its launcher, which is to hear of this */
        pm_close(&process.job);
        core.has_job = false;
    }
    return rc;
}

bool core_has_sessions(void)
{
    bool has;

    pthread_mutex_lock(&core.lock);
    has = core.users > 1;
    pthread_mutex_unlock(&core.lock);
    return has;
}

int core_leave_clients(void)
{
    core.has_left_clients = true;
    comm_leave_clients();
    return p2p_foreign_close();
}

/* A process that leaves without finalising keeps all: its other threads may be in a call. A forked child has nothing
 * to give back. */
__attribute__((destructor)) static void core_close(void)
{
    if (!core.is_open || process.is_forked || process.job.pid != getpid())
        return;
    if (core.users && process.job.foreign) {
        init_flush_stdout();
        pm_left(&process.job);
    }
    if (core.users)
        return;
    if (process.job.joint && !core.has_left_clients) /* there have been sessions, of which any may have been the last */
        (void)core_leave_clients();
    io_fini();
    comm_fini();
    rma_fini();
    coll_fini();
    p2p_fini();
    progress_fini();
    fini_objects();
    place_open(NULL);
    pm_close(&process.job);
    core.is_open = core.has_job = false;
}

/* Levels are those of one session or of the world: others may be in calls at the same time, in other threads. Only
 * MPI_THREAD_SINGLE says that there is but one. The world alone is different, so that it does not pay for sessions
 * that never come. */
static bool needs_lock(int level, bool is_world)
{
    return level == MPI_THREAD_MULTIPLE || (!is_world && level != MPI_THREAD_SINGLE);
}

static bool is_in_threads(int level, bool is_world)
{
    return level == MPI_THREAD_SERIALIZED || needs_lock(level, is_world);
}

/* Is no other thread in a call? */
static bool is_alone(void)
{
    return !core.users || (!core.in_threads && (!init_has_world() || process.thread_level == MPI_THREAD_SINGLE ||
                                                pthread_equal(process.main_thread, pthread_self())));
}

/* Open or open for threads what is not. */
static int core_prepare(bool is_threaded)
{
    if (!core.is_open)
        return core_open(is_threaded);
    is_threaded = is_threaded || attend_is_for_clients(process.job.joint);
    if (is_threaded != core.is_threaded && (is_threaded || !core.users) && is_alone() &&
        p2p_set_threaded(is_threaded)) {
        progress_set_threaded(is_threaded);
        core.is_threaded = is_threaded;
    }
    return 0;
}

int core_acquire(int level, bool is_world, int *provided)
{
    int rc = init_check_forked();

    if (rc)
        return rc;
    pthread_mutex_lock(&core.lock);
    rc = core_prepare(needs_lock(level, is_world));
    if (!rc && !core.users)
        rc = pm_started(&process.job);
    if (!rc) {
        if (needs_lock(level, is_world)) {
            atomic_store_explicit(&process.has_threads, true, memory_order_relaxed);
            rma_expect_threads();
        }
        /* ids that several clients agree on do not bear agreements at the same time */
        *provided = level == MPI_THREAD_MULTIPLE && (!core.is_threaded || process.job.joint) ? MPI_THREAD_SERIALIZED
                                                                                             : level;
        core.in_threads += is_in_threads(*provided, is_world);
        core.users++;
        atomic_store_explicit(&process.is_running, true, memory_order_relaxed);
    }
    pthread_mutex_unlock(&core.lock);
    return rc;
}

void core_release(int level, bool is_world)
{
    pthread_mutex_lock(&core.lock);
    if (core.users == 1) { /* the last one waits for what all have begun; another may come meanwhile */
        pthread_mutex_unlock(&core.lock);
        p2p_flush();
        pthread_mutex_lock(&core.lock);
    }
    core.in_threads -= is_in_threads(level, is_world);
    if (--core.users == 0) {
        atomic_store_explicit(&process.is_running, false, memory_order_relaxed);
        pm_finalised(&process.job);
    }
    pthread_mutex_unlock(&core.lock);
}

int init_find_job(void)
{
    int rc;

    pthread_mutex_lock(&core.lock);
    rc = find_job();
    pthread_mutex_unlock(&core.lock);
    return rc;
}

int init_join_job(int segment_fd, const uint64_t token[2], int rank, int size)
{
    int rc = 0;

    pthread_mutex_lock(&core.lock);
    if (core.is_open)
        rc = err(MPI_ERR_OTHER, "MPI is in use in this process already, as rank %d of %d", process.job.rank,
                 process.job.size);
    if (!rc)
        rc = pm_join_own(&process.job, segment_fd, token, rank, size);
    if (!rc)
        core.has_job = true;
    pthread_mutex_unlock(&core.lock);
    return rc;
}

int init_acquire(void)
{
    int level;

    return core_acquire(MPI_THREAD_SINGLE, false, &level);
}

void init_release(void)
{
    core_release(MPI_THREAD_SINGLE, false);
}

void init_leave(void)
{
    pthread_mutex_lock(&core.lock);
    if (core.users == 1)
        pm_finalised(&process.job);
    pthread_mutex_unlock(&core.lock);
}

bool init_is_open(void)
{
    return core.is_open;
}
