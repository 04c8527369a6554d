/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: op, private. The loops that gain by wide registers: integers up to 64 bits, binary16, float, double and their
 * complex numbers, pairs. Each file that includes this makes them once, for the instruction set that it has set
 * KERNEL_TARGET to, and defines LOOPS_TABLE. */
#ifndef OP_INT_LOOPS_H
#define OP_INT_LOOPS_H

#include "op/int_op.h"

#include "op/int_kernel.h"
#include "type/pair.h"

#ifndef LOOPS_TABLE
#define LOOPS_TABLE op_kernels_base
#endif

/* How many pairs an instruction set combines in a way of its own, from the first one on: all up to a NaN or so. */
#ifndef LOC_WIDE
#define LOC_WIDE(in, inout, count, is_max) 0
#endif

UNSIGNED_KERNELS(uint8, uint8_t, unsigned)
UNSIGNED_KERNELS(uint16, uint16_t, unsigned)
UNSIGNED_KERNELS(uint32, uint32_t, uint32_t)
UNSIGNED_KERNELS(uint64, uint64_t, uint64_t)

ORDER_KERNELS(uint8, uint8_t)
ORDER_KERNELS(uint16, uint16_t)
ORDER_KERNELS(uint32, uint32_t)
ORDER_KERNELS(uint64, uint64_t)
ORDER_KERNELS(int8, int8_t)
ORDER_KERNELS(int16, int16_t)
ORDER_KERNELS(int32, int32_t)
ORDER_KERNELS(int64, int64_t)

EXTREME_KERNEL(max_float16, half_float, uint16_t, >)
EXTREME_KERNEL(min_float16, half_float, uint16_t, <)
BFLOAT_KERNELS(bfloat16)
EXTREME_KERNEL(max_float, float, uint32_t, >)
EXTREME_KERNEL(min_float, float, uint32_t, <)
EXTREME_KERNEL(max_double, double, uint64_t, >)
EXTREME_KERNEL(min_double, double, uint64_t, <)
KERNEL(sum_float16, half_float, a + b)
KERNEL(prod_float16, half_float, a * b)
KERNEL(sum_float, float, a + b)
KERNEL(sum_double, double, a + b)
KERNEL(prod_float, float, a * b)
KERNEL(prod_double, double, a * b)
KERNEL(sum_complex_float16, half_complex, a + b)
KERNEL(prod_complex_float16, half_complex, a * b)
KERNEL(sum_complex_float, _Complex float, a + b)
KERNEL(sum_complex_double, _Complex double, a + b)
KERNEL(careful_complex_float, _Complex float, a * b)
KERNEL(careful_complex_double, _Complex double, a * b)
PRODUCT_KERNEL(prod_complex_float, careful_complex_float, float)
PRODUCT_KERNEL(prod_complex_double, careful_complex_double, double)

#define LOC_KERNELS(kind, tag, value_type, index_type) \
    LOC_KERNEL(maxloc_##tag, struct type_##tag, >) \
    LOC_KERNEL(minloc_##tag, struct type_##tag, <)
TYPE_PAIRS(LOC_KERNELS)

#define UNSIGNED_ROW(op) \
    [TYPE_UINT8] = op##_uint8, [TYPE_UINT16] = op##_uint16, [TYPE_UINT32] = op##_uint32, [TYPE_UINT64] = op##_uint64
/* Signed integers by the unsigned kernels: the same bits. */
#define SAME_BITS_ROW(op) \
    UNSIGNED_ROW(op), \
    [TYPE_INT8] = op##_uint8, [TYPE_INT16] = op##_uint16, [TYPE_INT32] = op##_uint32, [TYPE_INT64] = op##_uint64
#define SIGNED_ROW(op) \
    [TYPE_INT8] = op##_int8, [TYPE_INT16] = op##_int16, [TYPE_INT32] = op##_int32, [TYPE_INT64] = op##_int64
#define FLOAT_ROW(op) \
    [TYPE_FLOAT16] = op##_float16, [TYPE_BFLOAT16] = op##_bfloat16, [TYPE_FLOAT] = op##_float, \
    [TYPE_DOUBLE] = op##_double
#define COMPLEX_ROW(op) \
    [TYPE_COMPLEX_FLOAT16] = op##_complex_float16, [TYPE_COMPLEX_FLOAT] = op##_complex_float, \
    [TYPE_COMPLEX_DOUBLE] = op##_complex_double
#define MAXLOC_ENTRY(kind, tag, value_type, index_type) [TYPE_##kind] = maxloc_##tag,
#define MINLOC_ENTRY(kind, tag, value_type, index_type) [TYPE_##kind] = minloc_##tag,

const op_kernel_table LOOPS_TABLE = {
    [OP_MAX] = { UNSIGNED_ROW(max), SIGNED_ROW(max), FLOAT_ROW(max) },
    [OP_MIN] = { UNSIGNED_ROW(min), SIGNED_ROW(min), FLOAT_ROW(min) },
    [OP_SUM] = { SAME_BITS_ROW(sum), FLOAT_ROW(sum), COMPLEX_ROW(sum) },
    [OP_PROD] = { SAME_BITS_ROW(prod), FLOAT_ROW(prod), COMPLEX_ROW(prod) },
    [OP_LAND] = { SAME_BITS_ROW(land) },
    [OP_LOR] = { SAME_BITS_ROW(lor) },
    [OP_LXOR] = { SAME_BITS_ROW(lxor) },
    [OP_BAND] = { SAME_BITS_ROW(band) },
    [OP_BOR] = { SAME_BITS_ROW(bor) },
    [OP_BXOR] = { SAME_BITS_ROW(bxor) },
    [OP_MAXLOC] = { TYPE_PAIRS(MAXLOC_ENTRY) },
    [OP_MINLOC] = { TYPE_PAIRS(MINLOC_ENTRY) },
};

#endif
