/* SPDX-License-Identifier: BSD-3-Clause */
/* Example heat: the arithmetic of one block. Five-point explicit scheme; each cell is computed by the same
 * expression wherever it stands, so that a field cut into blocks and the same field in one piece agree to
 * the last bit. */
#include "heat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool solver_create(struct solver *s, int width, int height)
{
    const size_t cells = ((size_t)width + 2) * ((size_t)height + 2);

    *s = (struct solver){ .width = width, .height = height };
    s->now = calloc(cells, sizeof *s->now);
    s->next = calloc(cells, sizeof *s->next);
    s->is_held = calloc(cells, 1);
    if (s->now && s->next && s->is_held)
        return true;
    solver_free(s);
    return false;
}

void solver_free(struct solver *s)
{
    free(s->now);
    free(s->next);
    free(s->is_held);
    *s = (struct solver){ 0 };
}

void solver_insulate(struct solver *s, bool west, bool east, bool north, bool south)
{
    const size_t stride = (size_t)s->width + 2;
    double *cells = s->now;

    for (size_t y = 1; y <= (size_t)s->height; y++) {
        if (west)
            cells[y * stride] = cells[y * stride + 1];
        if (east)
            cells[y * stride + stride - 1] = cells[y * stride + stride - 2];
    }
    if (north)
        memcpy(cells, cells + stride, stride * sizeof *cells);
    if (south)
        memcpy(cells + ((size_t)s->height + 1) * stride, cells + (size_t)s->height * stride,
               stride * sizeof *cells);
}

double solver_step(struct solver *s, int x0, int x1, int y0, int y1)
{
    const size_t stride = (size_t)s->width + 2;
    double most = 0;

    for (int y = y0; y < y1; y++) {
        const double *here = s->now + (size_t)y * stride, *above = here - stride, *below = here + stride;
        const unsigned char *is_held = s->is_held + (size_t)y * stride;
        double *out = s->next + (size_t)y * stride;

        for (int x = x0; x < x1; x++) {
            const double around = (above[x] + below[x]) + (here[x - 1] + here[x + 1]);
            const double change = is_held[x] ? 0 : HEAT_SHARE * (around - 4 * here[x]);

            out[x] = here[x] + change;
            most = fabs(change) > most ? fabs(change) : most;
        }
    }
    return most;
}

void solver_swap(struct solver *s)
{
    double *now = s->now;

    s->now = s->next;
    s->next = now;
}

void solver_load(struct solver *s, const double *cells, const unsigned char *is_held, size_t stride)
{
    for (int y = 0; y < s->height; y++) {
        const size_t to = ((size_t)y + 1) * ((size_t)s->width + 2) + 1, from = (size_t)y * stride;

        memcpy(s->now + to, cells + from, (size_t)s->width * sizeof *cells);
        memcpy(s->is_held + to, is_held + from, (size_t)s->width);
    }
}

void solver_store(const struct solver *s, double *cells, size_t stride)
{
    for (int y = 0; y < s->height; y++) {
        const size_t from = ((size_t)y + 1) * ((size_t)s->width + 2) + 1, to = (size_t)y * stride;

        memcpy(cells + to, s->now + from, (size_t)s->width * sizeof *cells);
    }
}
