/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: obj. What messages call a communicator. */
#include "obj/comm.h"

#include <stdio.h>

const char *obj_comm_label(const struct comm *comm, char text[COMM_LABEL_SIZE])
{
    if (comm->name[0])
        return comm->name;
    if (comm->is_inter)
        snprintf(text, COMM_LABEL_SIZE, "an intercommunicator of %d and %d processes", comm->size, comm->remote_size);
    else
        snprintf(text, COMM_LABEL_SIZE, "a communicator of %d process%s", comm->size, comm->size == 1 ? "" : "es");
    return text;
}
