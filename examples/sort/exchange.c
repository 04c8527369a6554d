/* SPDX-License-Identifier: BSD-3-Clause */
/* Example sort: choosing where to cut, moving the pieces, looking over the borders. See exchange.h. */
#include "exchange.h"

#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 64, SAMPLE_BYTES = 64, TAG_PIECE = 1, TAG_LENGTH, TAG_LAST };

/* A line cut to a fixed length, so that samples travel in one Gather and splitters in one Bcast. */
struct sample {
    int length;
    char text[SAMPLE_BYTES];
};

static void *memory(size_t bytes)
{
    void *room = malloc(bytes + 1);

    if (room)
        return room;
    fprintf(stderr, "sort: no memory for %zu bytes\n", bytes);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

static int compare_samples(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;

    return lines_compare(&(struct line){ x->text, (size_t)x->length },
                         &(struct line){ y->text, (size_t)y->length });
}

/* Evenly spaced lines; fewer lines than samples: none twice, the rest of length -1. */
static void take_samples(const struct lines *l, struct sample *samples)
{
    const size_t wanted = l->count < SAMPLES ? l->count : SAMPLES;

    for (size_t i = 0; i < SAMPLES; i++) {
        samples[i] = (struct sample){ .length = -1 };
        if (i < wanted) {
            const struct line *line = &l->all[(2 * i + 1) * l->count / (2 * wanted)];

            samples[i].length = line->length < SAMPLE_BYTES ? (int)line->length : SAMPLE_BYTES;
            memcpy(samples[i].text, line->at, (size_t)samples[i].length);
        }
    }
}

/* Rank 0 sorts all samples and cuts them into equal parts; everybody gets the ranks - 1 splitters. */
static void choose_splitters(const struct lines *l, struct sample *splitters, int rank, int ranks)
{
    const int bytes = SAMPLES * (int)sizeof(struct sample);
    struct sample mine[SAMPLES], *all = memory((size_t)bytes * (size_t)ranks);
    size_t count = 0;

    take_samples(l, mine);
    MPI_Gather(mine, bytes, MPI_BYTE, all, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        for (size_t i = 0; i < (size_t)SAMPLES * (size_t)ranks; i++)
            if (all[i].length >= 0)
                all[count++] = all[i];
        qsort(all, count, sizeof *all, compare_samples);
        for (int i = 0; i < ranks - 1; i++)
            splitters[i] = count ? all[count * ((size_t)i + 1) / (size_t)ranks] : (struct sample){ 0 };
    }
    MPI_Bcast(splitters, (ranks - 1) * (int)sizeof *splitters, MPI_BYTE, 0, MPI_COMM_WORLD);
    free(all);
}

/* Put the sorted lines one behind the other into new text; bytes[r] of them go to rank r. */
static char *pack(const struct lines *l, const struct sample *splitters, int ranks, long long *bytes)
{
    char *text = memory(l->bytes), *end = text;
    int to = 0;

    memset(bytes, 0, (size_t)ranks * sizeof *bytes);
    for (size_t i = 0; i < l->count; i++) {
        while (to < ranks - 1 &&
               lines_compare(&l->all[i], &(struct line){ splitters[to].text, (size_t)splitters[to].length }) >
                   0)
            to++;
        memcpy(end, l->all[i].at, l->all[i].length + 1);
        end += l->all[i].length + 1;
        bytes[to] += (long long)l->all[i].length + 1;
    }
    return text;
}

/* Move the pieces: out_bytes[r] bytes of `out` go to rank r, in_bytes[r] come from it into the result. */
static char *move_pieces(const char *out, const long long *out_bytes, const long long *in_bytes, int ranks)
{
    MPI_Request *requests = memory(2 * (size_t)ranks * sizeof *requests);
    char *in;
    size_t from = 0, total = 0;

    for (int r = 0; r < ranks; r++) {
        total += (size_t)in_bytes[r];
        if (in_bytes[r] > INT_MAX || out_bytes[r] > INT_MAX) {
            fprintf(stderr, "sort: a piece of more than %d bytes for one rank; use more ranks\n", INT_MAX);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    in = memory(total);
    total = 0;
    for (int r = 0; r < ranks; r++) {
        MPI_Irecv(in + total, (int)in_bytes[r], MPI_BYTE, r, TAG_PIECE, MPI_COMM_WORLD, &requests[r]);
        total += (size_t)in_bytes[r];
    }
    for (int r = 0; r < ranks; r++) {
        MPI_Isend(out + from, (int)out_bytes[r], MPI_BYTE, r, TAG_PIECE, MPI_COMM_WORLD,
                  &requests[ranks + r]);
        from += (size_t)out_bytes[r];
    }
    MPI_Waitall(2 * ranks, requests, MPI_STATUSES_IGNORE);
    free(requests);
    return in;
}

/* First line of each run: the runs lie behind each other in the text, in_bytes[r] bytes for run r. */
static size_t *find_runs(const struct lines *l, const long long *in_bytes, int ranks)
{
    size_t *first = memory(((size_t)ranks + 1) * sizeof *first), line = 0;
    const char *end = l->text;

    for (int r = 0; r < ranks; r++) {
        first[r] = line;
        end += in_bytes[r];
        while (line < l->count && l->all[line].at < end)
            line++;
    }
    first[ranks] = line;
    return first;
}

size_t *exchange_lines(struct lines *l, int rank, int ranks)
{
    struct sample *splitters = memory((size_t)ranks * sizeof *splitters);
    long long *out_bytes = memory((size_t)ranks * sizeof *out_bytes);
    long long *in_bytes = memory((size_t)ranks * sizeof *in_bytes), total = 0;
    size_t *runs;
    char *out, *in;

    choose_splitters(l, splitters, rank, ranks);
    out = pack(l, splitters, ranks, out_bytes);
    lines_free(l);
    MPI_Alltoall(out_bytes, 1, MPI_LONG_LONG, in_bytes, 1, MPI_LONG_LONG, MPI_COMM_WORLD);
    in = move_pieces(out, out_bytes, in_bytes, ranks);
    free(out);
    for (int r = 0; r < ranks; r++)
        total += in_bytes[r];
    if (!lines_split(l, in, (size_t)total)) {
        fprintf(stderr, "sort: no memory for the lines in %lld bytes\n", total);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    runs = find_runs(l, in_bytes, ranks);
    free(in_bytes);
    free(out_bytes);
    free(splitters);
    return runs;
}

unsigned long long exchange_bytes_before(unsigned long long bytes, int rank, int ranks)
{
    unsigned long long *all = memory((size_t)ranks * sizeof *all), before = 0;

    MPI_Allgather(&bytes, 1, MPI_UNSIGNED_LONG_LONG, all, 1, MPI_UNSIGNED_LONG_LONG, MPI_COMM_WORLD);
    for (int r = 0; r < rank; r++)
        before += all[r];
    free(all);
    return before;
}

/* The last line so far is handed from rank to rank; a rank without lines passes on what it got. */
bool exchange_is_ordered(const struct lines *l, int rank, int ranks)
{
    const int below = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    const int above = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;
    bool is_ordered = true;
    struct line last = { 0 };
    int length = 0;
    char *text;

    MPI_Recv(&length, 1, MPI_INT, below, TAG_LENGTH, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    text = memory((size_t)length);
    MPI_Recv(text, length, MPI_CHAR, below, TAG_LAST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    last = (struct line){ text, (size_t)length };
    if (l->count) {
        is_ordered = lines_compare(&last, &l->all[0]) <= 0;
        last = l->all[l->count - 1];
        length = (int)last.length;
    }
    MPI_Send(&length, 1, MPI_INT, above, TAG_LENGTH, MPI_COMM_WORLD);
    MPI_Send(last.at, length, MPI_CHAR, above, TAG_LAST, MPI_COMM_WORLD);
    free(text);
    return is_ordered;
}
