/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.7.2: MPI_Isendrecv and MPI_Isendrecv_replace are a send and a receive with one request, which is complete
 * when both are; its status is that of the receive. Both halves match ordinary sends and receives. */
#include "mpitest.h"

#if MPI_VERSION >= 4
enum { LONGEST = 200000, TAG = 1, MANY = 12 };

static const int sizes[] = { 0, 8, 41, 161, 5000, 32769, LONGEST };
static unsigned char *out, *in;
static int right, left;

static void shift(int distance, int len, int is_large)
{
    const int dest = (test_rank + distance) % test_size, src = (test_rank + test_size - distance) % test_size;
    MPI_Status st = test_dirty_status();
    MPI_Request req;

    test_fill(out, (size_t)len, test_key(test_rank, distance, len));
    memset(in, TEST_CANARY, (size_t)len + 1);
    if (is_large)
        CHECK_OK(MPI_Isendrecv_c(out, len, MPI_BYTE, dest, test_rank, in, len + 1, MPI_BYTE, src, src, MPI_COMM_WORLD,
                                 &req));
    else
        CHECK_OK(MPI_Isendrecv(out, len, MPI_BYTE, dest, test_rank, in, len + 1, MPI_BYTE, src, src, MPI_COMM_WORLD,
                               &req));
    CHECK_OK(MPI_Wait(&req, &st));
    CHECK(req == MPI_REQUEST_NULL, "the handle is not null after MPI_Wait");
    CHECK_STATUS(&st, src, src, (size_t)len);
    CHECK_BYTES(in, (size_t)len, test_key(src, distance, len));
    CHECK_UNTOUCHED(in + len, 1);

    test_fill(in, (size_t)len, test_key(test_rank, distance, len + 1));
    if (is_large)
        CHECK_OK(MPI_Isendrecv_replace_c(in, len, MPI_BYTE, dest, TAG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &req));
    else
        CHECK_OK(MPI_Isendrecv_replace(in, len, MPI_BYTE, dest, TAG, src, TAG, MPI_COMM_WORLD, &req));
    CHECK_OK(MPI_Waitall(1, &req, &st));
    CHECK_STATUS(&st, src, TAG, (size_t)len);
    CHECK_BYTES(in, (size_t)len, test_key(src, distance, len + 1));
    CHECK_UNTOUCHED(in + len, 1);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD)); /* the wildcard takes none of the next ones */
}

/* A chain without a ring: the ends talk to nobody. */
static void chain(int len)
{
    const int dest = test_rank + 1 < test_size ? test_rank + 1 : MPI_PROC_NULL;
    const int src = test_rank > 0 ? test_rank - 1 : MPI_PROC_NULL;
    MPI_Request req;
    MPI_Status st;
    int replaces;

    for (replaces = 0; replaces < 2; replaces++) {
        st = test_dirty_status();
        test_fill(out, (size_t)len, test_key(test_rank, 77, len));
        memset(in, TEST_CANARY, (size_t)len);
        if (replaces) {
            memcpy(in, out, (size_t)len);
            CHECK_OK(MPI_Isendrecv_replace(in, len, MPI_BYTE, dest, 5, src, 5, MPI_COMM_WORLD, &req));
        } else {
            CHECK_OK(MPI_Isendrecv(out, len, MPI_BYTE, dest, 5, in, len, MPI_BYTE, src, 5, MPI_COMM_WORLD, &req));
        }
        CHECK_OK(MPI_Wait(&req, &st));
        if (src != MPI_PROC_NULL) {
            CHECK_STATUS(&st, src, 5, (size_t)len);
            CHECK_BYTES(in, (size_t)len, test_key(src, 77, len));
            continue;
        }
        CHECK_STATUS(&st, MPI_PROC_NULL, MPI_ANY_TAG, 0);
        if (replaces)
            CHECK_BYTES(in, (size_t)len, test_key(test_rank, 77, len));
        else
            CHECK_UNTOUCHED(in, (size_t)len);
    }
}

/* Not complete before both are: the receive has come, the long send has not been received. Needs two processes. */
static void both(void)
{
    static int value, got;
    MPI_Request req;
    int flag = 0, i;
    MPI_Status st;

    if (test_rank == 0) {
        CHECK_OK(MPI_Isendrecv(out, LONGEST, MPI_BYTE, 1, 6, &got, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, &req));
        CHECK_OK(MPI_Recv(&value, 1, MPI_INT, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE)); /* tag 7 has come before */
        for (i = 0; i < 100 && test_is_parley(); i++) { /* others may have buffered it */
            CHECK_OK(MPI_Test(&req, &flag, &st));
            CHECK_INT(flag, 0);
        }
        CHECK_OK(MPI_Send(&value, 1, MPI_INT, 1, 9, MPI_COMM_WORLD));
        CHECK_OK(MPI_Wait(&req, &st));
        CHECK_STATUS(&st, 1, 7, sizeof(int));
        CHECK_INT(got, 71);
    } else if (test_rank == 1) {
        value = 71;
        CHECK_OK(MPI_Send(&value, 1, MPI_INT, 0, 7, MPI_COMM_WORLD));
        CHECK_OK(MPI_Send(&value, 1, MPI_INT, 0, 8, MPI_COMM_WORLD));
        CHECK_OK(MPI_Recv(&value, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Recv(in, LONGEST, MPI_BYTE, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
}

/* Many at once, completed in any order, mixed with others. */
static void many(int len)
{
    MPI_Request reqs[MANY + 1];
    MPI_Status st;
    int i, index, done;

    for (i = 0; i < MANY; i++) {
        test_fill(out + i * len, (size_t)len, test_key(test_rank, i, len));
        memcpy(in + i * len, out + i * len, (size_t)len);
        if (i % 2)
            CHECK_OK(MPI_Isendrecv_replace(in + i * len, len, MPI_BYTE, right, i, left, i, MPI_COMM_WORLD, &reqs[i]));
        else
            CHECK_OK(MPI_Isendrecv(out + i * len, len, MPI_BYTE, right, i, in + i * len, len, MPI_BYTE, left, i,
                                   MPI_COMM_WORLD, &reqs[i]));
    }
    reqs[MANY] = MPI_REQUEST_NULL;
    for (done = 0; done < MANY; done++) {
        CHECK_OK(MPI_Waitany(MANY + 1, reqs, &index, &st));
        CHECK(index >= 0 && index < MANY, "index %d", index);
        CHECK_STATUS(&st, left, index, (size_t)len);
        CHECK_BYTES(in + index * len, (size_t)len, test_key(left, index, len));
    }
}

/* Freed while active: both halves still happen, and a replacing one keeps what it sends. A later message of the same
 * sender does not match first; when the first one's data has come nothing tells but the buffer. */
static void freed(int len)
{
    static unsigned char buf[5000];
    MPI_Request req;
    int token;

    test_fill(buf, (size_t)len, test_key(test_rank, 55, len));
    CHECK_OK(MPI_Isendrecv_replace(buf, len, MPI_BYTE, right, TAG, left, TAG, MPI_COMM_WORLD, &req));
    CHECK_OK(MPI_Request_free(&req));
    CHECK(req == MPI_REQUEST_NULL, "MPI_Request_free did not null the handle");
    CHECK_OK(MPI_Sendrecv(&test_rank, 1, MPI_INT, right, TAG, &token, 1, MPI_INT, left, TAG, MPI_COMM_WORLD,
                          MPI_STATUS_IGNORE));
    CHECK_INT(token, left);
    test_fill(out, (size_t)len, test_key(left, 55, len));
    test_await_bytes(buf, out, (size_t)len);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_BYTES(buf, (size_t)len, test_key(left, 55, len));
}

/* The handle of the communicator goes first. */
static void freed_comm(void)
{
    MPI_Request req;
    MPI_Comm comm;
    MPI_Status st;

    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    test_fill(in, LONGEST, test_key(test_rank, 66, 0));
    CHECK_OK(MPI_Isendrecv_replace(in, LONGEST, MPI_BYTE, right, TAG, left, TAG, comm, &req));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Wait(&req, &st));
    CHECK_STATUS(&st, left, TAG, LONGEST);
    CHECK_BYTES(in, LONGEST, test_key(left, 66, 0));
}

/* A receive that nobody sends to can be cancelled, and the send with it if it is still here; one that has its message
 * cannot, and then the send goes on as well. */
static void cancel(void)
{
    int value = 3, got = -1, flag = -1;
    MPI_Request req;
    MPI_Status st;

    CHECK_OK(MPI_Isendrecv(&value, 1, MPI_INT, MPI_PROC_NULL, TAG, &got, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, &req));
    CHECK_OK(MPI_Cancel(&req));
    CHECK_OK(MPI_Wait(&req, &st));
    CHECK_OK(MPI_Test_cancelled(&st, &flag));
    CHECK_INT(flag, 1);
    CHECK_INT(got, -1);

    CHECK_OK(MPI_Isendrecv(out, LONGEST, MPI_BYTE, 0, TAG, &got, 1, MPI_INT, 0, TAG + 1, MPI_COMM_SELF, &req));
    CHECK_OK(MPI_Cancel(&req));
    CHECK_OK(MPI_Wait(&req, &st));
    CHECK_OK(MPI_Test_cancelled(&st, &flag));
    CHECK_INT(flag, 1);
    CHECK_OK(MPI_Iprobe(0, TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
    CHECK_INT(flag, 0); /* taken back */

    CHECK_OK(MPI_Isendrecv(out, LONGEST, MPI_BYTE, 0, TAG, &got, 1, MPI_INT, 0, TAG + 1, MPI_COMM_SELF, &req));
    CHECK_OK(MPI_Ssend(&value, 1, MPI_INT, 0, TAG + 1, MPI_COMM_SELF)); /* has been matched */
    CHECK_OK(MPI_Cancel(&req));
    CHECK_OK(MPI_Recv(in, LONGEST, MPI_BYTE, 0, TAG, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&req, &st));
    CHECK_OK(MPI_Test_cancelled(&st, &flag));
    CHECK_INT(flag, 0);
    CHECK_STATUS(&st, 0, TAG + 1, sizeof(int));
    CHECK_INT(got, 3);

    CHECK_OK(MPI_Isendrecv(out, LONGEST, MPI_BYTE, 0, TAG, NULL, 0, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_SELF, &req));
    CHECK_OK(MPI_Cancel(&req));
    CHECK_OK(MPI_Wait(&req, &st));
    CHECK_OK(MPI_Test_cancelled(&st, &flag));
    CHECK_INT(flag, 1);
}

static void errors(void)
{
    int values[2] = { 1, 2 }, got = 0;
    MPI_Request req;
    MPI_Status st;

    CHECK_OK(MPI_Isendrecv(values, 2, MPI_INT, 0, TAG, &got, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, &req));
    CHECK_CLASS(MPI_Wait(&req, &st), MPI_ERR_TRUNCATE);
    CHECK(req == MPI_REQUEST_NULL, "the handle of a failed request is not null");
    CHECK_CLASS(MPI_Sendrecv(values, 2, MPI_INT, 0, TAG, &got, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, &st),
                MPI_ERR_TRUNCATE);
    CHECK_CLASS(MPI_Isendrecv(values, 1, MPI_INT, test_size, TAG, &got, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, &req),
                MPI_ERR_RANK);
    CHECK_CLASS(MPI_Isendrecv(values, 1, MPI_INT, 0, TAG, &got, -1, MPI_INT, 0, TAG, MPI_COMM_WORLD, &req),
                MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Isendrecv_replace(values, 1, MPI_INT, 0, MPI_ANY_TAG, 0, TAG, MPI_COMM_WORLD, &req), MPI_ERR_TAG);
    CHECK_CLASS(MPI_Isendrecv_replace(values, 1, MPI_INT, 0, TAG, 0, TAG, MPI_COMM_NULL, &req), MPI_ERR_COMM);
}

int main(int argc, char **argv)
{
    size_t i;
    int distance;

    test_begin(&argc, &argv);
    right = (test_rank + 1) % test_size;
    left = (test_rank + test_size - 1) % test_size;
    out = test_alloc(MANY * LONGEST);
    in = test_alloc(MANY * LONGEST);
    for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (distance = 0; distance < test_size; distance++)
            shift(distance, sizes[i], distance % 2);
        chain(sizes[i]);
        many(sizes[i]);
    }
    if (test_size > 1)
        both();
    freed(5000);
    freed(100);
    freed_comm();
    if (test_is_parley()) /* what cancelling does to the two halves is left open */
        cancel();
    errors();
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    free(out);
    free(in);
    return test_end();
}
#else
int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    test_skip("no MPI_Isendrecv before MPI 4.0");
}
#endif
