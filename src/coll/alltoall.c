/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. MPI_Alltoall(v, w) (MPI 5.0 §6.8): size - 1 rounds, in each one block out and one in. */
#include "base/err.h"
#include "base/mem.h"
#include "coll/int_coll.h"

/* Round by round to the process at that distance ahead, from the one at that distance behind. */
static int alltoall_apart(struct comm *comm, int tag, const struct coll_data *send,
                          const struct coll_data *recv)
{
    const int size = comm->size, rank = comm->rank;
    const struct coll_block own = coll_data_block(send, rank), own_to = coll_data_block(recv, rank);
    int rc = coll_check_data(send, size, "sendbuf");

    if (!rc)
        rc = coll_copy(&own, &own_to);
    for (int distance = 1; distance < size && !rc; distance++) {
        const int dest = (rank + distance) % size;
        const int source = (rank - distance + size) % size;
        const struct coll_block out = coll_data_block(send, dest), in = coll_data_block(recv, source);

        rc = coll_exchange(comm, tag, &out, dest, &in, source);
    }
    return rc;
}

/* Swap the block with `peer`; what goes out is packed into `packed` first. */
static int swap_block(struct comm *comm, int tag, const struct coll_block *block, int peer, void *packed)
{
    const size_t len = type_bytes(block->type, block->count);
    const struct coll_block out = { packed, (MPI_Count)len, obj_type(MPI_BYTE) };

    type_pack(block->type, block->buf, block->count, 0, packed, len);
    return coll_exchange(comm, tag, &out, peer, block, peer);
}

/* In round k the ranks whose sum is k (modulo size) are partners: each pair meets once. */
static int alltoall_in_place(struct comm *comm, int tag, const struct coll_data *recv)
{
    const int size = comm->size;
    size_t len = 0;
    void *packed;
    int rc = 0;

    for (int rank = 0; rank < size; rank++) {
        const struct coll_block block = coll_data_block(recv, rank);
        len = size_max(len, type_bytes(block.type, block.count));
    }
    packed = mem_alloc(len);
    if (!packed)
        return err(MPI_ERR_NO_MEM, "no memory for %zu bytes of a block to be exchanged in place", len);
    for (int round = 0; round < size && !rc; round++) {
        const int peer = (round - comm->rank + size) % size;
        const struct coll_block block = coll_data_block(recv, peer);

        if (peer != comm->rank)
            rc = swap_block(comm, tag, &block, peer, packed);
    }
    mem_free(packed);
    return rc;
}

static const char *name_of(const struct coll_data *recv)
{
    return recv->types ? "MPI_Alltoallw" : recv->counts.p ? "MPI_Alltoallv" : "MPI_Alltoall";
}

int coll_alltoall(struct comm *comm, const struct coll_data *send, const struct coll_data *recv)
{
    int tag, rc = coll_begin(comm, &tag, name_of(recv));

    if (!rc)
        rc = coll_check_data(recv, comm->size, "recvbuf");
    if (rc)
        return rc;
    return coll_is_in_place(send->buf) ? alltoall_in_place(comm, tag, recv)
                                       : alltoall_apart(comm, tag, send, recv);
}
