/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of MPI 1 that programs of the other ABIs may still call, structures with MPI_LB and MPI_UB, and numbers of
 * handles for Fortran. */
#include "mpitest.h"

int MPI_Address(void *, MPI_Aint *);
int MPI_Type_extent(MPI_Datatype, MPI_Aint *);
int MPI_Type_lb(MPI_Datatype, MPI_Aint *);
int MPI_Type_ub(MPI_Datatype, MPI_Aint *);
int MPI_Type_hvector(int, int, MPI_Aint, MPI_Datatype, MPI_Datatype *);
int MPI_Type_hindexed(int, int *, MPI_Aint *, MPI_Datatype, MPI_Datatype *);
int MPI_Type_struct(int, int *, MPI_Aint *, MPI_Datatype *, MPI_Datatype *);
int MPI_Errhandler_create(MPI_Comm_errhandler_function *, MPI_Errhandler *);
int MPI_Errhandler_get(MPI_Comm, MPI_Errhandler *);
int MPI_Errhandler_set(MPI_Comm, MPI_Errhandler);
MPI_Fint MPI_File_c2f(MPI_File);
MPI_File MPI_File_f2c(MPI_Fint);
int MPI_Status_c2f(const MPI_Status *, MPI_Fint *);
int MPI_Status_f2c(const MPI_Fint *, MPI_Status *);

#ifdef DOOR_MPICH
#define MPI_LB ((MPI_Datatype)0x4c000010)
#define MPI_UB ((MPI_Datatype)0x4c000011)
#else
extern struct { char room[512]; } ompi_mpi_lb, ompi_mpi_ub;
#define MPI_LB ((MPI_Datatype)(void *)&ompi_mpi_lb)
#define MPI_UB ((MPI_Datatype)(void *)&ompi_mpi_ub)
MPI_Fint MPI_Comm_c2f(MPI_Comm);
MPI_Comm MPI_Comm_f2c(MPI_Fint);
MPI_Fint MPI_Type_c2f(MPI_Datatype);
MPI_Datatype MPI_Type_f2c(MPI_Fint);
#endif

static void check_bounds(MPI_Datatype type, MPI_Aint lb, MPI_Aint ub)
{
    MPI_Aint value;

    CHECK_OK(MPI_Type_lb(type, &value));
    CHECK_INT(value, lb);
    CHECK_OK(MPI_Type_ub(type, &value));
    CHECK_INT(value, ub);
    CHECK_OK(MPI_Type_extent(type, &value));
    CHECK_INT(value, ub - lb);
}

static void check_types(void)
{
    int lengths[] = { 1, 2, 1 }, size;
    MPI_Aint places[] = { -8, 0, 40 };
    MPI_Datatype types[] = { MPI_LB, MPI_INT, MPI_UB }, type, again;

    CHECK_OK(MPI_Type_struct(3, lengths, places, types, &type));
    check_bounds(type, -8, 40);
    CHECK_OK(MPI_Type_size(type, &size));
    CHECK_INT(size, 8);
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Type_create_struct(2, lengths + 1, places + 1, types + 1, &type));
    check_bounds(type, 0, 40);
    CHECK_OK(MPI_Type_hvector(2, 1, 100, type, &again));
    check_bounds(again, 0, 140);
    CHECK_OK(MPI_Type_free(&again));
    CHECK_OK(MPI_Type_free(&type));
    CHECK(type == MPI_DATATYPE_NULL, "not null");
    CHECK_OK(MPI_Type_hindexed(2, (int[]){ 1, 1 }, (MPI_Aint[]){ 8, 24 }, MPI_INT, &type));
    check_bounds(type, 8, 28);
    CHECK_OK(MPI_Type_free(&type));
}

static int calls;

static void handle(MPI_Comm *comm, int *code, ...)
{
    calls += *comm == MPI_COMM_SELF && test_class(*code) == MPI_ERR_RANK;
}

static void check_handlers(void)
{
    MPI_Errhandler made, got;

    CHECK_OK(MPI_Errhandler_create(handle, &made));
    CHECK_OK(MPI_Errhandler_set(MPI_COMM_SELF, made));
    CHECK_OK(MPI_Errhandler_get(MPI_COMM_SELF, &got));
    CHECK(got == made, "another handler");
    CHECK_CLASS(MPI_Send(&calls, 1, MPI_INT, 5, 0, MPI_COMM_SELF), MPI_ERR_RANK);
    CHECK_INT(calls, 1);
    CHECK_OK(MPI_Errhandler_free(&got));
    CHECK_OK(MPI_Errhandler_free(&made));
    CHECK_OK(MPI_Errhandler_set(MPI_COMM_SELF, MPI_ERRORS_RETURN));
}

static void check_numbers(void)
{
    MPI_Fint numbers[8];
    MPI_Status status, again;

    CHECK(MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) == MPI_FILE_NULL, "another file");
    CHECK_OK(MPI_Sendrecv(&calls, 1, MPI_INT, 0, 5, numbers, 1, MPI_INT, 0, 5, MPI_COMM_SELF, &status));
    CHECK_OK(MPI_Status_c2f(&status, numbers));
    memset(&again, 0, sizeof again);
    CHECK_OK(MPI_Status_f2c(numbers, &again));
    CHECK_INT(again.MPI_TAG, 5);
#ifndef DOOR_MPICH
    MPI_Comm comm;
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD)) == MPI_COMM_WORLD, "another communicator");
    CHECK(MPI_Type_f2c(MPI_Type_c2f(MPI_INT)) == MPI_INT, "another datatype");
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(comm)) == comm, "another communicator");
    CHECK_OK(MPI_Comm_free(&comm));
#endif
}

int main(int argc, char **argv)
{
    MPI_Aint address;

    test_begin(&argc, &argv);
    CHECK_OK(MPI_Address(&calls, &address));
    CHECK_INT(address, (intptr_t)&calls);
    check_types();
    check_handlers();
    check_numbers();
    return test_end();
}
