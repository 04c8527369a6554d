/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §4.2.1, §7.4.3: the communicator is part of matching; a request outlives the user's handle of its
 * communicator and of its datatype; requests that were never started do not keep a communicator. */
#include "mpipart.h"

enum { TAG = 1, LEN = 600 };

/* The same tag on two communicators, started the other way round. */
static void two(void)
{
    struct ring a, b;
    MPI_Comm dup;

    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    ring_open(&a, 3, 2, LEN, TAG, MPI_COMM_WORLD);
    ring_open(&b, 2, 3, LEN, TAG + 1, dup);
    for (int round = 0; round < 3; round++) {
        ring_start(&b, round);
        ring_start(&a, round);
        CHECK_OK(MPI_Pready_range(0, 1, b.reqs[1]));
        CHECK_OK(MPI_Pready_range(0, 2, a.reqs[1]));
        ring_finish(&a, round);
        ring_finish(&b, round);
    }
    CHECK_OK(MPI_Comm_free(&dup));
    ring_start(&b, 5);
    CHECK_OK(MPI_Pready_range(0, 1, b.reqs[1]));
    ring_finish(&b, 5);
    ring_close(&b);
    ring_close(&a);
}

/* Nobody makes the other side: the requests and the communicator go all the same. */
static void without_partner(void)
{
    MPI_Request reqs[2];
    MPI_Comm dup;
    int value = 0;

    for (int i = 0; i < 20; i++) {
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
        CHECK_OK(MPI_Precv_init(&value, 1, 1, MPI_INT, ring_left(), TAG, dup, MPI_INFO_NULL, &reqs[0]));
        CHECK_OK(MPI_Psend_init(&value, 1, 1, MPI_INT, ring_right(), TAG + 1, dup, MPI_INFO_NULL, &reqs[1]));
        if (i % 2)
            CHECK_OK(MPI_Comm_free(&dup));
        CHECK_OK(MPI_Request_free(&reqs[0]));
        CHECK_OK(MPI_Request_free(&reqs[1]));
        if (i % 2 == 0)
            CHECK_OK(MPI_Comm_free(&dup));
    }
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    two();
    without_partner();
    return test_end();
}
