/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §11.10.4: MPI_Comm_disconnect waits until buffered messages have left, then frees; the predefined
 * communicators cannot be disconnected. */
#include "mpitest.h"

enum { LENGTH = 100000 };

static char out[LENGTH], in[LENGTH], space[LENGTH + 4 * MPI_BSEND_OVERHEAD];

static void buffered(int is_own)
{
    const int next = (test_rank + 1) % test_size, before = (test_rank + test_size - 1) % test_size;
    void *address;
    int size;
    MPI_Comm comm;
    MPI_Request request;

    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    if (is_own)
        CHECK_OK(MPI_Comm_attach_buffer(comm, space, sizeof space));
    else
        CHECK_OK(MPI_Buffer_attach(space, sizeof space));
    CHECK_OK(MPI_Irecv(in, LENGTH, MPI_CHAR, before, 1, comm, &request));
    CHECK_OK(MPI_Bsend(out, LENGTH, MPI_CHAR, next, 1, comm));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Comm_disconnect(&comm));
    CHECK(comm == MPI_COMM_NULL, "the handle is not null");
    memset(space, 0, sizeof space);
    if (!is_own)
        CHECK_OK(MPI_Buffer_detach(&address, &size));
    CHECK_INT(memcmp(in, out, LENGTH), 0);
}

int main(int argc, char **argv)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    int i;

    test_begin(&argc, &argv);
    for (i = 0; i < LENGTH; i++)
        out[i] = (char)(i * 7 + 1);
    buffered(0);
    buffered(1);
    if (test_is_parley()) {
        CHECK_CLASS(MPI_Comm_disconnect(&comm), MPI_ERR_COMM);
        comm = MPI_COMM_NULL;
        CHECK_CLASS(MPI_Comm_disconnect(&comm), MPI_ERR_COMM);
    }
    return test_end();
}
