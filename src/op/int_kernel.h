/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: op, private. The forms of the kernels, as macros that make one for a representation: plain loops over memory of
 * any alignment, which the compiler turns into vector code. Knows: nothing of tables and operators. */
#ifndef OP_INT_KERNEL_H
#define OP_INT_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/base.h"
#include "base/wide.h"

/* Set by who includes this: the attribute of all kernels (base/isa.h). */
#ifndef KERNEL_TARGET
#define KERNEL_TARGET
#endif

/* Set by who includes this, if the simple loops gain by it: a pragma before the loop. */
#ifndef KERNEL_UNROLL
#define KERNEL_UNROLL
#endif

/* `a` is the item of `in`, `b` that of `inout`. */
#define KERNEL(name, item_type, expression) \
    KERNEL_TARGET static void name(const void *restrict in_items, void *restrict inout_items, MPI_Count count) \
    { \
        typedef item_type item ALIGNED(1) MAY_ALIAS; \
        const item *in = in_items; \
        item *inout = inout_items; \
 \
        KERNEL_UNROLL \
        for (MPI_Count i = 0; i < count; i++) { \
            const item_type a = in[i], b = inout[i]; \
            inout[i] = (item_type)(expression); \
        } \
    }

/* Integers of one size. They are added and multiplied as unsigned ones, also the signed: overflow wraps. `work` is
 * wide enough that no product of two items is a signed overflow. */
#define UNSIGNED_KERNELS(suffix, item_type, work) \
    KERNEL(sum_##suffix, item_type, (work)a + (work)b) \
    KERNEL(prod_##suffix, item_type, (work)a * (work)b) \
    KERNEL(land_##suffix, item_type, (a != 0) & (b != 0)) \
    KERNEL(lor_##suffix, item_type, (a | b) != 0) \
    KERNEL(lxor_##suffix, item_type, (a != 0) != (b != 0)) \
    KERNEL(band_##suffix, item_type, a & b) \
    KERNEL(bor_##suffix, item_type, a | b) \
    KERNEL(bxor_##suffix, item_type, a ^ b)

#define ORDER_KERNELS(suffix, item_type) \
    KERNEL(max_##suffix, item_type, a > b ? a : b) \
    KERNEL(min_##suffix, item_type, a < b ? a : b)

/* The better of two numbers, or NaN if one is: `b` comes out of the comparison if one is NaN, and all bits set make
 * NaN of it if it was `a`. So that the result does not depend on who was combined with whom first. Of zeros of both
 * signs it is that of `inout`. `bits` is as wide as `real`. */
#define EXTREME_KERNEL(name, real, bits, is_better) \
    KERNEL_TARGET static void name(const void *restrict in_items, void *restrict inout_items, MPI_Count count) \
    { \
        typedef real item ALIGNED(1) MAY_ALIAS; \
        const item *in = in_items; \
        item *inout = inout_items; \
 \
        KERNEL_UNROLL \
        for (MPI_Count i = 0; i < count; i++) { \
            const real a = in[i], b = inout[i]; \
            real best = a is_better b ? a : b; \
            bits value; \
 \
            memcpy(&value, &best, sizeof value); \
            value |= __builtin_isnan(a) ? (bits)-1 : 0; \
            memcpy(&best, &value, sizeof value); \
            inout[i] = best; \
        } \
    }

/* bfloat16: the upper half of a float. */
static ALWAYS_INLINE float float_of_bfloat(uint16_t number)
{
    const uint32_t bits = (uint32_t)number << 16;
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* To nearest, ties to even; a NaN stays one. */
static ALWAYS_INLINE uint16_t bfloat_of_float(float value)
{
    uint32_t bits, rounded;

    memcpy(&bits, &value, sizeof bits);
    rounded = bits + 0x7fff + (bits >> 16 & 1);
    return (uint16_t)((__builtin_isnan(value) ? bits | 0x400000 : rounded) >> 16);
}

/* Of both the first, if it is better or NaN. */
static ALWAYS_INLINE uint16_t bfloat_first(uint16_t a, uint16_t b, bool is_better)
{
    return is_better | (__builtin_isnan(float_of_bfloat(a)) != 0) ? a : b;
}

#define BFLOAT_KERNELS(suffix) \
    KERNEL(max_##suffix, uint16_t, bfloat_first(a, b, float_of_bfloat(a) > float_of_bfloat(b))) \
    KERNEL(min_##suffix, uint16_t, bfloat_first(a, b, float_of_bfloat(a) < float_of_bfloat(b))) \
    KERNEL(sum_##suffix, uint16_t, bfloat_of_float(float_of_bfloat(a) + float_of_bfloat(b))) \
    KERNEL(prod_##suffix, uint16_t, bfloat_of_float(float_of_bfloat(a) * float_of_bfloat(b)))

/* A NaN wins, so that the result does not depend on who was combined with whom first. Of zeros of both signs it is
 * that of `inout`. */
#define REAL_KERNELS(suffix, real) \
    KERNEL(max_##suffix, real, a > b ? a : __builtin_isnan(a) ? a : b) \
    KERNEL(min_##suffix, real, a < b ? a : __builtin_isnan(a) ? a : b) \
    KERNEL(sum_##suffix, real, a + b) \
    KERNEL(prod_##suffix, real, a * b)

/* The product by the formula for finite numbers, a stretch at a time. If some result is NaN in both parts, it may be
 * an infinity: then the stretch is done again by `careful`, the compiler's own product (C11 G.5.1), which is no
 * vector code. So are a few numbers, at once. */
enum { KERNEL_STRETCH = 64 };

#define PRODUCT_KERNEL(name, careful, real) \
    KERNEL_TARGET static int name##_stretch(const void *restrict in_items, const void *restrict inout_items, \
                                           real *restrict product, int count) \
    { \
        typedef real part ALIGNED(1) MAY_ALIAS; \
        const part *in = in_items, *inout = inout_items; \
        int has_nan = 0; \
 \
        for (int i = 0; i < 2 * count; i += 2) { \
            const real x = in[i] * inout[i] - in[i + 1] * inout[i + 1]; \
            const real y = in[i] * inout[i + 1] + in[i + 1] * inout[i]; \
            product[i] = x; \
            product[i + 1] = y; \
            has_nan |= (__builtin_isnan(x) != 0) & (__builtin_isnan(y) != 0); \
        } \
        return has_nan; \
    } \
 \
    KERNEL_TARGET static void name(const void *restrict in_items, void *restrict inout_items, MPI_Count count) \
    { \
        real product[2 * KERNEL_STRETCH]; \
        const char *in = in_items; \
        char *inout = inout_items; \
 \
        while (count > 0) { \
            const int len = count < KERNEL_STRETCH ? (int)count : KERNEL_STRETCH; \
            const size_t bytes = (size_t)len * 2 * sizeof(real); \
 \
            if (len < KERNEL_STRETCH / 8 || name##_stretch(in, inout, product, len)) \
                careful(in, inout, len); \
            else \
                memcpy(inout, product, bytes); \
            in += bytes; \
            inout += bytes; \
            count -= len; \
        } \
    }

/* Whether a value is NaN, and whether one of two is; integers never are. */
#define NAN_TESTS(name, real) \
    static inline int is_nan_##name(real value) \
    { \
        return __builtin_isnan(value); \
    } \
    static inline int has_nan_##name(real a, real b) \
    { \
        return __builtin_isunordered(a, b); \
    }
NAN_TESTS(float, float)
NAN_TESTS(double, double)
NAN_TESTS(long_double, long double)
#undef NAN_TESTS

static inline int is_nan_never(long value)
{
    (void)value;
    return 0;
}

static inline int has_nan_never(long a, long b)
{
    (void)a, (void)b;
    return 0;
}

#define IS_NAN(value) \
    (_Generic((value), float: is_nan_float, double: is_nan_double, long double: is_nan_long_double, \
              default: is_nan_never)(value) != 0)
#define HAS_NAN(a, b) \
    (_Generic((a), float: has_nan_float, double: has_nan_double, long double: has_nan_long_double, \
              default: has_nan_never)(a, b) != 0)

/* Chosen by arithmetic: the compiler makes a branch of a condition. */
static ALWAYS_INLINE void *kernel_choose(bool is_first, void *first, void *second)
{
    const uintptr_t mask = own_register(-(uintptr_t)is_first), other = own_register((uintptr_t)second);

    return (void *)(other ^ (((uintptr_t)first ^ other) & mask));
}

enum { LOC_GROUP = 4 }; /* vector code takes so many pairs at a time */

/* The better value with its index; of equal values the smaller index (MPI 5.0 §6.9.4). NaN is better than any number
 * and equal to NaN. Only the two members are written: what lies between them is not ours. The last few pairs go one by
 * one: what is not better is written too, but aside, so that nothing is guessed and no load waits for such a store. */
#define LOC_KERNEL(name, pair, is_better) \
    KERNEL_TARGET static NOINLINE void name##_rest(const void *restrict in_items, void *restrict inout_items, \
                                                   MPI_Count count) \
    { \
        typedef pair item ALIGNED(1); \
        const item *in = in_items; \
        item *inout = inout_items; \
        const MPI_Count whole = count & -LOC_GROUP; \
        MPI_Count i = 0; \
        item aside; \
 \
        for (; sizeof *in > 16 && i < count; i++) { \
            const __typeof__(in->value) a = in[i].value, b = inout[i].value; \
\
            if (!(a is_better b) && ((b is_better a) || (a == b ? in[i].index >= inout[i].index \
                                                                : !IS_NAN(a) || (IS_NAN(b) && \
                                                                                 in[i].index >= inout[i].index)))) \
                continue; \
            inout[i].value = a; \
            inout[i].index = in[i].index; \
        } \
        for (; i < whole; i++) { \
            const __typeof__(in->value) a = in[i].value, b = inout[i].value; \
            const __typeof__(in->index) at = in[i].index, bt = inout[i].index; \
            const bool is_first = (a is_better b) | (IS_NAN(a) & !IS_NAN(b)); \
            const bool is_tie = (a == b) | (IS_NAN(a) & IS_NAN(b)); \
            const bool takes_first = is_first | (is_tie & (at < bt)); \
            inout[i].value = takes_first ? a : b; \
            inout[i].index = takes_first ? at : bt; \
        } \
        for (; i < count; i++) { \
            const __typeof__(in->value) a = in[i].value, b = inout[i].value; \
            const bool is_less = in[i].index < inout[i].index; \
            bool takes_first = (a is_better b) | ((a == b) & is_less); \
            item *place; \
 \
            if (unlikely(HAS_NAN(a, b))) \
                takes_first = IS_NAN(a) & (!IS_NAN(b) | is_less); \
            place = kernel_choose(takes_first, &inout[i], &aside); \
            place->value = a; \
            place->index = in[i].index; \
        } \
    } \
 \
    KERNEL_TARGET static void name(const void *restrict in_items, void *restrict inout_items, MPI_Count count) \
    { \
        const pair *const in = in_items; \
        pair *const inout = inout_items; \
        const MPI_Count done = LOC_WIDE(in, inout, count, 1 is_better 0); \
 \
        if (done < count) \
            name##_rest(in + done, inout + done, count - done); \
    }

#endif
