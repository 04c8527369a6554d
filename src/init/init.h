/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: init. Coming up, going down (MPI 5.0 §11), and the one struct of the process. */
#ifndef INIT_INIT_H
#define INIT_INIT_H

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/base.h"
#include "pm/pm.h"
#include "progress/progress.h"

enum init_state { INIT_NOT_YET, INIT_RUNNING, INIT_FINALIZING, INIT_FINALIZED };

struct process {
    _Atomic bool is_running; /* the world or a session */
    _Atomic uint8_t state;   /* of the world: enum init_state */
    int thread_level;        /* provided to the world */
    pthread_t main_thread;   /* that called MPI_Init */
    struct pm_job job;
    struct progress_long *_Atomic told; /* the wait that the status page tells of; NULL: none */
    const char *memory_kinds_wanted; /* by the command line (§11.4.3); NULL: nothing is said */
    char memory_kinds[MPI_MAX_INFO_VAL + 1]; /* provided to the world */
    _Atomic bool has_threads; /* some level that was asked for lets several threads be in calls */
    bool is_forked;          /* this is a child that a process inside MPI has forked; the rest is the parent's */
    bool has_old_world;      /* and that had a world, whose error handlers are here still */
};

extern struct process process;

/* Is there a world, or a session? */
static ALWAYS_INLINE bool init_is_running(void)
{
    /* relaxed: a thread that may call MPI learned of the initialisation by the program's own means */
    return atomic_load_explicit(&process.is_running, memory_order_relaxed);
}

/* Do the error handlers of the world's communicators count? */
static inline bool init_has_errhandlers(void)
{
    return init_is_running() || process.has_old_world;
}

/* May several threads be in calls at once? */
static inline bool init_is_threaded(void)
{
    return progress.is_threaded;
}

/* Threads of the program? A client of IMPI has one of the library's. */
static inline bool init_has_threads(void)
{
    return progress.is_threaded &&
           (!process.job.joint || atomic_load_explicit(&process.has_threads, memory_order_relaxed));
}

/* Between MPI_Init and MPI_Finalize. */
static inline bool init_has_world(void)
{
    const uint8_t state = atomic_load_explicit(&process.state, memory_order_relaxed);

    return state == INIT_RUNNING || state == INIT_FINALIZING;
}

/* The handler for errors that belong to no object while MPI_COMM_SELF is not there, which MPI_COMM_WORLD and
 * MPI_COMM_SELF start with, too: as the process was started (§9.3, §11.8.4). Predefined. At any time. */
struct errhandler;
struct errhandler *init_errhandler(void) COLD;

/* §11.2.1, the world model. `provided` may be NULL. Errors: MPI_ERR_OTHER (called twice or after the end; a launcher
 * that cannot be reached; a setting out of range), MPI_ERR_ARG (level), MPI_ERR_NO_MEM. Not collective: it waits for
 * nobody, but for all under a foreign launcher. */
int init_start(int required, int *provided);
/* §11.2.2. Completes what was begun (buffered and detached sends). Error: MPI_ERR_OTHER if there is no world. */
int init_finish(void);
/* §11.3, sessions, in any order with the world model, any number of them; all may be called by several threads. Infos
 * may be NULL. A session's threads may have a lower level than it asks for with "thread_level" (default:
 * MPI_THREAD_MULTIPLE), if MPI is in use at a lower one. Errors: as init_start, MPI_ERR_INFO_VALUE, MPI_ERR_ERRHANDLER
 * for a handler of another kind. */
struct group;
struct info;
struct session;
int init_session_open(struct info *info, struct errhandler *errhandler, struct session **out);
/* Blocks until the messages in its buffer have gone; the last user of the library waits for all that was begun. */
int init_session_close(struct session *session);
int init_session_info(const struct session *session, struct info **out);
/* Process sets. *len is room for the name and becomes what it needs, with its zero. *out is NULL for a name that is
 * not known. Errors: MPI_ERR_ARG. */
int init_session_pset_name(int n, int *len, char *name);
int init_session_pset_info(const char *name, struct info **out);
int init_session_group(struct session *session, const char *name, struct group **out);

/* 0, or in a forked child of a process that has been inside MPI: the error, of class MPI_ERR_OTHER, that names the
 * parent. A child is no MPI process. MPI_Initialized and MPI_Finalized are both true in it, so that what cleans up at
 * exit leaves MPI alone. */
int init_check_forked(void) COLD;

/* §11.4.1 queries; callable at any time. */
int init_initialized(int *flag);
int init_finalized(int *flag);
int init_query_thread(int *provided);
int init_is_thread_main(int *flag);

/* End the job with `code` after handing `text` over: MPI_Abort, or an error that met a fatal handler. `call_site` as
 * callsite_find gives it. Never returns. At any time, from any thread. */
_Noreturn void init_abort(int code, const char *text, uint64_t call_site) COLD;

/* --- for libraries that stand beside MPI on the same engine (room door) --- */

/* Who started us: process.job is filled in. Errors: as pm_open. */
int init_find_job(void);
/* Be `rank` of a job whose segment this program has made, for itself and processes that it has forked; before anything
 * is in use. The descriptor is taken over. Error: MPI_ERR_OTHER. */
int init_join_job(int segment_fd, const uint64_t token[2], int rank, int size);
/* One user more of the engine, as a session of MPI_THREAD_SINGLE is one, and one less; the last one waits for all that
 * has been begun. Errors: as init_start. */
int init_acquire(void);
void init_release(void);
/* The process is about to end: if nobody else uses the engine, the launcher hears of an end in order. */
void init_leave(void);
/* Has anybody used it? */
bool init_is_open(void);

/* §9.1.2: at most MPI_MAX_PROCESSOR_NAME with the zero. No name service is asked. */
int init_processor_name(char *name, int *len);
double init_wtime(void);
double init_wtick(void);

#endif
