/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.7.5, §3.7.6, §4.2.2: every way to complete a partitioned operation. Completed ones are inactive: empty
 * status, not freed. */
#include "mpipart.h"

enum { TAG = 6, LEN = 1200, WAYS = 10 };

static void by_test(MPI_Request *req)
{
    int flag = 0;

    while (!flag)
        CHECK_OK(MPI_Test(req, &flag, MPI_STATUS_IGNORE));
}

static void by_any(MPI_Request *reqs, int tests)
{
    for (int n = 0, flag = 1, index; n < 2; n += flag) {
        if (tests)
            CHECK_OK(MPI_Testany(2, reqs, &index, &flag, MPI_STATUS_IGNORE));
        else
            CHECK_OK(MPI_Waitany(2, reqs, &index, MPI_STATUS_IGNORE));
        CHECK(!flag || index == 0 || index == 1, "index %d", index);
    }
}

static void by_some(MPI_Request *reqs, int tests)
{
    int n = 0, count, indices[2];

    while (n < 2) {
        if (tests)
            CHECK_OK(MPI_Testsome(2, reqs, &count, indices, MPI_STATUSES_IGNORE));
        else
            CHECK_OK(MPI_Waitsome(2, reqs, &count, indices, MPI_STATUSES_IGNORE));
        CHECK(count != MPI_UNDEFINED, "no request is active after %d completions", n);
        n += count;
    }
}

static void by_status(MPI_Request *reqs, int all)
{
    MPI_Status sts[2];
    int flag = 0;

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
    while (!flag && all)
        CHECK_OK(MPI_Request_get_status_all(2, reqs, &flag, sts));
#else
    (void)all;
#endif
    while (!flag)
        CHECK_OK(MPI_Request_get_status(reqs[0], &flag, &sts[0]));
    CHECK_STATUS(&sts[0], ring_left(), TAG, LEN);
}

static void complete(MPI_Request *reqs, int way)
{
    int flag = 0;

    if (way == 0) {
        CHECK_OK(MPI_Wait(&reqs[0], MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Wait(&reqs[1], MPI_STATUS_IGNORE));
    } else if (way == 1) {
        by_test(&reqs[1]);
        by_test(&reqs[0]);
    } else if (way <= 3) {
        by_any(reqs, way == 3);
    } else if (way <= 5) {
        by_some(reqs, way == 5);
    } else if (way == 6) {
        while (!flag)
            CHECK_OK(MPI_Testall(2, reqs, &flag, MPI_STATUSES_IGNORE));
    } else {
        if (way > 7)
            by_status(reqs, way == 8);
        CHECK_OK(MPI_Waitall(2, reqs, MPI_STATUSES_IGNORE));
    }
}

static void check_inactive(MPI_Request *reqs)
{
    MPI_Status st = test_dirty_status();
    int flag = 0, index, count;

    CHECK_OK(MPI_Wait(&reqs[0], &st));
    CHECK_EMPTY(&st);
    CHECK_OK(MPI_Request_get_status(reqs[1], &flag, &st));
    CHECK_INT(flag, 1);
    CHECK_EMPTY(&st);
    CHECK_OK(MPI_Waitany(2, reqs, &index, &st));
    CHECK_INT(index, MPI_UNDEFINED);
    CHECK_OK(MPI_Testsome(2, reqs, &count, &index, MPI_STATUSES_IGNORE));
    CHECK_INT(count, MPI_UNDEFINED);
}

int main(int argc, char **argv)
{
    struct ring ring;

    test_begin(&argc, &argv);
    ring_open(&ring, 4, 3, LEN, TAG, MPI_COMM_WORLD);
    check_inactive(ring.reqs);
    for (int way = 0; way < WAYS; way++) {
        ring_start(&ring, way);
        CHECK_OK(MPI_Pready_range(0, 3, ring.reqs[1]));
        complete(ring.reqs, way);
        CHECK_BYTES(ring.in, LEN, test_key((uint64_t)ring_left(), (uint64_t)way, TAG));
        check_inactive(ring.reqs);
    }
    ring_close(&ring);
    return test_end();
}
