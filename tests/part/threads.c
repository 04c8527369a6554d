/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §4, §11.6: several threads mark partitions of one send at once, each its share, while others ask for
 * arrivals and one waits in the library. Argument: who waits, "inside" (a thread waits while the others still mark) or
 * "outside" (after they have been joined). */
#include "mpipart.h"
#include "../threads/mpithread.h"

enum { SHARE = 60, PARTS = THREADS * SHARE, ROUNDS = 4 };

static struct ring ring;
static int round_now, waits_inside;

static void check_arrived(int partition)
{
    int flag = 0;

    while (!flag)
        CHECK_OK(MPI_Parrived(ring.reqs[0], partition, &flag));
}

/* Shares are blocks or every THREADS-th, by single marks, ranges or lists. */
static void mark_share(int thread)
{
    int list[SHARE];

    for (int i = 0; i < SHARE; i++)
        list[i] = round_now % 2 ? thread + i * THREADS : thread * SHARE + i;
    if (round_now == 2) {
        CHECK_OK(MPI_Pready_range(list[0], list[SHARE - 1], ring.reqs[1]));
    } else if (round_now == 3) {
        CHECK_OK(MPI_Pready_list(SHARE, list, ring.reqs[1]));
    } else {
        for (int i = 0; i < SHARE; i++)
            CHECK_OK(MPI_Pready(list[i], ring.reqs[1]));
    }
}

static void body(int thread)
{
    if (thread == THREADS) {
        if (waits_inside)
            CHECK_OK(MPI_Wait(&ring.reqs[1], MPI_STATUS_IGNORE));
        return;
    }
    mark_share(thread);
    for (int i = thread; i < ring.recv_parts; i += THREADS)
        check_arrived(i);
}

static void all_rounds(size_t part_len, int recv_parts)
{
    ring_open(&ring, PARTS, recv_parts, PARTS * part_len, 5, MPI_COMM_WORLD);
    for (round_now = 0; round_now < ROUNDS; round_now++) {
        ring_start(&ring, round_now);
        run_threads(THREADS + 1, body);
        CHECK_BYTES(ring.in, ring.len, test_key((uint64_t)ring_left(), (uint64_t)round_now, 5));
        CHECK_OK(MPI_Waitall(2, ring.reqs, MPI_STATUSES_IGNORE));
    }
    ring_close(&ring);
}

/* The thread that waits frees the request at once, while those that marked may still be on their way out. */
static void free_at_once(int thread)
{
    if (thread < THREADS) {
        mark_share(thread);
        return;
    }
    CHECK_OK(MPI_Wait(&ring.reqs[1], MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Request_free(&ring.reqs[1]));
}

static void freed_behind(void)
{
    for (round_now = 0; round_now < ROUNDS; round_now++) {
        ring_open(&ring, PARTS, 1, PARTS * 8, 6, MPI_COMM_WORLD);
        CHECK_OK(MPI_Startall(2, ring.reqs));
        run_threads(THREADS + 1, free_at_once);
        CHECK_OK(MPI_Wait(&ring.reqs[0], MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Request_free(&ring.reqs[0]));
        free(ring.out);
        free(ring.in);
    }
}

int main(int argc, char **argv)
{
    test_begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    waits_inside = argc > 1 && !strcmp(argv[1], "inside");
    all_rounds(8, 12);
    all_rounds(600, PARTS);
    all_rounds(5000, 16);
    if (waits_inside)
        freed_behind();
    return test_end();
}
