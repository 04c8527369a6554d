/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi.h as C++: it compiles without a warning, its functions have C linkage, and its constants may be used where
 * programs use them: in initialisers, as case labels, as template arguments, in expressions of both kinds. */
#include <mpi.h>

#include <mpi.h>

static MPI_Comm comm = MPI_COMM_WORLD;
static const MPI_Datatype types[] = { MPI_INT, MPI_DOUBLE, MPI_DATATYPE_NULL };

template <int value> struct constant {
    static const int result = value;
};

static int name_of(int rank)
{
    switch (rank) {
    case MPI_PROC_NULL: return constant<MPI_ANY_SOURCE>::result;
    case MPI_UNDEFINED: return MPI_ERR_RANK;
    default: return rank ? MPI_MODE_CREATE | MPI_MODE_WRONLY : MPI_SUCCESS;
    }
}

extern "C" int (*send_function)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
int (*send_function)(const void *, int, MPI_Datatype, int, int, MPI_Comm) = MPI_Send;

int main()
{
    MPI_Status status = MPI_Status();

    return comm != MPI_COMM_WORLD || types[0] != MPI_INT || name_of(MPI_PROC_NULL) != MPI_ANY_SOURCE ||
           status.MPI_TAG != 0 || send_function != MPI_Send;
}
