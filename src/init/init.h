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

enum init_state { INIT_NOT_YET, INIT_RUNNING, INIT_FINALIZING, INIT_FINALIZED };

struct process {
    _Atomic uint8_t state;   /* enum init_state */
    int thread_level;        /* provided */
    pthread_t main_thread;   /* that called MPI_Init */
    struct pm_job job;
    _Atomic bool is_told;    /* the status page says what a thread waits for */
};

extern struct process process;

/* Between MPI_Init and MPI_Finalize. */
static ALWAYS_INLINE bool init_is_running(void)
{
    /* relaxed: a thread that may call MPI learned of the initialisation by the program's own means */
    const uint8_t state = atomic_load_explicit(&process.state, memory_order_relaxed);

    return state == INIT_RUNNING || unlikely(state == INIT_FINALIZING);
}

/* §11.2.1. `provided` may be NULL. Errors: MPI_ERR_OTHER (called twice or after the end; a launcher that cannot
 * be reached; a setting out of range), MPI_ERR_ARG (level), MPI_ERR_NO_MEM. Not collective: it waits for nobody. */
int init_start(int required, int *provided);
/* §11.2.2. Completes what was begun (buffered and detached sends), then lets go of everything. */
int init_finish(void);
/* §11.4.1 queries; callable at any time. */
int init_initialized(int *flag);
int init_finalized(int *flag);
int init_query_thread(int *provided);
int init_is_thread_main(int *flag);

/* End the job with `code` after handing `text` over: MPI_Abort (§9.7), or an error that met a fatal handler. Never
 * returns. At any time, from any thread. */
_Noreturn void init_abort(int code, const char *text) COLD;

/* §9.1.2: at most MPI_MAX_PROCESSOR_NAME with the zero. No name service is asked. */
int init_processor_name(char *name, int *len);
double init_wtime(void);
double init_wtick(void);

#endif
