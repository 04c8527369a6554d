/* SPDX-License-Identifier: BSD-3-Clause */
/* Door to the MPICH ABI: a number for each object.
 *
 * An address gets the next free number when it is first given out and keeps it: nothing is ever taken out. Memory of
 * objects is used again, and a new object at an old place takes over its number; the library knows a freed object by
 * itself. So there are no more numbers than objects that lived at once. Reading takes no lock (abi.h). */
#include <pthread.h>

#include "door.h"

enum { FIRST_BITS = 8, FIRST_SLOTS = 1 << FIRST_BITS };

_Atomic(uintptr_t *) handle_chunks[HANDLE_CHUNKS];

static struct handle_slot first_slots[FIRST_SLOTS];
static struct handle_map first_map = { .shift = 64 - FIRST_BITS, .mask = FIRST_SLOTS - 1, .slots = first_slots };
struct handle_map *_Atomic handle_map = &first_map;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int next_number = HANDLE_FIRST; /* guarded by lock */

/* Where `address` is or would be. Call with the lock, if it may not be there. */
static struct handle_slot *slot_of(struct handle_map *map, uintptr_t address)
{
    size_t i = handle_hash(map, address);

    while (map->slots[i].address && map->slots[i].address != address)
        i = (i + 1) & map->mask;
    return &map->slots[i];
}

/* Who reads the number has seen the address. */
static void put(struct handle_map *map, uintptr_t address, int number)
{
    struct handle_slot *const slot = slot_of(map, address);

    slot->number = number;
    atomic_store_explicit(&slot->address, address, memory_order_release);
}

static struct handle_map *grown(struct handle_map *old)
{
    const size_t slots = 2 * (old->mask + 1);
    struct handle_map *const map = door_memory(sizeof *map);

    map->slots = door_memory(slots * sizeof *map->slots);
    map->shift = old->shift - 1;
    map->mask = slots - 1;
    for (size_t i = 0; i <= old->mask; i++)
        if (old->slots[i].address)
            put(map, old->slots[i].address, old->slots[i].number);
    atomic_store_explicit(&handle_map, map, memory_order_release);
    return map;
}

static void set_address(int number, uintptr_t address)
{
    _Atomic(uintptr_t *) *const chunk = &handle_chunks[number >> HANDLE_CHUNK_BITS];

    if (!*chunk)
        atomic_store_explicit(chunk, door_memory(HANDLE_CHUNK * sizeof(uintptr_t)), memory_order_release);
    (*chunk)[number & (HANDLE_CHUNK - 1)] = address;
}

int handle_add(uintptr_t address)
{
    pthread_mutex_lock(&lock);
    struct handle_map *map = atomic_load_explicit(&handle_map, memory_order_relaxed);
    int number = slot_of(map, address)->address ? slot_of(map, address)->number : 0;

    if (!number) {
        if (next_number == HANDLE_CHUNKS * HANDLE_CHUNK)
            door_die("E0116: the program has more than 67 million objects of MPI, and handles of the MPICH ABI tell no "
                     "more apart");
        number = next_number++;
        set_address(number, address);
        if ((size_t)number * 2 > map->mask)
            map = grown(map);
        put(map, address, number);
    }
    pthread_mutex_unlock(&lock);
    return number;
}
