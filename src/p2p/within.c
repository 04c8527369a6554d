/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. What does not go over several clients of IMPI. */
#include "base/err.h"
#include "p2p/p2p.h"

int p2p_check_within(const struct comm *comm, const char *call)
{
    char label[COMM_LABEL_SIZE];

    if (likely(!p2p_is_foreign_ctx(comm->ctx)))
        return 0;
    return err(MPI_ERR_UNSUPPORTED_OPERATION,
               "E1213: %s does not work over several clients of IMPI, and %s has processes in others than this one",
               call, obj_comm_label(comm, label));
}
