/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: rma. Ranges of the job segment for windows: an ordered list of those that are taken, the first gap that is
 * large enough is the next one. Knows: sys (the segment). Does not know: windows. */
#include "rma/heap.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "sys/share.h"

/* Of the file, for each process, and all of it; the last in a file system, where 2^44 may be the most. */
#define PART_MAX  (UINT64_C(1) << 40)
#define FILE_MAX  (UINT64_C(1) << 62)
#define OTHER_MAX (UINT64_C(1) << 43)

struct range {
    struct range *next; /* behind it */
    uint64_t offset, size;
};

static struct {
    pthread_mutex_t lock;
    struct rma_config config;
    uint64_t first, end; /* our part of the file */
    struct range *taken; /* guarded by lock; owned */
} heap = { .lock = PTHREAD_MUTEX_INITIALIZER };

void heap_open(const struct rma_config *config)
{
    const uint64_t start = ((uint64_t)config->offset + HEAP_ALIGN - 1) / HEAP_ALIGN * HEAP_ALIGN;
    const uint64_t all = config->segment && !share_is_memory_file(config->segment_fd) ? OTHER_MAX : FILE_MAX;
    uint64_t part = all / (uint64_t)(config->procs > 0 ? config->procs : 1) / HEAP_ALIGN * HEAP_ALIGN;

    if (part > PART_MAX)
        part = PART_MAX;
    heap.config = *config;
    heap.first = start + (uint64_t)config->proc * part;
    heap.end = heap.first + part;
}

void heap_close(void)
{
    for (struct range *range = heap.taken, *next; range; range = next) {
        next = range->next;
        mem_free(range);
    }
    heap.taken = NULL;
    heap.config.segment = NULL;
}

/* More than the machine has would only fail later, and badly. */
static bool is_too_much(uint64_t size)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

    return pages > 0 && page > 0 && size / (uint64_t)page > (uint64_t)pages;
}

/* Enter a range of `size` bytes, whole pages, in the first gap. Call with the lock. */
static struct range *enter(uint64_t size)
{
    struct range **place = &heap.taken, *range;
    uint64_t at = heap.first;

    while (*place && (*place)->offset - at < size) {
        at = (*place)->offset + (*place)->size;
        place = &(*place)->next;
    }
    if (heap.end - at < size) {
        errno = ENOSPC;
        return NULL;
    }
    range = mem_alloc(sizeof *range);
    if (!range) {
        errno = ENOMEM;
        return NULL;
    }
    *range = (struct range){ *place, at, size };
    *place = range;
    return range;
}

/* Call with the lock. */
static void leave(uint64_t offset)
{
    struct range **place = &heap.taken, *range;

    while ((*place)->offset != offset)
        place = &(*place)->next;
    range = *place;
    *place = range->next;
    mem_free(range);
}

uint64_t heap_take(uint64_t size)
{
    const struct range *range;
    uint64_t offset = 0;
    int failed = 0;

    if (!heap.config.segment || size > PART_MAX || is_too_much(size)) {
        errno = ENOMEM;
        return 0;
    }
    size = (size + HEAP_ALIGN - 1) / HEAP_ALIGN * HEAP_ALIGN;
    pthread_mutex_lock(&heap.lock);
    range = enter(size);
    if (range) {
        offset = range->offset;
        failed = share_reserve(heap.config.segment, heap.config.segment_fd, offset, size);
        if (failed)
            leave(offset);
    }
    pthread_mutex_unlock(&heap.lock);
    if (!failed)
        return offset;
    errno = failed;
    return 0;
}

void heap_give(uint64_t offset)
{
    const struct range *range;

    pthread_mutex_lock(&heap.lock);
    for (range = heap.taken; range->offset != offset; range = range->next)
        ;
    share_release(heap.config.segment, heap.config.segment_fd, offset, range->size);
    leave(offset);
    pthread_mutex_unlock(&heap.lock);
}

void *heap_map(uint64_t offset, uint64_t size)
{
    void *start = share_map(heap.config.segment, heap.config.segment_fd, offset, size);

    if (start)
        (void)madvise(start, size, MADV_DOFORK);
    return start;
}

void heap_unmap(void *start, uint64_t size)
{
    if (start)
        munmap(start, size);
}

struct job_proc *heap_proc(int proc)
{
    return heap.config.segment ? job_proc(heap.config.segment, proc) : NULL;
}
