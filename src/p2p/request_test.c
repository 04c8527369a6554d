/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of room p2p: requests that are set up before they are started, in a process alone: what happens when memory
 * runs out, and that all of it is given back. What they do is tested in tests/pt2pt. */
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "obj/group.h"
#include "p2p/int_p2p.h"

enum { LONG = 100000, TAG = 7, PER_CHUNK = 16 }; /* requests of the pool that one allocation gives */

static struct comm comm;
static unsigned char out[LONG], in[LONG];

static void destroy(struct comm *c)
{
    (void)c;
}

static void open_all(void)
{
    progress_init(&(struct progress_config){ .local_ranks = 1 });
    group_init();
    type_init();
    CHECK(!p2p_init(&(struct p2p_config){ .proc = 0, .procs = 1 }));
    comm = (struct comm){ .size = 1, .remote_size = 1, .ctx = 2, .destroy = destroy };
    obj_init(&comm.obj, OBJ_COMM);
    CHECK(!group_create_stride(1, 0, 1, 0, &comm.group));
    comm.remote_group = comm.group;
    CHECK(!p2p_comm_open(&comm));
}

static void close_all(void)
{
    CHECK_INT(comm.obj.refs, 1);
    p2p_comm_close(&comm);
    group_unref(comm.group);
    p2p_fini();
    progress_fini();
    obj_fini();
    CHECK_INT(mem_live(), 0);
}

static struct type *bytes(void)
{
    return obj_type(MPI_BYTE);
}

static struct p2p_sendrecv replacing(MPI_Count count)
{
    return (struct p2p_sendrecv){ in, count, bytes(), 0, TAG, in, count, bytes(), 0, TAG };
}

static void wait_for(struct req *req)
{
    MPI_Request request = (MPI_Request)req;

    CHECK(!req_wait(&request, MPI_STATUS_IGNORE));
}

static void free_it(struct req *req)
{
    MPI_Request request = (MPI_Request)req;

    CHECK(!req_free(&request));
}

static int class_without_memory(int (*call)(struct req **), long after)
{
    struct req *req = NULL;
    int rc;

    mem_fail_after(after);
    rc = call(&req);
    mem_fail_after(-1);
    return err_class(rc);
}

static int make_send(struct req **req)
{
    return p2p_send_init(&comm, out, 1, bytes(), 0, TAG, P2P_STANDARD, req);
}

static int make_recv(struct req **req)
{
    return p2p_recv_init(&comm, in, 1, bytes(), 0, TAG, P2P_STANDARD, req);
}

static int make_pair(struct req **req)
{
    const struct p2p_sendrecv args = replacing(1);

    return p2p_isendrecv(&comm, &args, req);
}

static int make_replacing(struct req **req)
{
    struct p2p_sendrecv args = replacing(LONG);

    return p2p_isendrecv_replace(&comm, &args, req);
}

static int replace(struct req **req)
{
    struct p2p_sendrecv args = replacing(LONG);

    (void)req;
    return p2p_sendrecv_replace(&comm, &args, MPI_STATUS_IGNORE);
}

/* Pools are empty at first. The first send needs a request and a peer. */
static void test_no_memory(void)
{
    struct req *held[PER_CHUNK];

    CHECK_INT(class_without_memory(make_send, 0), MPI_ERR_NO_MEM);
    CHECK_INT(class_without_memory(make_send, 1), MPI_ERR_NO_MEM);
    CHECK_INT(class_without_memory(make_pair, 0), MPI_ERR_NO_MEM);
    for (int i = 0; i < PER_CHUNK; i++)
        CHECK(!make_recv(&held[i]));
    CHECK_INT(class_without_memory(make_recv, 0), MPI_ERR_NO_MEM);
    CHECK_INT(class_without_memory(make_pair, 0), MPI_ERR_NO_MEM);
    CHECK_INT(class_without_memory(make_pair, 1), MPI_ERR_NO_MEM); /* no receive */
    held[0]->ops->release(held[0]);
    CHECK_INT(class_without_memory(make_pair, 0), MPI_ERR_NO_MEM); /* no send */
    CHECK_INT(class_without_memory(make_replacing, 0), MPI_ERR_NO_MEM);
    CHECK_INT(class_without_memory(make_replacing, 1), MPI_ERR_NO_MEM); /* the copy is made, and given back */
    CHECK_INT(class_without_memory(replace, 0), MPI_ERR_NO_MEM);
    for (int i = 1; i < PER_CHUNK; i++)
        held[i]->ops->release(held[i]);
}

/* MPI_Start allocates nothing. */
static void test_start(void)
{
    struct req *send, *recv;

    CHECK(!make_send(&send) && !make_recv(&recv));
    for (int round = 0; round < 3; round++) {
        out[0] = (unsigned char)(10 + round);
        mem_fail_after(0);
        CHECK(!req_start(recv) && !req_start(send));
        mem_fail_after(-1);
        wait_for(send);
        wait_for(recv);
        CHECK_INT(in[0], 10 + round);
    }
    CHECK(!req_start(recv));
    free_it(recv); /* active: goes when its message has come */
    CHECK(!req_start(send));
    wait_for(send);
    free_it(send);
}

/* The copy goes with the send, the request with the last half, whoever still looks at it. */
static void test_copies(void)
{
    struct p2p_sendrecv args = replacing(LONG);
    MPI_Status status;
    struct req *req;
    long live;

    args.recv_tag = TAG + 1;
    memset(in, 1, sizeof in);
    CHECK(!p2p_isendrecv_replace(&comm, &args, &req));
    live = mem_live() - 1;
    free_it(req);
    memset(in, 2, sizeof in);
    CHECK(!p2p_recv(&comm, out, LONG, bytes(), 0, TAG, P2P_STANDARD, &status));
    CHECK(out[0] == 1 && out[LONG - 1] == 1);
    for (int i = 0; i < 1000 && mem_live() != live; i++)
        progress_poll(); /* a flush would wait for the receive */
    CHECK_INT(mem_live(), live);
    CHECK_INT(comm.obj.refs, 3); /* the receive, the pair */
    CHECK(!p2p_send(&comm, "x", 1, bytes(), 0, TAG + 1));
    progress_poll();
    CHECK_INT(in[0], 'x');
    CHECK_INT(comm.obj.refs, 1);
    CHECK(!make_replacing(&req));
    wait_for(req);
    CHECK_INT(mem_live(), live);
}

/* A wait for sends that are kept back may become long, too. */
static void test_kept(void)
{
    const struct lane *lane = comm.p2p->channel[0].lane;
    struct blocked b;

    for (int i = 0; i < P2P_KEPT; i++) {
        CHECK(req_describe_wait(&(struct progress_long){ .done = &lane->kept[i].done }, &b));
        CHECK(!strcmp(b.call, "MPI_Wait"));
        CHECK(b.way == BLOCKED_SENDING && b.is_of_anyone);
    }
}

int main(void)
{
    open_all();
    test_no_memory();
    test_start();
    test_copies();
    test_kept();
    close_all();
    return 0;
}
