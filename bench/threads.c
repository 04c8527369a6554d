/* SPDX-License-Identifier: BSD-3-Clause */
/* Bench: MPI_THREAD_MULTIPLE, messages of 8 bytes.
 *
 *   threads_latency 8     half a round trip between two ranks that use one thread: beside `latency`, what the level
 *                         costs
 *   threads_self N        messages per second that N threads of rank 0 send to themselves, each on a communicator of
 *                         its own, all together. They may use all processors of the machine: an mpiexec that binds
 *                         two ranks gives each of them a share, which may be one
 *   threads_pair KIND:N   the same from the threads of rank 0 to those of rank 1, in windows of 64 with an answer after
 *                         each. KIND: own, each pair of threads has a communicator; one, all share one, with tags
 *
 * N is 1, 2, 4. What one thread does is the measure for what several do together. */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#include "bench.h"

enum { WINDOW = 64, MOST = 4 };

/* One thread's part of a repetition. */
struct work {
    void (*window)(struct work *work);
    MPI_Comm comm;
    int rank, tag;
    uint64_t in[WINDOW], out[WINDOW];
    struct crew *crew;
};

/* The threads beside the one that called MPI_Init_thread; they wait between two batches. */
struct crew {
    struct work work[MOST];
    pthread_t threads[MOST];
    pthread_barrier_t begin, end;
    int count;
    long reps;              /* 0: go home */
};

static void to_itself(struct work *work)
{
    MPI_Request requests[WINDOW];

    for (int i = 0; i < WINDOW; i++) {
        MPI_Irecv(&work->in[i], 8, MPI_BYTE, 0, work->tag, work->comm, &requests[i]);
        MPI_Send(&work->out[i], 8, MPI_BYTE, 0, work->tag, work->comm);
    }
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
}

static void to_other_rank(struct work *work)
{
    MPI_Request requests[WINDOW];

    if (work->rank == 0) {
        for (int i = 0; i < WINDOW; i++)
            MPI_Isend(&work->out[i], 8, MPI_BYTE, 1, work->tag, work->comm, &requests[i]);
        MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
        MPI_Recv(NULL, 0, MPI_BYTE, 1, work->tag, work->comm, MPI_STATUS_IGNORE);
    } else {
        for (int i = 0; i < WINDOW; i++)
            MPI_Irecv(&work->in[i], 8, MPI_BYTE, 0, work->tag, work->comm, &requests[i]);
        MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
        MPI_Send(NULL, 0, MPI_BYTE, 0, work->tag, work->comm);
    }
}

static void nothing(struct work *work)
{
    (void)work;
}

static void *help(void *arg)
{
    struct work *work = arg;
    struct crew *crew = work->crew;

    for (;;) {
        pthread_barrier_wait(&crew->begin);
        if (!crew->reps)
            return NULL;
        for (long i = 0; i < crew->reps; i++)
            work->window(work);
        pthread_barrier_wait(&crew->end);
    }
}

static void run(void *arg, long reps)
{
    struct crew *crew = arg;

    crew->reps = reps;
    pthread_barrier_wait(&crew->begin);
    for (long i = 0; i < reps; i++)
        crew->work[0].window(&crew->work[0]);
    pthread_barrier_wait(&crew->end);
}

static void check(const struct crew *crew, const char *what)
{
    for (int t = 0; t < crew->count; t++)
        for (int i = 0; i < WINDOW; i++)
            if (crew->work[t].in[i] != (uint64_t)(1000 * t + i))
                bench_fail("%s: message %d of thread %d brought %llu", what, i, t,
                           (unsigned long long)crew->work[t].in[i]);
}

static void start(struct crew *crew)
{
    pthread_barrier_init(&crew->begin, NULL, (unsigned)crew->count);
    pthread_barrier_init(&crew->end, NULL, (unsigned)crew->count);
    for (int t = 0; t < crew->count; t++) {
        struct work *work = &crew->work[t];
        work->crew = crew;
        for (int i = 0; i < WINDOW; i++) {
            work->in[i] = 0;
            work->out[i] = (uint64_t)(1000 * t + i);
        }
        if (t && pthread_create(&crew->threads[t], NULL, help, work))
            bench_fail("threads: cannot start thread %d", t);
    }
}

static void stop(struct crew *crew)
{
    crew->reps = 0;
    pthread_barrier_wait(&crew->begin);
    for (int t = 1; t < crew->count; t++)
        pthread_join(crew->threads[t], NULL);
    pthread_barrier_destroy(&crew->begin);
    pthread_barrier_destroy(&crew->end);
}

static void measure(const struct bench *b, struct crew *crew, const char *name, const char *parameter, int receiver)
{
    double value[BENCH_MAX_BATCHES];
    int batches;

    start(crew);
    batches = bench_measure(b, run, crew, value);
    stop(crew);
    if (b->rank == receiver)
        check(crew, name);
    for (int i = 0; i < batches; i++)
        value[i] = 1e-6 * WINDOW * crew->count / value[i];
    if (b->rank == 0)
        stats_print(name, parameter, value, batches, "M/s", BETTER_HIGH);
}

static void measure_self(const struct bench *b, int count)
{
    struct crew crew = { .count = count };
    char parameter[24];

    if (stats_unpin(1))
        bench_fail("rank %d cannot have all processors", b->rank);
    for (int t = 0; t < count; t++) {
        crew.work[t].window = b->rank == 0 ? to_itself : nothing;
        MPI_Comm_dup(MPI_COMM_SELF, &crew.work[t].comm);
    }
    snprintf(parameter, sizeof parameter, "%d", count);
    measure(b, &crew, "threads_self", parameter, 0);
    stats_unpin(0);
    for (int t = 0; t < count; t++)
        MPI_Comm_free(&crew.work[t].comm);
}

static void measure_pair(const struct bench *b, int count, int has_own)
{
    struct crew crew = { .count = count };
    char parameter[24];

    for (int t = 0; t < count; t++) {
        crew.work[t].window = to_other_rank;
        crew.work[t].rank = b->rank;
        crew.work[t].tag = t;
        if (t == 0 || has_own)
            MPI_Comm_dup(MPI_COMM_WORLD, &crew.work[t].comm);
        else
            crew.work[t].comm = crew.work[0].comm;
    }
    snprintf(parameter, sizeof parameter, "%s:%d", has_own ? "own" : "one", count);
    measure(b, &crew, "threads_pair", parameter, 1);
    for (int t = 0; t < (has_own ? count : 1); t++)
        MPI_Comm_free(&crew.work[t].comm);
}

static void ping_pong(void *arg, long reps)
{
    const int rank = *(const int *)arg, other = 1 - rank;
    uint64_t value = 7;

    for (long i = 0; i < reps; i++) {
        if (rank == 0)
            MPI_Send(&value, 8, MPI_BYTE, other, 1, MPI_COMM_WORLD);
        MPI_Recv(&value, 8, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(&value, 8, MPI_BYTE, other, 1, MPI_COMM_WORLD);
    }
}

static void measure_latency(struct bench *b)
{
    double time[BENCH_MAX_BATCHES];
    const int batches = bench_measure(b, ping_pong, &b->rank, time);

    for (int i = 0; i < batches; i++)
        time[i] *= 0.5e6;
    if (b->rank == 0)
        stats_print("threads_latency", "8", time, batches, "us", BETTER_LOW);
}

int main(int argc, char **argv)
{
    struct bench b = { .batches = 51, .batch_time = 5e-3, .budget = 0.3, .has_threads = true };

    bench_start(&b, &argc, &argv, 2);
    measure_latency(&b);
    for (int n = 1; n <= MOST; n *= 2)
        measure_self(&b, n);
    for (int n = 1; n <= MOST; n *= 2)
        measure_pair(&b, n, 1);
    for (int n = 2; n <= MOST; n *= 2)
        measure_pair(&b, n, 0);
    MPI_Finalize();
    return 0;
}
