/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.7.5: MPI_Testall is all or nothing: while one request is not complete it says false and leaves
 * every request as it was; when it says true all are null and every status is filled. MPI_Test of an
 * incomplete request says false and keeps it. */
#include "mpitest.h"

enum { N = 8 };

int main(int argc, char **argv)
{
    MPI_Request reqs[N], before[N], sends[N];
    MPI_Status st[N];
    int in[N], out[N], i, k, is_done;

    test_begin(&argc, &argv);
    for (i = 0; i < N; i++) {
        in[i] = -1;
        out[i] = 50 + i;
        CHECK_OK(MPI_Irecv(&in[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &reqs[i]));
        before[i] = reqs[i];
    }
    for (i = 0; i < N; i++) {
        for (k = 0; k < 50; k++) {
            is_done = 1;
            CHECK_OK(MPI_Testall(N, reqs, &is_done, st));
            CHECK_INT(is_done, 0);
            CHECK_OK(MPI_Test(&reqs[N - 1], &is_done, &st[0]));
            CHECK_INT(is_done, 0);
        }
        for (k = 0; k < N; k++)
            CHECK(reqs[k] == before[k], "MPI_Testall said false, but changed request %d", k);
        CHECK_OK(MPI_Isend(&out[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &sends[i]));
    }
    for (is_done = 0; !is_done;)
        CHECK_OK(MPI_Testall(N, reqs, &is_done, st));
    for (i = 0; i < N; i++) {
        CHECK_INT(in[i], 50 + i);
        CHECK_STATUS(&st[i], 0, i, sizeof(int));
        CHECK(reqs[i] == MPI_REQUEST_NULL, "request %d is not null", i);
    }
    CHECK_OK(MPI_Waitall(N, sends, MPI_STATUSES_IGNORE));
    return test_end();
}
