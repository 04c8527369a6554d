/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §7.7.2: a copy callback that fails at one process makes MPI_Comm_idup fail there. The others, whose callbacks
 * have not failed, complete it, wherever the failing one stands, and what had been copied is deleted. */
#include "mpitest.h"

enum { REFUSED = MPI_ERR_LASTCODE };

static int copies, deletes;

static int copy(MPI_Comm old, int keyval, void *state, void *in, void *out, int *flag)
{
    (void)old;
    (void)keyval;
    (void)state;
    *(void **)out = in;
    *flag = 1;
    copies++;
    return MPI_SUCCESS;
}

static int refuse(MPI_Comm old, int keyval, void *failing, void *in, void *out, int *flag)
{
    if (*(int *)failing == test_rank)
        return MPI_ERR_OTHER;
    return copy(old, keyval, failing, in, out, flag);
}

static int delete(MPI_Comm comm, int keyval, void *value, void *state)
{
    (void)comm;
    (void)keyval;
    (void)value;
    (void)state;
    deletes++;
    return MPI_SUCCESS;
}

static void one(MPI_Comm comm, int failing)
{
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    int good, bad;

    copies = deletes = 0;
    CHECK_OK(MPI_Comm_create_keyval(copy, delete, &good, NULL));
    CHECK_OK(MPI_Comm_create_keyval(refuse, delete, &bad, &failing));
    CHECK_OK(MPI_Comm_set_attr(comm, good, NULL));
    CHECK_OK(MPI_Comm_set_attr(comm, bad, NULL));
    if (test_rank == failing) {
        CHECK_CLASS(MPI_Comm_idup(comm, &made, &request), MPI_ERR_OTHER);
        CHECK_INT(deletes, copies);
    } else {
        CHECK_OK(MPI_Comm_idup(comm, &made, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Comm_free(&made));
        CHECK_INT(deletes, 2);
    }
    CHECK_OK(MPI_Comm_delete_attr(comm, good));
    CHECK_OK(MPI_Comm_delete_attr(comm, bad));
    CHECK_OK(MPI_Comm_free_keyval(&good));
    CHECK_OK(MPI_Comm_free_keyval(&bad));
    /* and what comes after is not mixed up */
    CHECK_OK(MPI_Comm_idup(comm, &made, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Barrier(made));
    CHECK_OK(MPI_Comm_free(&made));
}

int main(int argc, char **argv)
{
    MPI_Comm side, both;
    int failing;

    test_begin(&argc, &argv);
    for (failing = 0; failing < test_size; failing++)
        one(MPI_COMM_WORLD, failing);
    if (test_size > 1) {
        CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, test_rank % 2, 0, &side));
        CHECK_OK(MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, 1 - test_rank % 2, 1, &both));
        CHECK_OK(MPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN));
        for (failing = 0; failing < test_size; failing++)
            one(both, failing);
        CHECK_OK(MPI_Comm_free(&both));
        CHECK_OK(MPI_Comm_free(&side));
    }
    return test_end();
}
