/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: base. Memory with a switch that makes it fail, and pools of equal objects. */
#include "base/mem.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static _Atomic long fail_countdown = -1;
static _Atomic long live;

static bool fails_now(void)
{
    long left = atomic_load_explicit(&fail_countdown, memory_order_relaxed);

    if (likely(left < 0))
        return false;
    if (left > 0)
        atomic_fetch_sub_explicit(&fail_countdown, 1, memory_order_relaxed);
    return left == 0;
}

static void *counted(void *p)
{
    if (p)
        atomic_fetch_add_explicit(&live, 1, memory_order_relaxed);
    return p;
}

void *mem_alloc(size_t size)
{
    return fails_now() ? NULL : counted(malloc(size ? size : 1));
}

void *mem_zalloc(size_t size)
{
    return fails_now() ? NULL : counted(calloc(1, size ? size : 1));
}

void *mem_realloc(void *p, size_t size)
{
    if (!p)
        return mem_alloc(size);
    return fails_now() ? NULL : realloc(p, size ? size : 1);
}

void *mem_alloc_aligned(size_t align, size_t size)
{
    return fails_now() ? NULL : counted(aligned_alloc(align, (size + align - 1) & ~(align - 1)));
}

char *mem_strdup(const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = mem_alloc(size);

    if (copy)
        memcpy(copy, text, size);
    return copy;
}

void mem_free(void *p)
{
    if (p)
        atomic_fetch_sub_explicit(&live, 1, memory_order_relaxed);
    free(p);
}

void mem_trim(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

void mem_fail_after(long n)
{
    atomic_store_explicit(&fail_countdown, n, memory_order_relaxed);
}

long mem_live(void)
{
    return atomic_load_explicit(&live, memory_order_relaxed);
}

void mem_pool_init(struct mem_pool *pool, size_t size, unsigned per_chunk)
{
    *pool = (struct mem_pool){ .align = CACHE_LINE, .per_chunk = per_chunk, .keep = sizeof(void *) };
    pool->size = (size + CACHE_LINE - 1) & ~(size_t)(CACHE_LINE - 1);
}

void mem_pool_fini(struct mem_pool *pool)
{
    void **chunk = pool->chunks;

    while (chunk) {
        void **next = *chunk;
        MEM_UNPOISON(chunk, pool->align + pool->size * pool->per_chunk);
        mem_free(chunk);
        chunk = next;
    }
    pool->chunks = pool->free = NULL;
}

/* The chunk's first line holds the link to the chunk before; the objects follow. */
void *mem_pool_grow(struct mem_pool *pool)
{
    char *chunk = NULL;

    if (!pool->max || pool->live < pool->max)
        chunk = mem_alloc_aligned(pool->align, pool->align + pool->size * pool->per_chunk);
    if (!chunk)
        return NULL;
    *(void **)(void *)chunk = pool->chunks;
    pool->chunks = chunk;
    for (unsigned i = pool->per_chunk; i-- > 0;) {
        void **object = (void **)(void *)(chunk + pool->align + pool->size * i);
        *object = pool->free;
        pool->free = object;
        MEM_POISON((char *)object + pool->keep, pool->size - pool->keep);
    }
    return pool->free;
}
