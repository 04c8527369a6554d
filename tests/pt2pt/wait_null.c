/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.7.3, §3.7.5: waiting for or testing null requests returns at once: single forms and "all" with
 * empty statuses, "any" with index MPI_UNDEFINED, "some" with outcount MPI_UNDEFINED. Also with count 0. */
#include "mpitest.h"

enum { N = 4 };

static MPI_Request reqs[N];
static MPI_Status sts[N];
static int indices[N];

static void reset(void)
{
    int i;

    for (i = 0; i < N; i++) {
        reqs[i] = MPI_REQUEST_NULL;
        sts[i] = test_dirty_status();
    }
}

static void single(void)
{
    int is_done = 0;

    reset();
    CHECK_OK(MPI_Wait(&reqs[0], &sts[0]));
    CHECK_EMPTY(&sts[0]);
    reset();
    CHECK_OK(MPI_Test(&reqs[0], &is_done, &sts[0]));
    CHECK_INT(is_done, 1);
    CHECK_EMPTY(&sts[0]);
    is_done = 0;
    sts[0] = test_dirty_status();
    CHECK_OK(MPI_Request_get_status(MPI_REQUEST_NULL, &is_done, &sts[0]));
    CHECK_INT(is_done, 1);
    CHECK_EMPTY(&sts[0]);
}

static void all(void)
{
    int i, is_done = 0;

    reset();
    CHECK_OK(MPI_Waitall(N, reqs, sts));
    for (i = 0; i < N; i++)
        CHECK_EMPTY(&sts[i]);
    reset();
    CHECK_OK(MPI_Testall(N, reqs, &is_done, sts));
    CHECK_INT(is_done, 1);
    for (i = 0; i < N; i++)
        CHECK_EMPTY(&sts[i]);
    is_done = 0;
    CHECK_OK(MPI_Testall(0, NULL, &is_done, MPI_STATUSES_IGNORE));
    CHECK_INT(is_done, 1);
    CHECK_OK(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));
}

static void any(int count)
{
    int index = 5, is_done = 0;

    reset();
    CHECK_OK(MPI_Waitany(count, reqs, &index, &sts[0]));
    CHECK_INT(index, MPI_UNDEFINED);
    CHECK_EMPTY(&sts[0]);
    reset();
    index = 5;
    CHECK_OK(MPI_Testany(count, reqs, &index, &is_done, &sts[0]));
    CHECK_INT(index, MPI_UNDEFINED);
    CHECK_INT(is_done, 1);
    CHECK_EMPTY(&sts[0]);
}

static void some(int count)
{
    int n = 5;

    reset();
    CHECK_OK(MPI_Waitsome(count, reqs, &n, indices, sts));
    CHECK_INT(n, MPI_UNDEFINED);
    n = 5;
    CHECK_OK(MPI_Testsome(count, reqs, &n, indices, sts));
    CHECK_INT(n, MPI_UNDEFINED);
}

/* One active request among null ones: its index comes, the null ones stay out of it. */
static void among(void)
{
    int value = 7, in = 0, index = -1, n = -1;
    MPI_Request send;

    reset();
    CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &reqs[2]));
    CHECK_OK(MPI_Isend(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &send));
    CHECK_OK(MPI_Waitany(N, reqs, &index, &sts[0]));
    CHECK_INT(index, 2);
    CHECK_STATUS(&sts[0], 0, 0, sizeof(int));
    CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));

    reset();
    CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &reqs[1]));
    CHECK_OK(MPI_Isend(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &send));
    CHECK_OK(MPI_Waitsome(N, reqs, &n, indices, sts));
    CHECK_INT(n, 1);
    CHECK_INT(indices[0], 1);
    CHECK_STATUS(&sts[0], 0, 0, sizeof(int));
    CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));

    reset();
    CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &reqs[3]));
    CHECK_OK(MPI_Isend(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &reqs[0]));
    CHECK_OK(MPI_Waitall(N, reqs, sts));
    CHECK_EMPTY(&sts[1]);
    CHECK_EMPTY(&sts[2]);
    CHECK_STATUS(&sts[3], 0, 0, sizeof(int));
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    single();
    all();
    any(N);
    any(0);
    some(N);
    some(0);
    among();
    return test_end();
}
