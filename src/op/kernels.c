/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: op. The loops of the predefined operators, each written once and made for every representation.
 * Plain loops over memory of any alignment, which the compiler turns into vector code.
 * Integers are added and multiplied as unsigned ones: overflow wraps, also for signed types. */
#include "op/int_op.h"

#include "base/wide.h"
#include "type/pair.h"

#define KERNEL(name, item_type, expression) \
    static void name(const void *restrict in_items, void *restrict inout_items, MPI_Count count) \
    { \
        typedef item_type item ALIGNED(1) MAY_ALIAS; \
        const item *in = in_items; \
        item *inout = inout_items; \
 \
        for (MPI_Count i = 0; i < count; i++) { \
            const item_type a = in[i], b = inout[i]; \
            inout[i] = (item_type)(expression); \
        } \
    }

/* Kernels of one representation. `work` is wide enough that no product of two items is a signed overflow. */
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

#define FIELD_KERNELS(suffix, item_type) \
    KERNEL(sum_##suffix, item_type, a + b) \
    KERNEL(prod_##suffix, item_type, a * b)

UNSIGNED_KERNELS(uint8, uint8_t, unsigned)
UNSIGNED_KERNELS(uint16, uint16_t, unsigned)
UNSIGNED_KERNELS(uint32, uint32_t, uint32_t)
UNSIGNED_KERNELS(uint64, uint64_t, uint64_t)
UNSIGNED_KERNELS(uint128, wide_uint, wide_uint)

ORDER_KERNELS(uint8, uint8_t)
ORDER_KERNELS(uint16, uint16_t)
ORDER_KERNELS(uint32, uint32_t)
ORDER_KERNELS(uint64, uint64_t)
ORDER_KERNELS(uint128, wide_uint)
ORDER_KERNELS(int8, int8_t)
ORDER_KERNELS(int16, int16_t)
ORDER_KERNELS(int32, int32_t)
ORDER_KERNELS(int64, int64_t)
ORDER_KERNELS(int128, wide_int)

#define FLOAT_KERNELS(suffix, real, complex) \
    ORDER_KERNELS(suffix, real) \
    FIELD_KERNELS(suffix, real) \
    FIELD_KERNELS(complex_##suffix, complex)

FLOAT_KERNELS(float, float, _Complex float)
FLOAT_KERNELS(double, double, _Complex double)
FLOAT_KERNELS(long_double, long double, _Complex long double)
FLOAT_KERNELS(float128, wide_float, wide_complex)

/* The better value with its index; of equal values the smaller index (MPI 5.0 §6.9.4). Only the two
 * members are written: what lies between them is not ours. */
#define LOC_KERNEL(name, pair, is_better) \
    static void name(const void *restrict in_items, void *restrict inout_items, MPI_Count count) \
    { \
        typedef pair item ALIGNED(1); \
        const item *in = in_items; \
        item *inout = inout_items; \
 \
        for (MPI_Count i = 0; i < count; i++) { \
            if (in[i].value is_better inout[i].value) { \
                inout[i].value = in[i].value; \
                inout[i].index = in[i].index; \
            } else if (in[i].value == inout[i].value && in[i].index < inout[i].index) { \
                inout[i].index = in[i].index; \
            } \
        } \
    }

#define LOC_KERNELS(kind, tag, value_type, index_type) \
    LOC_KERNEL(maxloc_##tag, struct type_##tag, >) \
    LOC_KERNEL(minloc_##tag, struct type_##tag, <)
TYPE_PAIRS(LOC_KERNELS)

#define UNSIGNED_ROW(op) \
    [TYPE_UINT8] = op##_uint8, [TYPE_UINT16] = op##_uint16, [TYPE_UINT32] = op##_uint32, \
    [TYPE_UINT64] = op##_uint64, [TYPE_UINT128] = op##_uint128
/* Signed integers by the unsigned kernels: the same bits. */
#define SAME_BITS_ROW(op) \
    UNSIGNED_ROW(op), \
    [TYPE_INT8] = op##_uint8, [TYPE_INT16] = op##_uint16, [TYPE_INT32] = op##_uint32, \
    [TYPE_INT64] = op##_uint64, [TYPE_INT128] = op##_uint128
#define SIGNED_ROW(op) \
    [TYPE_INT8] = op##_int8, [TYPE_INT16] = op##_int16, [TYPE_INT32] = op##_int32, \
    [TYPE_INT64] = op##_int64, [TYPE_INT128] = op##_int128
#define FLOAT_ROW(op) \
    [TYPE_FLOAT] = op##_float, [TYPE_DOUBLE] = op##_double, [TYPE_LONG_DOUBLE] = op##_long_double, \
    [TYPE_FLOAT128] = op##_float128
#define COMPLEX_ROW(op) \
    [TYPE_COMPLEX_FLOAT] = op##_complex_float, [TYPE_COMPLEX_DOUBLE] = op##_complex_double, \
    [TYPE_COMPLEX_LONG_DOUBLE] = op##_complex_long_double, [TYPE_COMPLEX_FLOAT128] = op##_complex_float128
#define MAXLOC_ENTRY(kind, tag, value_type, index_type) [TYPE_##kind] = maxloc_##tag,
#define MINLOC_ENTRY(kind, tag, value_type, index_type) [TYPE_##kind] = minloc_##tag,

op_kernel *const op_kernels[OP_CODES][TYPE_KINDS] = {
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
