/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.6: with MPI_BUFFER_AUTOMATIC there is always enough buffer; the size says nothing; detaching waits for the
 * messages and hands MPI_BUFFER_AUTOMATIC back; nothing else can be attached at that level meanwhile. */
#include "mpitest.h"

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)

enum { TAG = 5, LEN = 150000, MESSAGES = 20 };

static unsigned char out[LEN], in[LEN];

static void send_all(int right, MPI_Comm comm, int key)
{
    MPI_Request req;
    int i;

    for (i = 0; i < MESSAGES; i++) {
        test_fill(out, (size_t)(LEN - i), test_key(test_rank, i, key));
        if (i % 2) {
            CHECK_OK(MPI_Ibsend(out, LEN - i, MPI_BYTE, right, TAG, comm, &req));
            CHECK_OK(i % 4 == 1 ? MPI_Wait(&req, MPI_STATUS_IGNORE) : MPI_Request_free(&req));
        } else {
            CHECK_OK(MPI_Bsend(out, LEN - i, MPI_BYTE, right, TAG, comm));
        }
        memset(out, 0xEE, LEN);
    }
}

static void receive_all(int left, MPI_Comm comm, int key)
{
    MPI_Status st;
    int i;

    for (i = 0; i < MESSAGES; i++) {
        CHECK_OK(MPI_Recv(in, LEN, MPI_BYTE, left, TAG, comm, &st));
        CHECK_STATUS(&st, left, TAG, (size_t)(LEN - i));
        CHECK_BYTES(in, (size_t)(LEN - i), test_key(left, i, key));
    }
}

int main(int argc, char **argv)
{
    void *address = NULL;
    MPI_Count large_size;
    MPI_Comm comm;
    int right, left, size;
    char byte;

    test_begin(&argc, &argv);
    right = (test_rank + 1) % test_size;
    left = (test_rank + test_size - 1) % test_size;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    NEEDS(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, -7));
    if (test_is_parley()) {
        CHECK_CLASS(MPI_Buffer_attach(&byte, 1), MPI_ERR_BUFFER);
        CHECK_CLASS(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0), MPI_ERR_BUFFER);
    }
    send_all(right, comm, 1);
    receive_all(left, comm, 1);
    CHECK_OK(MPI_Buffer_flush());
    CHECK_OK(MPI_Comm_attach_buffer_c(comm, MPI_BUFFER_AUTOMATIC, 0));
    send_all(right, comm, 2);
    send_all(right, MPI_COMM_WORLD, 3);
    receive_all(left, MPI_COMM_WORLD, 3);
    receive_all(left, comm, 2);
    CHECK_OK(MPI_Buffer_detach(&address, &size));
    CHECK(address == MPI_BUFFER_AUTOMATIC, "detached %p", address);
    address = NULL;
    CHECK_OK(MPI_Comm_detach_buffer_c(comm, &address, &large_size));
    CHECK(address == MPI_BUFFER_AUTOMATIC, "detached %p", address);
    if (test_is_parley())
        CHECK_CLASS(MPI_Buffer_detach(&address, &size), MPI_ERR_BUFFER);
    CHECK_OK(MPI_Buffer_attach(&byte, 1)); /* free again */
    CHECK_OK(MPI_Buffer_detach(&address, &size));
    CHECK(address == &byte && size == 1, "detached %p, %d", address, size);
    CHECK_OK(MPI_Comm_free(&comm));
    return test_end();
}

#else

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    test_skip("no automatic buffering before MPI 4.1");
}

#endif
