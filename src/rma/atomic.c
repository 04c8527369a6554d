/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: rma. Elements of 1, 2, 4 and 8 bytes changed by the processor's atomic operations: what it can do in one by
 * that, all else by computing and comparing until nobody was faster. Many elements in a row are computed together and
 * written by words of 8 bytes, each if nobody has changed it meanwhile; else its elements go one by one. So every
 * element is changed once, whoever else changes it or its neighbours, one by one or by words.
 * Knows: operators. Does not know: windows. */
#include <string.h>

#include "rma/combine.h"

enum { WORD = sizeof(uint64_t), WORDS = 32 }; /* so many are computed together */

#define IS(op, constant) ((op)->obj.predefined == (uintptr_t)MPI_##constant)

/* The rest: any operator on any representation of that size. */
#define COMPUTE(bits) \
    static NOINLINE uint##bits##_t compute_##bits(const struct op *op, const struct type *element, \
                                                  _Atomic uint##bits##_t *place, uint##bits##_t value) \
    { \
        uint##bits##_t old = atomic_load_explicit(place, memory_order_relaxed), next; \
 \
        do { \
            next = old; \
            op_reduce(op, &value, &next, 1, element); \
        } while (!atomic_compare_exchange_weak_explicit(place, &old, next, memory_order_acq_rel, \
                                                        memory_order_relaxed)); \
        return old; \
    }

#define FETCH(bits) \
    COMPUTE(bits) \
 \
    static uint##bits##_t fetch_##bits(const struct op *op, const struct type *element, void *here, const void *from) \
    { \
        _Atomic uint##bits##_t *const place = here; \
        uint##bits##_t value; \
 \
        if (IS(op, NO_OP)) \
            return atomic_load_explicit(place, memory_order_acquire); \
        memcpy(&value, from, sizeof value); \
        if (IS(op, SUM)) \
            return atomic_fetch_add_explicit(place, value, memory_order_acq_rel); \
        if (IS(op, REPLACE)) \
            return atomic_exchange_explicit(place, value, memory_order_acq_rel); \
        if (IS(op, BOR)) \
            return atomic_fetch_or_explicit(place, value, memory_order_acq_rel); \
        if (IS(op, BAND)) \
            return atomic_fetch_and_explicit(place, value, memory_order_acq_rel); \
        if (IS(op, BXOR)) \
            return atomic_fetch_xor_explicit(place, value, memory_order_acq_rel); \
        return compute_##bits(op, element, place, value); \
    } \
 \
    static uint##bits##_t swap_##bits(void *here, const void *from, const void *compare) \
    { \
        uint##bits##_t value, old; \
 \
        memcpy(&value, from, sizeof value); \
        memcpy(&old, compare, sizeof old); \
        atomic_compare_exchange_strong_explicit((_Atomic uint##bits##_t *)here, &old, value, memory_order_acq_rel, \
                                                memory_order_acquire); \
        return old; \
    }

FETCH(8)
FETCH(16)
FETCH(32)
FETCH(64)

#define GIVE(bits, value) \
    do { \
        const uint##bits##_t old_ = (value); \
        memcpy(old, &old_, sizeof old_); \
    } while (0)

void combine_fetch(const struct op *op, const struct type *element, void *here, const void *from, void *old)
{
    switch (element->size) {
    case 1: GIVE(8, fetch_8(op, element, here, from)); break;
    case 2: GIVE(16, fetch_16(op, element, here, from)); break;
    case 4: GIVE(32, fetch_32(op, element, here, from)); break;
    default: GIVE(64, fetch_64(op, element, here, from)); break;
    }
}

void combine_swap(const struct type *element, void *here, const void *from, const void *compare, void *old)
{
    switch (element->size) {
    case 1: GIVE(8, swap_8(here, from, compare)); break;
    case 2: GIVE(16, swap_16(here, from, compare)); break;
    case 4: GIVE(32, swap_32(here, from, compare)); break;
    default: GIVE(64, swap_64(here, from, compare)); break;
    }
}

/* --- many --- */

/* Some elements in a row, one by one. */
static void fetch_each(const struct op *op, const struct type *element, char *here, const char *from, char *old,
                       size_t len)
{
    const size_t size = (size_t)element->size;
    uint64_t nobody;

    for (size_t i = 0; i < len; i += size)
        combine_fetch(op, element, here + i, from ? from + i : NULL, old ? old + i : (char *)&nobody);
}

static void fetch_words(const struct op *op, const struct type *element, char *here, const char *from, char *old,
                        size_t words)
{
    _Atomic uint64_t *const place = (_Atomic uint64_t *)(void *)here;
    uint64_t before[WORDS], after[WORDS];

    for (size_t i = 0; i < words; i++)
        after[i] = before[i] = atomic_load_explicit(&place[i], memory_order_acquire);
    if (from)
        op_reduce(op, from, after, (MPI_Count)(words * WORD / (size_t)element->size), element);
    if (old)
        memcpy(old, before, words * WORD);
    for (size_t i = 0; from && i < words; i++)
        if (unlikely(!atomic_compare_exchange_strong_explicit(&place[i], &before[i], after[i], memory_order_acq_rel,
                                                              memory_order_relaxed)))
            fetch_each(op, element, here + i * WORD, from + i * WORD, old ? old + i * WORD : NULL, WORD);
}

void combine_fetch_many(const struct op *op, const struct type *element, void *here, const void *from, void *old,
                        size_t len)
{
    const size_t head = size_min(len, -(uintptr_t)here % WORD), words = (len - head) / WORD;
    char *const at = here, *const to = old;
    const char *const in = from;
    size_t done = head;

    fetch_each(op, element, at, in, to, head);
    for (size_t n, left = words; left; left -= n, done += n * WORD) {
        n = size_min(left, WORDS);
        fetch_words(op, element, at + done, in ? in + done : NULL, to ? to + done : NULL, n);
    }
    fetch_each(op, element, at + done, in ? in + done : NULL, to ? to + done : NULL, len - done);
}
