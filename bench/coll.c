/* SPDX-License-Identifier: BSD-3-Clause */
/* Bench: time of every collective operation with the job's number of ranks, in a row, roots moving on. Names:
 * coll_<operation>; parameter ranks:bytes, barrier ranks; with `--form nonblocking` and `--form persistent` (start and
 * wait) nonblocking_<operation> and persistent_<operation>. All operations of one size, then the next size: a run that
 * is cut off has the short ones. What comes is looked at before, and of every operation after it has been measured, at
 * one word in each page of each block. `--only OPERATION`: that one. */
#include <stdio.h>
#include <string.h>

#include "colls.h"

enum { MOST_RANKS = 1024 };

struct work {
    const struct coll *coll;
    const struct colls *all;
    long turn;
    int count; /* of persistent requests, else 0 */
    MPI_Request made[MOST_RANKS];
};

static void start_and_wait(struct work *w)
{
    MPI_Request request;

    w->coll->start(w->all, w->turn++, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void start_made_and_wait(struct work *w)
{
    MPI_Request *request = &w->made[w->turn++ % w->count];

    MPI_Start(request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

/* The barrier of each of these ends the row for everybody; it is one among many calls. */
static void row_blocking(void *arg, long reps)
{
    struct work *w = arg;

    for (long i = 0; i < reps; i++)
        w->coll->block(w->all, w->turn++);
    MPI_Barrier(w->all->comm);
}

static void row_nonblocking(void *arg, long reps)
{
    for (long i = 0; i < reps; i++)
        start_and_wait(arg);
    MPI_Barrier(((struct work *)arg)->all->comm);
}

static void row_persistent(void *arg, long reps)
{
    for (long i = 0; i < reps; i++)
        start_made_and_wait(arg);
    MPI_Barrier(((struct work *)arg)->all->comm);
}

/* Of the options: how calls are made. */
struct form {
    const char *name, *prefix;
    bench_op *row;
};
static const struct form forms[] = {
    { "blocking", "coll_", row_blocking },
    { "nonblocking", "nonblocking_", row_nonblocking },
    { "persistent", "persistent_", row_persistent },
};

static const struct form *find_form(const struct bench *b)
{
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (!b->form || !strcmp(b->form, forms[i].name))
            return &forms[i];
    bench_fail("coll: --form is blocking, nonblocking or persistent, not '%s'", b->form);
}

/* --- what comes --- */

enum { STEP = 4096, WORD = sizeof(double) };

static double *word(char *buf, long at)
{
    return (double *)(void *)(buf + at);
}

/* The word that a rank sends at a byte of one of its blocks, and the sum of those of ranks 0 to n - 1. */
static double value(int rank, long block, long at)
{
    return rank + 1 + 100.0 * (double)block + 1e3 * (double)at;
}

static double sum(int n, long block, long at)
{
    return n * (n + 1) / 2.0 + n * (100.0 * (double)block + 1e3 * (double)at);
}

/* Where the next word is that is looked at: the last one of the block as well. */
static long next_word(const struct colls *c, long at)
{
    const long last = (c->bytes - WORD) / WORD * WORD;

    return at < last && at + STEP > last ? last : at + STEP;
}

static bool is(const struct coll *coll, const char *name)
{
    return strncmp(coll->name, name, strlen(name)) == 0;
}

/* The blocks that a rank has after a call, and one of their words. */
static long count_blocks(const struct colls *c, const struct coll *coll, bool is_root)
{
    if (is(coll, "gather") || (is(coll, "reduce") && !coll->name[6]))
        return !is_root ? 0 : is(coll, "gather") ? c->ranks : 1;
    if (is(coll, "allgather") || is(coll, "alltoall"))
        return c->ranks;
    return is(coll, "neighbor") ? 2 : 1;
}

static double expected(const struct colls *c, const struct coll *coll, int rank, int root, long block, long at)
{
    const int beside = (rank + (block ? 1 : c->ranks - 1)) % c->ranks;

    if (is(coll, "bcast"))
        return value(root, 0, at);
    if (is(coll, "scatter"))
        return value(root, rank, at);
    if (is(coll, "alltoall"))
        return value((int)block, rank, at);
    if (is(coll, "neighbor"))
        return value(beside, is(coll, "neighbor_alltoall") ? 1 - block : 0, at);
    if (is(coll, "gather") || is(coll, "allgather"))
        return value((int)block, 0, at);
    return sum(is(coll, "scan") ? rank + 1 : is(coll, "exscan") ? rank : c->ranks,
               is(coll, "reduce_scatter_block") ? rank : 0, at);
}

/* Which bytes of the result a rank has of a reduction whose parts go to all. */
static void own_part(const struct colls *c, const struct coll *coll, int rank, long *begin, long *end)
{
    *begin = 0;
    *end = c->bytes;
    if (!is(coll, "reduce_scatter") || coll->has_blocks)
        return;
    for (int i = 0; i < rank; i++)
        *begin += c->parts[i] * WORD;
    *end = *begin + c->parts[rank] * WORD;
}

static void put_words(const struct colls *c, const struct coll *coll, int rank)
{
    const long sends = coll->has_blocks ? c->ranks : 2;

    for (long block = 0; block < sends; block++)
        for (long at = 0; at + WORD <= c->bytes; at = next_word(c, at)) {
            *word(c->send, block * c->bytes + at) = value(rank, block, at);
            *word(c->recv, block * c->bytes + at) = is(coll, "bcast") ? value(rank, block, at) : -1;
        }
}

/* One more call, off the clock, with words in each page. Afterwards the send buffer has zeroes again. */
static void look(const struct bench *b, struct work *w, bench_op *row)
{
    const struct colls *c = w->all;
    const struct coll *coll = w->coll;
    const int root = (int)(w->turn % c->ranks);
    const long blocks = is(coll, "exscan") && !b->rank ? 0 : count_blocks(c, coll, b->rank == root);
    long begin, end;

    put_words(c, coll, b->rank);
    row(w, 1);
    own_part(c, coll, b->rank, &begin, &end);
    for (long block = 0; block < blocks; block++)
        for (long at = 0; at + WORD <= c->bytes; at = next_word(c, at)) {
            const double want = expected(c, coll, b->rank, root, block, at);

            if (at < begin || at >= end)
                continue;
            if (*word(c->recv, block * c->bytes + at - begin) != want)
                bench_fail("coll: %s of %ld bytes, rank %d of %d: the word at byte %ld of block %ld is %g, not %g",
                           coll->name, c->bytes, b->rank, b->size, at, block,
                           *word(c->recv, block * c->bytes + at - begin), want);
        }
    for (long block = 0; block < (coll->has_blocks ? c->ranks : 2); block++)
        for (long at = 0; at + WORD <= c->bytes; at = next_word(c, at))
            *word(c->send, block * c->bytes + at) = 0;
}

static void measure(const struct bench *b, const struct colls *all, const struct coll *coll)
{
    const struct form *form = find_form(b);
    struct work w = { .coll = coll, .all = all };
    double time[BENCH_MAX_BATCHES];
    char name[64], parameter[64];
    int batches;

    if (form->row == row_persistent)
        for (w.count = 0; w.count < colls_turns(all, coll); w.count++)
            coll->make(all, w.count, &w.made[w.count]);
    batches = bench_measure(b, form->row, &w, time);
    w.turn = w.turn / 2 * 2; /* a chain from rank 0 on */
    if (coll->has_size && all->bytes % WORD == 0)
        look(b, &w, form->row);
    for (int i = 0; i < w.count; i++)
        MPI_Request_free(&w.made[i]);
    for (int i = 0; i < batches; i++)
        time[i] *= 1e6;
    snprintf(name, sizeof name, "%s%s", form->prefix, coll->name);
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
    if (b.size > MOST_RANKS)
        bench_fail("coll: at most %d ranks, not %d", MOST_RANKS, b.size);
    colls_start(&all, b.max_size);
    check(&all, b.rank);
    colls_each(&b, &all, true, measure);
    colls_end(&all);
    MPI_Finalize();
    return 0;
}
