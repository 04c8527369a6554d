/* SPDX-License-Identifier: BSD-3-Clause */
/* Bench: round trip of an 8-byte message past N entries that do not match it, in the queues of both ranks.
 *   posted_*      N receives with other tags are posted before the one that takes the message
 *   unexpected_*  N messages with other tags wait unreceived
 * by the way the round trip receives: exact; any_source (posted entries are ANY_SOURCE too); any_tag. An
 * unexpected entry of the partner would itself match ANY_TAG, so there the entries are messages of the
 * process to itself. A queue of 100,000 costs milliseconds per round trip in linear engines: the time
 * budget lowers the repetitions. Options: --depths 0,16,1000,10000,100000, see bench.h. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

enum { TAG_PING = 7, TAG_READY = 8, TAG_ENTRY = 1000 };

struct kind {
    const char *name;
    bool is_posted;     /* entries are posted receives, else unexpected messages */
    bool is_any_source; /* the round trip's receives, and posted entries */
    bool is_any_tag;    /* the round trip's receives */
};

static const struct kind kinds[] = {
    { "posted_exact", true, false, false },          { "posted_any_source", true, true, false },
    { "posted_any_tag", true, false, true },         { "unexpected_exact", false, false, false },
    { "unexpected_any_source", false, true, false }, { "unexpected_any_tag", false, false, true },
};

struct queue {
    const struct kind *kind;
    int rank, other;
    long depth;
    long *values;          /* a place per entry */
    MPI_Request *requests; /* of posted entries, or of the sends of unexpected ones */
};

static void ping_pong(void *arg, long reps)
{
    const struct queue *q = arg;
    const int source = q->kind->is_any_source ? MPI_ANY_SOURCE : q->other;
    const int tag = q->kind->is_any_tag ? MPI_ANY_TAG : TAG_PING;
    long out = 4711, in = 0;

    for (long i = 0; i < reps; i++) {
        if (q->rank == 0)
            MPI_Send(&out, 8, MPI_BYTE, q->other, TAG_PING, MPI_COMM_WORLD);
        MPI_Recv(&in, 8, MPI_BYTE, source, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (in != out)
            bench_fail("%s at depth %ld: received %ld", q->kind->name, q->depth, in);
        in = 0;
        if (q->rank == 1)
            MPI_Send(&out, 8, MPI_BYTE, q->other, TAG_PING, MPI_COMM_WORLD);
    }
}

/* Both ranks have seen everything the other one sent before. */
static void meet(const struct queue *q)
{
    MPI_Sendrecv(NULL, 0, MPI_BYTE, q->other, TAG_READY, NULL, 0, MPI_BYTE, q->other, TAG_READY,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void send_entries(const struct queue *q, int to)
{
    for (long i = 0; i < q->depth; i++)
        MPI_Isend(&q->values[i], 8, MPI_BYTE, to, TAG_ENTRY + (int)i, MPI_COMM_WORLD, &q->requests[i]);
}

static void receive_entries(const struct queue *q, int from)
{
    long value;

    for (long i = 0; i < q->depth; i++) {
        MPI_Recv(&value, 8, MPI_BYTE, from, TAG_ENTRY + (int)i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (value != i)
            bench_fail("%s: entry %ld brought %ld", q->kind->name, i, value);
    }
    MPI_Waitall((int)q->depth, q->requests, MPI_STATUSES_IGNORE);
}

static void post_entries(const struct queue *q)
{
    const int source = q->kind->is_any_source ? MPI_ANY_SOURCE : q->other;

    for (long i = 0; i < q->depth; i++)
        MPI_Irecv(&q->values[i], 8, MPI_BYTE, source, TAG_ENTRY + (int)i, MPI_COMM_WORLD, &q->requests[i]);
}

/* Messages for the posted entries of the other rank, in the order in which they were posted. */
static void complete_entries(const struct queue *q)
{
    for (long i = 0; i < q->depth; i++)
        MPI_Send(&i, 8, MPI_BYTE, q->other, TAG_ENTRY + (int)i, MPI_COMM_WORLD);
    MPI_Waitall((int)q->depth, q->requests, MPI_STATUSES_IGNORE);
    for (long i = 0; i < q->depth; i++)
        if (q->values[i] != i)
            bench_fail("%s: entry %ld brought %ld", q->kind->name, i, q->values[i]);
}

static void measure(const struct bench *b, struct queue *q)
{
    const int from = q->kind->is_any_tag ? q->rank : q->other;
    double time[BENCH_MAX_BATCHES];
    char parameter[64];
    int batches;

    for (long i = 0; i < q->depth; i++)
        q->values[i] = i;
    if (q->kind->is_posted)
        post_entries(q);
    else
        send_entries(q, from);
    meet(q);
    batches = bench_measure(b, ping_pong, q, time);
    meet(q);
    if (q->kind->is_posted)
        complete_entries(q);
    else
        receive_entries(q, from);
    for (int i = 0; i < batches; i++)
        time[i] *= 1e6;
    snprintf(parameter, sizeof parameter, "%s:%ld", q->kind->name, q->depth);
    if (q->rank == 0)
        stats_print("matching", parameter, time, batches, "us", BETTER_LOW);
}

int main(int argc, char **argv)
{
    struct bench b = { .batches = 51,
                       .batch_time = 1e-3,
                       .budget = 0.1,
                       .depths = { { 0, 16, 1000, 10000, 100000 }, 5 } };
    struct queue q = { 0 };
    long deepest = 1;

    bench_start(&b, &argc, &argv, 2);
    q.rank = b.rank;
    q.other = 1 - b.rank;
    for (int d = 0; d < b.depths.count; d++)
        deepest = b.depths.at[d] > deepest ? b.depths.at[d] : deepest;
    q.values = bench_buffer(deepest * (long)sizeof *q.values);
    q.requests = bench_buffer(deepest * (long)sizeof *q.requests);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        q.kind = &kinds[k];
        for (int d = 0; d < b.depths.count; d++) {
            q.depth = b.depths.at[d];
            measure(&b, &q);
        }
    }
    free(q.requests);
    free(q.values);
    MPI_Finalize();
    return 0;
}
