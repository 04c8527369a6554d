/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.7.5: when some of the requests fail, MPI_Waitall, MPI_Waitsome and MPI_Testall return
 * MPI_ERR_IN_STATUS, and each status tells: MPI_SUCCESS, the own error class, or MPI_ERR_PENDING for one that
 * is not complete. */
#include "mpitest.h"

enum { N = 6, BAD = 3 };

static int in[N][4], out[N][4];
static MPI_Request reqs[N], sends[N];
static MPI_Status st[N];

/* Receive BAD is one element too short for its message. */
static void post(int from, int to)
{
    int i;

    for (i = from; i < to; i++) {
        st[i] = test_dirty_status();
        memset(in[i], TEST_CANARY, sizeof in[i]);
        CHECK_OK(MPI_Irecv(in[i], i == BAD ? 1 : 2, MPI_INT, 0, i, MPI_COMM_SELF, &reqs[i]));
    }
}

static void send(int from, int to)
{
    int i;

    for (i = from; i < to; i++) {
        out[i][0] = out[i][1] = 10 + i;
        CHECK_OK(MPI_Isend(out[i], 2, MPI_INT, 0, i, MPI_COMM_SELF, &sends[i]));
        CHECK_OK(MPI_Wait(&sends[i], MPI_STATUS_IGNORE));
    }
}

static void check_status(int index, const MPI_Status *s)
{
    if (index == BAD) {
        CHECK(test_class(s->MPI_ERROR) == MPI_ERR_TRUNCATE,
              "expected class MPI_ERR_TRUNCATE in status %d, got %d", index, s->MPI_ERROR);
        return;
    }
    CHECK(s->MPI_ERROR == MPI_SUCCESS, "expected MPI_SUCCESS in status %d, got %d", index, s->MPI_ERROR);
    CHECK_STATUS(s, 0, index, 2 * sizeof(int));
    CHECK_INT(in[index][1], 10 + index);
}

static void check_guard(void)
{
    CHECK_UNTOUCHED(&in[BAD][1], 3 * sizeof(int));
}

static void waitall(void)
{
    int i;

    post(0, N);
    send(0, N);
    CHECK_CLASS(MPI_Waitall(N, reqs, st), MPI_ERR_IN_STATUS);
    for (i = 0; i < N; i++) {
        if (i != BAD && st[i].MPI_ERROR == MPI_ERR_PENDING) { /* legal: not yet looked at */
            CHECK_OK(MPI_Wait(&reqs[i], &st[i]));
            st[i].MPI_ERROR = MPI_SUCCESS;
        }
        check_status(i, &st[i]);
        CHECK(reqs[i] == MPI_REQUEST_NULL, "request %d is not null after MPI_Waitall with an error", i);
    }
    check_guard();
}

static void waitall_ignoring(void)
{
    post(0, N);
    send(0, N);
    CHECK_CLASS(MPI_Waitall(N, reqs, MPI_STATUSES_IGNORE), MPI_ERR_IN_STATUS);
    check_guard();
}

static void waitsome(void)
{
    int done = 0, count, indices[N], i, rc, was_bad = 0;

    post(0, N);
    send(0, N);
    while (done < N) {
        rc = MPI_Waitsome(N, reqs, &count, indices, st);
        CHECK(rc == MPI_SUCCESS || test_class(rc) == MPI_ERR_IN_STATUS, "MPI_Waitsome returned class %d",
              test_class(rc));
        CHECK(count > 0 && count <= N - done, "outcount %d", count);
        for (i = 0; i < count; i++) {
            if (rc == MPI_SUCCESS)
                st[i].MPI_ERROR = MPI_SUCCESS;
            if (indices[i] == BAD) {
                CHECK(rc != MPI_SUCCESS, "the failed receive came with MPI_SUCCESS");
                was_bad++;
            }
            check_status(indices[i], &st[i]);
        }
        done += count;
    }
    CHECK_INT(was_bad, 1);
    check_guard();
}

/* The failed one is complete, others are not: their class is MPI_ERR_PENDING and they can still be waited
 * for. */
static void testall_pending(void)
{
    int flag = 0, rc = MPI_SUCCESS, i, tries;

    post(0, N);
    send(BAD, BAD + 1);
    for (tries = 0; tries < 1000 && !flag; tries++) {
        rc = MPI_Testall(N, reqs, &flag, st);
        if (rc != MPI_SUCCESS)
            break;
    }
    if (rc == MPI_SUCCESS)
        CHECK_INT(flag, 0);
    if (rc == MPI_SUCCESS) { /* a library may also report only when all are complete */
        send(0, BAD);
        send(BAD + 1, N);
        CHECK_CLASS(MPI_Waitall(N, reqs, st), MPI_ERR_IN_STATUS);
        return;
    }
    CHECK_INT(test_class(rc), MPI_ERR_IN_STATUS);
    for (i = 0; i < N; i++) {
        if (i == BAD) {
            check_status(i, &st[i]);
            continue;
        }
        CHECK(test_class(st[i].MPI_ERROR) == MPI_ERR_PENDING, "expected MPI_ERR_PENDING in status %d, got %d",
              i, st[i].MPI_ERROR);
        CHECK(reqs[i] != MPI_REQUEST_NULL, "the pending request %d was nulled", i);
    }
    send(0, BAD);
    send(BAD + 1, N);
    for (i = 0; i < N; i++)
        if (i != BAD) {
            CHECK_OK(MPI_Wait(&reqs[i], &st[i]));
            st[i].MPI_ERROR = MPI_SUCCESS;
            check_status(i, &st[i]);
        }
    check_guard();
}

/* Single forms return the class itself. */
static void single(void)
{
    int index = -1, flag = 0, rc;

    post(BAD, BAD + 1);
    send(BAD, BAD + 1);
    CHECK_CLASS(MPI_Wait(&reqs[BAD], &st[BAD]), MPI_ERR_TRUNCATE);
    post(BAD, BAD + 1);
    send(BAD, BAD + 1);
    CHECK_CLASS(MPI_Waitany(1, &reqs[BAD], &index, &st[BAD]), MPI_ERR_TRUNCATE);
    CHECK_INT(index, 0);
    post(BAD, BAD + 1);
    send(BAD, BAD + 1);
    for (rc = MPI_SUCCESS; rc == MPI_SUCCESS && !flag;)
        rc = MPI_Test(&reqs[BAD], &flag, &st[BAD]);
    CHECK_INT(test_class(rc), MPI_ERR_TRUNCATE);
    check_guard();
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    waitall();
    waitall_ignoring();
    waitsome();
    testall_pending();
    single();
    return test_end();
}
