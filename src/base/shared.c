/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: base. Copying through shared memory (copy.h). What the C library does for its own memory is not the fastest
 * way for lines that lie in another processor's cache:
 *
 *   writing  a store waits for the line, though all of it will be overwritten; a string instruction takes lines
 *            without reading them. The C library uses it from 2 KB on; it pays from 1 KB on, where lines are far
 *            from 14 lines on. One of more than 2 KB takes 60 ns to start, but is faster on the way, so a little more
 *            than 2 KB goes in two, and where lines are near up to 7 KB go in some; where they are far each of these
 *            waits for the one before.
 *   forget   a line that both processors have is slower to write than one that is in no cache: the other one must be
 *            told first, and is told line by line. Asking for it in order to write does not help, that tells it
 *            no sooner.
 *   reading  a processor asks for a few lines only ahead of the one that is read; here it asks for AHEAD bytes.
 *
 * Figures: docs/speed-notes.md. Knows: nothing. */
#include "base/copy.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "base/isa.h"

enum {
    OUT_MIN = 1025,   /* shorter ones are as fast by the C library, where lines are near … */
    OUT_MIN_FAR = 833, /* … and where they are far */
    OUT_PART = 2048,  /* a string instruction of at most so much starts quickly … */
    OUT_PARTS = 7168, /* … and up to here several of them are faster than one, where lines are near … */
    OUT_PARTS_FAR = 4096, /* … and where they are far */
    IN_MIN = 256,     /* at least four vectors */
    IN_MAX = 16384,   /* longer ones are faster by the C library, also if they are read in parts */
    AHEAD = 2048,     /* bytes asked for before they are read */
};

typedef void out_fn(void *to, const void *from, size_t len, bool is_far);
typedef void in_fn(void *to, const void *from, size_t len);

static void out_by_libc(void *to, const void *from, size_t len, bool is_far)
{
    (void)is_far;
    memcpy(to, from, len);
}

static void in_by_libc(void *to, const void *from, size_t len)
{
    memcpy(to, from, len);
}

#if defined(__x86_64__)

static void by_string(void *to, const void *from, size_t len)
{
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(len) : : "memory");
}

static void out_by_string(void *to, const void *from, size_t len, bool is_far)
{
    const size_t parts = is_far ? OUT_PARTS_FAR : OUT_PARTS;
    size_t at = 0;

    if (len < OUT_MIN_FAR || (len < OUT_MIN && !is_far)) {
        memcpy(to, from, len);
        return;
    }
    for (; len <= parts && len - at > OUT_PART; at += OUT_PART)
        by_string((char *)to + at, (const char *)from + at, OUT_PART);
    by_string((char *)to + at, (const char *)from + at, len - at);
}

/* Whole vectors, four at a time, then single ones; the last one ends with the last byte. */
#define IN_BY_VECTORS(name, target, width)                                                                    \
    target static void name(void *to, const void *from, size_t len)                                           \
    {                                                                                                         \
        typedef char vector __attribute__((vector_size(width), aligned(1), may_alias));                       \
        const char *in = from;                                                                                \
        char *out = to;                                                                                       \
                                                                                                              \
        if (len < IN_MIN || len > IN_MAX) {                                                                   \
            memcpy(to, from, len);                                                                            \
            return;                                                                                           \
        }                                                                                                     \
        for (size_t at = 0; at < len && at < AHEAD; at += CACHE_LINE)                                         \
            prefetch_read(in + at);                                                                           \
        for (const char *const end = in + len - 4 * (width); in <= end; in += 4 * (width), out += 4 * (width)) { \
            const vector a = ((const vector *)in)[0], b = ((const vector *)in)[1];                            \
            const vector c = ((const vector *)in)[2], d = ((const vector *)in)[3];                            \
            for (int at = 0; at < 4 * (width); at += CACHE_LINE)                                              \
                prefetch_read(in + AHEAD + at);                                                               \
            ((vector *)out)[0] = a;                                                                           \
            ((vector *)out)[1] = b;                                                                           \
            ((vector *)out)[2] = c;                                                                           \
            ((vector *)out)[3] = d;                                                                           \
        }                                                                                                     \
        for (len = (size_t)((const char *)from + len - in); len > (width); len -= (width)) {                  \
            *(vector *)out = *(const vector *)in;                                                             \
            in += (width);                                                                                    \
            out += (width);                                                                                   \
        }                                                                                                     \
        if (len)                                                                                              \
            *(vector *)(out + len - (width)) = *(const vector *)(in + len - (width));                         \
    }

IN_BY_VECTORS(in_by_32, ISA_TARGET_AVX2, 32)
IN_BY_VECTORS(in_by_64, ISA_TARGET_AVX512, 64)

/* Asking the processor takes long in a virtual machine. */
static bool can_forget(void)
{
    static _Atomic int known; /* 1: no, 2: yes */
    int answer = atomic_load_explicit(&known, memory_order_relaxed);

    if (unlikely(!answer)) {
        answer = isa_can_forget() ? 2 : 1;
        atomic_store_explicit(&known, answer, memory_order_relaxed);
    }
    return answer == 2;
}

bool shared_forget(void *start, size_t len)
{
    if (!can_forget())
        return false;
    for (size_t at = 0; at < len; at += CACHE_LINE)
        __asm__ volatile("clflushopt %0" : "+m"(*((char *)start + at)));
    return true;
}

/* The fence: what has been forgotten must be gone, or the lines are found where they were. */
void shared_own(void *start, size_t len, bool is_first)
{
    if (is_first)
        __asm__ volatile("mfence" : : : "memory");
    for (size_t at = 0; at < len; at += CACHE_LINE)
        prefetch_write((const char *)start + at);
}

static out_fn *best_out(void)
{
    return isa_has_short_strings() ? out_by_string : out_by_libc;
}

static in_fn *best_in(void)
{
    const enum isa isa = isa_best();

    return isa == ISA_AVX512 ? in_by_64 : isa == ISA_AVX2 ? in_by_32 : in_by_libc;
}

#else

bool shared_forget(void *start, size_t len)
{
    (void)start, (void)len;
    return false;
}

void shared_own(void *start, size_t len, bool is_first)
{
    (void)start, (void)len, (void)is_first;
}

static out_fn *best_out(void)
{
    return out_by_libc;
}

static in_fn *best_in(void)
{
    return in_by_libc;
}

#endif

/* Chosen at the first call; two threads that do so at the same time choose the same. */

static void first_out(void *to, const void *from, size_t len, bool is_far);
static void first_in(void *to, const void *from, size_t len);

static out_fn *_Atomic out = first_out;
static in_fn *_Atomic in = first_in;

static void first_out(void *to, const void *from, size_t len, bool is_far)
{
    atomic_store_explicit(&out, best_out(), memory_order_relaxed);
    shared_write(to, from, len, is_far);
}

static void first_in(void *to, const void *from, size_t len)
{
    atomic_store_explicit(&in, best_in(), memory_order_relaxed);
    shared_read(to, from, len);
}

void shared_write(void *to, const void *from, size_t len, bool is_far)
{
    atomic_load_explicit(&out, memory_order_relaxed)(to, from, len, is_far);
}

void shared_read(void *to, const void *from, size_t len)
{
    atomic_load_explicit(&in, memory_order_relaxed)(to, from, len);
}

void shared_read_part(void *to, const void *from, size_t len, size_t whole)
{
    if (whole > IN_MAX)
        memcpy(to, from, len);
    else
        shared_read(to, from, len);
}

/* One of many pays by a string instruction from as few bytes on as one where lines are far. */
void shared_write_block(void *to, const void *from, size_t len)
{
    shared_write(to, from, len, true);
}
