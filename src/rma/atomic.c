/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: rma. Elements of 1, 2, 4 and 8 bytes changed by the processor's atomic operations: what it can do in one by
 * that, all else by computing and comparing until nobody was faster.
 * Knows: operators. Does not know: windows. */
#include <string.h>

#include "rma/combine.h"

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
