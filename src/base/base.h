/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: base. What goes beyond C11, by one name each, and a few helpers that need no state. */
#ifndef BASE_BASE_H
#define BASE_BASE_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#define CACHE_LINE 64

/* The greatest count for what counts in int; more goes in parts. -Dcount_limit=7 lets the tests cross it. */
#ifndef COUNT_LIMIT
#define COUNT_LIMIT INT_MAX
#endif

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define HOT __attribute__((hot))
/* Seldom called. Not the compiler's attribute of that name: gcc 12 then moves the whole rest of the caller's block to
 * the cold section as well. */
#define COLD __attribute__((noinline))
#define NOINLINE __attribute__((noinline))
#define ALWAYS_INLINE inline __attribute__((always_inline))
#define ALIGNED(n) __attribute__((aligned(n)))
#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))
#define MAY_BE_UNUSED __attribute__((unused))

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define CONTAINER_OF(pointer, type, member) ((type *)(void *)((char *)(pointer) - offsetof(type, member)))

/* Bring the line of `p` near, for reading or for writing; never faults. */
static inline void prefetch_read(const void *p)
{
    __builtin_prefetch(p, 0, 3);
}

static inline void prefetch_write(const void *p)
{
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)p)); /* gcc asks for a newer processor to emit it */
#else
    __builtin_prefetch(p, 1, 3);
#endif
}

/* Tell the core that this is a waiting loop. */
static inline void cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Its code begins with a line: a short loop is as fast wherever the linker puts it. */
#define LINE_OF_CODE __attribute__((aligned(64)))

/* Reads bytes that do not matter and that others may be writing. */
#define NO_TSAN __attribute__((no_sanitize("thread")))

/* The same value, but the compiler does not know where it comes from: so it stays in a register of its own. */
static ALWAYS_INLINE uintptr_t own_register(uintptr_t value)
{
    __asm__("" : "+r"(value));
    return value;
}

static inline size_t size_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline size_t size_max(size_t a, size_t b)
{
    return a > b ? a : b;
}

#endif
