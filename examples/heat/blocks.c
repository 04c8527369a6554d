/* SPDX-License-Identifier: BSD-3-Clause */
/* Example heat: cutting a field into blocks, moving blocks and edges between ranks. See blocks.h. */
#include "blocks.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAG_CELLS = 1, TAG_HELD, TAG_TO_WEST, TAG_TO_EAST, TAG_TO_NORTH, TAG_TO_SOUTH };

bool blocks_choose(int ranks, int width, int height, int *across, int *down)
{
    double least = -1;

    for (int columns = 1; columns <= ranks; columns++) {
        const int rows = ranks / columns;
        const double border = (columns - 1.0) * height + (rows - 1.0) * width;

        if (columns * rows != ranks || columns > width || rows > height || (least >= 0 && border >= least))
            continue;
        least = border;
        *across = columns;
        *down = rows;
    }
    return least >= 0;
}

static int cut(int length, int parts, int part)
{
    return (int)((long long)length * part / parts);
}

struct block blocks_of(int rank, int across, int down, int width, int height)
{
    const int column = rank % across, row = rank / across;
    struct block b = { .left = cut(width, across, column), .top = cut(height, down, row) };

    b.width = cut(width, across, column + 1) - b.left;
    b.height = cut(height, down, row + 1) - b.top;
    b.west = column > 0 ? rank - 1 : MPI_PROC_NULL;
    b.east = column < across - 1 ? rank + 1 : MPI_PROC_NULL;
    b.north = row > 0 ? rank - across : MPI_PROC_NULL;
    b.south = row < down - 1 ? rank + across : MPI_PROC_NULL;
    return b;
}

static int cells_of(const struct block *b)
{
    return b->width * b->height;
}

/* Copy a block out of the whole field into one piece. */
static void cut_out(const struct field *whole, const struct block *b, struct field *part)
{
    for (int y = 0; y < b->height; y++) {
        const size_t from = (size_t)(b->top + y) * (size_t)whole->width + (size_t)b->left;
        const size_t to = (size_t)y * (size_t)b->width;

        memcpy(part->cells + to, whole->cells + from, (size_t)b->width * sizeof *part->cells);
        memcpy(part->is_held + to, whole->is_held + from, (size_t)b->width);
    }
}

static bool send_blocks(const struct field *whole, int across, int down)
{
    for (int rank = 1; rank < across * down; rank++) {
        const struct block b = blocks_of(rank, across, down, whole->width, whole->height);
        struct field part;

        if (!field_create(&part, b.width, b.height))
            return false;
        cut_out(whole, &b, &part);
        MPI_Send(part.cells, cells_of(&b), MPI_DOUBLE, rank, TAG_CELLS, MPI_COMM_WORLD);
        MPI_Send(part.is_held, cells_of(&b), MPI_UNSIGNED_CHAR, rank, TAG_HELD, MPI_COMM_WORLD);
        field_free(&part);
    }
    return true;
}

bool blocks_scatter(const struct field *whole, int across, int down, const struct block *mine,
                    struct solver *s)
{
    struct field part;

    if (whole && !send_blocks(whole, across, down))
        return false;
    if (!field_create(&part, mine->width, mine->height))
        return false;
    if (whole) {
        cut_out(whole, mine, &part);
    } else {
        MPI_Recv(part.cells, cells_of(mine), MPI_DOUBLE, 0, TAG_CELLS, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(part.is_held, cells_of(mine), MPI_UNSIGNED_CHAR, 0, TAG_HELD, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    }
    solver_load(s, part.cells, part.is_held, (size_t)mine->width);
    field_free(&part);
    return true;
}

/* Put a block that lies in one piece into the whole field. */
static void put_in(struct field *whole, const struct block *b, const double *cells)
{
    for (int y = 0; y < b->height; y++)
        memcpy(whole->cells + (size_t)(b->top + y) * (size_t)whole->width + (size_t)b->left,
               cells + (size_t)y * (size_t)b->width, (size_t)b->width * sizeof *cells);
}

bool blocks_gather(const struct solver *s, const struct block *mine, int across, int down,
                   struct field *whole)
{
    double *cells = malloc((size_t)cells_of(mine) * sizeof *cells);

    if (!cells)
        return false;
    solver_store(s, cells, (size_t)mine->width);
    if (!whole)
        MPI_Send(cells, cells_of(mine), MPI_DOUBLE, 0, TAG_CELLS, MPI_COMM_WORLD);
    else
        put_in(whole, mine, cells);
    for (int rank = 1; whole && rank < across * down; rank++) {
        const struct block b = blocks_of(rank, across, down, whole->width, whole->height);
        double *room = realloc(cells, (size_t)cells_of(&b) * sizeof *cells);

        if (!room) {
            free(cells);
            return false;
        }
        cells = room;
        MPI_Recv(cells, cells_of(&b), MPI_DOUBLE, rank, TAG_CELLS, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        put_in(whole, &b, cells);
    }
    free(cells);
    return true;
}

bool halo_create(struct halo *halo, int height)
{
    double *room = malloc(4 * (size_t)height * sizeof *room);

    *halo = (struct halo){ room, room + height, room + 2 * (size_t)height, room + 3 * (size_t)height };
    return room;
}

void halo_free(struct halo *halo)
{
    free(halo->west_out);
    *halo = (struct halo){ 0 };
}

/* Start the exchange of all four edges; a missing neighbour is MPI_PROC_NULL and costs nothing. */
static void start_exchange(struct solver *s, const struct block *b, struct halo *halo, MPI_Request *requests)
{
    const size_t stride = (size_t)s->width + 2;
    double *first = s->now + stride + 1, *last = s->now + (size_t)s->height * stride + 1;

    MPI_Irecv(halo->west_in, s->height, MPI_DOUBLE, b->west, TAG_TO_EAST, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(halo->east_in, s->height, MPI_DOUBLE, b->east, TAG_TO_WEST, MPI_COMM_WORLD, &requests[1]);
    MPI_Irecv(first - stride, s->width, MPI_DOUBLE, b->north, TAG_TO_SOUTH, MPI_COMM_WORLD, &requests[2]);
    MPI_Irecv(last + stride, s->width, MPI_DOUBLE, b->south, TAG_TO_NORTH, MPI_COMM_WORLD, &requests[3]);
    for (int y = 0; y < s->height; y++) {
        halo->west_out[y] = first[(size_t)y * stride];
        halo->east_out[y] = first[(size_t)y * stride + (size_t)s->width - 1];
    }
    MPI_Isend(halo->west_out, s->height, MPI_DOUBLE, b->west, TAG_TO_WEST, MPI_COMM_WORLD, &requests[4]);
    MPI_Isend(halo->east_out, s->height, MPI_DOUBLE, b->east, TAG_TO_EAST, MPI_COMM_WORLD, &requests[5]);
    MPI_Isend(first, s->width, MPI_DOUBLE, b->north, TAG_TO_NORTH, MPI_COMM_WORLD, &requests[6]);
    MPI_Isend(last, s->width, MPI_DOUBLE, b->south, TAG_TO_SOUTH, MPI_COMM_WORLD, &requests[7]);
}

static void finish_exchange(struct solver *s, const struct block *b, const struct halo *halo,
                            MPI_Request *requests)
{
    const size_t stride = (size_t)s->width + 2;

    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
    for (int y = 0; y < s->height; y++) {
        double *row = s->now + ((size_t)y + 1) * stride;

        if (b->west != MPI_PROC_NULL)
            row[0] = halo->west_in[y];
        if (b->east != MPI_PROC_NULL)
            row[stride - 1] = halo->east_in[y];
    }
    solver_insulate(s, b->west == MPI_PROC_NULL, b->east == MPI_PROC_NULL, b->north == MPI_PROC_NULL,
                    b->south == MPI_PROC_NULL);
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* The outermost own cells: first and last row, and between them first and last column. */
static double step_edges(struct solver *s)
{
    const int w = s->width, h = s->height;
    double most = solver_step(s, 1, w + 1, 1, 2);

    if (h > 1)
        most = larger(most, solver_step(s, 1, w + 1, h, h + 1));
    most = larger(most, solver_step(s, 1, 2, 2, h));
    if (w > 1)
        most = larger(most, solver_step(s, w, w + 1, 2, h));
    return most;
}

double blocks_step(struct solver *s, const struct block *b, struct halo *halo)
{
    MPI_Request requests[8];
    double most;

    start_exchange(s, b, halo, requests);
    most = solver_step(s, 2, s->width, 2, s->height);
    finish_exchange(s, b, halo, requests);
    most = larger(most, step_edges(s));
    solver_swap(s);
    return most;
}
