/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: base. All memory of the library comes from here, so that tests can make it run out. */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include "base/base.h"

/* NULL when there is no memory (or when mem_fail_after says so); freed by mem_free. Thread safe. */
void *mem_alloc(size_t size) __attribute__((malloc));
void *mem_zalloc(size_t size) __attribute__((malloc));
void *mem_realloc(void *p, size_t size);
/* `align` is a power of two. */
void *mem_alloc_aligned(size_t align, size_t size) __attribute__((malloc));
char *mem_strdup(const char *text);
/* NULL is fine. */
void mem_free(void *p);

/* Hand memory that is free back to the system. Takes time: see struct mem_tide. */
void mem_trim(void) COLD;

/* Bytes in use for one purpose. When the tide has been high and has gone out, mem_trim is called, once. Not thread
 * safe: its owner's lock guards it. */
struct mem_tide {
    size_t now;
    size_t high; /* since the last trim */
};

enum {
    MEM_TIDE_HIGH = 8 << 20, /* below that nothing is handed back */
    MEM_TIDE_LOW = 65536,    /* it is out at so much or at a part of what it was, see mem_tide_out */
    MEM_TIDE_PART = 1024,
};

static inline void mem_tide_in(struct mem_tide *tide, size_t bytes)
{
    tide->now += bytes;
    if (tide->now > tide->high)
        tide->high = tide->now;
}

static inline void mem_tide_out(struct mem_tide *tide, size_t bytes)
{
    tide->now -= bytes;
    if (unlikely(tide->high >= MEM_TIDE_HIGH) && tide->now <= size_max(MEM_TIDE_LOW, tide->high / MEM_TIDE_PART)) {
        tide->high = tide->now;
        mem_trim();
    }
}

/* For tests: the allocation after the next `n` ones fails, and every later one as well, until called with a
 * negative number. */
void mem_fail_after(long n);
/* For tests: allocations not freed yet. */
long mem_live(void);

/* Objects of one size, the last one given back first. Not thread safe: its owner's lock guards it.
 * Memory goes back to the system in mem_pool_fini only; all objects must be back by then or be dead. */
struct mem_pool {
    size_t size;          /* bytes of an object, a multiple of the alignment */
    size_t align;
    unsigned per_chunk;
    unsigned live;        /* objects handed out */
    unsigned max;         /* at so many mem_pool_get gives NULL, rounded up to whole chunks; 0: no limit */
    unsigned keep;        /* bytes of a free object that may be looked at: old handles; at first the first word */
    void *free;           /* first word of a free object: the next one */
    void *chunks;         /* first word of a chunk: the next one */
};

void mem_pool_init(struct mem_pool *pool, size_t size, unsigned per_chunk);
void mem_pool_fini(struct mem_pool *pool);
/* Slow half of mem_pool_get: a new chunk; NULL if there is no memory. */
void *mem_pool_grow(struct mem_pool *pool) COLD;

/* With the address sanitizer nobody may touch a free object beyond its first `keep` bytes. */
#if defined(__SANITIZE_ADDRESS__)
void __asan_poison_memory_region(const volatile void *p, size_t size);
void __asan_unpoison_memory_region(const volatile void *p, size_t size);
#define MEM_POISON(p, size)   __asan_poison_memory_region(p, size)
#define MEM_UNPOISON(p, size) __asan_unpoison_memory_region(p, size)
#else
#define MEM_POISON(p, size)   ((void)0)
#define MEM_UNPOISON(p, size) ((void)0)
#endif

static inline void *mem_pool_get(struct mem_pool *pool)
{
    void **object = pool->free;

    if (unlikely(!object))
        object = mem_pool_grow(pool);
    if (likely(object)) {
        pool->free = *object;
        pool->live++;
        MEM_UNPOISON(object, pool->size);
    }
    return object;
}

static inline void mem_pool_put(struct mem_pool *pool, void *object)
{
    *(void **)object = pool->free;
    pool->free = object;
    pool->live--;
    MEM_POISON((char *)object + pool->keep, pool->size - pool->keep);
}

#endif
