/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.6: the buffer of a session serves the communicators that come from it, derived ones too, and no others;
 * that of a communicator goes first; MPI_Session_finalize waits until the messages have gone. */
#include "mpisession.h"

enum { TAG = 5, LEN = 100000 };

static unsigned char out[LEN], in[LEN], space[2 * (LEN + MPI_BSEND_OVERHEAD)];

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

static void run_levels(MPI_Session session, MPI_Comm comm, MPI_Comm other)
{
    MPI_Request req;
    MPI_Comm dup;
    char byte;
    void *address;
    int size;

    CHECK_OK(MPI_Comm_dup(comm, &dup));
    send_long(1, comm);
    send_long(2, dup);
    CHECK_OK(MPI_Session_iflush_buffer(session, &req));
    if (test_is_parley()) { /* full; the other session has none, and the communicator's goes first */
        CHECK_OK(MPI_Barrier(comm));
        CHECK_CLASS(MPI_Bsend(out, LEN, MPI_BYTE, right, TAG, comm), MPI_ERR_BUFFER);
        CHECK_CLASS(MPI_Bsend(out, LEN, MPI_BYTE, right, TAG, other), MPI_ERR_BUFFER);
        CHECK_OK(MPI_Barrier(comm));
    }
    receive_long(2, dup);
    receive_long(1, comm);
    CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Session_flush_buffer(session));
    if (test_is_parley()) {
        CHECK_OK(MPI_Comm_attach_buffer(comm, &byte, 1));
        CHECK_CLASS(MPI_Bsend(out, LEN, MPI_BYTE, right, TAG, comm), MPI_ERR_BUFFER);
        CHECK_OK(MPI_Comm_detach_buffer(comm, &address, &size));
    }
    CHECK_OK(MPI_Comm_free(&dup));
}

static void run_errors(MPI_Session session)
{
    MPI_Request req;
    MPI_Count large_size;
    void *address;
    int size;

    if (!test_is_parley())
        return;
    CHECK_CLASS(MPI_Session_detach_buffer(session, &address, &size), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Session_flush_buffer(session), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Session_iflush_buffer(session, &req), MPI_ERR_BUFFER);
    CHECK_OK(MPI_Session_attach_buffer_c(session, MPI_BUFFER_AUTOMATIC, -1));
    CHECK_CLASS(MPI_Session_attach_buffer(session, space, sizeof space), MPI_ERR_BUFFER);
    CHECK_OK(MPI_Session_detach_buffer_c(session, &address, &large_size));
    CHECK(address == MPI_BUFFER_AUTOMATIC, "detached %p", address);
}

int main(void)
{
    MPI_Session session = session_open(), other_session = session_open();
    MPI_Comm other = session_comm(other_session, "mpi://WORLD", "buffer, other");
    MPI_Comm comm = session_comm(session, "mpi://WORLD", "buffer");
    MPI_Request req;
    void *address = NULL;
    int size = -1;

    right = (test_rank + 1) % test_size;
    left = (test_rank + test_size - 1) % test_size;
    run_errors(session);
    CHECK_OK(MPI_Session_attach_buffer(session, space, sizeof space));
    run_levels(session, comm, other);
    CHECK_OK(MPI_Session_detach_buffer(session, &address, &size));
    CHECK(address == space && size == sizeof space, "detached %p, %d", address, size);
    CHECK_OK(MPI_Session_attach_buffer(session, space, sizeof space));
    CHECK_OK(MPI_Irecv(in, LEN, MPI_BYTE, left, TAG, comm, &req));
    send_long(3, comm);
    CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    CHECK_BYTES(in, LEN, test_key(left, 3, 0));
    CHECK_OK(MPI_Comm_free(&comm));
    session_close(&session);
    memset(space, 0xEE, sizeof space);
    session_use(other);
    CHECK_OK(MPI_Comm_free(&other));
    session_close(&other_session);
    return 0;
}

#else

int main(void)
{
    test_skip("no buffers of sessions before MPI 4.1");
}

#endif
