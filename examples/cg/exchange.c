/* SPDX-License-Identifier: BSD-3-Clause */
/* Example cg: who needs what of whom, and the exchange. See exchange.h. */
#include "exchange.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *memory(size_t bytes)
{
    void *room = malloc(bytes + 1);

    if (room)
        return room;
    fprintf(stderr, "cg: no memory for %zu bytes\n", bytes);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

static int compare(const void *a, const void *b)
{
    const long x = *(const long *)a, y = *(const long *)b;

    return (x > y) - (x < y);
}

/* The columns that other ranks have, in order and each once. */
static long *find_foreign(const struct matrix *m, int *count)
{
    const long elements = m->start[m->rows];
    long *foreign = memory((size_t)elements * sizeof *foreign);
    int n = 0, once = 0;

    for (long k = 0; k < elements; k++)
        if (m->column[k] < m->first || m->column[k] >= m->first + m->rows)
            foreign[n++] = m->column[k];
    qsort(foreign, (size_t)n, sizeof *foreign, compare);
    for (int i = 0; i < n; i++)
        if (i == 0 || foreign[i] != foreign[i - 1])
            foreign[once++] = foreign[i];
    *count = once;
    return foreign;
}

/* How many of the sorted columns each rank has. */
static void count_by_rank(const long *columns, int count, long n, int ranks, int *counts)
{
    int rank = 0;

    memset(counts, 0, (size_t)ranks * sizeof *counts);
    for (int i = 0; i < count; i++) {
        while (columns[i] >= matrix_first_row(n, rank + 1, ranks))
            rank++;
        counts[rank]++;
    }
}

/* Of counts by rank: the ranks that have any, their counts and where their parts begin. Returns how many. */
static int pack(const int *by_rank, int ranks, int *who, int *counts, int *displs)
{
    int n = 0, at = 0;

    for (int rank = 0; rank < ranks; rank++)
        if (by_rank[rank]) {
            who[n] = rank;
            counts[n] = by_rank[rank];
            displs[n++] = at;
            at += by_rank[rank];
        }
    return n;
}

/* The graph: edges from everybody whose elements are needed, to everybody who needs own ones. They are told which. */
static void join(struct exchange *e, const struct matrix *m, const long *foreign, int foreign_count, int ranks)
{
    int *in = memory(4 * (size_t)ranks * sizeof *in), *out = in + ranks, *from = in + 2 * ranks, *to = in + 3 * ranks;
    int ins, outs;

    count_by_rank(foreign, foreign_count, m->n, ranks, in);
    MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, MPI_COMM_WORLD);
    ins = pack(in, ranks, from, e->in_counts, e->in_displs);
    outs = pack(out, ranks, to, e->out_counts, e->out_displs);
    for (int rank = 0; rank < ranks; rank++)
        e->out_total += out[rank];
    e->wanted = memory((size_t)e->out_total * sizeof *e->wanted);
    e->out = memory((size_t)e->out_total * sizeof *e->out);
    /* The wishes go against the edges of the exchange that follows from them. */
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, outs, to, MPI_UNWEIGHTED, ins, from, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &e->comm);
    MPI_Neighbor_alltoallv(foreign, e->in_counts, e->in_displs, MPI_LONG, e->wanted, e->out_counts, e->out_displs,
                           MPI_LONG, e->comm);
    MPI_Comm_free(&e->comm);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, ins, from, MPI_UNWEIGHTED, outs, to, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &e->comm);
    free(in);
}

/* Where the element of a column is: in the own part, or behind it in the order of `foreign`. */
static void find_places(struct exchange *e, const struct matrix *m, const long *foreign, int foreign_count)
{
    for (long k = 0; k < m->start[m->rows]; k++) {
        const long own = m->column[k] - m->first;
        const long *found;

        e->place[k] = (int)own;
        if (own >= 0 && own < m->rows)
            continue;
        found = bsearch(&m->column[k], foreign, (size_t)foreign_count, sizeof *foreign, compare);
        e->place[k] = (int)(m->rows + (found - foreign));
    }
}

static void create_neighbors(struct exchange *e, const struct matrix *m, int ranks)
{
    int foreign_count;
    long *foreign = find_foreign(m, &foreign_count);

    join(e, m, foreign, foreign_count, ranks);
    find_places(e, m, foreign, foreign_count);
    e->x = memory((size_t)(m->rows + foreign_count) * sizeof *e->x);
    for (int i = 0; i < e->out_total; i++)
        e->wanted[i] -= m->first;
    free(foreign);
}

static void create_whole(struct exchange *e, const struct matrix *m, int ranks)
{
    for (int rank = 0; rank < ranks; rank++) {
        e->displs[rank] = (int)matrix_first_row(m->n, rank, ranks);
        e->counts[rank] = (int)matrix_first_row(m->n, rank + 1, ranks) - e->displs[rank];
    }
    for (long k = 0; k < m->start[m->rows]; k++)
        e->place[k] = (int)m->column[k];
    e->x = memory((size_t)m->n * sizeof *e->x);
    e->own = m->first;
}

void exchange_create(struct exchange *e, const struct matrix *m, bool is_whole, int ranks)
{
    int *numbers = memory(6 * (size_t)ranks * sizeof *numbers);

    *e = (struct exchange){ .comm = MPI_COMM_NULL, .rows = m->rows };
    e->place = memory((size_t)m->start[m->rows] * sizeof *e->place);
    e->counts = numbers;
    e->displs = numbers + ranks;
    e->out_counts = numbers + 2 * ranks;
    e->out_displs = numbers + 3 * ranks;
    e->in_counts = numbers + 4 * ranks;
    e->in_displs = numbers + 5 * ranks;
    if (is_whole)
        create_whole(e, m, ranks);
    else
        create_neighbors(e, m, ranks);
}

void exchange_run(struct exchange *e, const double *part)
{
    if (e->comm == MPI_COMM_NULL) {
        MPI_Allgatherv(part, (int)e->rows, MPI_DOUBLE, e->x, e->counts, e->displs, MPI_DOUBLE, MPI_COMM_WORLD);
        return;
    }
    memcpy(e->x, part, (size_t)e->rows * sizeof *part);
    for (int i = 0; i < e->out_total; i++)
        e->out[i] = part[e->wanted[i]];
    MPI_Neighbor_alltoallv(e->out, e->out_counts, e->out_displs, MPI_DOUBLE, e->x + e->rows, e->in_counts,
                           e->in_displs, MPI_DOUBLE, e->comm);
}

void exchange_free(struct exchange *e)
{
    if (e->comm != MPI_COMM_NULL)
        MPI_Comm_free(&e->comm);
    free(e->place);
    free(e->counts);
    free(e->wanted);
    free(e->out);
    free(e->x);
}
