/* SPDX-License-Identifier: BSD-3-Clause */
/* Bench: one-sided calls from rank 0 to the memory of rank 1, which takes no part in them: put and get with a flush
 * after each, puts with one flush for all, atomic operations, a lock round a put; and what both do: fences, and
 * post-start-complete-wait. Over windows that MPI has allocated, and over memory of the program. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { MEMORY = 1 << 20 };

static struct {
    MPI_Win win;
    MPI_Group other;
    int rank, bytes;
    char *mine;
} run;

static void put(long reps)
{
    for (long i = 0; i < reps; i++) {
        MPI_Put(run.mine, run.bytes, MPI_BYTE, 1, 0, run.bytes, MPI_BYTE, run.win);
        MPI_Win_flush(1, run.win);
    }
}

static void get(long reps)
{
    for (long i = 0; i < reps; i++) {
        MPI_Get(run.mine, run.bytes, MPI_BYTE, 1, 0, run.bytes, MPI_BYTE, run.win);
        MPI_Win_flush(1, run.win);
    }
}

static void puts_in_a_row(long reps)
{
    for (long i = 0; i < reps; i++)
        MPI_Put(run.mine, run.bytes, MPI_BYTE, 1, 0, run.bytes, MPI_BYTE, run.win);
    MPI_Win_flush(1, run.win);
}

static void fetch_and_op(long reps)
{
    long one = 1, before;

    for (long i = 0; i < reps; i++) {
        MPI_Fetch_and_op(&one, &before, MPI_LONG, 1, 0, MPI_SUM, run.win);
        MPI_Win_flush(1, run.win);
    }
}

static void compare_and_swap(long reps)
{
    long zero = 0, one = 1, before;

    for (long i = 0; i < reps; i++) {
        MPI_Compare_and_swap(&one, &zero, &before, MPI_LONG, 1, 0, run.win);
        MPI_Win_flush(1, run.win);
    }
}

static void accumulate(long reps)
{
    for (long i = 0; i < reps; i++) {
        MPI_Accumulate(run.mine, run.bytes / 8, MPI_DOUBLE, 1, 0, run.bytes / 8, MPI_DOUBLE, MPI_SUM, run.win);
        MPI_Win_flush(1, run.win);
    }
}

static void lock(long reps)
{
    for (long i = 0; i < reps; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, run.win);
        MPI_Put(run.mine, run.bytes, MPI_BYTE, 1, 0, run.bytes, MPI_BYTE, run.win);
        MPI_Win_unlock(1, run.win);
    }
}

static void fence(long reps)
{
    for (long i = 0; i < reps; i++) {
        MPI_Put(run.mine, run.bytes, MPI_BYTE, !run.rank, 0, run.bytes, MPI_BYTE, run.win);
        MPI_Win_fence(0, run.win);
    }
}

static void post_start(long reps)
{
    for (long i = 0; i < reps; i++) {
        MPI_Win_post(run.other, 0, run.win);
        MPI_Win_start(run.other, 0, run.win);
        MPI_Put(run.mine, run.bytes, MPI_BYTE, !run.rank, 0, run.bytes, MPI_BYTE, run.win);
        MPI_Win_complete(run.win);
        MPI_Win_wait(run.win);
    }
}

enum epoch { NONE, FENCE, LOCKED };

static const struct call {
    const char *name;
    void (*play)(long reps);
    enum epoch epoch;
    int largest;    /* bytes */
} calls[] = {
    { "put", put, LOCKED, MEMORY },
    { "get", get, LOCKED, MEMORY },
    { "puts", puts_in_a_row, LOCKED, MEMORY },
    { "fetch_and_op", fetch_and_op, LOCKED, 8 },
    { "compare_and_swap", compare_and_swap, LOCKED, 8 },
    { "accumulate", accumulate, LOCKED, MEMORY },
    { "lock", lock, NONE, 8 },
    { "fence", fence, FENCE, 8 },
    { "post_start", post_start, NONE, 8 },
};

static void play(void *arg, long reps)
{
    const struct call *call = arg;

    if (run.rank == 0 || call->play == fence || call->play == post_start)
        call->play(reps);
}

static void measure(const struct bench *b, const struct call *call, const char *flavor)
{
    static double time[BENCH_MAX_BATCHES];
    char parameter[64];
    int batches;

    if (call->epoch == FENCE)
        MPI_Win_fence(0, run.win);
    if (call->epoch == LOCKED && run.rank == 0)
        MPI_Win_lock_all(0, run.win);
    batches = bench_measure(b, play, (void *)call, time);
    if (call->epoch == LOCKED && run.rank == 0)
        MPI_Win_unlock_all(run.win);
    if (call->epoch == FENCE)
        MPI_Win_fence(MPI_MODE_NOSUCCEED, run.win);
    for (int i = 0; i < batches; i++)
        time[i] *= 1e6;
    snprintf(parameter, sizeof parameter, "%s:%s:%d", call->name, flavor, run.bytes);
    if (run.rank == 0)
        stats_print("rma", parameter, time, batches, "us", BETTER_LOW);
}

static void measure_all(const struct bench *b, const char *flavor)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        for (long bytes = b->min_size; bytes <= b->max_size && bytes <= calls[i].largest; bytes *= 128) {
            run.bytes = (int)bytes;
            measure(b, &calls[i], flavor);
        }
    }
}

int main(int argc, char **argv)
{
    struct bench b = { .batches = 51, .batch_time = 2e-3, .budget = 0.1, .min_size = 8, .max_size = MEMORY };
    MPI_Group world;
    char *base;

    bench_start(&b, &argc, &argv, 2);
    run.rank = b.rank;
    run.mine = bench_buffer(MEMORY);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, (int[]){ !b.rank }, &run.other);
    MPI_Win_allocate(MEMORY, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &run.win);
    memset(base, 0, MEMORY);
    measure_all(&b, "allocate");
    MPI_Win_free(&run.win);
    base = bench_buffer(MEMORY);
    memset(base, 0, MEMORY);
    MPI_Win_create(base, MEMORY, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &run.win);
    measure_all(&b, "create");
    MPI_Win_free(&run.win);
    free(base);
    free(run.mine);
    MPI_Group_free(&world);
    MPI_Group_free(&run.other);
    MPI_Finalize();
    return 0;
}
