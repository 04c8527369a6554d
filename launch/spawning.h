/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: starting processes that a rank has asked for (MPI 5.0 §11.8), on this machine and others.
 *
 *   call.c      what is asked for, read from the request
 *   spawning.c  what is done, step by step; one call after the other
 *   nodes.c     on which machines
 *
 * Where there are no other machines all steps are done at once. Else each of them waits for what the agents say:
 * who is connected with whom, so that places are known which nobody uses; agents on machines that have none yet; that
 * the programs can be started where they are to be; that they have been. It is all or none. */
#ifndef LAUNCH_SPAWNING_H
#define LAUNCH_SPAWNING_H

#include "frame.h"
#include "launch.h"

/* The texts of a request, one after the other. */
struct texts {
    char *at, *end;
};

/* The next one; NULL: there is none. */
char *texts_next(struct texts *texts);
/* The next one is a number from 0 to `most`; -1: it is none. */
int texts_next_number(struct texts *texts, int most);

/* A call of MPI_Comm_spawn or MPI_Comm_spawn_multiple. */
struct call {
    struct job *job;
    int rank;
    int number;      /* of the call there */
    struct app *apps; /* point into the request */
    int app_count;
    char why[JOB_REPLY_SIZE];
};

/* False, and why. */
bool call_take(struct call *call, struct texts *texts);
bool call_refuse(struct call *call, const char *format, ...) PRINTF_LIKE(2, 3);
void call_free_apps(struct app *apps, int count);

/* The answer to a request: the class of an error and its text, or the text that was asked for. */
void dynamic_answer(struct job *job, int rank, int error, const char *text);

/* calls.c: requests about ports of processes on other machines. False: it is none. */
bool calls_request(struct job *job, int rank, unsigned kind, struct texts *texts, bool *is_answered);
/* The answer to a caller of ours, wherever he is. */
void calls_tell(struct job *job, int caller, const struct frame_answer *answer);
/* Of another job: somebody waits at a port of the process. He does not any more (false: he did not); nobody does. */
struct bond;
void calls_add_abroad(struct job *job, struct bond *bond, uint32_t tag, int owner, uint32_t tenant, uint32_t port);
bool calls_leave_abroad(struct job *job, const struct bond *bond, uint32_t tag);
void calls_drop_abroad(struct job *job, const struct bond *bond);
/* The rank has ended. */
void calls_rank_over(struct job *job, int rank);
/* From an agent: there is no such port. */
bool calls_take_refusal(struct job *job, int owner, uint32_t visitor, const char *number);
/* Where the process is: enter a visitor (false: the port is not open), strike him off, answer a caller. */
bool calls_visit(struct job *job, int owner, const struct frame_visit *visit);
void calls_leave(struct job *job, int owner, int visitor);
void calls_answer(struct job *job, int caller, const struct frame_answer *answer);

/* Do what the call wants, when those before it are done. True: it has been answered. The apps and the request are
 * taken over. */
bool spawning_add(const struct call *call, char *request);
/* Has one chosen places, and not taken them yet? */
bool spawning_holds_places(const struct job *job);
/* Go on if that is possible now. */
void spawning_look(struct job *job);
/* A process on another machine could not be started. True: it was being started by a call. */
bool spawning_refused(struct job *job, int rank, const char *text);

/* The program of processes that are started later on this machine is found, and its environment made. */
bool spawning_prepare(struct job *job, struct app *app, int world, struct refusal *refusal);
/* Before a process of such a world is started: it knows its parent. */
void spawning_fill_desk(struct job *job, int place, int parent, int call);

#endif
