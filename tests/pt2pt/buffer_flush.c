/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.6: detach and flush return, and the request of iflush completes, when the messages of that buffer have
 * been transmitted, and not before; with nothing in it at once. A communicator's buffer is used before that of the
 * process, and no other. Attaching twice, detaching or flushing what is not attached is an error. */
#include "mpitest.h"

enum { TAG = 5, TAG_GO = 6, LEN = 200000, SIZE = 3 * (LEN + MPI_BSEND_OVERHEAD) };

static unsigned char out[LEN], in[LEN];

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)

static int right, left;

static void send_long(int i, MPI_Comm comm)
{
    test_fill(out, LEN, test_key(test_rank, i, 0));
    CHECK_OK(MPI_Bsend(out, LEN, MPI_BYTE, right, TAG, comm));
    memset(out, 0xEE, LEN);
}

static void receive_long(int i, MPI_Comm comm)
{
    CHECK_OK(MPI_Recv(in, LEN, MPI_BYTE, left, TAG, comm, MPI_STATUS_IGNORE));
    CHECK_BYTES(in, LEN, test_key(left, i, 0));
}

/* Nothing completes while the message waits for its receive (it is too long to be kept there). */
static void check_not_complete(MPI_Request *req)
{
    int i, flag = 0;

    for (i = 0; i < 20 && test_is_parley(); i++) {
        CHECK_OK(MPI_Test(req, &flag, MPI_STATUS_IGNORE));
        CHECK_INT(flag, 0);
    }
}

static void check_complete(MPI_Request *req)
{
    MPI_Status st = test_dirty_status();

    CHECK_OK(MPI_Wait(req, &st));
    CHECK(*req == MPI_REQUEST_NULL, "the request is not null after completion");
    CHECK_EMPTY(&st);
}

static void run_empty(MPI_Comm comm)
{
    MPI_Request req;

    CHECK_OK(MPI_Buffer_flush());
    CHECK_OK(MPI_Comm_flush_buffer(comm));
    CHECK_OK(MPI_Buffer_iflush(&req));
    check_complete(&req);
    CHECK_OK(MPI_Comm_iflush_buffer(comm, &req));
    CHECK_OK(MPI_Request_free(&req));
}

/* A message in the communicator's buffer does not keep that of the process, and the other way round. */
static void run_levels(MPI_Comm comm)
{
    MPI_Request req, again, gone;

    send_long(1, comm);
    CHECK_OK(MPI_Buffer_flush());
    CHECK_OK(MPI_Comm_iflush_buffer(comm, &req));
    CHECK_OK(MPI_Comm_iflush_buffer(comm, &gone));
    CHECK_OK(MPI_Request_free(&gone));
    check_not_complete(&req);
    send_long(2, MPI_COMM_WORLD);
    CHECK_OK(MPI_Buffer_iflush(&again));
    check_not_complete(&again);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    receive_long(1, comm);
    check_complete(&req);
    CHECK_OK(MPI_Comm_flush_buffer(comm));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    check_not_complete(&again);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    receive_long(2, MPI_COMM_WORLD);
    check_complete(&again);
}

/* iflush is about the messages that are there when it is called, not about later ones. */
static void run_later(MPI_Comm comm)
{
    MPI_Request req;

    send_long(3, comm);
    CHECK_OK(MPI_Comm_iflush_buffer(comm, &req));
    send_long(4, comm);
    receive_long(3, comm);
    check_complete(&req);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    receive_long(4, comm);
    CHECK_OK(MPI_Comm_flush_buffer(comm));
}

/* Blocking flush and detach wait for a receiver that is busy elsewhere; the others receive. */
static void run_blocking(MPI_Comm comm, void *space)
{
    void *detached = NULL;
    int size = -1;

    if (test_size < 2)
        return;
    if (test_rank == 0) {
        send_long(5, comm);
        CHECK_OK(MPI_Send(NULL, 0, MPI_BYTE, 1, TAG_GO, MPI_COMM_WORLD));
        CHECK_OK(MPI_Comm_flush_buffer(comm));
        send_long(6, comm);
        CHECK_OK(MPI_Send(NULL, 0, MPI_BYTE, 1, TAG_GO, MPI_COMM_WORLD));
        CHECK_OK(MPI_Comm_detach_buffer(comm, &detached, &size));
        CHECK(detached == space && size == SIZE, "detached %p, %d", detached, size);
        memset(space, 0xEE, SIZE); /* the user's again */
        CHECK_OK(MPI_Comm_attach_buffer(comm, space, SIZE));
    } else if (test_rank == 1) {
        CHECK_OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG_GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        receive_long(5, comm);
        CHECK_OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG_GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        receive_long(6, comm);
    }
}

/* A communicator that is freed with a message in its buffer. */
static void run_freed(void)
{
    static unsigned char space[SIZE]; /* nobody hands it back: stays to the end */
    MPI_Request req;
    MPI_Comm comm;

    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_attach_buffer(comm, space, SIZE));
    CHECK_OK(MPI_Irecv(in, LEN, MPI_BYTE, left, TAG, comm, &req));
    send_long(7, comm);
    CHECK_OK(MPI_Comm_flush_buffer(comm));
    CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    CHECK_BYTES(in, LEN, test_key(left, 7, 0));
    CHECK_OK(MPI_Irecv(in, LEN, MPI_BYTE, left, TAG, comm, &req));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    send_long(8, comm);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    CHECK_BYTES(in, LEN, test_key(left, 8, 0));
}

/* The communicator's buffer alone counts, although there is room in that of the process. */
static void run_not_combined(MPI_Comm comm)
{
    void *detached;
    char byte;
    int size;

    if (!test_is_parley())
        return;
    CHECK_OK(MPI_Comm_detach_buffer(comm, &detached, &size));
    CHECK_OK(MPI_Comm_attach_buffer(comm, &byte, 1));
    CHECK_CLASS(MPI_Bsend(out, LEN, MPI_BYTE, right, TAG, comm), MPI_ERR_BUFFER);
    CHECK_OK(MPI_Comm_detach_buffer(comm, &detached, &size));
    send_long(9, comm); /* by the buffer of the process */
    receive_long(9, comm);
    CHECK_CLASS(MPI_Comm_flush_buffer(comm), MPI_ERR_BUFFER);
}

static void run_errors(MPI_Comm comm)
{
    MPI_Request req = MPI_REQUEST_NULL;
    void *address;
    int size;

    if (!test_is_parley())
        return;
    CHECK_CLASS(MPI_Buffer_detach(&address, &size), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Buffer_flush(), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Buffer_iflush(&req), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Comm_detach_buffer(comm, &address, &size), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Comm_flush_buffer(comm), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Comm_iflush_buffer(comm, &req), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Buffer_attach(NULL, 1), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Comm_attach_buffer(comm, out, -1), MPI_ERR_ARG);
}

static void run_errors_attached(MPI_Comm comm)
{
    MPI_Request req;

    CHECK_CLASS(MPI_Buffer_attach(out, LEN), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Comm_attach_buffer(comm, out, LEN), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Comm_attach_buffer(comm, MPI_BUFFER_AUTOMATIC, 0), MPI_ERR_BUFFER);
    CHECK_OK(MPI_Comm_iflush_buffer(comm, &req));
    CHECK_CLASS(MPI_Cancel(&req), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    static unsigned char of_process[SIZE], of_comm[SIZE];
    MPI_Count large_size = -1;
    void *detached = NULL;
    MPI_Comm comm;

    test_begin(&argc, &argv);
    right = (test_rank + 1) % test_size;
    left = (test_rank + test_size - 1) % test_size;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    run_errors(comm);
    NEEDS(MPI_Buffer_attach_c(of_process, SIZE));
    NEEDS(MPI_Comm_attach_buffer_c(comm, of_comm, SIZE));
    if (test_is_parley())
        run_errors_attached(comm);
    run_empty(comm);
    run_levels(comm);
    run_later(comm);
    run_blocking(comm, of_comm);
    run_freed();
    run_not_combined(comm);
    CHECK_OK(MPI_Buffer_detach_c(&detached, &large_size));
    CHECK(detached == of_process && large_size == SIZE, "detached %p, %lld", detached, (long long)large_size);
    CHECK_OK(MPI_Comm_free(&comm));
    return test_end();
}

#else

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    test_skip("no flush before MPI 4.1");
}

#endif
