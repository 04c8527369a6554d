/* SPDX-License-Identifier: BSD-3-Clause */
/* Bench: time of nonblocking and persistent collective operations with nothing to do in between: start and MPI_Wait, in
 * a row. Names: nonblocking; persistent (barrier, bcast and allreduce, where the MPI has them). Parameter
 * operation:ranks:bytes. */
#include <stdio.h>
#include <string.h>

#include "colls.h"

struct work {
    const struct coll *coll;
    const struct colls *all;
    MPI_Request persistent;
};

/* The barrier ends the row for everybody; it is one among many calls. */
static void row_nonblocking(void *arg, long reps)
{
    struct work *w = arg;

    for (long i = 0; i < reps; i++) {
        MPI_Request request;

        w->coll->start(w->all, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(w->all->comm);
}

static void print(const struct bench *b, const struct work *w, const char *form, double *time, int batches)
{
    char parameter[64];

    for (int i = 0; i < batches; i++)
        time[i] *= 1e6;
    snprintf(parameter, sizeof parameter, "%s:%d:%ld", w->coll->name, b->size,
             w->coll->has_size ? w->all->bytes : 0);
    if (b->rank == 0)
        stats_print(form, parameter, time, batches, "us", BETTER_LOW);
}

#if MPI_VERSION >= 4
static void row_persistent(void *arg, long reps)
{
    struct work *w = arg;

    for (long i = 0; i < reps; i++) {
        MPI_Start(&w->persistent);
        MPI_Wait(&w->persistent, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(w->all->comm);
}

/* False: not one of the three. */
static bool make_persistent(struct work *w)
{
    const struct colls *c = w->all;
    const int bytes = (int)c->bytes, doubles = (int)(c->bytes / (long)sizeof(double));

    if (!strcmp(w->coll->name, "barrier"))
        MPI_Barrier_init(c->comm, MPI_INFO_NULL, &w->persistent);
    else if (!strcmp(w->coll->name, "bcast"))
        MPI_Bcast_init(c->recv, bytes, MPI_BYTE, 0, c->comm, MPI_INFO_NULL, &w->persistent);
    else if (!strcmp(w->coll->name, "allreduce"))
        MPI_Allreduce_init(c->send, c->recv, doubles, MPI_DOUBLE, MPI_SUM, c->comm, MPI_INFO_NULL, &w->persistent);
    else
        return false;
    return true;
}

static void measure_persistent(const struct bench *b, struct work *w)
{
    double time[BENCH_MAX_BATCHES];
    int batches;

    if (!make_persistent(w))
        return;
    batches = bench_measure(b, row_persistent, w, time);
    print(b, w, "persistent", time, batches);
    MPI_Request_free(&w->persistent);
}
#endif

static void measure(const struct bench *b, const struct colls *all, const struct coll *coll)
{
    struct work w = { .coll = coll, .all = all };
    double time[BENCH_MAX_BATCHES];
    const int batches = bench_measure(b, row_nonblocking, &w, time);

    print(b, &w, "nonblocking", time, batches);
#if MPI_VERSION >= 4
    measure_persistent(b, &w);
#endif
}

int main(int argc, char **argv)
{
    struct bench b = { .batches = 21, .batch_time = 1e-3, .budget = 0.05, .min_size = 8, .max_size = 4096 };
    struct colls all;

    bench_start(&b, &argc, &argv, 0);
    colls_start(&all, b.max_size);
    colls_each(&b, &all, true, measure);
    colls_end(&all);
    MPI_Finalize();
    return 0;
}
