/* SPDX-License-Identifier: BSD-3-Clause */
/* Bench: time of every blocking collective operation with the job's number of ranks, in a row, roots moving on. Names:
 * coll_<operation>; parameter ranks:bytes, barrier ranks. All operations of one size, then the next size: a run that is
 * cut off has the short ones. What comes is looked at before. `--only OPERATION`, before all other options: that
 * one. */
#include <stdio.h>
#include <string.h>

#include "colls.h"

struct work {
    const struct coll *coll;
    const struct colls *all;
    long turn;
};

/* The barrier ends the row for everybody; it is one among many calls. */
static void row(void *arg, long reps)
{
    struct work *w = arg;

    for (long i = 0; i < reps; i++)
        w->coll->block(w->all, w->turn++);
    MPI_Barrier(w->all->comm);
}

static void measure(const struct bench *b, const struct colls *all, const struct coll *coll)
{
    struct work w = { .coll = coll, .all = all };
    double time[BENCH_MAX_BATCHES];
    char name[64], parameter[64];
    const int batches = bench_measure(b, row, &w, time);

    for (int i = 0; i < batches; i++)
        time[i] *= 1e6;
    snprintf(name, sizeof name, "coll_%s", coll->name);
    if (coll->has_size)
        snprintf(parameter, sizeof parameter, "%d:%ld", b->size, all->bytes);
    else
        snprintf(parameter, sizeof parameter, "%d", b->size);
    if (b->rank == 0)
        stats_print(name, parameter, time, batches, "us", BETTER_LOW);
}

/* A sum and an exchange of what is known. */
static void check(struct colls *c, int rank)
{
    const double mine = rank + 1;

    colls_size(c, sizeof(double));
    memcpy(c->send, &mine, sizeof mine);
    MPI_Allreduce(c->send, c->recv, 1, MPI_DOUBLE, MPI_SUM, c->comm);
    if (*(double *)(void *)c->recv * 2 < c->ranks * (c->ranks + 1.0) - 0.5)
        bench_fail("coll: the sum of %d ranks is %g", c->ranks, *(double *)(void *)c->recv);
    MPI_Allgather(c->send, 8, MPI_BYTE, c->recv, 8, MPI_BYTE, c->comm);
    if (memcmp(c->recv + 8 * rank, &mine, sizeof mine) != 0)
        bench_fail("coll: what was gathered is not what was sent");
    memset(c->send, 0, sizeof mine);
}

int main(int argc, char **argv)
{
    struct bench b = { .batches = 21, .batch_time = 1e-3, .budget = 0.05, .min_size = 8, .max_size = 4 << 20 };
    struct colls all;

    bench_start(&b, &argc, &argv, 0);
    colls_start(&all, b.max_size);
    check(&all, b.rank);
    colls_each(&b, &all, true, measure);
    colls_end(&all);
    MPI_Finalize();
    return 0;
}
