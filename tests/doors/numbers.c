/* SPDX-License-Identifier: BSD-3-Clause */
/* What handles are in Fortran: C functions of a program tell it, and get handles from it. The functions are not in our
 * table; those that are macros in the header of that MPI are not tried. */
#include "mpitest.h"

extern int MPI_File_c2f(MPI_File);
extern MPI_File MPI_File_f2c(int);

#ifdef DOOR_OMPI
extern int MPI_Comm_c2f(MPI_Comm), MPI_Type_c2f(MPI_Datatype), MPI_Op_c2f(MPI_Op), MPI_Group_c2f(MPI_Group),
    MPI_Errhandler_c2f(MPI_Errhandler), MPI_Request_c2f(MPI_Request), MPI_Info_c2f(MPI_Info);
extern MPI_Comm MPI_Comm_f2c(int);
extern MPI_Datatype MPI_Type_f2c(int);
extern MPI_Op MPI_Op_f2c(int);
extern MPI_Group MPI_Group_f2c(int);

static void test_predefined(void)
{
    CHECK(MPI_Comm_c2f(MPI_COMM_WORLD) == 0 && MPI_Comm_c2f(MPI_COMM_SELF) == 1 && MPI_Comm_c2f(MPI_COMM_NULL) == 2,
          "another number or handle");
    CHECK(MPI_Comm_f2c(0) == MPI_COMM_WORLD && MPI_Comm_f2c(1) == MPI_COMM_SELF && MPI_Comm_f2c(2) == MPI_COMM_NULL,
          "another number or handle");
    CHECK(MPI_Type_c2f(MPI_INTEGER) == 7 && MPI_Type_f2c(7) == MPI_INTEGER, "another number or handle");
    CHECK(MPI_Type_c2f(MPI_DATATYPE_NULL) == 0 && MPI_Type_f2c(17) == MPI_DOUBLE_PRECISION,
          "another number or handle");
    CHECK(MPI_Type_c2f(MPI_COUNT) == 72 && MPI_Type_f2c(72) == MPI_COUNT, "another number or handle");
    CHECK(MPI_Op_c2f(MPI_SUM) == 3 && MPI_Op_f2c(14) == MPI_NO_OP && MPI_Op_c2f(MPI_OP_NULL) == 0,
          "another number or handle");
    CHECK(MPI_Group_c2f(MPI_GROUP_EMPTY) == 1 && MPI_Group_f2c(0) == MPI_GROUP_NULL,
          "another number or handle");
    CHECK(MPI_Errhandler_c2f(MPI_ERRORS_RETURN) == 2 && MPI_Request_c2f(MPI_REQUEST_NULL) == 0,
          "another number or handle");
    CHECK(MPI_Info_c2f(MPI_INFO_ENV) == 1 && MPI_Info_c2f(MPI_INFO_NULL) == 0, "another number or handle");
}

static void test_objects(void)
{
    MPI_Comm copy;
    MPI_Datatype pair;

    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    CHECK(MPI_Comm_c2f(copy) > 96 && MPI_Comm_f2c(MPI_Comm_c2f(copy)) == copy, "another number or handle");
    MPI_Comm_free(&copy);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    CHECK(MPI_Type_c2f(pair) > 96 && MPI_Type_f2c(MPI_Type_c2f(pair)) == pair, "another number or handle");
    MPI_Type_free(&pair);
}
#else
static void test_predefined(void)
{
}
static void test_objects(void)
{
}
#endif

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    CHECK(MPI_File_c2f(MPI_FILE_NULL) == 0 && MPI_File_f2c(0) == MPI_FILE_NULL, "another number or handle");
    test_predefined();
    test_objects();
    return test_end();
}
