/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: op. The loops of numbers that no vector register knows: 128-bit integers, long double, binary128. */
#include "op/int_kernel.h"
#include "op/int_op.h"

#define COMPLEX_KERNELS(suffix, complex) \
    KERNEL(sum_##suffix, complex, a + b) \
    KERNEL(prod_##suffix, complex, a * b)

UNSIGNED_KERNELS(uint128, wide_uint, wide_uint)
ORDER_KERNELS(uint128, wide_uint)
ORDER_KERNELS(int128, wide_int)
REAL_KERNELS(long_double, long double)
REAL_KERNELS(float128, wide_float)
COMPLEX_KERNELS(complex_long_double, _Complex long double)
COMPLEX_KERNELS(complex_float128, wide_complex)

/* Signed integers by the unsigned kernels: the same bits. */
#define SAME_BITS_ROW(op) [TYPE_UINT128] = op##_uint128, [TYPE_INT128] = op##_uint128
#define ORDER_ROW(op) [TYPE_UINT128] = op##_uint128, [TYPE_INT128] = op##_int128
#define FLOAT_ROW(op) [TYPE_LONG_DOUBLE] = op##_long_double, [TYPE_FLOAT128] = op##_float128
#define COMPLEX_ROW(op) \
    [TYPE_COMPLEX_LONG_DOUBLE] = op##_complex_long_double, [TYPE_COMPLEX_FLOAT128] = op##_complex_float128

const op_kernel_table op_kernels_wide = {
    [OP_MAX] = { ORDER_ROW(max), FLOAT_ROW(max) },
    [OP_MIN] = { ORDER_ROW(min), FLOAT_ROW(min) },
    [OP_SUM] = { SAME_BITS_ROW(sum), FLOAT_ROW(sum), COMPLEX_ROW(sum) },
    [OP_PROD] = { SAME_BITS_ROW(prod), FLOAT_ROW(prod), COMPLEX_ROW(prod) },
    [OP_LAND] = { SAME_BITS_ROW(land) },
    [OP_LOR] = { SAME_BITS_ROW(lor) },
    [OP_LXOR] = { SAME_BITS_ROW(lxor) },
    [OP_BAND] = { SAME_BITS_ROW(band) },
    [OP_BOR] = { SAME_BITS_ROW(bor) },
    [OP_BXOR] = { SAME_BITS_ROW(bxor) },
};
