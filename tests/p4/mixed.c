/* SPDX-License-Identifier: BSD-3-Clause */
/* p4 and MPI in one program, whichever comes up first: both see the same processes, and messages of one do not disturb
 * the other's. The argument says who begins. */
#include <mpi.h>

#include "p4_test.h"

static void p4_ring(int me, int total)
{
    p4_send(1, (me + 1) % total, &me, sizeof me);
}

static void p4_ring_end(int me, int total)
{
    char *msg = recv_exactly(1, (me + total - 1) % total, sizeof me);

    CHECK_INT(*(int *)msg, (me + total - 1) % total);
    p4_msg_free(msg);
}

int main(int argc, char **argv)
{
    const int mpi_first = !strcmp(argv[1], "mpi");
    int me, total, rank, size, sum;
    static char data[100000];

    if (mpi_first)
        MPI_Init(&argc, &argv);
    start(&argc, argv);
    if (!mpi_first)
        MPI_Init(&argc, &argv);
    me = p4_get_my_id();
    total = p4_num_total_ids();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK_INT(rank, me);
    CHECK_INT(size, total);
    p4_ring(me, total);
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_INT(sum, total * (total - 1) / 2);
    p4_ring_end(me, total);
    CHECK_INT(p4_send(2, (me + 1) % total, data, sizeof data), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    p4_msg_free(recv_exactly(2, (me + total - 1) % total, sizeof data));
    if (mpi_first) {
        p4_wait_for_end();
        MPI_Finalize();
    } else {
        MPI_Finalize();
        p4_ring(me, total);
        p4_ring_end(me, total);
        p4_wait_for_end();
    }
    return 0;
}
