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
/* All is over: the agents clean and go; comes back when they have gone. */
void far_close(struct job *job);

/* All that has been put for them is written as far as it goes without blocking. */
void far_flush(struct job *job);
void far_look(struct job *job); /* TIMER_LINKS */
void far_late(struct job *job); /* TIMER_LAUNCH: who has not answered yet cannot be had */
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
void far_address(struct job *job, int rank);

#endif
