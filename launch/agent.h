/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec --agent: started by mpiexec on another machine, it makes that machine's job segment, starts its ranks with
 * the same code as mpiexec does here, and tells mpiexec what becomes of them; nothing is decided here. When mpiexec is
 * gone, it kills them and goes. The functions but the first are for what is shared: there is an agent if job->root. */
#ifndef LAUNCH_AGENT_H
#define LAUNCH_AGENT_H

#include <stdbool.h>
#include <stddef.h>

#include "frame.h"

struct control_message;
struct job;
struct refusal;

/* The whole of it. */
_Noreturn void agent_main(struct job *job);
/* Kill the ranks and go, without a word. */
_Noreturn void agent_end(struct job *job);

/* All that has been put for mpiexec is written as far as it goes without blocking. */
void agent_flush(struct job *job);

void agent_started(struct job *job, int rank, int pid);
/* What a rank has written; nothing: the stream has ended. */
void agent_output(struct job *job, int rank, bool is_error, const void *data, size_t size);
void agent_said(struct job *job, int rank, const struct control_message *message);
void agent_over(struct job *job, int rank, const struct frame_over *over);
/* It has got so many bytes of its stdin; 0: it reads no more. */
void agent_fed(struct job *job, int rank, size_t size);
void agent_note(struct job *job, int rank, const char *text);
void agent_address(struct job *job, int rank, int net);
/* Frames of hang_far.c. */
void agent_page(struct job *job, int rank, const void *data, size_t size);
void agent_looked(struct job *job, uint32_t value);

/* agent_world.c: processes that are started later. Frames WORLD (false: that is none), GO, LINKS. */
bool agent_take_world(struct job *job, const char *data, size_t size);
void agent_take_go(struct job *job, bool is_wanted);
void agent_tell_links(struct job *job);
/* guests.c: GUESTS, GUEST_GONE. */
bool agent_take_guests(struct job *job, uint32_t number, const char *data, size_t size);
bool agent_take_guest_gone(struct job *job, uint32_t place);
/* VISIT, LEAVE, ANSWER. */
bool agent_take_call(struct job *job, const struct frame *frame, const char *data);
/* For it: any frame; it or its machine cannot be used. */
void agent_put(struct job *job, int rank, enum frame_kind kind, uint32_t value, const void *data, size_t size);
void agent_refuse(struct job *job, int rank, const struct refusal *refusal);

#endif
