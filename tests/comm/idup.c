/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §7.4.2: MPI_Comm_idup returns at once and completes when all have called it; several may be under way, on
 * one communicator and on those between two groups, beside other communication. */
#include "mpitest.h"

enum { MANY = 5, ROUNDS = 20 };

/* The new one is congruent, apart from the old one, and works. */
static void check_copy(MPI_Comm old, MPI_Comm new)
{
    int result = -1, sum = -1, size;

    CHECK_OK(MPI_Comm_compare(old, new, &result));
    CHECK_INT(result, MPI_CONGRUENT);
    CHECK_OK(MPI_Comm_size(new, &size));
    CHECK_OK(MPI_Allreduce(&(int){ 1 }, &sum, 1, MPI_INT, MPI_SUM, new));
    CHECK_INT(sum, size);
}

/* Rank 0 starts only after it has heard from the others, who have started before: nobody waits in the call. */
static void returns_at_once(void)
{
    MPI_Comm new = MPI_COMM_NULL;
    MPI_Request request;
    MPI_Status status;
    int rank, flag = -1;

    if (test_rank == 0) {
        for (rank = 1; rank < test_size; rank++)
            CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    CHECK_OK(MPI_Comm_idup(MPI_COMM_WORLD, &new, &request));
    CHECK(new != MPI_COMM_NULL, "no handle");
    if (test_rank) {
        CHECK_OK(MPI_Test(&request, &flag, &status));
        CHECK_INT(flag, 0);
        CHECK_OK(MPI_Send(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD));
    }
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_EMPTY(&status);
    CHECK(request == MPI_REQUEST_NULL, "the request is still there");
    check_copy(MPI_COMM_WORLD, new);
    CHECK_OK(MPI_Comm_free(&new));
}

/* Users (mpi4py) set the error handler of the new one at once. Nothing else can be done with it. */
static void early_handler(void)
{
    MPI_Comm new = MPI_COMM_NULL;
    MPI_Errhandler handler;
    MPI_Request request;
    int flag = -1, size;

    CHECK_OK(MPI_Comm_idup(MPI_COMM_WORLD, &new, &request));
    CHECK_OK(MPI_Comm_set_errhandler(new, MPI_ERRORS_ARE_FATAL));
    CHECK_OK(MPI_Comm_get_errhandler(new, &handler));
    CHECK(handler == MPI_ERRORS_ARE_FATAL, "another handler came back");
    if (test_size > 1 && test_rank) {
        CHECK_OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
        if (!flag && test_is_parley())
            CHECK_CLASS(MPI_Comm_size(new, &size), MPI_ERR_COMM);
    }
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Comm_get_errhandler(new, &handler));
    CHECK(handler == MPI_ERRORS_ARE_FATAL, "the handler is gone");
    check_copy(MPI_COMM_WORLD, new);
    CHECK_OK(MPI_Comm_free(&new));
}

/* The old one may be freed before the new one is there; others complete in any order. */
static void several(int round)
{
    MPI_Comm old, new[MANY];
    MPI_Request requests[MANY];
    int i, index, sum = -1;

    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &old));
    for (i = 0; i < MANY; i++) {
        CHECK_OK(MPI_Comm_idup(i % 2 ? old : MPI_COMM_WORLD, &new[i], &requests[i]));
        if (i == round % MANY) /* in the order of calls, whatever is under way */
            CHECK_OK(MPI_Allreduce(&(int){ 1 }, &sum, 1, MPI_INT, MPI_SUM, old));
    }
    CHECK_INT(sum, test_size);
    CHECK_OK(MPI_Comm_free(&old));
    for (i = 0; i < MANY; i++)
        CHECK_OK(MPI_Waitany(MANY, requests, &index, MPI_STATUS_IGNORE));
    for (i = 0; i < MANY; i++) {
        check_copy(MPI_COMM_WORLD, new[i]);
        CHECK_OK(MPI_Comm_free(&new[i]));
    }
}

/* Between the even ranks and the odd ones. */
static void between_groups(void)
{
    MPI_Comm local, inter, new[MANY];
    MPI_Request requests[MANY];
    int i, got, result, rank, remote;

    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, test_rank % 2, 0, &local));
    CHECK_OK(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, !(test_rank % 2), 1, &inter));
    CHECK_OK(MPI_Comm_remote_size(inter, &remote));
    CHECK_OK(MPI_Comm_rank(inter, &rank));
    for (i = 0; i < MANY; i++)
        CHECK_OK(MPI_Comm_idup(inter, &new[i], &requests[i]));
    CHECK_OK(MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE));
    for (i = 0; i < MANY; i++) {
        CHECK_OK(MPI_Comm_compare(inter, new[i], &result));
        CHECK_INT(result, MPI_CONGRUENT);
        if (rank < remote && test_rank < test_size / 2 * 2)
            CHECK_OK(MPI_Sendrecv(&test_rank, 1, MPI_INT, rank, i, &got, 1, MPI_INT, rank, i, new[i],
                                  MPI_STATUS_IGNORE));
        else
            got = test_rank ^ 1;
        CHECK_INT(got, test_rank ^ 1);
        CHECK_OK(MPI_Comm_free(&new[i]));
    }
    CHECK_OK(MPI_Comm_free(&inter));
    CHECK_OK(MPI_Comm_free(&local));
}

/* It may be neither cancelled nor freed under way. */
static void wrong_use(void)
{
    MPI_Comm new, unused = MPI_COMM_NULL;
    MPI_Request request, same;
    int ready = 0;

    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (test_rank == 0)
        CHECK_OK(MPI_Recv(&ready, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Comm_idup(MPI_COMM_WORLD, &new, &request));
    if (test_rank == 1) {
        same = request;
        CHECK_CLASS(MPI_Cancel(&request), MPI_ERR_REQUEST);
        CHECK_CLASS(MPI_Request_free(&same), MPI_ERR_REQUEST);
        unused = new;
        CHECK_CLASS(MPI_Comm_size(unused, &ready), MPI_ERR_COMM);
        CHECK_OK(MPI_Send(&ready, 1, MPI_INT, 0, 2, MPI_COMM_WORLD));
    }
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Comm_free(&new));
}

int main(int argc, char **argv)
{
    int round;

    test_begin(&argc, &argv);
    returns_at_once();
    early_handler();
    for (round = 0; round < ROUNDS; round++)
        several(round);
    if (test_size > 1)
        between_groups();
    if (test_size > 1 && test_is_parley())
        wrong_use();
    return test_end();
}
