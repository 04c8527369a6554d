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
    VALUES = 0x55, /* of words of 64 bits; of words of 32: all but gaps, and where an index is put above a 0 */
    NO_GAPS_4 = 0x7777, NO_GAPS_2 = 0x77, NO_GAPS_1 = 0x7,
    INDICES_4 = 0x2222, INDICES_2 = 0x22, INDICES_1 = 0x2,
};

/* A register of pairs of a double and an int: those of `x` that are better than in `y`, or as good with the smaller
 * index, in the bits of VALUES; so is a NaN. And stored at `to`, but for the gaps. */
#define STEP(pairs, bits, mm) \
    KERNEL_TARGET static ALWAYS_INLINE __mmask8 better_##pairs(__m##bits##d x, __m##bits##d y, bool is_max) \
    { \
        const __m##bits##i a = mm##_castpd_si##bits(x), b = mm##_castpd_si##bits(y); \
        const __mmask8 first = is_max ? mm##_cmp_pd_mask(x, y, _CMP_NLE_UQ) : mm##_cmp_pd_mask(x, y, _CMP_NGE_UQ); \
        const __m##bits##i at = mm##_maskz_shuffle_epi32(INDICES_##pairs, a, _MM_PERM_CACA); \
        const __mmask8 low = \
            mm##_cmplt_epi64_mask(at, mm##_maskz_shuffle_epi32(INDICES_##pairs, b, _MM_PERM_CACA)); \
        const __mmask8 tie = mm##_mask_cmp_pd_mask(low, x, y, _CMP_EQ_OQ); \
\
        return _kor_mask8(first, tie); \
    } \
    KERNEL_TARGET static ALWAYS_INLINE void store_##pairs(char *to, __m##bits##d x, __mmask8 better) \
    { \
        __m##bits##i both = mm##_movm_epi64(better); \
\
        both = mm##_unpacklo_epi64(both, both); \
        mm##_mask_storeu_epi32(to, mm##_movepi32_mask(both) & NO_GAPS_##pairs, mm##_castpd_si##bits(x)); \
    }
STEP(4, 512, _mm512)
STEP(2, 256, _mm256)
STEP(1, 128, _mm)

/* One or two pairs. Whether any is better is guessed, as a loop written by hand does. False: there is a NaN, and
 * nothing is done. */
#define ALONE(pairs, bits, mm) \
    KERNEL_TARGET static ALWAYS_INLINE bool alone_##pairs(const char *from, char *to, bool is_max) \
    { \
        const __m##bits##d x = mm##_loadu_pd((const double *)(const void *)from); \
        const __m##bits##d y = mm##_loadu_pd((const double *)(const void *)to); \
        const __mmask8 better = better_##pairs(x, y, is_max); \
\
        if (!(better & VALUES)) \
            return true; \
        if (unlikely(mm##_cmp_pd_mask(x, y, _CMP_UNORD_Q) & VALUES)) \
            return false; \
        store_##pairs(to, x, better); \
        return true; \
    }
ALONE(2, 256, _mm256)
ALONE(1, 128, _mm)

/* `n` times four pairs, from those places on, which may overlap: what is taken twice is the same. It is guessed whether
 * any of them is better: of many some always are in random data, and none in data that were combined before. False:
 * there is a NaN, and nothing is done. */
KERNEL_TARGET static ALWAYS_INLINE bool fours(const char *from, char *to, const MPI_Count *places, int n, bool is_max)
{
    __m512d x[4], y[4];
    __mmask8 better[4], any = 0, nan = 0;

    _Pragma("GCC unroll 4")
    for (int i = 0; i < n; i++) {
        x[i] = _mm512_loadu_pd((const double *)(const void *)(from + 16 * places[i]));
        y[i] = _mm512_loadu_pd((const double *)(const void *)(to + 16 * places[i]));
        better[i] = better_4(x[i], y[i], is_max);
        any = _kor_mask8(any, better[i]);
    }
    if (!(any & VALUES))
        return true;
    _Pragma("GCC unroll 4")
    for (int i = 0; i < n; i++)
        nan = _kor_mask8(nan, _mm512_cmp_pd_mask(x[i], y[i], _CMP_UNORD_Q));
    if (unlikely(nan & VALUES))
        return false;
    _Pragma("GCC unroll 4")
    for (int i = 0; i < n; i++)
        store_4(to + 16 * places[i], x[i], better[i]);
    return true;
}

KERNEL_TARGET static ALWAYS_INLINE bool sixteen(const char *from, char *to, MPI_Count at, bool is_max)
{
    return fours(from, to, (const MPI_Count[]){ at, at + 4, at + 8, at + 12 }, 4, is_max);
}

/* The last sixteen first: they may overlap with those before, which must not wait for what has just been stored. How
 * many have been combined, from the first one on, before there was a NaN. */
KERNEL_TARGET static ALWAYS_INLINE MPI_Count by_sixteens(const char *from, char *to, MPI_Count count, bool is_max)
{
    if (count % 16 && !sixteen(from, to, count - 16, is_max))
        return 0;
    for (MPI_Count i = 0; i + 16 <= count; i += 16)
        if (!sixteen(from, to, i, is_max))
            return i;
    return count;
}

KERNEL_TARGET static ALWAYS_INLINE bool up_to_three(const char *from, char *to, MPI_Count count, bool is_max)
{
    const MPI_Count even = count & 2;

    return (!even || alone_2(from, to, is_max)) &&
           (count == even || alone_1(from + 16 * even, to + 16 * even, is_max));
}

KERNEL_TARGET static ALWAYS_INLINE MPI_Count pairs_double_int(const void *in, void *inout, MPI_Count count, bool is_max)
{
    bool is_done;

    if (count > 16)
        return by_sixteens(in, inout, count, is_max);
    if (count > 8)
        is_done = fours(in, inout, (const MPI_Count[]){ 0, 4, count - 8, count - 4 }, 4, is_max);
    else if (count > 4)
        is_done = fours(in, inout, (const MPI_Count[]){ 0, count - 4 }, 2, is_max);
    else if (count == 4)
        is_done = fours(in, inout, (const MPI_Count[]){ 0 }, 1, is_max);
    else
        is_done = up_to_three(in, inout, count, is_max);
    return is_done ? count : 0;
}

KERNEL_TARGET static inline MPI_Count pairs_none(const void *in, void *inout, MPI_Count count, bool is_max)
{
    (void)in, (void)inout, (void)count, (void)is_max;
    return 0;
}

#define LOC_WIDE(in, inout, count, is_max) \
    _Generic(*(in), struct type_double_int: pairs_double_int, default: pairs_none)(in, inout, count, is_max)

#endif

#include "op/int_loops.h"
