/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. MPI_Allgather(v) (MPI 5.0 §6.7).
 *
 * * Equal blocks: dissemination. After k rounds a process holds the 2^k blocks from its own rank on (around
 * the end), and gets as many from the process at that distance. Blocks go straight to their places; a range
 * that passes the end of the buffer travels in two messages. ceil(log2(size)) rounds, each block received
 * once. Varying blocks: a ring of size - 1 rounds. */
#include "coll/int_coll.h"

static int copy_own(struct comm *comm, const struct coll_data *send, const struct coll_data *recv)
{
    if (coll_is_in_place(send->buf))
        return 0;
    const struct coll_block from = coll_data_block(send, 0), to = coll_data_block(recv, comm->rank);
    return coll_copy(&from, &to);
}

/* The range of `n` blocks from rank `first` on, around the end, as one or two messages. */
struct range {
    int parts;
    struct coll_block part[2];
};

static struct range range_around(const struct coll_data *data, int first, int n, int size)
{
    const int before_end = n < size - first ? n : size - first;
    struct range range = { .parts = 1, .part = { coll_data_range(data, first, before_end) } };

    range.part[1] = coll_data_range(data, 0, n - before_end);
    if (n > before_end)
        range.parts = 2;
    return range;
}

/* Sender and receiver cut a range at the same place; so the parts match in order. */
static int exchange_ranges(struct comm *comm, int tag, const struct range *send, int dest,
                           const struct range *recv, int source)
{
    int rc = 0;

    for (int i = 0; i < 2 && !rc; i++) {
        rc = coll_exchange(comm, tag, &send->part[i], i < send->parts ? dest : MPI_PROC_NULL, &recv->part[i],
                           i < recv->parts ? source : MPI_PROC_NULL);
    }
    return rc;
}

int coll_allgather(struct comm *comm, const struct coll_data *send, const struct coll_data *recv)
{
    const int size = comm->size, rank = comm->rank;
    int tag, rc = coll_begin(comm, &tag, "MPI_Allgather");

    if (!rc)
        rc = copy_own(comm, send, recv);
    for (int held = 1; held < size && !rc; held += held) {
        const int n = held < size - held ? held : size - held;
        const int source = (rank + held) % size;
        const struct range out = range_around(recv, rank, n, size), in = range_around(recv, source, n, size);

        rc = exchange_ranges(comm, tag, &out, (rank - held + size) % size, &in, source);
    }
    return rc;
}

int coll_allgatherv(struct comm *comm, const struct coll_data *send, const struct coll_data *recv)
{
    const int size = comm->size, rank = comm->rank;
    const int left = (rank - 1 + size) % size, right = (rank + 1) % size;
    int tag, rc = coll_begin(comm, &tag, "MPI_Allgatherv");

    if (!rc)
        rc = coll_check_data(recv, size, "recvbuf");
    if (!rc)
        rc = copy_own(comm, send, recv);
    for (int round = 0; round < size - 1 && !rc; round++) {
        const struct coll_block out = coll_data_block(recv, (rank - round + size) % size);
        const struct coll_block in = coll_data_block(recv, (left - round + size) % size);

        rc = coll_exchange(comm, tag, &out, right, &in, left);
    }
    return rc;
}
