/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: rma. Operations by messages: none yet. */
#include "rma/message.h"

#include "base/err.h"

int win_message_open(struct win *win)
{
    (void)win;
    return 0;
}

void win_message_close(struct win *win)
{
    (void)win;
}

static int unreachable(const struct win_aim *aim)
{
    return err(MPI_ERR_UNSUPPORTED_OPERATION,
               "the system does not allow this process to reach the memory of rank %d; windows made by "
               "MPI_Win_allocate can be used",
               aim->rank);
}

int win_message_put(struct win *win, const struct win_data *data, const struct win_aim *aim,
                    const struct win_place *place, struct req **request)
{
    (void)win, (void)data, (void)place, (void)request;
    return unreachable(aim);
}

int win_message_get(struct win *win, const struct win_data *data, const struct win_aim *aim,
                    const struct win_place *place, struct req **request)
{
    (void)win, (void)data, (void)place, (void)request;
    return unreachable(aim);
}

void win_message_flush(struct win *win, int rank, bool is_local)
{
    (void)win, (void)rank, (void)is_local;
}
