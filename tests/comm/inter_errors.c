/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §7.6.2: wrong uses of intercommunicators and of what makes them. All members of a side get an error. */
#include "mpitest.h"

/* The leader that is asked for is in the local group, or out of range, or the peer is none. */
static void bad_leaders(void)
{
    MPI_Comm comm;

    CHECK_CLASS(MPI_Intercomm_create(MPI_COMM_WORLD, 0, MPI_COMM_WORLD, test_size - 1, 1, &comm), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Intercomm_create(MPI_COMM_WORLD, 0, MPI_COMM_WORLD, test_size, 1, &comm), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Intercomm_create(MPI_COMM_WORLD, 0, MPI_COMM_WORLD, -1, 1, &comm), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Intercomm_create(MPI_COMM_WORLD, 0, MPI_COMM_NULL, 0, 1, &comm), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Intercomm_create(MPI_COMM_WORLD, test_size, MPI_COMM_WORLD, 0, 1, &comm), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Intercomm_create(MPI_COMM_WORLD, 0, MPI_COMM_WORLD, 0, -1, &comm), MPI_ERR_TAG);
    CHECK_CLASS(MPI_Intercomm_merge(MPI_COMM_WORLD, 0, &comm), MPI_ERR_COMM);
}

/* The two groups have rank 0 in common. */
static void overlap(void)
{
    MPI_Group world, one;
    MPI_Comm comm;
    const int zero = 0;

    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    CHECK_OK(MPI_Group_incl(world, 1, &zero, &one));
    CHECK_CLASS(MPI_Intercomm_create_from_groups(world, 0, one, 0, "tests:overlap", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                                 &comm), MPI_ERR_COMM);
    CHECK_OK(MPI_Group_free(&one));
    CHECK_OK(MPI_Group_free(&world));
}

/* Rank 0 against all others. */
static void uses(void)
{
    MPI_Comm local, inter, other;
    MPI_Group group;
    int buf = 0;

    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, test_rank == 0, 0, &local));
    CHECK_OK(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, test_rank == 0, 1, &inter));
    CHECK_CLASS(MPI_Comm_create_group(inter, MPI_GROUP_EMPTY, 1, &other), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Intercomm_create(inter, 0, MPI_COMM_WORLD, 0, 1, &other), MPI_ERR_COMM);
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &group));
    CHECK_CLASS(MPI_Comm_create(inter, group, &other), MPI_ERR_GROUP);
    CHECK_OK(MPI_Group_free(&group));
    CHECK_CLASS(MPI_Recv(&buf, 1, MPI_INT, test_size, 0, inter, MPI_STATUS_IGNORE), MPI_ERR_RANK);
    if (test_size > 2 && test_is_parley() && test_rank)
        CHECK_CLASS(MPI_Intercomm_merge(inter, test_rank == 1, &other), test_rank == 1 ? MPI_SUCCESS : MPI_ERR_ARG);
    else
        CHECK_OK(MPI_Intercomm_merge(inter, 1, &other));
    if (other != MPI_COMM_NULL && test_rank < 2)
        CHECK_OK(MPI_Comm_free(&other));
    CHECK_OK(MPI_Comm_free(&inter));
    CHECK_OK(MPI_Comm_free(&local));
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    bad_leaders();
    overlap();
    if (test_size > 1)
        uses();
    return test_end();
}
