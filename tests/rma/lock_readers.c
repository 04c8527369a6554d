/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §12.5.3: shared locks do not exclude each other. So who holds one and wants another one waits for nobody but
 * those who hold that one exclusively; those who only want it so may have asked before, but they wait themselves: two
 * processes that lock the same two targets, each another one first, do not wait for each other for ever. Nor do those
 * who wait for a message of somebody who wants the lock that they have. */
#include <unistd.h>

#include "flavors.h"

enum { ROUNDS = 60, QUEUED_US = 4000 };

static struct window one, two; /* each has two words for each rank, equal but for who has it alone */

/* Alone: one more. */
static void count(struct window *w, int rank)
{
    int value = -1;

    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, w->win));
    CHECK_OK(MPI_Get(&value, 1, MPI_INT, rank, window_disp(w, rank, 0), 1, MPI_INT, w->win));
    CHECK_OK(MPI_Win_flush(rank, w->win));
    value++;
    CHECK_OK(MPI_Put(&value, 1, MPI_INT, rank, window_disp(w, rank, 0), 1, MPI_INT, w->win));
    CHECK_OK(MPI_Win_flush(rank, w->win));
    CHECK_OK(MPI_Put(&value, 1, MPI_INT, rank, window_disp(w, rank, 64), 1, MPI_INT, w->win));
    CHECK_OK(MPI_Win_unlock(rank, w->win));
}

static void begin_reading(struct window *w, int rank, int is_all)
{
    if (is_all)
        CHECK_OK(MPI_Win_lock_all(0, w->win));
    else
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w->win));
    window_read_both(w, rank);
}

static void end_reading(struct window *w, int rank, int is_all)
{
    if (is_all)
        CHECK_OK(MPI_Win_unlock_all(w->win));
    else
        CHECK_OK(MPI_Win_unlock(rank, w->win));
}

static void clear(struct window *w)
{
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->rank, 0, w->win));
    memset(w->mem, 0, w->size);
    CHECK_OK(MPI_Win_unlock(w->rank, w->win));
    CHECK_OK(MPI_Barrier(w->comm));
}

static int value_of(struct window *w)
{
    int value;

    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, w->win));
    memcpy(&value, w->mem, sizeof value);
    CHECK_OK(MPI_Win_unlock(w->rank, w->win));
    return value;
}

static void say(int rank)
{
    CHECK_OK(MPI_Send(NULL, 0, MPI_BYTE, rank, 0, MPI_COMM_WORLD));
}

static void hear(int rank)
{
    CHECK_OK(MPI_Recv(NULL, 0, MPI_BYTE, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* Ranks 0 and 1 read, each another target first; 2 and 3 queue between them to write. */
static void crossing(struct window *b, int target_a, int target_b, int is_all)
{
    struct window *own = test_rank ? b : &one, *other = test_rank ? &one : b;
    const int target = test_rank ? target_b : target_a, other_target = test_rank ? target_a : target_b;

    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (test_rank < 2)
        begin_reading(own, target, is_all);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (test_rank < 2) {
        hear(3 - test_rank);
        usleep(QUEUED_US);
        begin_reading(other, other_target, is_all);
        end_reading(other, other_target, is_all);
        end_reading(own, target, is_all);
    } else if (test_rank < 4) {
        say(3 - test_rank);
        count(test_rank == 2 ? &one : b, test_rank == 2 ? target_a : target_b);
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* Rank 0 waits, with the lock, for a message of the others, each of whom has asked for it behind rank 1, who wants it
 * alone. */
static void together(struct window *w, int target)
{
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (test_rank == 0)
        begin_reading(w, target, 0);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (test_rank == 1) {
        for (int rank = 2; rank < test_size; rank++)
            say(rank);
        count(w, target);
        return;
    }
    for (int rank = 2; rank < test_size && !test_rank; rank++)
        hear(rank);
    if (test_rank) {
        hear(1);
        usleep(QUEUED_US);
        begin_reading(w, target, 0);
        say(0);
    }
    end_reading(w, target, 0);
}

/* Readers lock any targets in any order, and keep them; who writes has nothing else. */
static void read_some(uint64_t *state)
{
    struct window *w[8];
    int target[8], locks = 0;

    for (int i = 0; i < 8; i++) {
        int is_had = 0;

        w[locks] = test_below(state, 2) ? &one : &two;
        target[locks] = (int)test_below(state, (size_t)test_size);
        for (int j = 0; j < locks; j++)
            is_had |= w[j] == w[locks] && target[j] == target[locks];
        if (is_had)
            continue;
        begin_reading(w[locks], target[locks], 0);
        locks++;
    }
    while (locks--)
        end_reading(w[locks], target[locks], 0);
}

static void at_random(void)
{
    uint64_t state = test_key(test_seed, (uint64_t)test_rank, 1);
    int written = 0, found, sum[2];

    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    clear(&one);
    clear(&two);
    for (int i = 0; i < ROUNDS; i++) {
        struct window *w = test_below(&state, 2) ? &one : &two;

        switch (test_below(&state, 4)) {
        case 0: begin_reading(w, test_rank, 1); end_reading(w, test_rank, 1); break;
        case 1: read_some(&state); break;
        default: count(w, (int)test_below(&state, (size_t)test_size)); written++;
        }
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    found = value_of(&one) + value_of(&two);
    CHECK_OK(MPI_Reduce((int[2]){ written, found }, sum, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
    if (!test_rank)
        CHECK_INT(sum[1], sum[0]);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    for (int flavor = CREATE; flavor <= ALLOCATE; flavor++) {
        window_open(&one, flavor, 128, MPI_COMM_WORLD);
        window_open(&two, flavor, 128, MPI_COMM_WORLD);
        clear(&one);
        clear(&two);
        if (test_size >= 4) {
            crossing(&one, 0, test_size - 1, 0);
            crossing(&one, test_size - 1, test_size - 2, 0);
            crossing(&two, 1, 2, 0);
            crossing(&two, test_size - 1, 0, 1);
        }
        if (test_size >= 3) {
            together(&one, 0);
            together(&one, test_size - 1);
        }
        at_random();
        window_close(&one);
        window_close(&two);
    }
    return test_end();
}
