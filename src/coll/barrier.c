/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. MPI_Barrier (MPI 5.0 §6.3): dissemination, ceil(log2(size)) rounds of one empty message each
 * way. */
#include "coll/int_coll.h"

int coll_barrier(struct comm *comm)
{
    const struct coll_block nothing = { NULL, 0, obj_type(MPI_BYTE) };
    const int size = comm->size;
    int tag, rc = coll_begin(comm, &tag, "MPI_Barrier");

    for (int distance = 1; distance < size && !rc; distance += distance) {
        const int dest = (comm->rank + distance) % size;
        const int source = (comm->rank - distance + size) % size;

        rc = coll_exchange(comm, tag, &nothing, dest, &nothing, source);
    }
    return rc;
}
