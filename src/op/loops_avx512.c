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

/* Other pairs of 8 or 16 bytes, as words of 64 bits: a value is at the low end of its word, an index at the high end of
 * the same word or at the low end of the next one. All members are constants where this is inlined. */
struct pair_shape {
    int len, value_len, index_len; /* bytes */
    bool is_real, is_signed;       /* the value */
    bool is_index_real;
};

/* The first `len` bytes of each word, at the high end, as integers; or as real numbers. */
KERNEL_TARGET static ALWAYS_INLINE __m512i low_integers(__m512i x, int len)
{
    return len == 8 ? x : _mm512_slli_epi64(x, 64 - 8 * (unsigned)len);
}

KERNEL_TARGET static ALWAYS_INLINE __m512d low_reals(__m512i x, int len)
{
    return len == 8 ? _mm512_castsi512_pd(x) : _mm512_cvtps_pd(_mm256_castsi256_ps(_mm512_cvtepi64_epi32(x)));
}

/* Which indices of `x` are smaller, in the bits of the values' words. */
KERNEL_TARGET static ALWAYS_INLINE __mmask8 smaller_index(__m512i x, __m512i y, struct pair_shape shape)
{
    __mmask8 less;

    if (shape.len == 8 && !shape.is_index_real)
        return _mm512_cmplt_epi64_mask(_mm512_srai_epi64(x, 32), _mm512_srai_epi64(y, 32));
    if (shape.len == 8)
        return _mm512_cmp_pd_mask(low_reals(_mm512_srli_epi64(x, 32), 4), low_reals(_mm512_srli_epi64(y, 32), 4),
                                  _CMP_LT_OQ);
    if (shape.is_index_real)
        less = _mm512_cmp_pd_mask(low_reals(x, shape.index_len), low_reals(y, shape.index_len), _CMP_LT_OQ);
    else
        less = _mm512_cmplt_epi64_mask(low_integers(x, shape.index_len), low_integers(y, shape.index_len));
    return less >> 1;
}

/* Those of `x` that are better than in `y`, or as good with the smaller index, in the bits of the values' words; so is
 * one where there is a NaN, and *nan is set. */
KERNEL_TARGET static ALWAYS_INLINE __mmask8 better_words(__m512i x, __m512i y, struct pair_shape shape, bool is_max,
                                                         __mmask8 *nan)
{
    const __mmask8 values = shape.len == 8 ? 0xff : VALUES, low = smaller_index(x, y, shape);
    __mmask8 first, tie;

    if (shape.is_real) {
        const __m512d a = low_reals(x, shape.value_len), b = low_reals(y, shape.value_len);

        first = is_max ? _mm512_cmp_pd_mask(a, b, _CMP_NLE_UQ) : _mm512_cmp_pd_mask(a, b, _CMP_NGE_UQ);
        tie = _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ);
        *nan |= _mm512_cmp_pd_mask(a, b, _CMP_UNORD_Q) & values;
    } else {
        const __m512i a = low_integers(is_max ? x : y, shape.value_len);
        const __m512i b = low_integers(is_max ? y : x, shape.value_len);

        first = shape.is_signed ? _mm512_cmpgt_epi64_mask(a, b) : _mm512_cmpgt_epu64_mask(a, b);
        tie = _mm512_cmpeq_epi64_mask(a, b);
    }
    return (first | (tie & low)) & values;
}

/* Registers of 64, 32 or 16 bytes, as one of 64. Neither reads nor writes over other bytes, not even under a mask: what
 * is taken from there soon would be waited for. */
KERNEL_TARGET static ALWAYS_INLINE __m512i load_words(const char *from, int width)
{
    if (width == 64)
        return _mm512_loadu_si512(from);
    return width == 32 ? _mm512_zextsi256_si512(_mm256_loadu_si256((const __m256i_u *)(const void *)from))
                       : _mm512_zextsi128_si512(_mm_loadu_si128((const __m128i_u *)(const void *)from));
}

KERNEL_TARGET static ALWAYS_INLINE void store_words(char *to, __m512i x, __mmask8 words, int width)
{
    if (width == 64)
        _mm512_mask_storeu_epi64(to, words, x);
    else if (width == 32)
        _mm256_mask_storeu_epi64(to, words, _mm512_castsi512_si256(x));
    else
        _mm_mask_storeu_epi64(to, words, _mm512_castsi512_si128(x));
}

KERNEL_TARGET static ALWAYS_INLINE void store_bytes(char *to, __m512i x, __mmask64 bytes, int width)
{
    if (width == 64)
        _mm512_mask_storeu_epi8(to, bytes, x);
    else if (width == 32)
        _mm256_mask_storeu_epi8(to, (__mmask32)bytes, _mm512_castsi512_si256(x));
    else
        _mm_mask_storeu_epi8(to, (__mmask16)bytes, _mm512_castsi512_si128(x));
}

/* The members of those pairs, and no gaps. */
KERNEL_TARGET static ALWAYS_INLINE void store_pairs(char *to, __m512i x, __mmask8 better, struct pair_shape shape,
                                                    int width)
{
    const __mmask8 words = shape.len == 8 ? better : better | (__mmask8)(better << 1);
    const uint64_t value = (UINT64_C(1) << shape.value_len) - 1, index = (UINT64_C(1) << shape.index_len) - 1;
    const uint64_t members = value | index << (shape.len == 8 ? 4 : 8);
    const uint64_t each = shape.len == 8 ? UINT64_C(0x0101010101010101) : UINT64_C(0x0001000100010001);

    if (shape.value_len + shape.index_len == shape.len)
        store_words(to, x, words, width);
    else
        store_bytes(to, x, _mm512_movepi8_mask(_mm512_movm_epi64(words)) & members * each, width);
}

/* As fours(), of `n` registers of so many bytes. */
KERNEL_TARGET static ALWAYS_INLINE bool registers(const char *from, char *to, const MPI_Count *places, int n, int width,
                                                  struct pair_shape shape, bool is_max)
{
    __m512i x[4];
    __mmask8 better[4], any = 0, nan = 0;

    _Pragma("GCC unroll 4")
    for (int i = 0; i < n; i++) {
        x[i] = load_words(from + places[i], width);
        better[i] = better_words(x[i], load_words(to + places[i], width), shape, is_max, &nan);
        any |= better[i];
    }
    if (!any)
        return true;
    if (unlikely(nan))
        return false;
    _Pragma("GCC unroll 4")
    for (int i = 0; i < n; i++)
        store_pairs(to + places[i], x[i], better[i], shape, width);
    return true;
}

/* As by_sixteens(), four registers at a time. */
KERNEL_TARGET static ALWAYS_INLINE MPI_Count by_registers(const char *from, char *to, MPI_Count len,
                                                          struct pair_shape shape, bool is_max)
{
    if (len % 256 && !registers(from, to, (const MPI_Count[]){ len - 256, len - 192, len - 128, len - 64 }, 4, 64,
                                shape, is_max))
        return 0;
    for (MPI_Count at = 0; at + 256 <= len; at += 256)
        if (!registers(from, to, (const MPI_Count[]){ at, at + 64, at + 128, at + 192 }, 4, 64, shape, is_max))
            return at;
    return len;
}

/* From one and a half to two registers of this width, or one. */
KERNEL_TARGET static ALWAYS_INLINE bool one_or_two(const char *from, char *to, MPI_Count len, int width,
                                                   struct pair_shape shape, bool is_max)
{
    return len == width ? registers(from, to, (const MPI_Count[]){ 0 }, 1, width, shape, is_max)
                        : registers(from, to, (const MPI_Count[]){ 0, len - width }, 2, width, shape, is_max);
}

KERNEL_TARGET static ALWAYS_INLINE MPI_Count pairs_of_words(const void *in, void *inout, MPI_Count count,
                                                            struct pair_shape shape, bool is_max)
{
    const MPI_Count len = count * shape.len;
    bool is_done;

    if (len > 256)
        return by_registers(in, inout, len, shape, is_max) / shape.len;
    if (len > 128)
        is_done = registers(in, inout, (const MPI_Count[]){ 0, 64, len - 128, len - 64 }, 4, 64, shape, is_max);
    else if (len >= 64)
        is_done = one_or_two(in, inout, len, 64, shape, is_max);
    else if (len >= 32)
        is_done = one_or_two(in, inout, len, 32, shape, is_max);
    else
        is_done = len >= 16 && one_or_two(in, inout, len, 16, shape, is_max);
    return is_done ? count : 0;
}

#define IS_REAL(value) _Generic((value), float: true, double: true, long double: true, default: false)
#define IS_SIGNED(value) ((__typeof__(value))-1 < 1)

/* Those of a long double: none. */
#define LOC_WIDE(in, inout, count, is_max) \
    (_Generic(*(in), struct type_double_int: true, default: false) ? pairs_double_int(in, inout, count, is_max) \
     : sizeof *(in) > 16 ? 0 \
     : pairs_of_words(in, inout, count, (struct pair_shape){ sizeof *(in), sizeof (in)->value, sizeof (in)->index, \
                      IS_REAL((in)->value), IS_SIGNED((in)->value), IS_REAL((in)->index) }, is_max))

#endif

#include "op/int_loops.h"
