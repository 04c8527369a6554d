/* SPDX-License-Identifier: BSD-3-Clause */
/* When the connection between two processes on different machines breaks, what has been begun between them ends with an
 * error, and so does what is begun afterwards: nobody waits for what cannot come. Rank 1 breaks it by the system's
 * means. Needs ranks on several machines, or treated so (PARLEY_NODES). */
#include "cut.h"

enum { TAG = 1, TAG_GO, TAG_NONE, LONG = 3000000, REQUESTS = 7 };

static char *buf;

/* One of each kind that cannot end without the other process. */
static void begin(MPI_Request *requests)
{
    const int other = 1 - test_rank;

    CHECK_OK(MPI_Irecv(buf, 8, MPI_BYTE, other, TAG_NONE, MPI_COMM_WORLD, &requests[0]));
    CHECK_OK(MPI_Irecv(buf + 8, 8, MPI_BYTE, MPI_ANY_SOURCE, TAG_NONE, MPI_COMM_WORLD, &requests[1]));
    CHECK_OK(MPI_Isend(buf + LONG, LONG, MPI_BYTE, other, TAG_NONE + 1, MPI_COMM_WORLD, &requests[2]));
    CHECK_OK(MPI_Issend(buf + LONG, 8, MPI_BYTE, other, TAG_NONE + 1, MPI_COMM_WORLD, &requests[3]));
    CHECK_OK(MPI_Psend_init(buf + LONG, 4, 100000, MPI_BYTE, other, TAG_NONE + 2, MPI_COMM_WORLD, MPI_INFO_NULL,
                            &requests[4]));
    CHECK_OK(MPI_Precv_init(buf + 16, 4, 1000, MPI_BYTE, other, TAG_NONE + 3, MPI_COMM_WORLD, MPI_INFO_NULL,
                            &requests[5]));
    CHECK_OK(MPI_Startall(2, &requests[4]));
    CHECK_OK(MPI_Pready_range(0, 3, requests[4]));
    CHECK_OK(MPI_Iallreduce(MPI_IN_PLACE, buf + 10000, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[6]));
}

static void test_begun(void)
{
    MPI_Request requests[REQUESTS];
    MPI_Status statuses[REQUESTS];
    char what[32];
    int class;

    if (test_rank == 0) {
        begin(requests);
        CHECK_OK(MPI_Send(NULL, 0, MPI_BYTE, 1, TAG_GO, MPI_COMM_WORLD));
        CHECK_OK(MPI_Error_class(MPI_Waitall(REQUESTS, requests, statuses), &class));
        CHECK_INT(class, MPI_ERR_IN_STATUS);
        for (int i = 0; i < REQUESTS; i++) {
            snprintf(what, sizeof what, "request %d", i);
            check_lost(statuses[i].MPI_ERROR, what);
        }
        CHECK_OK(MPI_Request_free(&requests[4]));
        CHECK_OK(MPI_Request_free(&requests[5]));
    } else {
        CHECK_OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG_GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(shut_connections() > 0, "there are no connections");
    }
}

/* Short ones may have been said to be sent before the break is known here: the receive comes first. */
static void test_afterwards(void)
{
    const int other = 1 - test_rank;
    MPI_Message message;
    int flag;

    check_lost(MPI_Recv(buf, 8, MPI_BYTE, other, TAG_NONE, MPI_COMM_WORLD, MPI_STATUS_IGNORE), "MPI_Recv");
    check_lost(MPI_Send(buf, 8, MPI_BYTE, other, TAG, MPI_COMM_WORLD), "MPI_Send");
    check_lost(MPI_Send(buf, 5000, MPI_BYTE, other, TAG, MPI_COMM_WORLD), "MPI_Send of 5000 bytes");
    check_lost(MPI_Send(buf, LONG, MPI_BYTE, other, TAG, MPI_COMM_WORLD), "MPI_Send of many bytes");
    check_lost(MPI_Ssend(buf, 8, MPI_BYTE, other, TAG, MPI_COMM_WORLD), "MPI_Ssend");
    check_lost(MPI_Probe(other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE), "MPI_Probe");
    check_lost(MPI_Mprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE), "MPI_Mprobe");
    check_lost(MPI_Iprobe(other, TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE), "MPI_Iprobe");
    check_lost(MPI_Recv(buf, 8, MPI_BYTE, MPI_ANY_SOURCE, TAG_NONE, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
               "MPI_Recv from any source");
    check_lost(MPI_Sendrecv(buf, 8, MPI_BYTE, other, TAG, buf + 8, 8, MPI_BYTE, other, TAG, MPI_COMM_WORLD,
                            MPI_STATUS_IGNORE), "MPI_Sendrecv");
    CHECK_OK(MPI_Sendrecv(buf, 8, MPI_BYTE, test_rank, TAG, buf + 8, 8, MPI_BYTE, test_rank, TAG, MPI_COMM_WORLD,
                          MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    test_needs_ranks(2);
    if (!test_is_parley())
        test_skip("other libraries end the job");
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    buf = calloc(2, LONG);
    CHECK(buf, "no memory");
    test_begun();
    test_afterwards();
    free(buf);
    return test_end();
}
