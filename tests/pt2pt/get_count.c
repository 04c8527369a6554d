/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.2.5: MPI_Get_count gives the number of whole elements received, and MPI_UNDEFINED when the bytes
 * are not a multiple of the type's size. */
#include "mpitest.h"

static void receive(int bytes, MPI_Status *st)
{
    char out[64] = { 0 }, in[64];
    MPI_Request req;

    *st = test_dirty_status();
    CHECK_OK(MPI_Isend(out, bytes, MPI_BYTE, 0, 0, MPI_COMM_SELF, &req));
    CHECK_OK(MPI_Recv(in, 64, MPI_BYTE, 0, 0, MPI_COMM_SELF, st));
    CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
}

static void check(const MPI_Status *st, MPI_Datatype type, int want)
{
    int count = -7;

    CHECK_OK(MPI_Get_count(st, type, &count));
    CHECK_INT(count, want);
#if MPI_VERSION >= 4
    MPI_Count large = -7;

    CHECK_OK(MPI_Get_count_c(st, type, &large));
    CHECK_INT(large, want);
#endif
}

int main(int argc, char **argv)
{
    MPI_Status st;
    int bytes;

    test_begin(&argc, &argv);
    for (bytes = 0; bytes <= 48; bytes++) {
        receive(bytes, &st);
        check(&st, MPI_BYTE, bytes);
        check(&st, MPI_SHORT, bytes % 2 ? MPI_UNDEFINED : bytes / 2);
        check(&st, MPI_INT, bytes % 4 ? MPI_UNDEFINED : bytes / 4);
        check(&st, MPI_DOUBLE, bytes % 8 ? MPI_UNDEFINED : bytes / 8);
        check(&st, MPI_DOUBLE_INT, bytes % 12 ? MPI_UNDEFINED : bytes / 12);
        check(&st, MPI_SHORT_INT, bytes % 6 ? MPI_UNDEFINED : bytes / 6);
    }
    return test_end();
}
