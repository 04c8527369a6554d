/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.8.2, §3.8.4: a message that MPI_Mprobe has taken out of the queue is matched. To cancel its send is too
 * late then, and MPI_Mrecv gets it whole. Beside it another message with the same envelope, that nobody has matched,
 * may be cancelled. */
#include "mpitest.h"

enum { TAG = 1, TAG_WORD = 2 };

typedef int start_function(const void *buf, int n, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                           MPI_Request *req);

static int was_cancelled(MPI_Request *req)
{
    MPI_Status status;
    int flag = -1;

    CHECK_OK(MPI_Wait(req, &status));
    CHECK_OK(MPI_Test_cancelled(&status, &flag));
    return flag;
}

static void sender(start_function *start, unsigned char *buf, int len)
{
    MPI_Request held, free_one;
    int word = 0;

    test_fill(buf, (size_t)len, test_key(0, len, 16));
    CHECK_OK(start(buf, len, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &held));
    CHECK_OK(start(buf, len, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &free_one));
    CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, 1, TAG_WORD, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Cancel(&held));
    CHECK_OK(MPI_Cancel(&free_one));
    CHECK_OK(MPI_Send(NULL, 0, MPI_INT, 1, TAG_WORD, MPI_COMM_WORLD));
    word = was_cancelled(&free_one);
    CHECK_INT(was_cancelled(&held), 0);
    CHECK_OK(MPI_Send(&word, 1, MPI_INT, 1, TAG_WORD, MPI_COMM_WORLD));
}

static void receiver(unsigned char *buf, int len)
{
    MPI_Message message;
    MPI_Status status;
    int is_cancelled, flag;

    CHECK_OK(MPI_Mprobe(0, TAG, MPI_COMM_WORLD, &message, &status));
    CHECK_STATUS(&status, 0, TAG, (size_t)len);
    CHECK_OK(MPI_Send(NULL, 0, MPI_INT, 0, TAG_WORD, MPI_COMM_WORLD));
    CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, 0, TAG_WORD, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Mrecv(buf, len, MPI_BYTE, &message, &status));
    CHECK_STATUS(&status, 0, TAG, (size_t)len);
    CHECK_BYTES(buf, (size_t)len, test_key(0, len, 16));
    CHECK_OK(MPI_Recv(&is_cancelled, 1, MPI_INT, 0, TAG_WORD, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (!is_cancelled) {
        memset(buf, 0, (size_t)len);
        CHECK_OK(MPI_Recv(buf, len, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &status));
        CHECK_BYTES(buf, (size_t)len, test_key(0, len, 16));
    }
    CHECK_OK(MPI_Iprobe(0, TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    CHECK_INT(flag, 0);
}

int main(int argc, char **argv)
{
    static const int sizes[] = { 0, 8, 100, 1000, 30000, 50000, 100000, 2000000 };
    static start_function *const starts[] = { MPI_Isend, MPI_Issend, MPI_Ibsend };
    static unsigned char space[2 * (2000000 + MPI_BSEND_OVERHEAD)];
    unsigned char *const buf = test_alloc(2000000);

    test_begin(&argc, &argv);
    test_needs_ranks(2);
    CHECK_OK(MPI_Buffer_attach(space, sizeof space));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (size_t k = 0; k < sizeof starts / sizeof *starts; k++) {
            if (test_rank == 0)
                sender(starts[k], buf, sizes[i]);
            else if (test_rank == 1)
                receiver(buf, sizes[i]);
            CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        }
    }
    CHECK_OK(MPI_Buffer_detach(&(void *){ NULL }, &(int){ 0 }));
    free(buf);
    return test_end();
}
