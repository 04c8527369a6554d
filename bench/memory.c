/* SPDX-License-Identifier: BSD-3-Clause */
/* Bench: memory of a rank, from /proc/self/smaps_rollup, median over the ranks; parameter: number of
 * ranks.
 *   memory_rss_*    resident pages, shared ones (libraries too) in full
 *   memory_pss_*    resident pages, shared ones divided by the processes that share them
 *   memory_own_*    pages of this process alone
 * at three moments: start (before MPI_Init), init (after it), alltoall (after every rank sent 8 bytes to
 * every rank). */
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

int main(int argc, char **argv)
{
    struct bench b = { 0 };
    struct moment moments[3] = { look() };
    static const char *const names[] = { "start", "init", "alltoall" };

    bench_start(&b, &argc, &argv, 0);
    moments[1] = look();
    MPI_Barrier(MPI_COMM_WORLD);
    all_to_all(&b);
    moments[2] = look();
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++) {
        report(&b, "rss", names[i], moments[i].rss);
        report(&b, "pss", names[i], moments[i].pss);
        report(&b, "own", names[i], moments[i].own);
    }
    MPI_Finalize();
    return 0;
}
