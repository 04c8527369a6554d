/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §4.2.2: MPI_Parrived is true once all of the partition is there, may be asked again, progresses, and is true
 * for null and inactive requests. A partition that is marked arrives although the others are not marked yet. */
#include "mpipart.h"

enum { TAG = 8 };

static void null_and_inactive(void)
{
    MPI_Request none = MPI_REQUEST_NULL;
    struct ring ring;
    int flag = 0;

    ring_open(&ring, 2, 3, 6, TAG, MPI_COMM_WORLD);
    CHECK_OK(MPI_Parrived(ring.reqs[0], 2, &flag));
    CHECK_INT(flag, 1);
    ring_close(&ring);
    flag = 0;
    CHECK_OK(MPI_Parrived(none, 0, &flag));
    CHECK_INT(flag, 1);
}

/* Partition by partition: the next one is marked only when this one has come. */
static void step_by_step(int parts, size_t part_len)
{
    struct ring ring;
    int flag;

    ring_open(&ring, parts, parts, (size_t)parts * part_len, TAG, MPI_COMM_WORLD);
    CHECK_OK(MPI_Parrived(ring.reqs[0], parts - 1, &flag));
    CHECK_INT(flag, 1);
    for (int round = 0; round < 2; round++) {
        ring_start(&ring, round);
        for (int i = 0; i < parts; i++) {
            const int now = round ? parts - 1 - i : i, later = round ? 0 : parts - 1;
            CHECK_OK(MPI_Pready(now, ring.reqs[1]));
            do {
                CHECK_OK(MPI_Parrived(ring.reqs[0], now, &flag));
            } while (!flag);
            CHECK_OK(MPI_Parrived(ring.reqs[0], now, &flag));
            CHECK_INT(flag, 1);
            CHECK(!memcmp(ring.in + (size_t)now * part_len, "\xa5\xa5\xa5\xa5\xa5\xa5\xa5\xa5", 8) == 0,
                  "partition %d has arrived, but nothing of it is there", now);
            if (now == later)
                continue;
            CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
            CHECK_OK(MPI_Parrived(ring.reqs[0], later, &flag));
            CHECK_INT(flag, 0);
            CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        }
        ring_finish(&ring, round);
        CHECK_OK(MPI_Parrived(ring.reqs[0], 0, &flag));
        CHECK_INT(flag, 1);
    }
    ring_close(&ring);
}

/* The whole receive by MPI_Parrived alone, and MPI_Wait at the end. */
static void until_all(int send_parts, int recv_parts, size_t len)
{
    struct ring ring;
    int flag;

    ring_open(&ring, send_parts, recv_parts, len, TAG, MPI_COMM_WORLD);
    ring_start(&ring, 5);
    CHECK_OK(MPI_Pready_range(0, send_parts - 1, ring.reqs[1]));
    for (int i = 0; i < recv_parts; i++) {
        do {
            CHECK_OK(MPI_Parrived(ring.reqs[0], i, &flag));
        } while (!flag);
    }
    CHECK_BYTES(ring.in, ring.len, test_key((uint64_t)ring_left(), 5, TAG));
    ring_finish(&ring, 5);
    ring_close(&ring);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    null_and_inactive();
    step_by_step(5, 8);
    step_by_step(3, 5000);
    step_by_step(3, 100000);
    until_all(1, 6, 600000);
    until_all(6, 4, 12 * 40);
    until_all(6, 4, 12 * 100000);
    return test_end();
}
