/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.9, §2.5.8: the forms for large counts of the functions that make persistent requests. */
#include "mpitest.h"

#if MPI_VERSION >= 4
enum { LEN = 1000, ROUNDS = 3, MODES = 4 };

int main(int argc, char **argv)
{
    static unsigned char out[MODES][LEN], in[MODES][LEN], space[ROUNDS * (LEN + MPI_BSEND_OVERHEAD)];
    MPI_Request sends[MODES], recvs[MODES];
    MPI_Status sts[MODES];
    MPI_Count size;
    void *address;
    int right, left, i, round;

    test_begin(&argc, &argv);
    right = (test_rank + 1) % test_size;
    left = (test_rank + test_size - 1) % test_size;
    CHECK_OK(MPI_Buffer_attach_c(space, sizeof space));
    CHECK_OK(MPI_Send_init_c(out[0], LEN, MPI_BYTE, right, 0, MPI_COMM_WORLD, &sends[0]));
    CHECK_OK(MPI_Ssend_init_c(out[1], LEN, MPI_BYTE, right, 1, MPI_COMM_WORLD, &sends[1]));
    CHECK_OK(MPI_Rsend_init_c(out[2], LEN, MPI_BYTE, right, 2, MPI_COMM_WORLD, &sends[2]));
    CHECK_OK(MPI_Bsend_init_c(out[3], LEN, MPI_BYTE, right, 3, MPI_COMM_WORLD, &sends[3]));
    for (i = 0; i < MODES; i++)
        CHECK_OK(MPI_Recv_init_c(in[i], LEN, MPI_BYTE, left, i, MPI_COMM_WORLD, &recvs[i]));
    for (round = 0; round < ROUNDS; round++) {
        for (i = 0; i < MODES; i++)
            test_fill(out[i], LEN, test_key(test_rank, i, round));
        CHECK_OK(MPI_Startall(MODES, recvs));
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD)); /* for ready mode */
        CHECK_OK(MPI_Startall(MODES, sends));
        CHECK_OK(MPI_Waitall(MODES, recvs, sts));
        CHECK_OK(MPI_Waitall(MODES, sends, MPI_STATUSES_IGNORE));
        for (i = 0; i < MODES; i++) {
            CHECK_STATUS(&sts[i], left, i, LEN);
            CHECK_BYTES(in[i], LEN, test_key(left, i, round));
        }
    }
    for (i = 0; i < MODES; i++) {
        CHECK_OK(MPI_Request_free(&sends[i]));
        CHECK_OK(MPI_Request_free(&recvs[i]));
    }
    CHECK_OK(MPI_Buffer_detach_c(&address, &size));
    return test_end();
}
#else
int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    test_skip("no large-count forms before MPI 4.0");
}
#endif
