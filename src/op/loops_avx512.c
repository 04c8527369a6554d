/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: op. The loops in the instruction set AVX-512. */
#include "base/isa.h"

#define KERNEL_TARGET ISA_TARGET_AVX512
#define KERNEL_UNROLL _Pragma("GCC unroll 4")
#define LOOPS_TABLE op_kernels_avx512

#if defined(__x86_64__)

#include <immintrin.h>
#include <mpi.h>

#include "op/int_kernel.h"
#include "type/pair.h"

enum {
    FOUR = 4,
    MANY_PAIRS = 32,   /* from here on no pair is loaded again so soon that it waits for being stored under a mask */
    SHORT_PAIRS = 128, /* beyond, the compiler's loop is as fast */
};

/* Four pairs of a double and an int fill a register. Which of `from` are better than those of `to`, NaN best of all, or
 * as good with the smaller index: bits 0, 2, 4, 6. What they are without NaN and which indices are less is known. */
KERNEL_TARGET static NOINLINE __mmask8 better_with_nan(const char *from, const char *to, __mmask8 better, __mmask8 less)
{
    const __m512d x = _mm512_loadu_pd(from), y = _mm512_loadu_pd(to);
    const unsigned nan_x = _mm512_cmp_pd_mask(x, x, _CMP_UNORD_Q), nan_y = _mm512_cmp_pd_mask(y, y, _CMP_UNORD_Q);

    return (__mmask8)(better | (nan_x & (~nan_y | less)));
}

/* A bit for each of the words of 32 bits of those that are better, but not for the gap. */
KERNEL_TARGET static inline __mmask16 better_words(const char *from, const char *to, bool is_max)
{
    const __m512i a = _mm512_loadu_si512(from), b = _mm512_loadu_si512(to);
    const __m512d x = _mm512_castsi512_pd(a), y = _mm512_castsi512_pd(b);
    const __mmask8 less = _mm512_cmplt_epi64_mask(_mm512_slli_epi64(a, 32), _mm512_slli_epi64(b, 32)) >> 1;
    const __mmask8 first = is_max ? _mm512_cmp_pd_mask(x, y, _CMP_GT_OQ) : _mm512_cmp_pd_mask(x, y, _CMP_LT_OQ);
    __mmask8 better = first | _mm512_mask_cmp_pd_mask(less, x, y, _CMP_EQ_OQ);
    __m512i values;

    if (unlikely(_mm512_cmp_pd_mask(x, y, _CMP_UNORD_Q) & 0x55))
        better = better_with_nan(from, to, better, less);
    values = _mm512_movm_epi64(better);
    return _mm512_movepi32_mask(_mm512_unpacklo_epi64(values, values)) & 0x7777;
}

/* Pairs from the first one on, four at a time, stored under a mask. How many that were. `aside`: NULL, or where a group
 * goes of which none is better. */
KERNEL_TARGET static ALWAYS_INLINE MPI_Count by_fours(const char *from, char *to, MPI_Count count, bool is_max,
                                                      char *aside)
{
    const MPI_Count done = count & -FOUR;

    for (MPI_Count i = 0; i < done; i += FOUR, from += 64, to += 64) {
        const __mmask16 words = better_words(from, to, is_max);
        char *const place = aside ? kernel_choose(words, to, aside) : to;

        _mm512_mask_storeu_epi32(place, words, _mm512_loadu_si512(from));
    }
    return done;
}

KERNEL_TARGET static inline MPI_Count begin_double_int(const void *in, void *inout, MPI_Count count, bool is_max)
{
    char aside[64];

    if (count < FOUR || count > SHORT_PAIRS)
        return 0;
    if (count < MANY_PAIRS)
        return by_fours(in, inout, count, is_max, aside);
    return by_fours(in, inout, count, is_max, NULL);
}

KERNEL_TARGET static inline MPI_Count begin_none(const void *in, void *inout, MPI_Count count, bool is_max)
{
    (void)in, (void)inout, (void)count, (void)is_max;
    return 0;
}

#define LOC_BEGIN(in, inout, count, is_max) \
    _Generic(*(in), struct type_double_int: begin_double_int, default: begin_none)(in, inout, count, is_max)

#endif

#include "op/int_loops.h"
