/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.7.3: MPI_Request_free of an active request nulls the handle and lets the operation finish: freed
 * sends arrive, freed receives receive, for all lengths; at the latest MPI_Finalize completes them (§11.2.2).
 */
#include "mpitest.h"

enum { TAG = 1, TAG_SEEN = 2, LONGEST = 1 << 20 };

static const int sizes[] = { 0, 8, 41, 161, 5000, 32769, 65537, LONGEST };

static void free_send(unsigned char *out, unsigned char *in, int len, int is_sync)
{
    const int right = (test_rank + 1) % test_size, left = (test_rank + test_size - 1) % test_size;
    MPI_Request req;
    MPI_Status st;

    test_fill(out, (size_t)len, test_key(test_rank, len, 17));
    if (is_sync)
        CHECK_OK(MPI_Issend(out, len, MPI_BYTE, right, TAG, MPI_COMM_WORLD, &req));
    else
        CHECK_OK(MPI_Isend(out, len, MPI_BYTE, right, TAG, MPI_COMM_WORLD, &req));
    CHECK_OK(MPI_Request_free(&req));
    CHECK(req == MPI_REQUEST_NULL, "MPI_Request_free did not null the handle");
    CHECK_OK(MPI_Recv(in, len, MPI_BYTE, left, TAG, MPI_COMM_WORLD, &st));
    CHECK_STATUS(&st, left, TAG, (size_t)len);
    CHECK_BYTES(in, (size_t)len, test_key(left, len, 17));
    /* The receiver says when the buffer may be used again. */
    CHECK_OK(MPI_Sendrecv(NULL, 0, MPI_BYTE, left, TAG_SEEN, NULL, 0, MPI_BYTE, right, TAG_SEEN,
                          MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void free_recv(unsigned char *out, unsigned char *in, int len)
{
    const int right = (test_rank + 1) % test_size, left = (test_rank + test_size - 1) % test_size;
    MPI_Request req, sends[2];
    int again = 0, value = 1;

    test_fill(out, (size_t)len, test_key(test_rank, len, 18));
    memset(in, TEST_CANARY, LONGEST);
    CHECK_OK(MPI_Irecv(in, len, MPI_BYTE, left, TAG, MPI_COMM_WORLD, &req));
    CHECK_OK(MPI_Request_free(&req));
    CHECK_OK(MPI_Issend(out, len, MPI_BYTE, right, TAG, MPI_COMM_WORLD, &sends[0]));
    CHECK_OK(MPI_Isend(&value, 1, MPI_INT, right, TAG, MPI_COMM_WORLD, &sends[1]));
    CHECK_OK(MPI_Recv(&again, 1, MPI_INT, left, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_INT(again, 1);
    CHECK_OK(MPI_Waitall(2, sends, MPI_STATUSES_IGNORE));
    test_fill(out, (size_t)len, test_key(left, len, 18));
    test_await_bytes(in, out, (size_t)len);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_BYTES(in, (size_t)len, test_key(left, len, 18));
    CHECK_UNTOUCHED(in + len, (size_t)(LONGEST - len));
}

int main(int argc, char **argv)
{
    unsigned char *out, *in;
    MPI_Request req;
    size_t i;

    test_begin(&argc, &argv);
    out = test_alloc(LONGEST);
    in = test_alloc(LONGEST);
    for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        free_send(out, in, sizes[i], 0);
        free_send(out, in, sizes[i], 1);
        free_recv(out, in, sizes[i]);
    }
    req = MPI_REQUEST_NULL;
    CHECK_CLASS(MPI_Request_free(&req), MPI_ERR_REQUEST);
    free(out);
    free(in);
    return test_end();
}
