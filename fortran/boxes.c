/* SPDX-License-Identifier: BSD-3-Clause */
/* fortran: see boxes.h. A box is found by hashing. Whether a pointer leads to a box is seen from its place: boxes stand
 * in a few rows, each twice as long as the one before. */
#include "boxes.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

enum { ROWS = 40, FIRST_ROW = 64 };

static struct {
    pthread_mutex_t lock;
    intptr_t *rows[ROWS]; /* row r has FIRST_ROW << r boxes; guarded by lock, as is all below */
    size_t used;          /* boxes filled, over all rows */
    intptr_t **table;     /* open addressing, at most half full, NULL: free */
    size_t room;
} boxes = { .lock = PTHREAD_MUTEX_INITIALIZER };

static size_t first_of_row(int row)
{
    return ((size_t)FIRST_ROW << row) - FIRST_ROW;
}

/* Where the box of `value` is in the table, or would be. */
static intptr_t **place_of(intptr_t value)
{
    size_t i = (size_t)((uint64_t)value * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (boxes.room - 1);

    while (boxes.table[i] && *boxes.table[i] != value)
        i = (i + 1) & (boxes.room - 1);
    return &boxes.table[i];
}

static bool grow(void)
{
    intptr_t **const old = boxes.table;
    const size_t old_room = boxes.room, room = old_room ? 2 * old_room : 2 * FIRST_ROW;
    intptr_t **table = calloc(room, sizeof(intptr_t *));

    if (!table)
        return false;
    boxes.table = table;
    boxes.room = room;
    for (size_t i = 0; i < old_room; i++)
        if (old[i])
            *place_of(*old[i]) = old[i];
    free(old);
    return true;
}

static intptr_t *new_box(intptr_t value)
{
    int row = 0;

    while (boxes.used >= first_of_row(row + 1))
        row++;
    if (!boxes.rows[row] && !(boxes.rows[row] = malloc(((size_t)FIRST_ROW << row) * sizeof(intptr_t))))
        return NULL;
    boxes.rows[row][boxes.used - first_of_row(row)] = value;
    return &boxes.rows[row][boxes.used++ - first_of_row(row)];
}

void *box_of(intptr_t value)
{
    intptr_t *box = NULL;

    pthread_mutex_lock(&boxes.lock);
    if (2 * (boxes.used + 1) <= boxes.room || grow()) {
        intptr_t **place = place_of(value);

        if (!*place)
            *place = new_box(value);
        box = *place;
    }
    pthread_mutex_unlock(&boxes.lock);
    return box;
}

static bool is_box(const void *p)
{
    bool found = false;

    pthread_mutex_lock(&boxes.lock);
    for (int row = 0; row < ROWS && boxes.rows[row] && !found; row++)
        found = (uintptr_t)p - (uintptr_t)boxes.rows[row] < ((size_t)FIRST_ROW << row) * sizeof(intptr_t);
    pthread_mutex_unlock(&boxes.lock);
    return found;
}

intptr_t box_value(const void *p)
{
    return is_box(p) ? *(const intptr_t *)p : (intptr_t)p;
}
