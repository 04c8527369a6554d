/* SPDX-License-Identifier: BSD-3-Clause */
/* Bench: files. Small reads at explicit offsets; runs; views of 8 bytes in every 16 by each rank for itself; blocks of
 * the ranks in turn, by collective calls. The file is in the folder of TMPDIR, in the memory of the system. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"

enum { SMALL = 64, RUN = 4 << 20 };

struct way {
    const char *name;
    int block;         /* bytes; 0: a run of all */
    int is_collective, is_write;
};

static MPI_File fh;
static char *buffer;
static int rank, size, bytes;
static const struct way *way;

static void set_view(void)
{
    MPI_Datatype block, filetype;
    const MPI_Offset own = (MPI_Offset)rank * 2 * bytes;

    if (!way->block) {
        MPI_File_set_view(fh, own, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
        return;
    }
    MPI_Type_contiguous(way->block, MPI_BYTE, &block);
    MPI_Type_create_resized(block, 0, (MPI_Aint)way->block * (way->is_collective ? size : 2), &filetype);
    MPI_Type_commit(&filetype);
    MPI_File_set_view(fh, way->is_collective ? (MPI_Offset)rank * way->block : own, MPI_BYTE, filetype, "native",
                      MPI_INFO_NULL);
    MPI_Type_free(&block);
    MPI_Type_free(&filetype);
}

static void move(void *arg, long reps)
{
    (void)arg;
    for (long i = 0; i < reps; i++) {
        int rc;

        if (way->is_collective)
            rc = way->is_write ? MPI_File_write_at_all(fh, 0, buffer, bytes, MPI_BYTE, MPI_STATUS_IGNORE)
                               : MPI_File_read_at_all(fh, 0, buffer, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
        else
            rc = way->is_write ? MPI_File_write_at(fh, 0, buffer, bytes, MPI_BYTE, MPI_STATUS_IGNORE)
                               : MPI_File_read_at(fh, 0, buffer, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
        if (rc)
            bench_fail("%s failed", way->name);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void small_reads(void *arg, long reps)
{
    (void)arg;
    for (long i = 0; i < reps; i++)
        if (MPI_File_read_at(fh, i * 4096 % bytes, buffer, SMALL, MPI_BYTE, MPI_STATUS_IGNORE))
            bench_fail("a small read failed");
    MPI_Barrier(MPI_COMM_WORLD);
}

static void open_file(void)
{
    const char *folder = getenv("TMPDIR");
    char name[300];
    int pid = (int)getpid();

    MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(name, sizeof name, "%s/bench-io-%d", folder ? folder : "/tmp", pid);
    if (MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                      &fh))
        bench_fail("%s cannot be opened", name);
}

static void print(const struct bench *b, double *time, int batches)
{
    char parameter[60];

    for (int i = 0; i < batches; i++)
        time[i] = (double)bytes * size / time[i] / 1e6;
    snprintf(parameter, sizeof parameter, "%s:%d:%d", way->name, size, bytes);
    if (b->rank == 0)
        stats_print("io", parameter, time, batches, "MB/s", BETTER_HIGH);
}

static void print_small(const struct bench *b, double *time, int batches)
{
    char parameter[16];

    for (int i = 0; i < batches; i++)
        time[i] *= 1e6;
    snprintf(parameter, sizeof parameter, "%d", size);
    if (b->rank == 0)
        stats_print("io_small", parameter, time, batches, "us", BETTER_LOW);
}

int main(int argc, char **argv)
{
    static const struct way ways[] = {
        { "run_write", 0, 0, 1 }, { "run_read", 0, 0, 0 }, { "vector_write", 8, 0, 1 }, { "vector_read", 8, 0, 0 },
        { "turns_64_write_all", 64, 1, 1 }, { "turns_64_read_all", 64, 1, 0 }, { "turns_4096_write_all", 4096, 1, 1 },
        { "turns_4096_read_all", 4096, 1, 0 },
    };
    struct bench b = { .batches = 15, .batch_time = 5e-3, .budget = 0.4, .max_size = RUN };
    double time[BENCH_MAX_BATCHES];

    bench_start(&b, &argc, &argv, 0);
    rank = b.rank;
    size = b.size;
    bytes = (int)b.max_size;
    buffer = bench_buffer(bytes);
    open_file();
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        way = &ways[i];
        if (!bench_wants(&b, way->name))
            continue;
        set_view();
        move(NULL, 1);
        print(&b, time, bench_measure(&b, move, NULL, time));
    }
    MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    if (bench_wants(&b, "small"))
        print_small(&b, time, bench_measure(&b, small_reads, NULL, time));
    free(buffer);
    MPI_File_close(&fh);
    MPI_Finalize();
    return 0;
}
