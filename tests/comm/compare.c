/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §7.4.1: MPI_Comm_compare: identical handles, congruent duplicates, similar (same members, other
 * order), unequal. */
#include "mpitest.h"

static int compare(MPI_Comm a, MPI_Comm b)
{
    int result = -1;

    NEEDS(MPI_Comm_compare(a, b, &result));
    return result;
}

int main(int argc, char **argv)
{
    MPI_Comm dup, backwards, half;
    int is_inter = -1;

    test_begin(&argc, &argv);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -test_rank, &backwards));
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, test_rank == 0, 0, &half));
    CHECK_INT(compare(MPI_COMM_WORLD, MPI_COMM_WORLD), MPI_IDENT);
    CHECK_INT(compare(MPI_COMM_WORLD, dup), MPI_CONGRUENT);
    CHECK_INT(compare(MPI_COMM_WORLD, backwards), test_size > 1 ? MPI_SIMILAR : MPI_CONGRUENT);
    CHECK_INT(compare(MPI_COMM_WORLD, half), test_size > 1 ? MPI_UNEQUAL : MPI_CONGRUENT);
    CHECK_INT(compare(MPI_COMM_WORLD, MPI_COMM_SELF), test_size > 1 ? MPI_UNEQUAL : MPI_CONGRUENT);
    NEEDS(MPI_Comm_test_inter(dup, &is_inter));
    CHECK_INT(is_inter, 0);
    CHECK_OK(MPI_Comm_free(&dup));
    CHECK_OK(MPI_Comm_free(&backwards));
    CHECK_OK(MPI_Comm_free(&half));
    return test_end();
}
