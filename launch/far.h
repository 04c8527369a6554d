/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: ranks on other machines, which an agent there starts for us (agent.h). What is done to a rank goes as a
 * frame to its agent; what comes from there is handed to the functions that do the same for ranks here.
 *
 *   far_start.c  starting agents     far.c  what goes to them and comes from them     far_link.h  the ways to them
 *
 * Without other machines none of these does anything. */
#ifndef LAUNCH_FAR_H
#define LAUNCH_FAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct job;

/* Start an agent on each other machine that has ranks, and come back when all can start theirs. Ends mpiexec, with what
 * the machines said, if one cannot or does not answer in time. */
void far_start(struct job *job);
/* The ranks there start now. */
void far_go(struct job *job);
/* No agent has anything more to say. */
bool far_has_gone(const struct job *job);
/* All is over: the agents clean and go; comes back when they have gone. */
void far_close(struct job *job);

/* All that has been put for them is written as far as it goes without blocking. */
void far_flush(struct job *job);
void far_look(struct job *job); /* TIMER_LINKS */
void far_late(struct job *job); /* TIMER_LAUNCH: who has not answered yet cannot be had */
void far_silent(struct job *job); /* TIMER_SILENT: nor who does not say that those are over that it was to kill */
/* A child of ours has ended, perhaps a way to another machine. */
void far_reaped(struct job *job, pid_t pid, int status);
bool far_is_way(const struct job *job, pid_t pid);

void far_signal(struct job *job, int rank, int signal);
/* Frames of hang_far.c. False: that machine has no agent. */
bool far_look_there(struct job *job, int node, uint32_t value, const void *data, size_t size);
void far_ask(struct job *job, int rank, const void *data, size_t size);
void far_end(struct job *job);     /* job_head.end is set */
void far_release(struct job *job); /* job_head.hold is 0 */
void far_bye(struct job *job);     /* kill what the ranks have left */
/* A message of the rank has been taken; with what is in its job_desk, if that is the answer to a request. */
void far_taken(struct job *job, int rank, bool with_reply);
void far_credit(struct job *job, int rank, bool is_error, size_t size);
void far_broken(struct job *job, int rank, bool is_error);
void far_input(struct job *job, int rank, const void *data, size_t size);
/* The address of `rank` to all machines but its own. */
/* `net`: enum job_net. */
void far_address(struct job *job, int rank, int net);

/* For calls.c. */
struct frame_visit;
struct frame_answer;
void far_put_visit(struct job *job, int rank, const struct frame_visit *visit);
void far_put_leave(struct job *job, int rank, int visitor);
void far_put_answer(struct job *job, int rank, const struct frame_answer *answer);

/* Have all agents tell whom their processes have communicators with: it is in job_desk here, when none is at it any
 * more. */
void far_ask_links(struct job *job);
bool far_is_linking(const struct job *job);

/* For guests.c. All agents get to know them; the number of that. Do all know those? One of them has ended. */
struct frame_guest;
uint32_t far_put_guests(struct job *job, const struct frame_guest *guests, int count);
bool far_has_admitted(const struct job *job, uint32_t number);
void far_put_guest_gone(struct job *job, int place);

/* For processes that are started later (spawning.h). Start an agent on that machine if there is none. */
void far_need(struct job *job, int node);
bool far_is_there(const struct job *job, int node);
/* Why there can be none; NULL: nothing is known of that. */
const char *far_cannot(const struct job *job, int node);
/* All get to know the world; who is to start processes of it looks whether that can be. */
void far_world(struct job *job, const char *text, size_t size);
/* Are some still at it? *why: of one that cannot; NULL: all can. */
bool far_is_preparing(const struct job *job, const char **why);
/* Now they start them, or forget them. */
void far_start_world(struct job *job, bool is_wanted);
/* What comes from that rank is expected. */
void far_open_rank(struct job *job, int rank);

#endif
