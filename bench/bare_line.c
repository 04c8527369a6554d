/* SPDX-License-Identifier: BSD-3-Clause */
/* Bench: the floor under every latency: two pinned processes hand one cache line to and fro in shared
 * memory, without MPI. Prints the time one way: "bare_line 8 0.136 us". Taken beside latency in the same
 * run, since the distance of two cores differs from machine to machine and, in a virtual one, from day to
 * day. Needs two cores, else exits with 77. */
#define _GNU_SOURCE 1
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stats.h"

enum { BATCHES = 201, ROUNDS = 2000, WARM_UP = 20 };

/* One cache line. `turn` counts up: even values are written by the parent, odd ones by the child. */
struct line {
    _Alignas(64) atomic_ulong turn;
};

static void wait_for(struct line *line, unsigned long value)
{
    while (atomic_load_explicit(&line->turn, memory_order_acquire) != value)
        ;
}

static void answer(struct line *line, unsigned long rounds)
{
    for (unsigned long i = 0; i < rounds; i++) {
        wait_for(line, 2 * i + 1);
        atomic_store_explicit(&line->turn, 2 * i + 2, memory_order_release);
    }
}

/* Seconds one way, over ROUNDS round trips that start at number `first`. */
static double batch(struct line *line, unsigned long first)
{
    const double start = stats_now();

    for (unsigned long i = first; i < first + ROUNDS; i++) {
        atomic_store_explicit(&line->turn, 2 * i + 1, memory_order_release);
        wait_for(line, 2 * i + 2);
    }
    return (stats_now() - start) / (2.0 * ROUNDS);
}

static void child(struct line *line, int batches)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (stats_pin(1))
        perror("bare_line: the second process is not pinned");
    answer(line, (unsigned long)(batches + WARM_UP) * ROUNDS);
    _exit(0);
}

int main(int argc, char **argv)
{
    const int batches = argc == 3 && !strcmp(argv[1], "--batches") ? atoi(argv[2]) : BATCHES;
    double us[BATCHES];
    struct line *line;
    pid_t pid;

    if (batches < 1 || batches > BATCHES || (argc != 1 && argc != 3)) {
        fprintf(stderr, "usage: bare_line [--batches N], N from 1 to %d\n", BATCHES);
        return 2;
    }
    if (stats_cores() < 2) {
        printf("# bare_line needs two cores\n");
        return 77;
    }
    line = mmap(NULL, sizeof *line, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (line == MAP_FAILED || (pid = fork()) < 0) {
        perror("bare_line");
        return 1;
    }
    if (pid == 0)
        child(line, batches);
    if (stats_pin(0)) {
        perror("bare_line: cannot pin");
        kill(pid, SIGKILL);
        return 1;
    }
    for (int i = -WARM_UP; i < batches; i++) {
        const double seconds = batch(line, (unsigned long)(i + WARM_UP) * ROUNDS);

        if (i >= 0)
            us[i] = 1e6 * seconds;
    }
    stats_print("bare_line", "8", us, batches, "us", BETTER_LOW);
    waitpid(pid, NULL, 0);
    return 0;
}
