/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: rma. Memory attached to dynamic windows (MPI 5.0 §12.2.4). A process keeps what it has attached in a list, and
 * shows it in its part of the control memory, where near ones look before they access it; when the table there is full,
 * they do without, and the system refuses addresses where there is nothing. What comes by messages is looked up in the
 * list. */
#include <stdbool.h>

#include "base/err.h"
#include "base/mem.h"
#include "rma/int_rma.h"

enum { LISTED = 64 }; /* blocks of a datatype that are looked at together */

/* Ordered by address, without overlap. Empty ones are kept too, since they are detached. */
struct win_attached {
    struct win_attached *next;
    uint64_t base, size;
};

/* --- the table --- */

static void show(struct win *win)
{
    struct win_member *own = win_member(win, win->rank);
    const uint32_t lock = atomic_load_explicit(&own->region_lock, memory_order_relaxed);
    uint32_t count = 0;

    atomic_store_explicit(&own->region_lock, lock + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release); /* pairs with look */
    for (const struct win_attached *a = win->attached; a; a = a->next, count++) {
        if (count < WIN_REGIONS) {
            atomic_store_explicit(&own->region[count].base, a->base, memory_order_relaxed);
            atomic_store_explicit(&own->region[count].size, a->size, memory_order_relaxed);
        }
    }
    atomic_store_explicit(&own->region_count, count, memory_order_relaxed);
    atomic_store_explicit(&own->region_lock, lock + 2, memory_order_release);
}

/* Regions that touch are one. */
static bool look(const struct win_member *member, uint64_t address, uint64_t len)
{
    const uint32_t count = atomic_load_explicit(&member->region_count, memory_order_relaxed);
    const uint64_t end = address + len;

    if (count > WIN_REGIONS)
        return true;
    for (uint32_t i = 0; i < count && address < end; i++) {
        const uint64_t base = atomic_load_explicit(&member->region[i].base, memory_order_relaxed);
        const uint64_t size = atomic_load_explicit(&member->region[i].size, memory_order_relaxed);

        if (address >= base && address - base < size)
            address = base + size;
    }
    return address >= end;
}

bool win_is_attached_here(struct win *win, uint64_t address, uint64_t len)
{
    const uint64_t end = address + len;

    pthread_mutex_lock(&win->lock);
    for (const struct win_attached *a = win->attached; a && address < end; a = a->next)
        if (address >= a->base && address - a->base < a->size)
            address = a->base + a->size;
    pthread_mutex_unlock(&win->lock);
    return address >= end;
}

bool win_is_attached(const struct win *win, int rank, uint64_t address, uint64_t len)
{
    const struct win_member *member = win_member(win, rank);

    if (win->target[rank].is_far)
        return true;
    /* what stands there between two equal even values is whole; a target that keeps changing it is right for once */
    for (int tries = 0; tries < 1000; tries++) {
        const uint32_t lock = atomic_load_explicit(&member->region_lock, memory_order_acquire);
        const bool is_in = look(member, address, len);

        atomic_thread_fence(memory_order_acquire);
        if (!(lock & 1) && atomic_load_explicit(&member->region_lock, memory_order_relaxed) == lock)
            return is_in;
    }
    return true;
}

static bool is_there(struct win *win, int rank, uint64_t address, uint64_t len)
{
    return rank == win->rank ? win_is_attached_here(win, address, len) : win_is_attached(win, rank, address, len);
}

bool win_is_part_attached(struct win *win, int rank, const struct win_part *part, struct win_range *missing)
{
    const struct type_span span = type_span(part->type, part->count);
    struct type_block blocks[LISTED];

    *missing = (struct win_range){ part->address + (uint64_t)span.low, span.len };
    if (likely(is_there(win, rank, missing->address, missing->len)))
        return true;
    if (type_is_run(part->type, part->count))
        return false;
    for (size_t done = 0, begin; done < part->len; done += begin) {
        const size_t n = type_next_blocks(part->type, (uintptr_t)part->address, part->at + done, part->len - done,
                                          blocks, LISTED);
        begin = 0;
        for (size_t i = 0; i < n; begin = blocks[i++].end) {
            *missing = (struct win_range){ blocks[i].address, blocks[i].end - begin };
            if (!is_there(win, rank, missing->address, missing->len))
                return false;
        }
    }
    return true;
}

/* --- attaching --- */

static int check_dynamic(const struct win *win)
{
    return win->create_flavor == MPI_WIN_FLAVOR_DYNAMIC
               ? 0
               : err(MPI_ERR_RMA_FLAVOR, "the window is not one that MPI_Win_create_dynamic has made");
}

static int overlaps(uint64_t base, uint64_t size, const struct win_attached *other)
{
    return err(MPI_ERR_RMA_ATTACH,
               "E0806: %llu bytes at 0x%llx overlap %llu bytes at 0x%llx, which are attached already",
               (unsigned long long)size, (unsigned long long)base, (unsigned long long)other->size,
               (unsigned long long)other->base);
}

static int enter(struct win *win, uint64_t base, uint64_t size)
{
    struct win_attached **place = &win->attached, *made;

    for (const struct win_attached *a = *place; a; a = a->next)
        if (size && a->size && a->base < base + size && base < a->base + a->size)
            return overlaps(base, size, a);
    while (*place && (*place)->base < base)
        place = &(*place)->next;
    made = mem_alloc(sizeof *made);
    if (!made)
        return err(MPI_ERR_NO_MEM, "no memory to attach some");
    *made = (struct win_attached){ *place, base, size };
    *place = made;
    show(win);
    return 0;
}

int win_attach(struct win *win, void *base, MPI_Aint size)
{
    int rc = check_dynamic(win);

    if (!rc && !base && size)
        rc = err(MPI_ERR_BASE, "base is a null pointer, size is %lld", (long long)size);
    if (rc)
        return rc;
    pthread_mutex_lock(&win->lock);
    rc = enter(win, (uintptr_t)base, (uint64_t)size);
    pthread_mutex_unlock(&win->lock);
    return rc;
}

static int remove_at(struct win *win, uint64_t base)
{
    struct win_attached **place = &win->attached, *old;

    while (*place && (*place)->base != base)
        place = &(*place)->next;
    old = *place;
    if (!old)
        return err(MPI_ERR_RMA_ATTACH, "E0806: nothing that begins at 0x%llx is attached",
                   (unsigned long long)base);
    *place = old->next;
    mem_free(old);
    show(win);
    return 0;
}

int win_detach(struct win *win, const void *base)
{
    int rc = check_dynamic(win);

    if (rc)
        return rc;
    pthread_mutex_lock(&win->lock);
    rc = remove_at(win, (uintptr_t)base);
    pthread_mutex_unlock(&win->lock);
    return rc;
}

void win_detach_all(struct win *win)
{
    for (struct win_attached *a = win->attached, *next; a; a = next) {
        next = a->next;
        mem_free(a);
    }
    win->attached = NULL;
}
