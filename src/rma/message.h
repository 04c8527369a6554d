/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: rma. Operations on memory that cannot be reached from here, and synchronization with processes on other
 * machines: by messages, done by the target's library when it polls. */
#ifndef RMA_MESSAGE_H
#define RMA_MESSAGE_H

#include "rma/window.h"

struct op;
struct req;

/* Local, for a window whose memory is not mapped by all, or whose members are on several machines. Nothing may be sent
 * before all have done it. Error: MPI_ERR_NO_MEM. */
int win_message_open(struct win *win);
/* The window goes; nothing is pending at any of its processes. It may not have been opened. */
void win_message_close(struct win *win);
/* Begin an operation; local. `request`: NULL, or where a request goes that is complete when the origin is. */
int win_message_put(struct win *win, const struct win_data *data, const struct win_aim *aim,
                    const struct win_place *place, struct req **request);
int win_message_get(struct win *win, const struct win_data *data, const struct win_aim *aim,
                    const struct win_place *place, struct req **request);
/* Combine, from place->done to place->bytes; `from` is not looked at with MPI_NO_OP; `result`: NULL, nobody wants what
 * was there. */
int win_message_combine(struct win *win, const struct win_data *from, const struct win_data *result,
                        const struct win_aim *aim, const struct win_place *place, const struct op *op,
                        const struct type *element, struct req **request);
/* One element, predefined. */
int win_message_swap(struct win *win, const void *from, const void *compare, const struct win_data *result,
                     const struct win_aim *aim, const struct win_place *place);
/* Return when nothing is pending at `rank`, -1: at any target; `is_local`: when the buffers of this process may be
 * used. `call`: in which call, for reports. Errors: MPI_ERR_RMA_RANGE, of an earlier operation that a target has
 * refused, since the place was not attached; that of a target that is lost. */
int win_message_flush(struct win *win, int rank, bool is_local, const char *call);
/* The same, without is_local, until then by the clock (0: for ever); *is_done: nothing is pending there any more. */
int win_message_flush_until(struct win *win, int rank, uint64_t until, const char *call, bool *is_done);

/* --- far ranks (far.c). All wait, if at all, as `call` says in reports. --- */

/* The lock of a target is wanted; what comes next there asks for it. Waits for another one that has been wanted so.
 * With several threads it is had on return. Error: the rank, or that of the other one, is lost. */
int win_far_lock(struct win *win, int rank, bool is_shared, const char *call);
/* Is there one that is wanted so? Wait until it is had. Error: its target is lost. */
bool win_far_is_late(void);
int win_far_await_late(const char *call);
/* Ask for it, for reading: it is had when a flush of that rank is done. */
void win_far_ask_lock(struct win *win, int rank);
/* Ask for it, for reading, if it can be had without waiting for others. After a flush: is it had? Not that of a rank
 * that is lost. */
void win_far_try_lock(struct win *win, int rank, const char *call);
bool win_far_has_lock(struct win *win, int rank);
/* Give it back, behind all operations, whose end is to be waited for by the next flush. */
void win_far_unlock(struct win *win, int rank, bool is_shared, const char *call);
/* MPI_Win_post. */
void win_far_posted(struct win *win, int rank, const char *call);
/* MPI_Win_complete, also for near targets that are reached by messages: behind all operations, none of which is
 * unflushed from now on. */
void win_far_completed(struct win *win, int rank, const char *call);
/* The window goes: the flush that comes next waits for all that was given back. */
void win_far_settle(struct win *win);

#endif
