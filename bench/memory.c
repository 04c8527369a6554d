/* SPDX-License-Identifier: BSD-3-Clause */
/* Bench: memory of a rank, from /proc/self/smaps_rollup, median over the ranks; parameter: number of
 * ranks.
 *   memory_rss_*    resident pages, shared ones (libraries too) in full
 *   memory_pss_*    resident pages, shared ones divided by the processes that share them
 *   memory_own_*    pages of this process alone
 * at five moments: start (before MPI_Init), init (after it), alltoall (after a collective one of 8 bytes), and settled
 * and peers, before and after every rank sends 8 bytes to every other one by itself. Only the last two can be compared:
 * at the first ones not all ranks are there with which pages are shared. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

struct moment {
    double rss, pss, own; /* KiB */
};

static double field(const char *text, const char *name)
{
    const char *at = strstr(text, name);

    return at ? strtod(at + strlen(name), NULL) : 0;
}

static struct moment look(void)
{
    char text[4096] = "";
    const int fd = open("/proc/self/smaps_rollup", O_RDONLY);
    ssize_t length = -1;

    if (fd >= 0) {
        length = read(fd, text, sizeof text - 1);
        close(fd);
    }
    text[length < 0 ? 0 : length] = '\0';
    return (struct moment){ field(text, "\nRss:"), field(text, "\nPss:"),
                            field(text, "\nPrivate_Clean:") + field(text, "\nPrivate_Dirty:") };
}

static void report(const struct bench *b, const char *what, const char *moment, double mine)
{
    double *all = bench_buffer(b->size * (long)sizeof *all);
    char name[40], parameter[24];

    MPI_Gather(&mine, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    snprintf(name, sizeof name, "memory_%s_%s", what, moment);
    snprintf(parameter, sizeof parameter, "%d", b->size);
    if (b->rank == 0)
        stats_print(name, parameter, all, b->size, "KiB", BETTER_LOW);
    free(all);
}

static void all_to_all(const struct bench *b)
{
    long *out = bench_buffer(b->size * (long)sizeof *out), *in = bench_buffer(b->size * (long)sizeof *in);

    for (int r = 0; r < b->size; r++)
        out[r] = 1000L * b->rank + r;
    MPI_Alltoall(out, 1, MPI_LONG, in, 1, MPI_LONG, MPI_COMM_WORLD);
    for (int r = 0; r < b->size; r++)
        if (in[r] != 1000L * r + b->rank)
            bench_fail("memory: rank %d sent %ld to rank %d", r, in[r], b->rank);
    free(out);
    free(in);
}

/* A message each way between any two. */
static void talk_to_each(const struct bench *b)
{
    for (int step = 1; step < b->size; step++) {
        const int to = (b->rank + step) % b->size, from = (b->rank + b->size - step) % b->size;
        long out = 1000L * b->rank + to, in = -1;
        MPI_Sendrecv(&out, 1, MPI_LONG, to, 1, &in, 1, MPI_LONG, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (in != 1000L * from + b->rank)
            bench_fail("memory: rank %d sent %ld to rank %d", from, in, b->rank);
    }
}

/* While all ranks are there and none goes on. */
static struct moment look_together(void)
{
    struct moment moment;

    MPI_Barrier(MPI_COMM_WORLD);
    moment = look();
    MPI_Barrier(MPI_COMM_WORLD);
    return moment;
}

int main(int argc, char **argv)
{
    struct bench b = { 0 };
    static const char *const names[] = { "start", "init", "alltoall", "settled", "peers" };
    enum { MOMENTS = sizeof names / sizeof *names };
    struct moment moments[MOMENTS] = { look() };

    bench_start(&b, &argc, &argv, 0);
    moments[1] = look();
    MPI_Barrier(MPI_COMM_WORLD);
    all_to_all(&b);
    moments[2] = look();
    moments[3] = look_together();
    talk_to_each(&b);
    moments[4] = look_together();
    for (int i = 0; i < MOMENTS; i++) {
        report(&b, "rss", names[i], moments[i].rss);
        report(&b, "pss", names[i], moments[i].pss);
        report(&b, "own", names[i], moments[i].own);
    }
    MPI_Finalize();
    return 0;
}
