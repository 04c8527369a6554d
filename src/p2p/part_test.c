/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of room p2p: partitioned requests of a process with itself, where memory runs out at every place, what is
 * refused before anything is sent, and what reports say. */
#include "p2p/int_part.h"

#include <limits.h>
#include <string.h>

#include "p2p/alone.h"

enum { PARTS = 3, TAG = 5 };

static struct comm comm = { .size = 1, .remote_size = 1, .ctx = 2, .obj = { .predefined = 1 } };
static int out[PARTS] = { 1, 2, 3 }, in[PARTS];

static struct p2p_part part(void *buf, int rank)
{
    return (struct p2p_part){ buf, PARTS, 1, obj_type(MPI_INT), rank, TAG };
}

static void close_all(void)
{
    p2p_flush();
    alone_close(&comm);
}

/* From nothing, as long as memory runs out: an error each time, and nothing is kept. */
static void check_no_memory(int (*init)(struct comm *, const struct p2p_part *, struct req **), void *buf)
{
    const struct p2p_part args = part(buf, 0);
    struct req *req = NULL;
    long n = 0, live;
    int rc;

    alone_open("", &comm);
    for (live = mem_live();; n++) {
        mem_fail_after(n);
        rc = init(&comm, &args, &req);
        mem_fail_after(-1);
        if (!rc)
            break;
        CHECK_INT(err_class(rc), MPI_ERR_NO_MEM);
        CHECK(mem_live() <= live + 2); /* the pool's chunk and the peer stay */
    }
    CHECK(n >= 2);
    CHECK_INT(req_free(&(MPI_Request){ (MPI_Request)req }), 0);
    close_all();
}

static void check_refused(void)
{
    struct p2p_part args = part(NULL, 0);
    struct req *req;

    CHECK_INT(err_class(p2p_psend_init(&comm, &args, &req)), MPI_ERR_BUFFER);
    args = part(out, 0);
    args.count = INT64_MAX / 2;
    CHECK_INT(err_class(p2p_psend_init(&comm, &args, &req)), MPI_ERR_COUNT);
    args.count = INT64_MAX / 100;
    CHECK_INT(err_class(p2p_precv_init(&comm, &args, &req)), MPI_ERR_COUNT);
    args.count = (MPI_Count)1 << 46;
    CHECK_INT(err_class(p2p_precv_init(&comm, &args, &req)), MPI_ERR_COUNT);
}

static void check_described(const struct req *req, const char *of, enum blocked_way way, int rank)
{
    struct blocked b;

    req->ops->describe(req, &b);
    CHECK(!strcmp(b.of, of) && !strcmp(b.type, "MPI_INT"));
    CHECK_INT(b.way, way);
    CHECK_INT(b.peer, rank);
    CHECK_INT(b.tag, TAG);
    CHECK_INT(b.count, PARTS);
}

/* Within the process everything happens during the calls that allow it. */
static void check_round(void)
{
    const struct p2p_part from = part(out, 0), to = part(in, 0), nobody = part(out, MPI_PROC_NULL);
    struct req *send, *recv, *idle;
    int flag = 0;

    CHECK_INT(p2p_precv_init(&comm, &to, &recv), 0);
    CHECK_INT(p2p_psend_init(&comm, &from, &send), 0);
    CHECK_INT(p2p_psend_init(&comm, &nobody, &idle), 0);
    check_described(send, "MPI_Psend_init", BLOCKED_SENDING, 0);
    check_described(recv, "MPI_Precv_init", BLOCKED_RECEIVING, 0);
    check_described(idle, "MPI_Psend_init", BLOCKED_OTHERWISE, MPI_PROC_NULL);
    for (int round = 0; round < 2; round++) {
        MPI_Request done[] = { (MPI_Request)send, (MPI_Request)recv };
        memset(in, 0, sizeof in);
        CHECK_INT(req_start(recv), 0);
        CHECK_INT(err_class(req_start(recv)), MPI_ERR_REQUEST);
        CHECK_INT(req_start(send), 0);
        CHECK_INT(p2p_pready(send, 2, 1), 0); /* none */
        CHECK_INT(p2p_pready(send, 1, 1), 0);
        CHECK_INT(in[1], 0); /* too little to be sent alone */
        CHECK_INT(p2p_parrived(recv, 1, &flag), 0);
        CHECK_INT(flag, 1); /* polling has sent it */
        CHECK_INT(in[1], 2);
        CHECK_INT(p2p_pready_list(send, 2, (int[]){ 2, 0 }), 0);
        CHECK(req_is_done(send) && req_is_done(recv));
        CHECK_INT(memcmp(in, out, sizeof in), 0);
        CHECK_INT(req_waitall(2, done, MPI_STATUSES_IGNORE), 0);
    }
    CHECK_INT(req_free(&(MPI_Request){ (MPI_Request)send }), 0);
    CHECK_INT(req_free(&(MPI_Request){ (MPI_Request)recv }), 0);
    CHECK_INT(req_free(&(MPI_Request){ (MPI_Request)idle }), 0);
}

/* The count of rounds goes round: a send still waits until its receive has been started. */
static void check_many_rounds(void)
{
    const struct p2p_part from = part(out, 0), to = part(in, 0);
    struct req *send, *recv;

    CHECK_INT(p2p_precv_init(&comm, &to, &recv), 0);
    CHECK_INT(p2p_psend_init(&comm, &from, &send), 0);
    ((struct part_req *)(void *)send)->rounds = ((struct part_req *)(void *)send)->granted = UINT_MAX - 2;
    for (int round = 0; round < 5; round++) {
        MPI_Request done[] = { (MPI_Request)send, (MPI_Request)recv };
        memset(in, 0, sizeof in);
        CHECK_INT(req_start(send), 0);
        CHECK_INT(p2p_pready(send, 0, PARTS - 1), 0);
        CHECK(!in[0] && !req_is_done(send));
        CHECK_INT(req_start(recv), 0);
        CHECK_INT(req_waitall(2, done, MPI_STATUSES_IGNORE), 0);
        CHECK_INT(memcmp(in, out, sizeof in), 0);
    }
    CHECK_INT(req_free(&(MPI_Request){ (MPI_Request)send }), 0);
    CHECK_INT(req_free(&(MPI_Request){ (MPI_Request)recv }), 0);
}

/* A send that will never be marked does not keep MPI_Finalize. */
static void check_flush(void)
{
    const struct p2p_part from = part(out, 0), to = part(in, 0);
    MPI_Request handles[2];
    struct req *send, *recv;

    CHECK_INT(p2p_precv_init(&comm, &to, &recv), 0);
    CHECK_INT(p2p_psend_init(&comm, &from, &send), 0);
    handles[0] = (MPI_Request)send;
    handles[1] = (MPI_Request)recv;
    CHECK_INT(req_startall(2, handles), 0);
    CHECK_INT(p2p_pready(send, 0, 1), 0);
    p2p_flush();
    CHECK_INT(in[0], 1);
    CHECK_INT(p2p_pready(send, 2, 2), 0);
    CHECK_INT(req_waitall(2, handles, MPI_STATUSES_IGNORE), 0);
    CHECK_INT(req_free(&(MPI_Request){ (MPI_Request)send }), 0);
    CHECK_INT(req_free(&(MPI_Request){ (MPI_Request)recv }), 0);
}

int main(void)
{
    group_init();
    type_init();
    progress_init(&(struct progress_config){ .local_ranks = 1 });
    check_no_memory(p2p_psend_init, out);
    check_no_memory(p2p_precv_init, in);
    alone_open("", &comm);
    check_refused();
    check_round();
    check_many_rounds();
    check_flush();
    close_all();
    progress_fini();
    obj_fini();
    CHECK_INT(mem_live(), 0);
    return 0;
}
