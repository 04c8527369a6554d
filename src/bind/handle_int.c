/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: bind. Handles as integers for Fortran and for files (MPI 5.0 §20.4.5).
 *
 * A predefined handle is its own value. Any other gets the next free number from 4096 on and keeps it: rows lead from
 * number to handle, an index (open addressing, at most half full) from handle to number. Nothing is ever taken out:
 * memory of objects is used again, and a new object at an old place takes over its number. So both are no larger than
 * the largest number of objects that lived at once, and both can be read without the lock, which a Fortran program does
 * several times for each nonblocking call. */
#include "bind/bind.h"

#include <pthread.h>
#include <stdatomic.h>

enum { FIRST = OBJ_PREDEFINED_END, FIRST_ROOM = 64, ROWS = 24 };

/* Replaced by one twice as large; the old one is kept for who still reads it. */
struct index {
    struct index *older;
    size_t mask;
    atomic_int slots[]; /* number, or 0 for a free slot; stored (release) after the handle of that number */
};

static struct {
    pthread_mutex_t lock;           /* for writing */
    _Atomic(struct index *) index;  /* stored with release, pairs with the load in find() */
    uintptr_t *rows[ROWS];          /* row r has FIRST_ROOM << r handles and stays where it is */
    atomic_int count;               /* numbers given; stored (release) after row and handle */
} table = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Row i: numbers from FIRST_ROOM * (2^i - 1) on. */
static uintptr_t *place_of(int i)
{
    const unsigned shifted = (unsigned)i / FIRST_ROOM + 1;
    const int row = 31 - __builtin_clz(shifted);

    return &table.rows[row][(unsigned)i - FIRST_ROOM * ((1U << row) - 1)];
}

/* The slot where `handle` is or would be. Objects are 16-byte aligned: the low bits say nothing. */
static atomic_int *slot_of(struct index *index, uintptr_t handle, int *number)
{
    size_t i = (size_t)((uint64_t)(handle >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 20) & index->mask;

    while ((*number = atomic_load_explicit(&index->slots[i], memory_order_acquire)) != 0 &&
           *place_of(*number - FIRST) != handle)
        i = (i + 1) & index->mask;
    return &index->slots[i];
}

/* Its number, or 0: it has none yet. */
static int find(uintptr_t handle)
{
    struct index *const index = atomic_load_explicit(&table.index, memory_order_acquire);
    int number = 0;

    if (index)
        slot_of(index, handle, &number);
    return number;
}

/* Room for one more, with the lock. */
static bool grow(int count)
{
    struct index *const old = table.index;
    const size_t room = old ? 2 * (old->mask + 1) : 2 * FIRST_ROOM;
    struct index *index;
    int row = 0, number;

    while (count >= FIRST_ROOM * ((2 << row) - 1))
        row++;
    if (row >= ROWS || (!table.rows[row] && !(table.rows[row] = mem_alloc(sizeof(uintptr_t) * FIRST_ROOM << row))))
        return false;
    if (old && 2 * ((size_t)count + 1) <= old->mask + 1)
        return true;
    index = mem_zalloc(sizeof *index + room * sizeof *index->slots);
    if (!index)
        return false;
    index->older = old;
    index->mask = room - 1;
    for (int i = 0; i < count; i++)
        atomic_store_explicit(slot_of(index, *place_of(i), &number), FIRST + i, memory_order_relaxed);
    atomic_store_explicit(&table.index, index, memory_order_release);
    return true;
}

/* Without memory the answer is 0, which is no handle's number. */
int bind_handle_to_int(uintptr_t handle)
{
    int number;

    if (handle < FIRST)
        return (int)handle;
    number = find(handle);
    if (number)
        return number;
    pthread_mutex_lock(&table.lock);
    number = find(handle);
    if (!number && grow(table.count)) {
        const int i = table.count;

        *place_of(i) = handle;
        atomic_store_explicit(&table.count, i + 1, memory_order_release);
        atomic_store_explicit(slot_of(table.index, handle, &number), FIRST + i, memory_order_release);
        number = FIRST + i;
    }
    pthread_mutex_unlock(&table.lock);
    return number;
}

uintptr_t bind_int_to_handle(int value)
{
    if (value < FIRST)
        return value > 0 ? (uintptr_t)value : 0;
    if (value - FIRST < atomic_load_explicit(&table.count, memory_order_acquire))
        return *place_of(value - FIRST);
    return 0;
}
