/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §12.3: operations on memory of the program's own, before and after the system has begun to refuse copies
 * between processes to all ranks but the first, as it does when a process changes its user; to some in the middle of an
 * epoch, to some in the middle of a call, by a thread. Each does what it would have done. */
#include <pthread.h>

#include "deny.h"
#include "mpitest.h"

enum { ITEMS = 200000, SHORT = 1000, ROUNDS = 3 };

static int *memory, *out, *result;
static MPI_Win win;

/* ITEMS integers as they are added: in a row, or one by one, those with even places first. */
static struct {
    int count;
    MPI_Datatype type;
} row = { ITEMS, MPI_INT };

static void use_small_pieces(void)
{
    MPI_Datatype even, half;

    CHECK_OK(MPI_Type_vector(ITEMS / 2, 1, 2, MPI_INT, &even));
    CHECK_OK(MPI_Type_create_resized(even, 0, sizeof(int), &half));
    CHECK_OK(MPI_Type_contiguous(2, half, &row.type));
    CHECK_OK(MPI_Type_commit(&row.type));
    CHECK_OK(MPI_Type_free(&even));
    CHECK_OK(MPI_Type_free(&half));
    row.count = 1;
}

/* Everybody but rank 0 adds in this row, so the sum of `times` of these. */
static int added(int times, int i)
{
    return times * (test_size - 1) * (i % 1000 + 1);
}

static void *deny_soon(void *arg)
{
    usleep(200);
    *(int *)arg = deny_copies();
    return NULL;
}

/* All add to rank 0's memory; what they get of it is not more than what all add. */
static void accumulate(int times)
{
    int i;

    for (i = 0; i < ITEMS; i++)
        out[i] = i % 1000 + 1;
    CHECK_OK(MPI_Win_lock_all(0, win));
    CHECK_OK(MPI_Accumulate(out, row.count, row.type, 0, 0, row.count, row.type, MPI_SUM, win));
    CHECK_OK(MPI_Win_flush(0, win));
    CHECK_OK(MPI_Get_accumulate(out, row.count, row.type, result, row.count, row.type, 0, 0, row.count, row.type,
                                MPI_SUM, win));
    CHECK_OK(MPI_Win_unlock_all(win));
    for (i = 0; i < ITEMS; i++)
        CHECK(result[i] >= (2 * times + 1) * out[i] && result[i] <= added(2 * times + 2, i) - out[i],
              "item %d: %d was there", i, result[i]);
}

static void check_sums(int times)
{
    int i;

    for (i = 0; i < ITEMS && test_rank == 0; i++)
        CHECK_INT(memory[i], added(times, i));
}

/* With gaps on both sides: into the row of this rank behind the sums, and back. */
static void put_and_get(int round)
{
    const MPI_Aint at = ITEMS + test_rank * 3 * SHORT;
    MPI_Datatype three;
    int i, old, more = 5, swapped = 77, wrong = -1;

    CHECK_OK(MPI_Type_vector(SHORT, 1, 3, MPI_INT, &three));
    CHECK_OK(MPI_Type_commit(&three));
    for (i = 0; i < 3 * SHORT; i++) {
        out[i] = test_rank * 100000 + round * 10000 + i;
        result[i] = -1;
    }
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    CHECK_OK(MPI_Put(out, SHORT, MPI_INT, 0, at, 1, three, win));
    CHECK_OK(MPI_Win_flush(0, win));
    CHECK_OK(MPI_Get(result, 1, three, 0, at, 1, three, win));
    CHECK_OK(MPI_Win_flush(0, win));
    for (i = 0; i < SHORT; i++)
        CHECK_INT(result[3 * i], out[i]);
    CHECK_INT(result[1], -1);
    CHECK_OK(MPI_Fetch_and_op(&more, &old, MPI_INT, 0, at, MPI_SUM, win));
    CHECK_OK(MPI_Win_flush(0, win));
    CHECK_INT(old, out[0]);
    CHECK_OK(MPI_Compare_and_swap(&swapped, &wrong, &old, MPI_INT, 0, at, win));
    CHECK_OK(MPI_Win_flush(0, win));
    CHECK_INT(old, out[0] + 5);
    CHECK_OK(MPI_Compare_and_swap(&swapped, &old, &old, MPI_INT, 0, at, win));
    CHECK_OK(MPI_Get(result, 1, MPI_INT, 0, at, 1, MPI_INT, win));
    CHECK_OK(MPI_Win_unlock(0, win));
    CHECK(result[0] == 77 || result[0] == out[0] + 5, "%d is there", result[0]);
    CHECK_OK(MPI_Type_free(&three));
}

/* Some lose the right between two puts of one epoch. */
static void between(int *can)
{
    const int first = 0, last = test_size - 1;
    MPI_Group all, group;
    int i;

    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    for (i = 0; i < SHORT; i++)
        out[i] = 7 * i;
    if (test_rank == 0) {
        CHECK_OK(MPI_Group_incl(all, 1, &last, &group));
        CHECK_OK(MPI_Win_post(group, 0, win));
        CHECK_OK(MPI_Win_wait(win));
        for (i = 0; i < SHORT; i++)
            CHECK_INT(memory[ITEMS + i], 7 * i);
        CHECK_OK(MPI_Group_free(&group));
    } else if (test_rank == last) {
        CHECK_OK(MPI_Group_incl(all, 1, &first, &group));
        CHECK_OK(MPI_Win_start(group, 0, win));
        CHECK_OK(MPI_Put(out, SHORT / 2, MPI_INT, 0, ITEMS, SHORT / 2, MPI_INT, win));
        *can = *can && deny_copies();
        CHECK_OK(MPI_Put(out + SHORT / 2, SHORT / 2, MPI_INT, 0, ITEMS + SHORT / 2, SHORT / 2, MPI_INT, win));
        CHECK_OK(MPI_Win_complete(win));
        CHECK_OK(MPI_Group_free(&group));
    }
    CHECK_OK(MPI_Group_free(&all));
}

int main(int argc, char **argv)
{
    const int is_late = argc > 1 && !strcmp(argv[1], "between");
    const size_t items = ITEMS + (size_t)ITEMS;
    pthread_t thread;
    int round, can = 1;

    test_begin(&argc, &argv);
    test_needs_ranks(2);
    if (argc > 1 && !strcmp(argv[1], "pieces"))
        use_small_pieces();
    memory = test_alloc(items * sizeof *memory);
    out = test_alloc(ITEMS * sizeof *out);
    result = test_alloc(ITEMS * sizeof *result);
    memset(memory, 0, items * sizeof *memory);
    CHECK_OK(MPI_Win_create(memory, test_rank ? 0 : (MPI_Aint)(items * sizeof *memory), sizeof(int), MPI_INFO_NULL,
                            MPI_COMM_WORLD, &win));
    for (round = 0; round < ROUNDS; round++) {
        const int is_denied = round == 1 && test_rank && !is_late;

        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        if (is_denied)
            CHECK(!pthread_create(&thread, NULL, deny_soon, &can), "no thread");
        if (test_rank) {
            accumulate(round);
            put_and_get(round);
        }
        if (is_denied)
            CHECK(!pthread_join(thread, NULL), "no thread");
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        check_sums(2 * round + 2);
        if (round == 1 && is_late)
            between(&can);
    }
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, &can, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    free(memory);
    free(out);
    free(result);
    if (!can)
        test_skip("no filters of calls of the system");
    if (row.count == 1)
        CHECK_OK(MPI_Type_free(&row.type));
    return test_end();
}
