/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §2.8, §4.2: wrong arguments and calls in the wrong state are answered with an error, and everything stays
 * usable. */
#include "mpipart.h"

enum { TAG = 1, PARTS = 4 };

static struct ring ring;
static MPI_Info info;

static void bad_init(void)
{
    MPI_Request req;
    int buf = 0;

    CHECK_CLASS(MPI_Psend_init(&buf, -1, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &req), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Psend_init(&buf, 1, -1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &req), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Psend_init(&buf, 1, 1, MPI_DATATYPE_NULL, 0, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &req),
                MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Psend_init(&buf, 1, 1, MPI_INT, test_size, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &req), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Psend_init(&buf, 1, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &req), MPI_ERR_TAG);
    CHECK_CLASS(MPI_Precv_init(&buf, 1, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &req),
                MPI_ERR_RANK);
    CHECK_CLASS(MPI_Precv_init(&buf, 1, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &req), MPI_ERR_TAG);
    CHECK_CLASS(MPI_Precv_init(&buf, 1, 1, MPI_INT, 0, TAG, MPI_COMM_NULL, MPI_INFO_NULL, &req), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Precv_init(NULL, 1, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &req), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Precv_init(&buf, 2000000000, INT64_MAX / 2, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &req),
                MPI_ERR_COUNT);
}

static void not_started(void)
{
    int zero = 0;

    CHECK_CLASS(MPI_Pready(0, ring.reqs[1]), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Pready_range(0, 1, ring.reqs[1]), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Pready_list(1, &zero, ring.reqs[1]), MPI_ERR_REQUEST);
}

static void other_requests(void)
{
    MPI_Request req, none = MPI_REQUEST_NULL;
    int value = 0, flag;

    CHECK_OK(MPI_Irecv(&value, 1, MPI_INT, ring_left(), TAG, MPI_COMM_WORLD, &req));
    CHECK_CLASS(MPI_Pready(0, req), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Parrived(req, 0, &flag), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Start(&req), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Cancel(&req));
    CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    CHECK_CLASS(MPI_Pready(0, none), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Start(&none), MPI_ERR_REQUEST);
}

/* Both are active, and partition 1 is marked. */
static void active(void)
{
    int again[] = { 3, 1 }, high = PARTS;
    int flag;

    CHECK_CLASS(MPI_Pready(0, ring.reqs[0]), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Parrived(ring.reqs[1], 0, &flag), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Pready(PARTS, ring.reqs[1]), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pready(-1, ring.reqs[1]), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pready_range(2, PARTS, ring.reqs[1]), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pready_list(1, &high, ring.reqs[1]), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Parrived(ring.reqs[0], ring.recv_parts, &flag), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Parrived(ring.reqs[0], -1, &flag), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Start(&ring.reqs[0]), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Startall(2, ring.reqs), MPI_ERR_REQUEST);
    for (int i = 0; i < 2; i++) {
        const MPI_Request before = ring.reqs[i];
        CHECK_CLASS(MPI_Request_free(&ring.reqs[i]), MPI_ERR_REQUEST);
        CHECK_CLASS(MPI_Cancel(&ring.reqs[i]), MPI_ERR_REQUEST);
        CHECK(ring.reqs[i] == before, "the handle of an active request is gone");
    }
    CHECK_CLASS(MPI_Pready(1, ring.reqs[1]), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pready_range(0, 1, ring.reqs[1]), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pready_list(2, again, ring.reqs[1]), MPI_ERR_ARG); /* 3 is marked now */
}

static void misuse(void)
{
    ring_open(&ring, PARTS, 2, PARTS * 10, TAG, MPI_COMM_WORLD);
    not_started();
    for (int round = 0; round < 3; round++) {
        ring_start(&ring, round);
        CHECK_OK(MPI_Pready(1, ring.reqs[1]));
        active();
        CHECK_OK(MPI_Pready(0, ring.reqs[1]));
        CHECK_OK(MPI_Pready(2, ring.reqs[1]));
        CHECK_CLASS(MPI_Pready(2, ring.reqs[1]), MPI_ERR_ARG);
        ring_finish(&ring, round);
        not_started();
    }
    ring_close(&ring);
}

/* The receive is too small: both sides learn it, in every round, and nothing is written. */
static void too_small(int sent, int wanted)
{
    unsigned char out[100] = { 0 }, in[100];
    MPI_Request reqs[2];
    int flag = 0;

    memset(in, TEST_CANARY, sizeof in);
    CHECK_OK(MPI_Psend_init(out, 5, sent / 5, MPI_BYTE, ring_right(), TAG, MPI_COMM_WORLD, info, &reqs[0]));
    CHECK_OK(MPI_Precv_init(in, 2, wanted / 2, MPI_BYTE, ring_left(), TAG, MPI_COMM_WORLD, info, &reqs[1]));
    for (int round = 0; round < 3; round++) {
        CHECK_OK(MPI_Startall(2, reqs));
        CHECK_OK(MPI_Pready_range(0, 3, reqs[0]));
        CHECK_CLASS(MPI_Wait(&reqs[1], MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
        CHECK_OK(MPI_Test(&reqs[0], &flag, MPI_STATUS_IGNORE));
        CHECK_INT(flag, 0); /* not before the last mark */
        CHECK_OK(MPI_Pready(4, reqs[0]));
        CHECK_CLASS(MPI_Wait(&reqs[0], MPI_STATUS_IGNORE), MPI_ERR_COUNT);
        CHECK_UNTOUCHED(in, sizeof in);
    }
    CHECK_OK(MPI_Request_free(&reqs[0]));
    CHECK_OK(MPI_Request_free(&reqs[1]));
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    if (!test_is_parley())
        test_skip("other libraries need not notice");
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "nobody_knows", "this"));
    bad_init();
    other_requests();
    misuse();
    too_small(100, 60);
    too_small(50, 0);
    misuse();
    CHECK_OK(MPI_Info_free(&info));
    return test_end();
}
