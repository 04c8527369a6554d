/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: op. The loops in the instruction set AVX-512. */
#include "base/isa.h"

#define KERNEL_TARGET ISA_TARGET_AVX512
#define KERNEL_UNROLL _Pragma("GCC unroll 4")
#define LOOPS_TABLE op_kernels_avx512

#if defined(__x86_64__)

#include <immintrin.h>
#include <mpi.h>

#include "type/pair.h"

enum {
    FEW_PAIRS = 8,     /* fewer that were just stored under a mask would be waited for */
    SHORT_PAIRS = 128, /* beyond, the compiler's loop is as fast */
};

/* Of four pairs of a double and an int in a register: which of `a` are better, NaN best of all, or as good with the
 * smaller index; a bit for each of the words of 32 bits that belong to one, but not for the gap. */
KERNEL_TARGET static inline __mmask16 better_words(__m512i a, __m512i b, bool is_max)
{
    const __m512d x = _mm512_castsi512_pd(a), y = _mm512_castsi512_pd(b);
    const unsigned better = is_max ? _mm512_cmp_pd_mask(x, y, _CMP_GT_OQ) : _mm512_cmp_pd_mask(x, y, _CMP_LT_OQ);
    const unsigned equal = _mm512_cmp_pd_mask(x, y, _CMP_EQ_OQ);
    const unsigned nan_x = _mm512_cmp_pd_mask(x, x, _CMP_UNORD_Q), nan_y = _mm512_cmp_pd_mask(y, y, _CMP_UNORD_Q);
    const unsigned less = _mm512_cmplt_epi64_mask(_mm512_slli_epi64(a, 32), _mm512_slli_epi64(b, 32));
    const unsigned taken = better | (nan_x & ~nan_y) | ((equal | (nan_x & nan_y)) & less >> 1);

    return (__mmask16)(((taken & 1) | (taken & 4) << 2 | (taken & 16) << 4 | (taken & 64) << 6) * 7);
}

/* Few pairs, four at a time, stored under a mask. How many that were. */
KERNEL_TARGET static inline MPI_Count begin_double_int(const void *in, void *inout, MPI_Count count, bool is_max)
{
    const char *from = in;
    char *to = inout;
    MPI_Count done = 0;

    if (count < FEW_PAIRS || count > SHORT_PAIRS)
        return 0;
    for (; done + 4 <= count; done += 4, from += 64, to += 64) {
        const __m512i a = _mm512_loadu_si512(from);

        _mm512_mask_storeu_epi32(to, better_words(a, _mm512_loadu_si512(to), is_max), a);
    }
    return done;
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
