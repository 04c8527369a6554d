/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of room obj: handles, pools, groups, and the wait and test families over requests without transport. */
#include "obj/obj.h"

#include <limits.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "obj/errhandler.h"
#include "obj/grequest.h"
#include "obj/group.h"
#include "obj/req.h"
#include "obj/user_memory.h"

static void test_handles(void)
{
    struct group *group, *other;

    errhandler_init();
    group_init();
    CHECK(obj_errhandler(MPI_ERRORS_RETURN) == &errhandler_return);
    CHECK(obj_handle(&errhandler_return.obj) == (uintptr_t)MPI_ERRORS_RETURN);
    CHECK(!obj_errhandler(MPI_ERRHANDLER_NULL) && !obj_group((MPI_Group)MPI_ERRORS_RETURN));
    CHECK(!obj_comm((MPI_Comm)0) && !obj_comm((MPI_Comm)4095));
    CHECK(!group_create_stride(4, 0, 1, 2, &group));
    CHECK(obj_group((MPI_Group)obj_handle(&group->obj)) == group);
    CHECK(!obj_comm((MPI_Comm)group));
    obj_ref(&group->obj);
    group_unref(group);
    CHECK(obj_group((MPI_Group)group) == group);
    group_unref(group);
    CHECK(!obj_group((MPI_Group)group)); /* freed: known, not followed */
    CHECK(!group_create_stride(4, 0, 1, 2, &other));
    group_unref(other);
}

/* Groups until a chunk of the pool is full and memory is out. */
static void test_no_memory(void)
{
    struct group *groups[9];
    int made = 0;

    mem_fail_after(0);
    while (made < 9 && !group_create_stride(1, 0, 1, 0, &groups[made]))
        made++;
    mem_fail_after(-1);
    CHECK(made < 9);
    while (made)
        group_unref(groups[--made]);
}

static void test_groups(void)
{
    const int procs[] = { 5, 3, 9, 1 }, even[] = { 2, 4, 6, 8 }, one[] = { 7 };
    struct group *group;

    CHECK(!group_create_list(4, procs, 9, &group));
    CHECK_INT(group->rank, 2);
    for (int i = 0; i < 4; i++) {
        CHECK_INT(group_proc(group, i), procs[i]);
        CHECK_INT(group_rank_of(group, procs[i]), i);
    }
    CHECK_INT(group_rank_of(group, 4), MPI_UNDEFINED);
    group_unref(group);
    CHECK(!group_create_list(4, even, 3, &group));
    CHECK(!group->list && group->step == 2);
    CHECK_INT(group->rank, MPI_UNDEFINED);
    CHECK_INT(group_rank_of(group, 6), 2);
    CHECK_INT(group_rank_of(group, 10), MPI_UNDEFINED);
    CHECK_INT(group_rank_of(group, 0), MPI_UNDEFINED);
    group_unref(group);
    CHECK(!group_create_list(1, one, 7, &group));
    CHECK_INT(group->rank, 0);
    group_unref(group);
    CHECK(!group_create_list(0, NULL, 7, &group));
    CHECK_INT(group->rank, MPI_UNDEFINED);
    group_unref(group);
}

/* --- requests that complete after some polls --- */

struct fake {
    struct req req;
    int polls_left;
    bool is_released, is_detached;
};

static struct fake fakes[8];

static int poll_fakes(void *arg)
{
    int events = 0;

    (void)arg;
    for (size_t i = 0; i < ARRAY_LEN(fakes); i++) {
        if (fakes[i].polls_left && !--fakes[i].polls_left) {
            req_complete(&fakes[i].req);
            events++;
        }
    }
    return events;
}

static void fake_release(struct req *req)
{
    ((struct fake *)(void *)req)->is_released = true;
}

static int fake_detach(struct req *req)
{
    ((struct fake *)(void *)req)->is_detached = true;
    return 0;
}

static int fake_cancel(struct req *req)
{
    req->is_cancelled = true;
    req_complete(req);
    return 0;
}

static int start_rc;

static int fake_begin(struct req *req)
{
    ((struct fake *)(void *)req)->polls_left = 3;
    return start_rc;
}

static void fake_describe(const struct req *req, struct blocked *out)
{
    *out = (struct blocked){ .call = "MPI_Wait", .of = "MPI_Irecv", .peer = req->source };
}

static const struct req_ops fake_ops = {
    .release = fake_release,
    .cancel = fake_cancel,
    .detach = fake_detach,
    .start = fake_begin,
    .describe = fake_describe,
};

static MPI_Request fake_start(int i, int polls)
{
    struct fake *fake = &fakes[i];

    *fake = (struct fake){ .polls_left = polls };
    obj_init(&fake->req.obj, OBJ_REQUEST);
    fake->req.ops = &fake_ops;
    fake->req.source = 100 + i;
    fake->req.tag = 200 + i;
    fake->req.bytes = 8 * i;
    if (!polls)
        req_complete(&fake->req);
    return (MPI_Request)fake;
}

static void check_status(const MPI_Status *status, int i)
{
    CHECK_INT(status->MPI_SOURCE, 100 + i);
    CHECK_INT(status->MPI_TAG, 200 + i);
    CHECK_INT(status_bytes(status), 8 * i);
}

static void test_one(void)
{
    MPI_Request request = fake_start(0, 10), null = MPI_REQUEST_NULL;
    MPI_Status status;
    int flag, tests = 0;

    CHECK_INT(req_wait(&request, &status), 0);
    check_status(&status, 0);
    CHECK(request == MPI_REQUEST_NULL && fakes[0].is_released);
    CHECK_INT(req_wait(&null, &status), 0);
    CHECK_INT(status.MPI_SOURCE, MPI_ANY_SOURCE);
    request = fake_start(1, 5);
    do {
        CHECK_INT(req_test(&request, &flag, &status), 0);
        tests++;
    } while (!flag);
    CHECK_INT(tests, 5);
    check_status(&status, 1);
    request = fake_start(2, 1000);
    CHECK_INT(req_cancel(&fakes[2].req), 0);
    CHECK_INT(req_get_status(request, &flag, &status), 0);
    CHECK(flag && status.MPI_internal[STATUS_CANCELLED] == 1 && !fakes[2].is_released);
    CHECK_INT(req_wait(&request, MPI_STATUS_IGNORE), 0);
    request = fake_start(3, 1000);
    CHECK_INT(req_free(&request), 0);
    CHECK(fakes[3].is_detached && !fakes[3].is_released && request == MPI_REQUEST_NULL);
    fakes[3].polls_left = 0;
    request = fake_start(4, 0);
    fakes[4].req.is_persistent = true; /* not started */
    CHECK_INT(req_test(&request, &flag, &status), 0);
    CHECK(flag && request != MPI_REQUEST_NULL && status.MPI_SOURCE == MPI_ANY_SOURCE);
    CHECK_INT(req_free(&request), 0);
    CHECK(fakes[4].is_released && request == MPI_REQUEST_NULL);
}

static void test_any_some(void)
{
    MPI_Request requests[4] = { fake_start(0, 50), MPI_REQUEST_NULL, fake_start(2, 20), fake_start(3, 20) };
    MPI_Status statuses[4];
    int index, count, indices[4], flag;

    CHECK_INT(req_testany(4, requests, &index, &flag, statuses), 0);
    CHECK(!flag && index == MPI_UNDEFINED);
    CHECK_INT(req_testsome(4, requests, &count, indices, statuses), 0);
    CHECK_INT(count, 0);
    CHECK_INT(req_waitsome(4, requests, &count, indices, statuses), 0);
    CHECK_INT(count, 2);
    CHECK(indices[0] == 2 && indices[1] == 3);
    check_status(&statuses[0], 2);
    check_status(&statuses[1], 3);
    CHECK_INT(req_waitany(4, requests, &index, statuses), 0);
    CHECK_INT(index, 0);
    check_status(statuses, 0);
    CHECK_INT(req_waitany(4, requests, &index, statuses), 0);
    CHECK_INT(index, MPI_UNDEFINED);
    CHECK_INT(req_waitsome(4, requests, &count, indices, statuses), 0);
    CHECK_INT(count, MPI_UNDEFINED);
    CHECK_INT(req_testany(4, requests, &index, &flag, statuses), 0);
    CHECK(flag && index == MPI_UNDEFINED);
}

static struct blocked told;
static int told_count, left_count, pending_count;
static bool is_any_enough;

static void count_pending(const struct blocked *b, void *arg)
{
    CHECK(arg == &pending_count && !strcmp(b->of, "MPI_Irecv"));
    pending_count++;
}

/* Ends the wait that it is told of. */
static void told_of(struct progress_long *wait)
{
    told = (struct blocked){ .call = NULL };
    CHECK(req_describe_wait(wait, &told));
    pending_count = 0;
    is_any_enough = req_each_blocked(wait, count_pending, &pending_count);
    fakes[0].polls_left = fakes[2].polls_left = 1; /* complete with the next poll */
    told_count++;
}

static void told_end(struct progress_long *wait)
{
    (void)wait;
    left_count++;
}

static void check_told(const char *call, int peer, int pending, bool is_any)
{
    CHECK(!strcmp(told.call, call) && !strcmp(told.of, "MPI_Irecv"));
    CHECK_INT(told.peer, peer);
    CHECK_INT(pending_count, pending);
    CHECK(is_any_enough == is_any && told_count == left_count);
}

static void test_told(void)
{
    static const struct progress_watch watch = { told_of, told_end };
    const struct progress_long nothing = { NULL };
    MPI_Request requests[3] = { fake_start(0, INT_MAX), MPI_REQUEST_NULL, fake_start(2, INT_MAX) };
    int index, count, indices[3];

    progress_set_watch(&watch);
    CHECK_INT(req_waitany(3, requests, &index, MPI_STATUS_IGNORE), 0);
    check_told("MPI_Waitany", 100, 2, true);
    CHECK_INT(req_wait(&requests[2 - index], MPI_STATUS_IGNORE), 0); /* is done by now */
    CHECK_INT(told_count, 1);
    requests[2] = fake_start(2, INT_MAX);
    CHECK_INT(req_waitsome(3, requests, &count, indices, MPI_STATUSES_IGNORE), 0);
    check_told("MPI_Waitsome", 102, 1, true);
    requests[2] = fake_start(2, INT_MAX);
    CHECK_INT(req_wait(&requests[2], MPI_STATUS_IGNORE), 0);
    check_told("MPI_Wait", 102, 1, false);
    requests[0] = fake_start(0, INT_MAX);
    requests[2] = fake_start(2, INT_MAX);
    CHECK_INT(req_waitall(3, requests, MPI_STATUSES_IGNORE), 0);
    check_told("MPI_Waitall", 100, 2, false);
    requests[2] = fake_start(2, INT_MAX);
    CHECK_INT(req_wait(&requests[2], MPI_STATUS_IGNORE), 0); /* the set is forgotten */
    check_told("MPI_Wait", 102, 1, false);
    CHECK(!req_describe_wait(&nothing, &told));
    progress_set_watch(NULL);
}

static void test_all(void)
{
    MPI_Request requests[3] = { fake_start(0, 30), MPI_REQUEST_NULL, fake_start(2, 10) };
    MPI_Status statuses[3];
    int flag, tests = 0;

    statuses[0].MPI_ERROR = 77;
    CHECK_INT(req_waitall(3, requests, statuses), 0);
    check_status(&statuses[0], 0);
    CHECK_INT(statuses[0].MPI_ERROR, 77);
    CHECK_INT(statuses[1].MPI_SOURCE, MPI_ANY_SOURCE);
    for (int i = 0; i < 3; i++)
        requests[i] = fake_start(i, 5 + i);
    fakes[1].req.error = MPI_ERR_TRUNCATE;
    do {
        CHECK(tests < 100);
        flag = -1;
        const int rc = req_testall(3, requests, &flag, statuses);
        CHECK_INT(err_class(rc), flag ? MPI_ERR_IN_STATUS : 0);
        tests++;
    } while (!flag);
    CHECK_INT(statuses[0].MPI_ERROR, 0);
    CHECK_INT(statuses[1].MPI_ERROR, MPI_ERR_TRUNCATE);
    CHECK_INT(req_waitall(3, requests, MPI_STATUSES_IGNORE), 0);
}

static void test_start(void)
{
    MPI_Request requests[3] = { fake_start(0, 0), fake_start(1, 0), fake_start(2, 0) };
    MPI_Status status;
    int flag;

    CHECK_INT(err_class(req_start(&fakes[0].req)), MPI_ERR_REQUEST); /* not persistent */
    fakes[1].req.is_persistent = fakes[2].req.is_persistent = true;
    CHECK_INT(err_class(req_startall(3, requests)), MPI_ERR_REQUEST);
    CHECK(!fakes[1].req.is_active && !fakes[2].req.is_active);
    fakes[1].req.error = MPI_ERR_TRUNCATE; /* of the last time */
    fakes[1].req.is_cancelled = true;
    CHECK_INT(req_startall(2, &requests[1]), 0);
    CHECK_INT(err_class(req_start(&fakes[1].req)), MPI_ERR_REQUEST); /* active */
    CHECK_INT(req_test(&requests[1], &flag, &status), 0);
    CHECK_INT(flag, 0);
    CHECK_INT(req_waitall(2, &requests[1], MPI_STATUSES_IGNORE), 0);
    CHECK(requests[1] != MPI_REQUEST_NULL && !fakes[1].req.is_active && !fakes[1].is_released);
    start_rc = MPI_ERR_NO_MEM;
    CHECK_INT(req_startall(1, &requests[1]), MPI_ERR_NO_MEM);
    CHECK(!fakes[1].req.is_active);
    start_rc = 0;
    CHECK_INT(req_startall(0, NULL), 0);
    fakes[1].polls_left = 0;
    CHECK_INT(req_wait(&requests[0], MPI_STATUS_IGNORE), 0);
}

/* --- generalized ones: what they do is tested in tests/pt2pt --- */

static int user_free(void *state)
{
    ++*(int *)state;
    return MPI_ERR_OTHER;
}

static int user_query(void *state, MPI_Status *status)
{
    CHECK(status && status->MPI_SOURCE == MPI_ANY_SOURCE);
    status->MPI_TAG = *(int *)state;
    return 0;
}

static int user_cancel(void *state, int complete)
{
    *(int *)state += complete ? 100 : 10;
    return 0;
}

static void test_generalized(void)
{
    struct req *req = NULL;
    MPI_Request request, copy;
    int state = 0;

    mem_fail_after(0);
    CHECK_INT(err_class(grequest_start(user_query, user_free, user_cancel, &state, &req)), MPI_ERR_NO_MEM);
    mem_fail_after(-1);
    CHECK_INT(grequest_start(user_query, user_free, user_cancel, &state, &req), 0);
    request = copy = (MPI_Request)req;
    CHECK_INT(req_cancel(req), 0);
    CHECK_INT(state, 10);
    CHECK_INT(grequest_complete(req), 0);
    CHECK_INT(req_cancel(req), 0);
    CHECK_INT(state, 110);
    CHECK_INT(err_class(grequest_complete(req)), MPI_ERR_REQUEST);
    CHECK_INT(req_wait(&request, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
    CHECK(state == 111 && request == MPI_REQUEST_NULL && !obj_request(copy));
    fake_start(0, 0);
    CHECK_INT(err_class(grequest_complete(&fakes[0].req)), MPI_ERR_REQUEST);
    CHECK_INT(grequest_start(user_query, user_free, user_cancel, &state, &req), 0);
    request = copy = (MPI_Request)req;
    CHECK_INT(req_free(&request), 0);
    CHECK(state == 111 && request == MPI_REQUEST_NULL && obj_request(copy) == req);
    CHECK_INT(grequest_complete(req), MPI_ERR_OTHER);
    CHECK(state == 112 && !obj_request(copy));
}

static void test_get_status(void)
{
    MPI_Request requests[2] = { fake_start(0, 0), fake_start(1, 3) };
    MPI_Status statuses[2];
    int flag, index, count, indices[2];

    CHECK_INT(req_get_status_all(2, requests, &flag, statuses), 0);
    CHECK_INT(flag, 0);
    CHECK_INT(req_get_status_any(2, requests, &index, &flag, statuses), 0);
    CHECK(flag && index == 0 && !fakes[0].is_released);
    CHECK_INT(req_get_status_some(2, requests, &count, indices, statuses), 0);
    CHECK(count == 1 && indices[0] == 0);
    while (!flag || count < 2) {
        CHECK_INT(req_get_status_all(2, requests, &flag, statuses), 0);
        CHECK_INT(req_get_status_some(2, requests, &count, indices, statuses), 0);
    }
    check_status(&statuses[1], 1);
    CHECK_INT(req_waitall(2, requests, statuses), 0);
}

static void test_user_memory(void)
{
    void *base = NULL;

    CHECK_INT(user_memory_alloc(100, NULL, &base), 0);
    CHECK((uintptr_t)base % CACHE_LINE == 0);
    user_memory_free(base);
    CHECK_INT(user_memory_alloc(9 << 20, NULL, &base), 0);
    CHECK((uintptr_t)base % (2 << 20) == 0); /* for huge pages */
    memset(base, 1, 9 << 20);
    user_memory_free(base);
    for (MPI_Aint size = 100; size < 10 << 20; size += 9 << 20) {
        mem_fail_after(0);
        CHECK_INT(err_class(user_memory_alloc(size, NULL, &base)), MPI_ERR_NO_MEM);
        mem_fail_after(-1);
    }
    user_memory_free(NULL);
}

/* Of 127 bytes, or one to three less if they end within a character. */
static void test_names(void)
{
    static const char *const letters[] = { "a", "\u00e4", "\u20ac", "\U0001F600" };
    char name[2 * MPI_MAX_OBJECT_NAME + 8];

    CHECK_INT(obj_name_len(""), 0);
    for (size_t width = 1; width <= 4; width++)
        for (size_t before = 0; before < width; before++) {
            size_t len = before;

            memset(name, 'x', before);
            for (; len + width < sizeof name; len += width)
                memcpy(name + len, letters[width - 1], width);
            for (name[len] = 0; len > before; name[len -= width] = 0)
                CHECK_INT(obj_name_len(name), len < MPI_MAX_OBJECT_NAME ? len : before +
                          (MPI_MAX_OBJECT_NAME - 1 - before) / width * width);
        }
    memset(name, 0x80, sizeof name); /* no UTF-8 */
    name[sizeof name - 1] = 0;
    CHECK_INT(obj_name_len(name), MPI_MAX_OBJECT_NAME - 1);
}

int main(void)
{
    progress_init(&(struct progress_config){ .local_ranks = 1 });
    progress_add(poll_fakes, NULL);
    test_handles();
    test_no_memory();
    test_groups();
    test_one();
    test_any_some();
    test_told();
    test_all();
    test_start();
    test_get_status();
    test_generalized();
    test_user_memory();
    test_names();
    obj_fini();
    CHECK_INT(mem_live(), 0);
    return 0;
}
