/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of room obj: what is held for a request hears of each start and each end, in whatever way the request is
 * completed or freed, and is dropped once. */
#include "base/check.h"
#include "obj/hold.h"

static struct {
    int starts, ends, drops, inner_starts, releases;
} seen;

static struct req req;
static struct req_hold hold;
static bool is_detached;

static void hold_start(struct req_hold *h)
{
    CHECK(h == &hold && seen.starts == seen.inner_starts);
    seen.starts++;
}

static void hold_end(struct req_hold *h)
{
    CHECK(h == &hold && !seen.drops);
    seen.ends++;
}

static void hold_drop(struct req_hold *h)
{
    CHECK(h == &hold && !seen.releases);
    seen.drops++;
}

static void release(struct req *r)
{
    CHECK(r == &req);
    seen.releases++;
}

static int detach(struct req *r)
{
    if (req_is_done(r))
        r->ops->release(r);
    is_detached = !req_is_done(r);
    return 0;
}

static int start(struct req *r)
{
    CHECK(r == &req);
    seen.inner_starts++;
    return 0;
}

static const struct req_ops ops = { .release = release, .detach = detach, .start = start };

static MPI_Request begin(bool is_persistent, bool is_done)
{
    seen = (__typeof__(seen)){ 0 };
    is_detached = false;
    req = (struct req){ .ops = &ops, .is_persistent = is_persistent, .done = is_done };
    obj_init(&req.obj, OBJ_REQUEST);
    hold = (struct req_hold){ .start = hold_start, .end = hold_end, .drop = hold_drop };
    req_keep(&req, &hold);
    return (MPI_Request)&req;
}

static void check_gone(int ends)
{
    CHECK_INT(seen.ends, ends);
    CHECK_INT(seen.drops, 1);
    CHECK_INT(seen.releases, 1);
}

static void test_once(void)
{
    MPI_Request request = begin(false, true);
    int flag;

    CHECK(seen.ends == 1 && seen.drops == 1 && req.ops == &ops);
    request = begin(false, false);
    req_complete(&req);
    CHECK(!seen.ends && !req_wait(&request, MPI_STATUS_IGNORE));
    check_gone(1);
    request = begin(false, false);
    req_complete(&req);
    CHECK(!req_get_status(request, &flag, MPI_STATUS_IGNORE) && flag && seen.ends == 1 && !seen.drops);
    CHECK(!req_free(&request));
    check_gone(2);
}

/* The user frees it while it is active: its kind releases it, or lets it go. */
static void test_freed(void)
{
    MPI_Request request = begin(false, false);

    CHECK(!req_free(&request) && is_detached && !seen.ends);
    req.ops->release(&req);
    check_gone(1);
    request = begin(false, false);
    CHECK(!req_free(&request));
    req_let_go(&req);
    CHECK(seen.ends == 1 && seen.drops == 1 && req.ops == &ops);
    req_let_go(&req);
    CHECK_INT(seen.drops, 1);
}

static void test_again_and_again(void)
{
    MPI_Request request = begin(true, true);

    for (int round = 1; round <= 3; round++) {
        CHECK(!req_start(&req));
        CHECK(seen.starts == round && seen.inner_starts == round);
        req_complete(&req);
        CHECK(!req_wait(&request, MPI_STATUS_IGNORE) && seen.ends == round && !seen.drops);
    }
    CHECK(!req_free(&request));
    check_gone(4);
}

int main(void)
{
    progress_init(&(struct progress_config){ .local_ranks = 1 });
    test_once();
    test_freed();
    test_again_and_again();
    progress_fini();
    return 0;
}
