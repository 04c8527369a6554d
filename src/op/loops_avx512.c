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
    FEW_PAIRS = 32,    /* from here on no pair is loaded again so soon that it waits for being stored under a mask */
    SHORT_PAIRS = 128, /* beyond, the compiler's loop is as fast */
};

/* A register of pairs of a double and an int: what is better than in `to`, or as good with the smaller index, is stored
 * there, but for the gaps. `is_guessed`: whether there is any, as a loop written by hand guesses for each pair. False:
 * there is a NaN, and nothing is done. */
#define STEP(pairs, bits, mm) \
    KERNEL_TARGET static ALWAYS_INLINE bool step_##pairs(const char *from, char *to, bool is_max, bool is_guessed) \
    { \
        const __m##bits##d x = mm##_loadu_pd((const double *)(const void *)from); \
        const __m##bits##d y = mm##_loadu_pd((const double *)(const void *)to); \
        const __m##bits##i a = mm##_castpd_si##bits(x), b = mm##_castpd_si##bits(y); \
        const __mmask8 low = mm##_cmplt_epi64_mask(mm##_slli_epi64(a, 32), mm##_slli_epi64(b, 32)); \
        const __mmask8 first = is_max ? mm##_cmp_pd_mask(x, y, _CMP_NLE_UQ) : mm##_cmp_pd_mask(x, y, _CMP_NGE_UQ); \
        const __mmask8 tie = mm##_mask_cmp_pd_mask(_kshiftri_mask8(low, 1), x, y, _CMP_EQ_OQ); \
        const __mmask8 better = _kor_mask8(first, tie); \
        __m##bits##i both; \
\
        if (is_guessed && !(better & VALUES)) \
            return true; \
        if (unlikely(mm##_cmp_pd_mask(x, y, _CMP_UNORD_Q) & VALUES)) \
            return false; \
        both = mm##_movm_epi64(better); \
        both = mm##_unpacklo_epi64(both, both); \
        mm##_mask_storeu_epi32(to, mm##_movepi32_mask(both) & NO_GAPS_##pairs, a); \
        return true; \
    }
enum { VALUES = 0x55, NO_GAPS_4 = 0x7777, NO_GAPS_2 = 0x77, NO_GAPS_1 = 0x7 }; /* of words of 64 and 32 bits */
STEP(4, 512, _mm512)
STEP(2, 256, _mm256)
STEP(1, 128, _mm)

/* So many pairs, if that bit of what is left is set. */
#define IF_BIT(pairs) \
    if (left & (pairs)) { \
        if (!step_##pairs(from, to, is_max, is_guessed)) \
            return (to - begin) / 16; \
        from += (pairs) * 16; \
        to += (pairs) * 16; \
    }

/* Pairs from the first one on, up to one that is NaN. How many that were. */
KERNEL_TARGET static ALWAYS_INLINE MPI_Count by_fours(const char *from, char *to, MPI_Count count, bool is_max,
                                                      bool is_guessed)
{
    const char *const begin = to;
    MPI_Count left = count;

    for (; left >= 8; left -= 4, from += 64, to += 64) /* four alone are no loop */
        if (!step_4(from, to, is_max, is_guessed))
            return (to - begin) / 16;
    IF_BIT(4)
    IF_BIT(2)
    IF_BIT(1)
    return count;
}

KERNEL_TARGET static ALWAYS_INLINE MPI_Count few_double_int(const void *in, void *inout, MPI_Count count, bool is_max)
{
    return count < FEW_PAIRS ? by_fours(in, inout, count, is_max, true) : 0;
}

KERNEL_TARGET static inline MPI_Count begin_double_int(const void *in, void *inout, MPI_Count count, bool is_max)
{
    return count >= FEW_PAIRS && count <= SHORT_PAIRS ? by_fours(in, inout, count, is_max, false) : 0;
}

KERNEL_TARGET static inline MPI_Count begin_none(const void *in, void *inout, MPI_Count count, bool is_max)
{
    (void)in, (void)inout, (void)count, (void)is_max;
    return 0;
}

#define LOC_FEW(in, inout, count, is_max) \
    _Generic(*(in), struct type_double_int: few_double_int, default: begin_none)(in, inout, count, is_max)
#define LOC_BEGIN(in, inout, count, is_max) \
    _Generic(*(in), struct type_double_int: begin_double_int, default: begin_none)(in, inout, count, is_max)

#endif

#include "op/int_loops.h"
