/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. For unit tests of this room and of those above it: a process that is alone with itself and one
 * communicator, over any transport. */
#ifndef P2P_ALONE_H
#define P2P_ALONE_H

#include <stdlib.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "obj/comm.h"
#include "obj/group.h"
#include "p2p/lane.h"
#include "p2p/p2p.h"

/* Once group_init, type_init and progress_init have been called; `comm` is static, with its context. */
static inline void alone_open(const char *net, struct comm *comm)
{
    setenv("PARLEY_NET", net, 1);
    CHECK_INT(p2p_init(&(struct p2p_config){ .procs = 1 }), 0);
    CHECK_INT(group_create_stride(1, 0, 1, 0, &comm->group), 0);
    comm->remote_group = comm->group;
    CHECK_INT(p2p_comm_open(comm), 0);
}

static inline void alone_close(struct comm *comm)
{
    p2p_comm_close(comm);
    group_unref(comm->group);
    p2p_fini();
}

/* Where something has to wait and there is no memory for that: an error, and the next one goes. `send` sends number i,
 * the first of which is not refused memory, for it makes the way known; how many went out. */
static inline unsigned alone_send_without_memory(int (*send)(unsigned i))
{
    unsigned sent = 0, failed = 0;

    CHECK_INT(send(sent++), 0);
    while (failed < 5) {
        int rc;
        mem_fail_after(0);
        rc = send(sent);
        mem_fail_after(-1);
        if (!rc) {
            CHECK_INT(send(++sent), 0);
            sent++;
        } else {
            CHECK_INT(err_class(rc), MPI_ERR_NO_MEM);
            failed++;
        }
    }
    return sent;
}

#endif
