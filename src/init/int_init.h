/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: init, private. What its files share. */
#ifndef INIT_INT_INIT_H
#define INIT_INT_INIT_H

#include "init/init.h"
#include "p2p/lane.h"

/* One user more of what the world and the sessions share, with threads at `level`; *provided is less when it is in use
 * for one thread. Any thread. Errors: MPI_ERR_OTHER, MPI_ERR_NO_MEM. */
int core_acquire(int level, bool is_world, int *provided);
/* One less; `level` as it was provided. The last one waits for all that has been begun and not been waited for. */
void core_release(int level, bool is_world);

/* Are there users besides the world? */
bool core_has_sessions(void);
/* In a joint job: nothing more goes to other clients; wait until these have said that of themselves. Error: of one that
 * has gone without it (E1241). */
int core_leave_clients(void);

/* "MPI_THREAD_SINGLE" */
const char *init_level_name(int level);

/* What the program has printed and not flushed yet must not be lost; a stream that another thread holds is left. */
void init_flush_stdout(void);

/* Keep this rank's status page from now on, until progress_fini; a singleton has none. */
void init_watch(void);
/* The world is about to end: leave there what may be asked afterwards. */
void watch_world_end(void);

/* watch_fill.c: fill a page in from the first thing that is waited for; all that takes longer. The times in it are
 * left. The caller has the page's lock. */
void watch_fill(struct job_status *page, const struct blocked *b) COLD;
void watch_fill_rest(struct job_status *page, const struct progress_long *wait, const struct blocked *b) COLD;
/* What lies in the queues here, those first that are most like what the page says is waited for. */
void watch_fill_queues(struct job_answer *answer, const struct job_status *page) COLD;

/* Tell of a sender whose messages nobody receives, unless PARLEY_WARN=0. */
p2p_flooded_fn notice_flooded COLD;
/* Ends the job, as mpiexec ends it when a rank of its own is gone. */
p2p_broken_fn notice_broken COLD;
/* With PARLEY_CHECK: tell of a message whose elements are not those that its receive asks for. */
bool notice_is_checking(void);
p2p_mismatched_fn notice_mismatched COLD;
/* Tell, once, of two threads that wait at the same time in a process that has not asked for MPI_THREAD_MULTIPLE. */
void notice_threads(void) COLD;
/* With PARLEY_CHECK: tell of what the program leaves behind (leftovers.c). Collective over MPI_COMM_WORLD. */
void notice_leftovers(void);
/* With PARLEY_COUNTERS, PARLEY_EXPLAIN_PROTOCOL: print them, before p2p_fini. */
void notice_counters(void);
void notice_protocols(void);

#endif
