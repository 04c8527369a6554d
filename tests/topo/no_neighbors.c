/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §8.6: a process without neighbours in some direction sends or receives no block there, whatever the count of
 * one says, so it needs no buffer: an empty array may be NULL. With a neighbour it is an error. */
#include "mpitest.h"

enum { LEN = 3, FORMS = 3 };

static MPI_Comm comm; /* each sends to the next rank, the last one to nobody */
static int data[LEN], came[LEN];

static void complete(int rc, int form, MPI_Request *request)
{
    CHECK_OK(rc);
    if (form == 2)
        CHECK_OK(MPI_Start(request));
    if (form)
        CHECK_OK(MPI_Wait(request, MPI_STATUS_IGNORE));
    if (form == 2)
        CHECK_OK(MPI_Request_free(request));
    for (int i = 0; i < LEN; i++)
        CHECK_INT(came[i], test_rank ? 10 * test_rank - 10 + i : -1);
}

static void prepare(void)
{
    for (int i = 0; i < LEN; i++) {
        data[i] = 10 * test_rank + i;
        came[i] = -1;
    }
}

/* Where there is no neighbour, everything is NULL. */
static void exchange(int form)
{
    const int is_last = test_rank == test_size - 1, count = LEN, displ = 0;
    const int *const send = is_last ? NULL : data, *const from_count = is_last ? NULL : &count;
    const int *const from = is_last ? NULL : &displ;
    int *const recv = test_rank ? came : NULL;
    const int *const to_count = test_rank ? &count : NULL, *const to = test_rank ? &displ : NULL;
    MPI_Request request;
    int rc;

    prepare();
    rc = form == 0   ? MPI_Neighbor_allgather(data, LEN, MPI_INT, recv, LEN, MPI_INT, comm)
         : form == 1 ? MPI_Ineighbor_allgather(data, LEN, MPI_INT, recv, LEN, MPI_INT, comm, &request)
                     : MPI_Neighbor_allgather_init(data, LEN, MPI_INT, recv, LEN, MPI_INT, comm, MPI_INFO_NULL,
                                                   &request);
    complete(rc, form, &request);
    prepare();
    rc = form == 0   ? MPI_Neighbor_alltoall(send, LEN, MPI_INT, recv, LEN, MPI_INT, comm)
         : form == 1 ? MPI_Ineighbor_alltoall_c(send, LEN, MPI_INT, recv, LEN, MPI_INT, comm, &request)
                     : MPI_Neighbor_alltoall_init(send, LEN, MPI_INT, recv, LEN, MPI_INT, comm, MPI_INFO_NULL,
                                                  &request);
    complete(rc, form, &request);
    prepare();
    rc = form == 0   ? MPI_Neighbor_allgatherv(data, LEN, MPI_INT, recv, to_count, to, MPI_INT, comm)
         : form == 1 ? MPI_Ineighbor_allgatherv(data, LEN, MPI_INT, recv, to_count, to, MPI_INT, comm, &request)
                     : MPI_Neighbor_allgatherv_init(data, LEN, MPI_INT, recv, to_count, to, MPI_INT, comm,
                                                    MPI_INFO_NULL, &request);
    complete(rc, form, &request);
    prepare();
    rc = form == 0   ? MPI_Neighbor_alltoallv(send, from_count, from, MPI_INT, recv, to_count, to, MPI_INT, comm)
         : form == 1 ? MPI_Ineighbor_alltoallv(send, from_count, from, MPI_INT, recv, to_count, to, MPI_INT, comm,
                                               &request)
                     : MPI_Neighbor_alltoallv_init(send, from_count, from, MPI_INT, recv, to_count, to, MPI_INT, comm,
                                                   MPI_INFO_NULL, &request);
    complete(rc, form, &request);
}

/* Nobody has a neighbour in a grid without dimensions, and everybody has some in a ring. */
static void check_grids(void)
{
    const int period = 1;
    MPI_Comm grid;

    CHECK_OK(MPI_Cart_create(MPI_COMM_SELF, 0, NULL, NULL, 0, &grid));
    CHECK_OK(MPI_Neighbor_alltoall(NULL, LEN, MPI_INT, NULL, LEN, MPI_INT, grid));
    CHECK_OK(MPI_Comm_free(&grid));
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &test_size, &period, 0, &grid));
    CHECK_CLASS(MPI_Neighbor_allgather(data, 1, MPI_INT, NULL, 1, MPI_INT, grid), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Neighbor_alltoall(NULL, 1, MPI_INT, came, 1, MPI_INT, grid), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Neighbor_alltoall(data, 1, MPI_INT, NULL, 1, MPI_INT, grid), MPI_ERR_BUFFER);
    CHECK_OK(MPI_Neighbor_alltoall(NULL, 0, MPI_INT, NULL, 0, MPI_INT, grid));
    CHECK_OK(MPI_Comm_free(&grid));
}

int main(int argc, char **argv)
{
    int before, after;

    test_begin(&argc, &argv);
    before = test_rank - 1;
    after = test_rank + 1;
    CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, test_rank > 0, &before, MPI_UNWEIGHTED,
                                            after < test_size, &after, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
    for (int form = 0; form < FORMS; form++)
        exchange(form);
    CHECK_OK(MPI_Comm_free(&comm));
    check_grids();
    return test_end();
}
