/* SPDX-License-Identifier: BSD-3-Clause */
/* Example sort: a parallel sample sort of the lines of a file.
 *
 * Every rank reads its part of the file and sorts it. Evenly spaced lines of all parts, the samples, tell
 * where to cut so that every rank gets about as much; the pieces change hands, every rank merges what it
 * got and writes it to its place in the output. Then the output is read again: it must be in order and
 * hold the same lines as the input.
 *
 *     mpiexec -n 4 sort [--in FILE] [--out sorted.txt] [--lines N]
 *
 * Without --in a file of N (500,000) lines of made-up words is sorted; try --in /usr/share/dict/words.
 * Exit code 1: a file cannot be read or written, or the output is wrong. */
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exchange.h"

enum { PATH_LENGTH = 4096 };
enum phase { READ, SORT, EXCHANGE, MERGE, WRITE, PHASES };

struct job {
    int rank, ranks;
    char in[PATH_LENGTH], out[PATH_LENGTH];
    long lines;
    bool is_generated;
    double seconds[PHASES];
};

/* End the job when `fine` is false on this rank. */
static void must(bool fine, const char *what, const char *path)
{
    if (fine)
        return;
    fprintf(stderr, "sort: cannot %s %s: %s\n", what, path, strerror(errno));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* All ranks see the same options and end together on a wrong one. */
static void read_options(struct job *job, char **argv)
{
    for (char **arg = argv + 1; *arg; arg += 2) {
        char *end = NULL;

        if (arg[1] && !strcmp(*arg, "--in") && strlen(arg[1]) < PATH_LENGTH)
            strcpy(job->in, arg[1]);
        else if (arg[1] && !strcmp(*arg, "--out") && strlen(arg[1]) < PATH_LENGTH)
            strcpy(job->out, arg[1]);
        else if (arg[1] && !strcmp(*arg, "--lines") && (job->lines = strtol(arg[1], &end, 10)) >= 0 && !*end)
            continue;
        else {
            if (job->rank == 0)
                fprintf(stderr, "sort: cannot use '%s %s'; there are --in FILE, --out FILE, --lines N\n",
                        *arg, arg[1] ? arg[1] : "");
            MPI_Finalize();
            exit(2);
        }
    }
}

/* The input exists (made by rank 0 if none was given) and the output is empty, for all ranks. */
static void prepare_files(struct job *job)
{
    const char *folder = getenv("TMPDIR");
    int fd;

    if (job->rank == 0 && !job->in[0]) {
        job->is_generated = true;
        snprintf(job->in, sizeof job->in, "%s/sort-XXXXXX", folder ? folder : "/tmp");
        must(lines_generate(job->in, job->lines), "make", job->in);
    }
    if (job->rank == 0) {
        must(access(job->in, R_OK) == 0, "read", job->in);
        fd = open(job->out, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        must(fd >= 0, "write", job->out);
        close(fd);
    }
    MPI_Bcast(job->in, sizeof job->in, MPI_CHAR, 0, MPI_COMM_WORLD);
}

/* Time since the last call goes to a phase. */
static void end_phase(struct job *job, enum phase phase, double *since)
{
    const double now = MPI_Wtime();

    job->seconds[phase] = now - *since;
    *since = now;
}

static struct checksum total(struct checksum mine)
{
    unsigned long long part[3] = { mine.count, mine.bytes, mine.hash }, sum[3];

    MPI_Allreduce(part, sum, 3, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    return (struct checksum){ sum[0], sum[1], sum[2] };
}

/* Sort; returns the checksum of the input. */
static struct checksum sort_file(struct job *job)
{
    struct checksum sum, mine;
    struct lines lines;
    size_t *runs;
    double since;

    MPI_Barrier(MPI_COMM_WORLD);
    since = MPI_Wtime();
    must(lines_read(&lines, job->in, job->rank, job->ranks), "read", job->in);
    end_phase(job, READ, &since);
    sum = total(lines_checksum(&lines));
    since = MPI_Wtime();
    lines_sort(&lines);
    end_phase(job, SORT, &since);
    runs = exchange_lines(&lines, job->rank, job->ranks);
    end_phase(job, EXCHANGE, &since);
    must(lines_merge(&lines, runs, job->ranks), "merge", job->in);
    end_phase(job, MERGE, &since);
    mine = lines_checksum(&lines);
    since = MPI_Wtime();
    must(lines_write(&lines, job->out, exchange_bytes_before(mine.bytes, job->rank, job->ranks)), "write",
         job->out);
    MPI_Barrier(MPI_COMM_WORLD);
    end_phase(job, WRITE, &since);
    free(runs);
    lines_free(&lines);
    return sum;
}

/* The output, read from its file, is in order and has the checksum. Same answer on all ranks. */
static bool verify(const struct job *job, const struct checksum *input)
{
    struct checksum output;
    struct lines lines;
    int mine, all;

    must(lines_read(&lines, job->out, job->rank, job->ranks), "read", job->out);
    output = total(lines_checksum(&lines));
    mine = lines_are_sorted(&lines) && exchange_is_ordered(&lines, job->rank, job->ranks);
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    lines_free(&lines);
    if (job->rank == 0 && !all)
        fprintf(stderr, "sort: %s is not in order\n", job->out);
    if (job->rank == 0 && memcmp(&output, input, sizeof output))
        fprintf(stderr, "sort: %s has %llu lines, %llu bytes, checksum %llx; expected %llu, %llu, %llx\n",
                job->out, output.count, output.bytes, output.hash, input->count, input->bytes, input->hash);
    return all && !memcmp(&output, input, sizeof output);
}

static void report(const struct job *job, const struct checksum *sum)
{
    static const char *const names[PHASES] = { "read", "sort", "exchange", "merge", "write" };
    double slowest[PHASES], whole = 0;

    MPI_Reduce(job->seconds, slowest, PHASES, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (job->rank)
        return;
    for (int i = 0; i < PHASES; i++) {
        printf("sort: %-8s %8.3f s %9.1f MB/s\n", names[i], slowest[i],
               1e-6 * (double)sum->bytes / slowest[i]);
        whole += slowest[i];
    }
    printf("sort: %llu lines, %llu bytes from %s by %d ranks in %.3f s: %.2f million lines per second\n",
           sum->count, sum->bytes, job->is_generated ? "a generated file" : job->in, job->ranks, whole,
           1e-6 * (double)sum->count / whole);
}

int main(int argc, char **argv)
{
    struct job job = { .out = "sorted.txt", .lines = 500000 };
    struct checksum sum;
    bool is_right;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
    read_options(&job, argv);
    prepare_files(&job);
    sum = sort_file(&job);
    is_right = verify(&job, &sum);
    report(&job, &sum);
    if (job.is_generated)
        unlink(job.in);
    if (job.rank == 0 && is_right)
        printf("sort: %s is in order and has the lines of the input\n", job.out);
    MPI_Finalize();
    return is_right ? 0 : 1;
}
