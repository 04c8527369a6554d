/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of buffered sends in a process alone: no memory at every place where some is asked for, and a message whose
 * sending fails. */
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "p2p/int_p2p.h"

enum { LONG = 200000 };

static struct comm comm;
static struct group *group;
static unsigned char data[LONG];

static void open_all(void)
{
    const struct p2p_config config = { .procs = 1 };

    type_init();
    progress_init(&(struct progress_config){ .local_ranks = 1 });
    CHECK_INT(p2p_init(&config), 0);
    CHECK_INT(group_create_stride(1, 0, 1, 0, &group), 0);
    comm = (struct comm){ .size = 1, .remote_size = 1, .group = group, .remote_group = group };
    obj_predefine(&comm.obj, OBJ_COMM, (uintptr_t)MPI_COMM_WORLD);
    CHECK_INT(p2p_comm_open(&comm), 0);
}

static void close_all(void)
{
    p2p_flush();
    p2p_comm_close(&comm);
    p2p_fini();
    progress_fini();
    group_unref(group);
    type_fini();
    obj_fini();
    CHECK_INT(mem_live(), 0);
}

static struct type *byte_type(void)
{
    return obj_type(MPI_BYTE);
}

static void receive(int len)
{
    static unsigned char in[LONG];
    MPI_Status status;

    CHECK_INT(p2p_recv(&comm, in, LONG, byte_type(), 0, 1, 0, &status), 0);
    CHECK_INT(status_bytes(&status), len);
    CHECK(!memcmp(in, data, (size_t)len));
}

/* Allocation after allocation fails until it works; then exactly one message is there. */
static void test_no_memory(void)
{
    struct req *req;
    MPI_Request handle;
    int failures = 0, rc;

    CHECK_INT(p2p_buffer_attach(&comm.buffer, "the communicator", MPI_BUFFER_AUTOMATIC, 0), 0);
    for (long n = 0;; n++) {
        mem_fail_after(n);
        rc = p2p_ibsend(&comm, data, LONG, byte_type(), 0, 1, &req);
        mem_fail_after(-1);
        if (!rc)
            break;
        CHECK_INT(err_class(rc), MPI_ERR_NO_MEM);
        CHECK_INT(p2p_buffer_flush(&comm.buffer, "the communicator"), 0);
        failures++;
    }
    CHECK(failures > 1);
    handle = (MPI_Request)req;
    CHECK_INT(req_wait(&handle, MPI_STATUS_IGNORE), 0);
    receive(LONG);
    mem_fail_after(0);
    rc = p2p_buffer_attach(p2p_buffer_of_process(), "the process", data, 1);
    mem_fail_after(-1);
    CHECK_INT(err_class(rc), MPI_ERR_NO_MEM);
    CHECK(!*p2p_buffer_of_process());
}

/* The first error of a message that nobody waits for is told once, by what waits for the buffer. */
static void test_error(void)
{
    const struct list *orphan;
    struct p2p_req *r;
    MPI_Request handle;
    struct req *req;
    int flag;

    CHECK_INT(p2p_ibsend(&comm, data, LONG, byte_type(), 0, 1, &req), 0);
    handle = (MPI_Request)req;
    CHECK_INT(req_wait(&handle, MPI_STATUS_IGNORE), 0);
    CHECK_INT(p2p_buffer_iflush(&comm.buffer, "the communicator", &req), 0);
    handle = (MPI_Request)req;
    CHECK_INT(req_test(&handle, &flag, MPI_STATUS_IGNORE), 0);
    CHECK(!flag);
    orphan = list_first(&comm.p2p->channel[0].match.arrivals);
    r = (struct p2p_req *)(uintptr_t)CONTAINER_OF(orphan, struct message, arrival.all)->sync_id;
    r->req.error = MPI_ERR_INTERN;
    receive(LONG);
    CHECK_INT(req_wait(&handle, MPI_STATUS_IGNORE), MPI_ERR_INTERN);
    CHECK_INT(p2p_buffer_flush(&comm.buffer, "the communicator"), 0);
}

int main(void)
{
    for (size_t i = 0; i < LONG; i++)
        data[i] = (unsigned char)(i * 7);
    open_all();
    test_no_memory();
    test_error();
    close_all();
    return 0;
}
