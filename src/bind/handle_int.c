/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: bind. Handles as integers for Fortran and for files (MPI 5.0 §20.4.5).
 *
 * A predefined handle is its own value. Any other gets the next free number from 4096 on and keeps it: `handles`
 * leads from number to handle, `slots` (open addressing, at most half full) from handle to number. Nothing is ever
 * taken out: memory of objects is used again, and a new object at an old place takes over its number. So the table
 * is no larger than the largest number of objects that lived at once. */
#include "bind/bind.h"

#include <pthread.h>

enum { FIRST = OBJ_PREDEFINED_END, FIRST_ROOM = 64 };

static struct {
    pthread_mutex_t lock;
    uintptr_t *handles; /* handle of number FIRST + i; guarded by lock, as is all below */
    int *slots;         /* number, or 0 for a free slot; 2 * room of them */
    int count, room;    /* room: a power of two */
} table = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Where `handle` is or would be. Objects are 16-byte aligned: the low bits say nothing. */
static int *slot_of(uintptr_t handle)
{
    const size_t mask = 2 * (size_t)table.room - 1;
    size_t i = (size_t)((uint64_t)(handle >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 20) & mask;

    while (table.slots[i] && table.handles[table.slots[i] - FIRST] != handle)
        i = (i + 1) & mask;
    return &table.slots[i];
}

static bool grow(void)
{
    const int room = table.room ? 2 * table.room : FIRST_ROOM;
    int *slots = mem_zalloc(2 * (size_t)room * sizeof *slots);
    uintptr_t *handles = slots ? mem_realloc(table.handles, (size_t)room * sizeof *handles) : NULL;

    if (!handles) {
        mem_free(slots);
        return false;
    }
    mem_free(table.slots);
    table.slots = slots;
    table.handles = handles;
    table.room = room;
    for (int i = 0; i < table.count; i++)
        *slot_of(handles[i]) = FIRST + i;
    return true;
}

/* Without memory the answer is 0, which is no handle's number. */
int bind_handle_to_int(uintptr_t handle)
{
    int number = 0;

    if (handle < FIRST)
        return (int)handle;
    pthread_mutex_lock(&table.lock);
    if (table.count < table.room || grow()) {
        int *slot = slot_of(handle);

        if (!*slot) {
            table.handles[table.count] = handle;
            *slot = FIRST + table.count++;
        }
        number = *slot;
    }
    pthread_mutex_unlock(&table.lock);
    return number;
}

uintptr_t bind_int_to_handle(int value)
{
    uintptr_t handle = 0;

    if (value < FIRST)
        return value > 0 ? (uintptr_t)value : 0;
    pthread_mutex_lock(&table.lock);
    if (value - FIRST < table.count)
        handle = table.handles[value - FIRST];
    pthread_mutex_unlock(&table.lock);
    return handle;
}
