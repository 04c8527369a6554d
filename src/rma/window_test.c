/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows of one process: every failing allocation, what is left after them, finding windows, requests, hints. */
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "coll/coll.h"
#include "comm/comm.h"
#include "obj/errhandler.h"
#include "obj/info.h"
#include "obj/req.h"
#include "op/op.h"
#include "p2p/lane.h"
#include "progress/progress.h"
#include "rma/int_rma.h"

static struct comm *self;

static int make(int flavor, struct win **win)
{
    static char memory[64];
    void *base = NULL;

    if (flavor == MPI_WIN_FLAVOR_CREATE)
        return win_create(memory, sizeof memory, 1, NULL, self, win);
    if (flavor == MPI_WIN_FLAVOR_ALLOCATE)
        return win_allocate(64, 1, NULL, self, &base, win);
    if (flavor == MPI_WIN_FLAVOR_SHARED)
        return win_allocate_shared(64, 1, NULL, self, &base, win);
    return win_create_dynamic(NULL, self, win);
}

/* Each allocation fails once, and all that was made before is given back. */
static void test_making(int flavor)
{
    struct win *win = NULL;
    int rc = 1, n;

    CHECK_INT(make(flavor, &win), 0); /* pools are there from now on */
    CHECK_INT(win_free(win), 0);
    for (n = 0; rc; n++) {
        const long live = mem_live();

        mem_fail_after(n);
        rc = make(flavor, &win);
        mem_fail_after(-1);
        CHECK(!rc || (err_class(rc) == MPI_ERR_NO_MEM && mem_live() == live));
        CHECK(n < 100);
    }
    CHECK(n > 3);
    CHECK(win_find(win->comm->ctx) == win);
    CHECK(!win_find(win->comm->ctx + 2));
    CHECK_INT(win_free(win), 0);
}

static void test_attach(void)
{
    char memory[10];
    struct win *win;
    long live;

    CHECK_INT(make(MPI_WIN_FLAVOR_DYNAMIC, &win), 0);
    live = mem_live();
    mem_fail_after(0);
    CHECK_INT(err_class(win_attach(win, memory, 10)), MPI_ERR_NO_MEM);
    mem_fail_after(-1);
    CHECK_INT(mem_live(), live);
    CHECK(!win_is_attached(win, 0, (uintptr_t)memory, 1));
    CHECK_INT(win_attach(win, memory, 10), 0);
    CHECK(win_is_attached(win, 0, (uintptr_t)memory, 10));
    CHECK(!win_is_attached(win, 0, (uintptr_t)memory, 11));
    CHECK_INT(err_class(win_attach(win, NULL, 1)), MPI_ERR_BASE);
    CHECK_INT(win_free(win), 0); /* it is detached */
}

/* More pieces than the table has: nothing is known, so nothing is refused. */
static void test_many_pieces(void)
{
    static char memory[4 * WIN_REGIONS];
    struct win *win;

    CHECK_INT(make(MPI_WIN_FLAVOR_DYNAMIC, &win), 0);
    for (int i = 0; i <= WIN_REGIONS; i++) {
        CHECK(!win_is_attached(win, 0, (uintptr_t)memory + 1, 1));
        CHECK_INT(win_attach(win, memory + 2 * i, 1), 0);
    }
    CHECK(win_is_attached(win, 0, (uintptr_t)memory + 1, 1));
    CHECK_INT(win_detach(win, memory + 8), 0);
    CHECK(!win_is_attached(win, 0, (uintptr_t)memory + 8, 1));
    CHECK(win_is_attached(win, 0, (uintptr_t)memory + 10, 1));
    CHECK_INT(win_free(win), 0);
}

static void test_requests(void)
{
    struct win *win;
    MPI_Request handle;
    MPI_Status status;

    CHECK_INT(make(MPI_WIN_FLAVOR_ALLOCATE, &win), 0);
    handle = (MPI_Request)obj_handle(&win_done_request()->obj);
    CHECK_INT(req_wait(&handle, &status), 0);
    CHECK(handle == MPI_REQUEST_NULL);
    handle = (MPI_Request)obj_handle(&win_done_request()->obj);
    CHECK_INT(err_class(req_cancel(obj_request(handle))), MPI_ERR_REQUEST);
    CHECK_INT(err_class(req_free(&handle)), MPI_ERR_REQUEST);
    CHECK_INT(req_wait(&handle, NULL), 0);
    CHECK_INT(win_free(win), 0);
}

static void test_info(void)
{
    char value[64];
    struct info *info, *told;
    struct win *win;
    size_t length;
    int flag;

    CHECK_INT(info_create(&info), 0);
    CHECK_INT(info_set(info, "accumulate_ordering", "none"), 0);
    CHECK_INT(info_set(info, "no_locks", "true"), 0);
    CHECK_INT(info_set(info, "mpi_accumulate_granularity", "16"), 0);
    CHECK_INT(win_create(NULL, 0, 1, info, self, &win), 0);
    CHECK_INT(info_set(info, "accumulate_ordering", "raw,wow"), 0); /* is no value */
    CHECK_INT(info_set(info, "same_size", "true"), 0);              /* comes too late */
    win_set_info(win, info);
    CHECK_INT(win_get_info(win, &told), 0);
    CHECK_INT(info_get(told, "accumulate_ordering", sizeof value, value, &length, &flag), 0);
    CHECK(flag && !strcmp(value, "none"));
    CHECK_INT(info_get(told, "same_size", sizeof value, value, &length, &flag), 0);
    CHECK(flag && !strcmp(value, "false"));
    CHECK_INT(info_get(told, "no_locks", sizeof value, value, &length, &flag), 0);
    CHECK(flag && !strcmp(value, "true"));
    CHECK_INT(info_get(told, "mpi_accumulate_granularity", sizeof value, value, &length, &flag), 0);
    CHECK(flag && !strcmp(value, "16"));
    CHECK_INT(err_class(win_lock(win, MPI_LOCK_SHARED, 0, 0)), MPI_ERR_RMA_SYNC);
    info_unref(told);
    for (int n = 0, rc = 1; rc; n++) {
        const long live = mem_live();

        mem_fail_after(n);
        rc = win_get_info(win, &told);
        mem_fail_after(-1);
        CHECK(!rc || (err_class(rc) == MPI_ERR_NO_MEM && mem_live() == live && !told));
    }
    info_unref(told);
    info_unref(info);
    CHECK_INT(win_free(win), 0);
}

int main(void)
{
    const struct p2p_config alone = { .proc = 0, .procs = 1 };
    const struct rma_config nothing = { .segment = NULL, .procs = 1 };

    errhandler_init();
    group_init();
    info_init();
    type_init();
    op_init();
    progress_init(&(struct progress_config){ .local_ranks = 1 });
    CHECK_INT(coll_init(&(struct coll_config){ .procs = 1 }), 0);
    rma_init(&nothing);
    CHECK_INT(p2p_init(&alone), 0);
    CHECK_INT(comm_init(&(struct comm_place){ .procs = 1, .size = 1, .ranks = 1 }), 0);
    CHECK_INT(comm_open_world(), 0);
    self = obj_comm(MPI_COMM_SELF);
    for (int flavor = MPI_WIN_FLAVOR_CREATE; flavor <= MPI_WIN_FLAVOR_SHARED; flavor++)
        test_making(flavor);
    test_attach();
    test_many_pieces();
    test_requests();
    test_info();
    comm_close_world();
    comm_fini();
    rma_fini();
    coll_fini();
    p2p_fini();
    progress_fini();
    return 0;
}
