/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §12.3.4: with MPI_NO_OP the origin's buffer, count and datatype are ignored, whatever they are. */
#include "flavors.h"

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    for (int flavor = 0; flavor < FLAVORS; flavor++) {
        struct window w;
        const int peer = (test_rank + 1) % test_size;
        int got[2] = { 0, 0 };
        MPI_Request request;

        window_open(&w, flavor, 64, MPI_COMM_WORLD);
        ((int *)(void *)w.mem)[0] = test_rank;
        ((int *)(void *)w.mem)[1] = -test_rank;
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        CHECK_OK(MPI_Win_lock_all(0, w.win));
        CHECK_OK(MPI_Get_accumulate(NULL, -3, MPI_DATATYPE_NULL, got, 2, MPI_INT, peer,
                                    window_disp(&w, peer, 0), 2, MPI_INT, MPI_NO_OP, w.win));
        CHECK_OK(MPI_Win_flush(peer, w.win));
        CHECK_INT(got[0], peer);
        CHECK_INT(got[1], -peer);
        CHECK_OK(MPI_Rget_accumulate_c(NULL, 7, MPI_CHAR, &got[1], 1, MPI_INT, peer, window_disp(&w, peer, 0),
                                       1, MPI_INT, MPI_NO_OP, w.win, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_INT(got[1], peer);
        CHECK_OK(MPI_Fetch_and_op(NULL, got, MPI_INT, peer, window_disp(&w, peer, 4), MPI_NO_OP, w.win));
        CHECK_OK(MPI_Win_flush_all(w.win));
        CHECK_INT(got[0], -peer);
        CHECK_OK(MPI_Win_unlock_all(w.win));
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        window_close(&w);
    }
    return test_end();
}
