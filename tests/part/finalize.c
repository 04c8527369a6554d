/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §11.2.2: a partitioned send that is complete here may still be on its way when MPI_Finalize is called; the
 * receiver comes late and gets everything. */
#include "mpipart.h"

enum { TAG = 2, PARTS = 50 };

static void send_all(int len)
{
    unsigned char *out = test_alloc((size_t)len * PARTS);
    MPI_Request req;

    NEEDS(MPI_Psend_init(out, PARTS, len, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &req));
    test_fill(out, (size_t)len * PARTS, test_key((uint64_t)test_rank, 0, 0));
    CHECK_OK(MPI_Start(&req));
    CHECK_OK(MPI_Pready_range(0, PARTS - 1, req));
    CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Request_free(&req));
    free(out);
}

static void recv_all(int len)
{
    unsigned char *in = test_alloc((size_t)len * PARTS);
    MPI_Request req;

    for (int source = test_size - 1; source > 0; source--) {
        NEEDS(MPI_Precv_init(in, 1, len * PARTS, MPI_BYTE, source, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &req));
        CHECK_OK(MPI_Start(&req));
        CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
        CHECK_BYTES(in, (size_t)len * PARTS, test_key((uint64_t)source, 0, 0));
        CHECK_OK(MPI_Request_free(&req));
    }
    free(in);
}

int main(int argc, char **argv)
{
    static const int lens[] = { 100, 3000 };

    test_begin(&argc, &argv);
    for (int i = 0; i < 2; i++)
        test_rank ? send_all(lens[i]) : recv_all(lens[i]);
    return test_end();
}
