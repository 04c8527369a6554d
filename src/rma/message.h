/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: rma. Operations on memory that cannot be reached from here: by messages, done by the target's library when it
 * polls. */
#ifndef RMA_MESSAGE_H
#define RMA_MESSAGE_H

#include "rma/window.h"

struct op;
struct req;

/* Local, for a window whose memory is not mapped by all. Nothing may be sent before all have done it. Error:
 * MPI_ERR_NO_MEM. */
int win_message_open(struct win *win);
/* The window goes; nothing is pending at any of its processes. It may not have been opened. */
void win_message_close(struct win *win);
/* Begin an operation; local. `request`: NULL, or where a request goes that is complete when the origin is. */
int win_message_put(struct win *win, const struct win_data *data, const struct win_aim *aim,
                    const struct win_place *place, struct req **request);
int win_message_get(struct win *win, const struct win_data *data, const struct win_aim *aim,
                    const struct win_place *place, struct req **request);
/* Combine; `from` is not looked at with MPI_NO_OP; `result`: NULL, nobody wants what was there. */
int win_message_combine(struct win *win, const struct win_data *from, const struct win_data *result,
                        const struct win_aim *aim, const struct win_place *place, const struct op *op,
                        const struct type *element, struct req **request);
/* One element, predefined. */
int win_message_swap(struct win *win, const void *from, const void *compare, const struct win_data *result,
                     const struct win_aim *aim, const struct win_place *place);
/* Return when nothing is pending at `rank`, -1: at any target; `is_local`: when the buffers of this process may be
 * used. `call`: in which call, for reports. */
void win_message_flush(struct win *win, int rank, bool is_local, const char *call);

#endif
