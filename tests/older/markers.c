/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 2.2 §4.1.6: MPI_LB and MPI_UB among the types of a structure set its bounds, whatever else is in it, and go on in
 * types made of it; they hold no data; either may stand alone; the same for MPI_Type_create_struct.
 */
#include "mpitest.h"

static void check_bounds(MPI_Datatype type, MPI_Aint lb, MPI_Aint ub, int size)
{
    MPI_Aint low, high, extent;
    int bytes;

    CHECK_OK(MPI_Type_lb(type, &low));
    CHECK_OK(MPI_Type_ub(type, &high));
    CHECK_OK(MPI_Type_extent(type, &extent));
    CHECK_OK(MPI_Type_size(type, &bytes));
    CHECK(low == lb && high == ub && extent == ub - lb && bytes == size, "[%ld, %ld), %d bytes; not [%ld, %ld), %d",
          (long)low, (long)high, bytes, (long)lb, (long)ub, size);
}

/* A result that has no place is an error, as in the calls that came after. */
static void no_result(void)
{
    MPI_Errhandler errhandler;

    CHECK_OK(MPI_Comm_get_errhandler(MPI_COMM_SELF, &errhandler));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    CHECK_CLASS(MPI_Type_lb(MPI_INT, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Type_ub(MPI_INT, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Type_extent(MPI_INT, NULL), MPI_ERR_ARG);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, errhandler));
    CHECK_OK(MPI_Errhandler_free(&errhandler));
}

/* The example of the old standard: type1 is {(lb, -3), (int, 0), (ub, 6)}, type2 two of it. */
static void nested(void)
{
    int lengths[3] = { 1, 1, 1 };
    MPI_Aint disps[3] = { -3, 0, 6 };
    MPI_Datatype types[3] = { MPI_LB, MPI_INT, MPI_UB }, type1, type2;

    CHECK_OK(MPI_Type_struct(3, lengths, disps, types, &type1));
    check_bounds(type1, -3, 6, sizeof(int));
    CHECK_OK(MPI_Type_contiguous(2, type1, &type2));
    check_bounds(type2, -3, 15, 2 * sizeof(int));
    CHECK_OK(MPI_Type_free(&type2));

    types[0] = type1; /* an explicit mark beside an inherited one: the highest counts */
    lengths[0] = lengths[2] = 1;
    disps[0] = 0, disps[1] = 40, disps[2] = 4;
    CHECK_OK(MPI_Type_create_struct(3, lengths, disps, types, &type2));
    check_bounds(type2, -3, 6, 2 * sizeof(int));
    CHECK_OK(MPI_Type_free(&type2));
    disps[2] = 64;
    CHECK_OK(MPI_Type_create_struct(3, lengths, disps, types, &type2));
    check_bounds(type2, -3, 64, 2 * sizeof(int));
    CHECK_OK(MPI_Type_free(&type2));
    CHECK_OK(MPI_Type_free(&type1));
}

static void one_of_them(void)
{
    int lengths[2] = { 1, 1 };
    MPI_Aint disps[2] = { 0, 0 };
    MPI_Datatype types[2] = { MPI_CHAR, MPI_UB }, type, twice;

    disps[1] = 5;
    CHECK_OK(MPI_Type_struct(2, lengths, disps, types, &type));
    check_bounds(type, 0, 5, 1);
    CHECK_OK(MPI_Type_hvector(2, 1, 8, type, &twice));
    check_bounds(twice, 0, 13, 2);
    CHECK_OK(MPI_Type_free(&twice));
    CHECK_OK(MPI_Type_free(&type));
    types[1] = MPI_LB;
    disps[1] = -7;
    CHECK_OK(MPI_Type_struct(2, lengths, disps, types, &type));
    check_bounds(type, -7, 1, 1);
    CHECK_OK(MPI_Type_free(&type));
    lengths[1] = 0; /* no item: no mark */
    CHECK_OK(MPI_Type_struct(2, lengths, disps, types, &type));
    check_bounds(type, 0, 1, 1);
    CHECK_OK(MPI_Type_free(&type));
}

/* What they were for: columns of a matrix, one after the other. */
static void columns(void)
{
    enum { N = 6 };
    int lengths[2] = { 1, 1 }, matrix[N][N], turned[N][N], me = 0;
    MPI_Aint disps[2] = { 0, sizeof(int) };
    MPI_Datatype types[2] = { MPI_DATATYPE_NULL, MPI_UB }, column;

    for (int i = 0; i < N * N; i++)
        matrix[i / N][i % N] = i;
    CHECK_OK(MPI_Type_vector(N, 1, N, MPI_INT, &types[0]));
    CHECK_OK(MPI_Type_struct(2, lengths, disps, types, &column));
    CHECK_OK(MPI_Type_commit(&column));
    CHECK_OK(MPI_Sendrecv(matrix, N, column, me, 1, turned, N * N, MPI_INT, me, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++)
            CHECK_INT(turned[i][k], matrix[k][i]);
    CHECK_OK(MPI_Type_free(&types[0]));
    CHECK_OK(MPI_Type_free(&column));
}

static void alone(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    int size, len;

    CHECK_OK(MPI_Type_size(MPI_UB, &size));
    CHECK_INT(size, 0);
    CHECK_OK(MPI_Type_get_name(MPI_LB, name, &len));
    CHECK(!strcmp(name, "MPI_LB"), "MPI_LB is called %s", name);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    nested();
    no_result();
    one_of_them();
    columns();
    alone();
    return test_end();
}
