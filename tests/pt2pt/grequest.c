/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §13.2: a generalized request is completed by the program (MPI_Grequest_complete). The call that
 * completes it for its owner calls query_fn, which fills in the status, then free_fn; MPI_Request_get_status calls
 * query_fn only; MPI_Request_free free_fn only, at once or when the request is complete; MPI_Cancel calls cancel_fn.
 * What they return, these calls return. */
#include "mpitest.h"

enum { SOURCE = 17, TAG = 23, ELEMENTS = 5, N = 5 };

/* What the functions have been called for, and what they are to return. */
struct work {
    int queries, frees, cancels, told_complete;
    int is_cancelled;
    int query_rc, free_rc, cancel_rc;
};

static int query(void *extra_state, MPI_Status *st)
{
    struct work *work = extra_state;

    CHECK(st != MPI_STATUS_IGNORE && st != MPI_STATUSES_IGNORE, "query_fn got no status");
    CHECK_INT(work->frees, 0);
    work->queries++;
    st->MPI_SOURCE = SOURCE;
    st->MPI_TAG = TAG;
    CHECK_OK(MPI_Status_set_elements(st, MPI_INT, ELEMENTS));
    CHECK_OK(MPI_Status_set_cancelled(st, work->is_cancelled));
    return work->query_rc;
}

static int release(void *extra_state)
{
    struct work *work = extra_state;

    work->frees++;
    return work->free_rc;
}

static int cancel(void *extra_state, int complete)
{
    struct work *work = extra_state;

    work->cancels++;
    work->told_complete = complete;
    return work->cancel_rc;
}

static MPI_Request start(struct work *work)
{
    MPI_Request req = MPI_REQUEST_NULL;

    memset(work, 0, sizeof *work);
    CHECK_OK(MPI_Grequest_start(query, release, cancel, work, &req));
    CHECK(req != MPI_REQUEST_NULL, "MPI_Grequest_start gave no request");
    return req;
}

static MPI_Request start_complete(struct work *work)
{
    MPI_Request req = start(work);

    CHECK_OK(MPI_Grequest_complete(req));
    CHECK_INT(work->queries + work->frees, 0);
    return req;
}

/* That query_fn is called more than once, the text allows. */
static void check_calls(const struct work *work, int queries, int frees)
{
    if (test_is_parley() || !queries)
        CHECK_INT(work->queries, queries);
    else
        CHECK(work->queries >= queries, "%d calls of query_fn", work->queries);
    CHECK_INT(work->frees, frees);
}

static void check_result(const MPI_Status *st, int is_cancelled)
{
    int count = -1, flag = -1;

    CHECK_INT(st->MPI_SOURCE, SOURCE);
    CHECK_INT(st->MPI_TAG, TAG);
    CHECK_OK(MPI_Get_count(st, MPI_INT, &count));
    CHECK_INT(count, ELEMENTS);
    CHECK_OK(MPI_Get_elements(st, MPI_INT, &count));
    CHECK_INT(count, ELEMENTS);
    CHECK_OK(MPI_Test_cancelled(st, &flag));
    CHECK_INT(flag, is_cancelled);
}

/* By every call that completes requests. Without a status there is one for query_fn all the same. */
static int complete(MPI_Request *req, MPI_Status *st, int how)
{
    int flag = 0, index = -1, count = -1, rc = MPI_SUCCESS;

    switch (how) {
    case 0:
        return MPI_Wait(req, st);
    case 1:
        rc = MPI_Test(req, &flag, st);
        break;
    case 2:
        rc = MPI_Waitany(1, req, &index, st);
        CHECK_INT(index, 0);
        return rc;
    case 3:
        rc = MPI_Testany(1, req, &index, &flag, st);
        CHECK_INT(index, 0);
        break;
    case 4:
        return MPI_Waitall(1, req, st);
    case 5:
        rc = MPI_Testall(1, req, &flag, st);
        break;
    case 6:
        rc = MPI_Waitsome(1, req, &count, &index, st);
        CHECK(count == 1 && index == 0, "count %d, index %d", count, index);
        return rc;
    case 7:
        rc = MPI_Testsome(1, req, &count, &index, st);
        CHECK(count == 1 && index == 0, "count %d, index %d", count, index);
        return rc;
    }
    CHECK_INT(flag, 1);
    return rc;
}

static void every_way(void)
{
    const MPI_Status dirty = test_dirty_status();
    struct work work;
    MPI_Request req;
    MPI_Status st;
    int how;

    for (how = 0; how < 8; how++) {
        st = dirty;
        req = start_complete(&work);
        CHECK_OK(complete(&req, &st, how));
        CHECK(req == MPI_REQUEST_NULL, "way %d left the handle", how);
        check_calls(&work, 1, 1);
        check_result(&st, 0);
        if (how < 4) /* single ones leave the error field alone (§3.2.5) */
            CHECK_INT(st.MPI_ERROR, dirty.MPI_ERROR);
        req = start_complete(&work);
        CHECK_OK(complete(&req, MPI_STATUS_IGNORE, how));
        check_calls(&work, 1, 1);
    }
}

/* Not complete before the program says so; nothing of the user's is called until then. */
static void pending(void)
{
    int flag = 1, index = 0, count = 1;
    struct work work;
    MPI_Request req = start(&work);

    CHECK_OK(MPI_Test(&req, &flag, MPI_STATUS_IGNORE));
    CHECK_INT(flag, 0);
    CHECK_OK(MPI_Testany(1, &req, &index, &flag, MPI_STATUS_IGNORE));
    CHECK_INT(flag, 0);
    CHECK_OK(MPI_Testall(1, &req, &flag, MPI_STATUSES_IGNORE));
    CHECK_INT(flag, 0);
    CHECK_OK(MPI_Testsome(1, &req, &count, &index, MPI_STATUSES_IGNORE));
    CHECK_INT(count, 0);
    CHECK_OK(MPI_Request_get_status(req, &flag, MPI_STATUS_IGNORE));
    CHECK_INT(flag, 0);
    check_calls(&work, 0, 0);
    CHECK_OK(MPI_Grequest_complete(req));
    CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    check_calls(&work, 1, 1);
}

static void get_status(void)
{
    struct work work;
    MPI_Request req = start_complete(&work);
    MPI_Status st = test_dirty_status();
    int flag = 0;

    CHECK_OK(MPI_Request_get_status(req, &flag, &st));
    CHECK_INT(flag, 1);
    check_result(&st, 0);
    check_calls(&work, 1, 0);
    CHECK_OK(MPI_Request_get_status(req, &flag, MPI_STATUS_IGNORE));
    check_calls(&work, 2, 0);
    work.queries = 0;
    CHECK_OK(MPI_Wait(&req, &st));
    check_calls(&work, 1, 1);
}

/* One of each sort in an array, some complete only later. */
static void mixed(void)
{
    struct work works[2];
    MPI_Request reqs[N];
    MPI_Status sts[N];
    int value = 9, got = 0, indices[N], count, seen = 0, i, rounds;

    for (rounds = 0; rounds < 3; rounds++) {
        reqs[0] = start_complete(&works[0]);
        CHECK_OK(MPI_Irecv(&got, 1, MPI_INT, 0, 4, MPI_COMM_SELF, &reqs[1]));
        reqs[2] = MPI_REQUEST_NULL;
        reqs[3] = start(&works[1]);
        CHECK_OK(MPI_Recv_init(&got, 1, MPI_INT, 0, 4, MPI_COMM_SELF, &reqs[4])); /* inactive */
        MPI_Request inactive = reqs[4], later = reqs[3];
        if (rounds == 0) {
            CHECK_OK(MPI_Grequest_complete(later));
            CHECK_OK(MPI_Send(&value, 1, MPI_INT, 0, 4, MPI_COMM_SELF));
            CHECK_OK(MPI_Waitall(N, reqs, sts));
            check_result(&sts[0], 0);
            CHECK_STATUS(&sts[1], 0, 4, sizeof(int));
            CHECK_EMPTY(&sts[2]);
            check_result(&sts[3], 0);
            CHECK_EMPTY(&sts[4]);
        } else {
            for (seen = 0; seen < 3; seen += count) {
                if (rounds == 1) {
                    CHECK_OK(MPI_Waitsome(N, reqs, &count, indices, sts));
                } else {
                    CHECK_OK(MPI_Waitany(N, reqs, indices, sts));
                    count = 1;
                }
                CHECK(count >= 1 && count <= 2, "count %d", count);
                for (i = 0; i < count; i++) {
                    if (indices[i] == 0) {
                        CHECK_OK(MPI_Send(&value, 1, MPI_INT, 0, 4, MPI_COMM_SELF));
                        check_result(&sts[i], 0);
                    } else if (indices[i] == 1) {
                        CHECK_OK(MPI_Grequest_complete(later));
                        CHECK_STATUS(&sts[i], 0, 4, sizeof(int));
                    } else {
                        CHECK_INT(indices[i], 3);
                        check_result(&sts[i], 0);
                    }
                }
            }
        }
        check_calls(&works[0], 1, 1);
        check_calls(&works[1], 1, 1);
        for (i = 0; i < 4; i++)
            CHECK(reqs[i] == MPI_REQUEST_NULL, "request %d is left", i);
        CHECK_OK(MPI_Request_free(&inactive));
    }
}

static void freed(void)
{
    struct work work;
    MPI_Request req = start_complete(&work), copy;

    CHECK_OK(MPI_Request_free(&req));
    CHECK(req == MPI_REQUEST_NULL, "MPI_Request_free did not null the handle");
    check_calls(&work, 0, 1);
    req = copy = start(&work);
    CHECK_OK(MPI_Request_free(&req));
    CHECK(req == MPI_REQUEST_NULL, "MPI_Request_free did not null the handle");
    check_calls(&work, 0, 0);
    CHECK_OK(MPI_Grequest_complete(copy)); /* the copy is good until then */
    check_calls(&work, 0, 1);
}

static void cancelled(void)
{
    struct work work;
    MPI_Request req = start(&work);
    MPI_Status st;

    CHECK_OK(MPI_Cancel(&req));
    CHECK(work.cancels == 1 && !work.told_complete, "%d calls, complete %d", work.cancels, work.told_complete);
    work.is_cancelled = 1;
    CHECK_OK(MPI_Grequest_complete(req));
    CHECK_OK(MPI_Cancel(&req));
    CHECK(work.cancels == 2 && work.told_complete, "%d calls, complete %d", work.cancels, work.told_complete);
    CHECK_OK(MPI_Wait(&req, &st));
    check_result(&st, 1);
}

/* What the functions return comes back, codes of the user as they are. */
static void codes(int code, int other)
{
    struct work works[2];
    MPI_Request reqs[2], copy;
    MPI_Status sts[2];
    int how, flag, rc;

    for (how = 0; how < 4; how++) {
        reqs[0] = start_complete(&works[0]);
        works[0].query_rc = other;
        works[0].free_rc = code;
        CHECK_INT(complete(reqs, sts, how), code);
        CHECK(reqs[0] == MPI_REQUEST_NULL, "an error of free_fn has left the handle");
        reqs[0] = start_complete(&works[0]);
        works[0].free_rc = MPI_ERR_IO;
        CHECK_CLASS(complete(reqs, sts, how), MPI_ERR_IO);
    }
    reqs[0] = start_complete(&works[0]);
    works[0].query_rc = other;
    CHECK_INT(MPI_Request_get_status(reqs[0], &flag, sts), other);
    rc = MPI_Wait(reqs, sts);
    if (test_is_parley()) /* the text may be read as if that of query_fn were lost */
        CHECK_INT(rc, other);
    for (how = 0; how < 2; how++) {
        reqs[0] = start_complete(&works[0]);
        reqs[1] = start_complete(&works[1]);
        works[1].free_rc = code;
        CHECK_CLASS(MPI_Waitall(2, reqs, how ? MPI_STATUSES_IGNORE : sts), MPI_ERR_IN_STATUS);
        check_calls(&works[0], 1, 1);
        check_calls(&works[1], 1, 1);
    }
    CHECK_INT(sts[0].MPI_ERROR, MPI_SUCCESS);
    CHECK_INT(sts[1].MPI_ERROR, code);
    reqs[0] = start(&works[0]);
    works[0].cancel_rc = code;
    CHECK_INT(MPI_Cancel(reqs), code);
    works[0].free_rc = other;
    copy = reqs[0];
    CHECK_OK(MPI_Request_free(reqs));
    CHECK_INT(MPI_Grequest_complete(copy), other);
    reqs[0] = start_complete(&works[0]);
    works[0].free_rc = other;
    CHECK_INT(MPI_Request_free(reqs), other);
    CHECK(reqs[0] == MPI_REQUEST_NULL || !test_is_parley(), "an error of free_fn has left the handle");
}

static void errors(void)
{
    MPI_Request req = MPI_REQUEST_NULL;
    struct work work;
    int got = 0;

    CHECK_CLASS(MPI_Grequest_complete(MPI_REQUEST_NULL), MPI_ERR_REQUEST);
    if (!test_is_parley())
        return;
    CHECK_CLASS(MPI_Grequest_start(NULL, release, cancel, NULL, &req), MPI_ERR_ARG);
    CHECK_OK(MPI_Irecv(&got, 1, MPI_INT, 0, 4, MPI_COMM_SELF, &req));
    CHECK_CLASS(MPI_Grequest_complete(req), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Cancel(&req));
    CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    req = start_complete(&work);
    CHECK_CLASS(MPI_Grequest_complete(req), MPI_ERR_REQUEST); /* twice */
    CHECK_CLASS(MPI_Start(&req), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    int error_class, code, other;

    test_begin(&argc, &argv);
    CHECK_OK(MPI_Add_error_class(&error_class));
    CHECK_OK(MPI_Add_error_code(error_class, &code));
    CHECK_OK(MPI_Add_error_code(error_class, &other));
    every_way();
    pending();
    get_status();
    mixed();
    freed();
    cancelled();
    codes(code, other);
    errors();
    return test_end();
}
