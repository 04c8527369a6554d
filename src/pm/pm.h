/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: pm. Who started this process, which rank it is, and the way to the launcher.
 * Knows: base, sys (the layout of the job segment). Does not know: transports, communicators, messages.
 *
 * A process is one of
 *   - a rank of our mpiexec: PARLEY_JOB is in its environment and the job could be reached;
 *   - a rank of somebody else's launcher that speaks a protocol we know (PMI-1, PMIx). All processes of the job come up
 *     together then;
 *   - a singleton: no launcher left its mark, or PARLEY_SINGLETON=1, or it is a child of a rank.
 *     It opens nothing;
 *   - an error with one sentence: a launcher's mark is there, but its job cannot be reached.
 *     Never a silent world of size 1.
 *
 * Everything here belongs to the one thread that initialises or finalises, except pm_diagnose and pm_abort,
 * which any thread may call. None of it may be called between fork and exec; in a forked child every call is
 * harmless. */
#ifndef PM_PM_H
#define PM_PM_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "sys/job.h"
#include "sys/joint.h"

struct pm_foreign;

struct pm_job {
    int rank, size;             /* in MPI_COMM_WORLD */
    int proc, procs;            /* place in the segment, and how many there are (sys/job.h); a singleton has 0 of 1 */
    int first;                  /* place of rank 0; the others follow */
    int world;                  /* number of this MPI_COMM_WORLD; 0: the first one of the job */
    int parent;                 /* process that leads those who have spawned this one; -1: nobody has */
    int appnum;                 /* MPI_APPNUM; -1: undefined (singleton) */
    int universe_size;          /* MPI_UNIVERSE_SIZE; -1: undefined, for more processes can be started, but on no more
                                 * processors */
    int errhandler;             /* enum job_errhandler: initial handler of the predefined communicators */
    bool is_singleton;
    const struct joint *joint; /* all processes of the clients of which this job is one (IMPI); NULL: it is none */
    int listener_fd;           /* at which those of the others connect to this one; -1: joint is NULL */
    uint64_t token[2];     /* names the job; random under mpiexec, 0 for a singleton */
    struct job_head *head; /* start of the mapped segment; NULL: singleton */
    size_t mapped;         /* bytes mapped at head: up to the transports' part */
    int segment_fd;        /* -1: singleton. Closed at exec. The transports map their parts from it. */
    int control_fd;        /* -1: singleton, or a foreign launcher. Closed at exec. The launcher never sends anything
                            * through it. */
    int pid;               /* of the process that called pm_open */
    bool has_helper;       /* it has started its mpiexec itself */
    struct pm_foreign *foreign; /* the way to a launcher of somebody else; NULL: none */
    pthread_mutex_t control_lock; /* one message to the launcher at a time */
    uint32_t sent;                /* guarded by control_lock: messages sent so far */
};

/* Find out who we are and take our place: reads the environment, maps head and procs, claims this rank's
 * job_proc. Does not block, except when a wrapper has closed the inherited descriptors: then it connects to
 * the launcher, waiting at most 5 s; and under a foreign launcher, where it waits for all processes of the job. 0, or
 * MPI_ERR_OTHER with the sentence; *job is then a singleton's, but pm_abort still reaches a foreign
 * launcher, and pm_close gives that up. */
int pm_open(struct pm_job *job);

/* Take place `rank` in a segment that a program has made for processes of its own; the descriptor becomes the
 * job's. There is no launcher then. *job may have been opened before; what it knew is forgotten, and a launcher that
 * is there goes on guarding this process. 0 or MPI_ERR_OTHER, and *job is as it was. */
int pm_join_own(struct pm_job *job, int segment_fd, const uint64_t token[2], int rank, int size);

/* A process that runs alone starts an mpiexec that looks after it, and becomes rank 0 of a job of one, in which
 * processes can be started. Waits for mpiexec to come up. 0; or MPI_ERR_UNSUPPORTED_OPERATION with the reason, and
 * *job is as it was. */
int pm_begin_job(struct pm_job *job, const char *what);

/* Tell the launcher that this rank is inside MPI / has left it. A store in the segment; nobody is woken. Under a
 * foreign launcher with several nodes the first call waits for all others: addresses are exchanged. 0 or
 * MPI_ERR_OTHER. A foreign launcher is told once, by a message and its answer, that the rank has left. */
int pm_started(struct pm_job *job);
void pm_finalised(struct pm_job *job);

/* Hand `text` to the launcher, which prints it under the rank's name, together with those of the ranks that
 * say the same. Returns when the launcher has it, or after 5 s. `text` is "cause\nremedy" or "cause" alone,
 * without the rank (that is how equal texts meet), without a newline at the end, at most PM_TEXT_MAX bytes;
 * it may begin with an id ("E0123: "). Where the launcher is not ours, it goes to stderr, in one piece. Not from a
 * signal handler. */
enum { PM_TEXT_MAX = 4000 }; /* = CONTROL_TEXT_MAX */
void pm_diagnose(struct pm_job *job, const char *text) COLD;

/* What the launcher has to say to a request. */
struct pm_reply {
    int first, count;          /* processes that have been started */
    char text[JOB_REPLY_SIZE];
};
/* Tell the launcher that the rank's place is taken, if not by the process that it has started, and that there are
 * addresses of it in the segment, if there are. Any thread. */
void pm_present(struct pm_job *job);

/* Ask the launcher for something (enum control_kind, from CONTROL_SPAWN on), with `size` bytes of text that say what;
 * waits for the answer, and moves nothing meanwhile. Any thread. An error of the class that the launcher names, with
 * its text; MPI_ERR_UNSUPPORTED_OPERATION if there is no mpiexec of ours, with `what` cannot be done for want of
 * it. */
int pm_ask(struct pm_job *job, unsigned kind, const char *request, size_t size, const char *what,
           struct pm_reply *reply);

/* A process that has been started in a place where another one was may begin. */
void pm_let_go(struct pm_job *job, int proc);
/* Sleep until that process, which is on this machine, may. */
void pm_await_place(struct pm_job *job, int proc);

/* MPI_Abort: hand over `text`, the code and the call site (as callsite_find gives it, 0: unknown), wait as above, then
 * leave by _exit. The launcher puts the line of the call site behind the name that `text` begins with, id apart, ends
 * the other ranks and exits with the code. From any thread, also from a signal handler. */
_Noreturn void pm_abort(struct pm_job *job, int code, const char *text, uint64_t call_site) COLD;

/* This rank ends without pm_finalised. mpiexec sees that for itself; a foreign launcher, which may take it for
 * success, is told to end the job. */
void pm_left(struct pm_job *job);

/* In a child that fork has made: what the parent goes on using is closed, and the segment, which is not
 * mapped there, forgotten; rank, size and pid stay the parent's. Only system calls and stores. */
void pm_forked(struct pm_job *job);

/* Unmap and close. Without pm_finalised before, the launcher takes the rank's end for a failure. */
void pm_close(struct pm_job *job);

#endif
