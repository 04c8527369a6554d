/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.7.6, §13.2: MPI_Request_get_status_any, _all and _some call the query functions of the generalized
 * requests that are complete, and no free_fn; their codes come back. */
#include "mpitest.h"

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
enum { N = 3, FAILS = 2 };

static int queries, frees, fails;

static int query(void *extra_state, MPI_Status *st)
{
    const int number = *(int *)extra_state;

    queries++;
    CHECK_OK(MPI_Status_set_tag(st, number));
    CHECK_OK(MPI_Status_set_elements(st, MPI_INT, number));
    CHECK_OK(MPI_Status_set_cancelled(st, 0));
    return fails && number == FAILS ? MPI_ERR_IO : MPI_SUCCESS;
}

static int release(void *extra_state)
{
    (void)extra_state;
    frees++;
    return MPI_SUCCESS;
}

static int cancel(void *extra_state, int complete)
{
    (void)extra_state;
    (void)complete;
    return MPI_SUCCESS;
}

static void check_queries(int want)
{
    CHECK_INT(queries, want);
    CHECK_INT(frees, 0);
    queries = 0;
}

int main(int argc, char **argv)
{
    static int numbers[N] = { 0, 1, 2 };
    int flag = 1, index = -1, count = -1, indices[N], i;
    MPI_Request reqs[N];
    MPI_Status sts[N];

    test_begin(&argc, &argv);
    for (i = 0; i < N; i++)
        CHECK_OK(MPI_Grequest_start(query, release, cancel, &numbers[i], &reqs[i]));
    CHECK_OK(MPI_Grequest_complete(reqs[1]));
    CHECK_OK(MPI_Request_get_status_any(N, reqs, &index, &flag, sts));
    CHECK(flag && index == 1 && sts[0].MPI_TAG == 1, "flag %d, index %d, tag %d", flag, index, sts[0].MPI_TAG);
    check_queries(1);
    CHECK_OK(MPI_Request_get_status_all(N, reqs, &flag, sts));
    CHECK_INT(flag, 0);
    check_queries(0);
    CHECK_OK(MPI_Grequest_complete(reqs[2]));
    CHECK_OK(MPI_Request_get_status_some(N, reqs, &count, indices, sts));
    CHECK(count == 2 && indices[0] == 1 && indices[1] == 2, "%d, indices %d, %d", count, indices[0], indices[1]);
    CHECK(sts[0].MPI_TAG == 1 && sts[1].MPI_TAG == 2, "tags %d, %d", sts[0].MPI_TAG, sts[1].MPI_TAG);
    check_queries(2);
    CHECK_OK(MPI_Grequest_complete(reqs[0]));
    CHECK_OK(MPI_Request_get_status_all(N, reqs, &flag, MPI_STATUSES_IGNORE));
    CHECK_INT(flag, 1);
    check_queries(N);
    fails = 1;
    if (test_is_parley()) { /* that these calls can fail is said of callbacks in general only */
        CHECK_CLASS(MPI_Request_get_status_all(N, reqs, &flag, sts), MPI_ERR_IO);
        check_queries(N);
        CHECK_INT(sts[2].MPI_TAG, 2);
        CHECK_CLASS(MPI_Request_get_status_some(N, reqs, &count, indices, sts), MPI_ERR_IO);
        CHECK_INT(count, N);
        check_queries(N);
        CHECK_CLASS(MPI_Request_get_status_any(1, &reqs[2], &index, &flag, sts), MPI_ERR_IO);
        check_queries(1);
    }
    fails = 0;
    CHECK_OK(MPI_Waitall(N, reqs, sts));
    CHECK_INT(frees, N);
    return test_end();
}
#else
int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    test_skip("no MPI_Request_get_status_any and the like before MPI 4.1");
}
#endif
