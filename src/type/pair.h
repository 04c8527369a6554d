/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: type. The pairs of a value and an index as C sees them (MPI 5.0 §6.9.4): by representation, as for the values
 * and indices of other names that are the same in memory. */
#ifndef TYPE_PAIR_H
#define TYPE_PAIR_H

#include <stdint.h>

#include "base/wide.h"

/* X(kind without TYPE_, tag, type of the value, type of the index) for each pair. */
#define TYPE_PAIRS(X) \
    X(FLOAT_INT, float_int, float, int) \
    X(DOUBLE_INT, double_int, double, int) \
    X(LONG_INT, long_int, long, int) \
    X(INT_INT, int_int, int, int) \
    X(SHORT_INT, short_int, short, int) \
    X(LONG_DOUBLE_INT, long_double_int, long double, int) \
    X(FLOAT_FLOAT, float_float, float, float) \
    X(DOUBLE_DOUBLE, double_double, double, double) \
    X(INT8_INT, int8_int, int8_t, int32_t) \
    X(UINT8_INT, uint8_int, uint8_t, int32_t) \
    X(UINT16_INT, uint16_int, uint16_t, int32_t) \
    X(UINT32_INT, uint32_int, uint32_t, int32_t) \
    X(UINT64_INT, uint64_int, uint64_t, int32_t) \
    X(INT8_LONG, int8_long, int8_t, int64_t) \
    X(INT16_LONG, int16_long, int16_t, int64_t) \
    X(INT32_LONG, int32_long, int32_t, int64_t) \
    X(INT64_LONG, int64_long, int64_t, int64_t) \
    X(UINT8_LONG, uint8_long, uint8_t, int64_t) \
    X(UINT16_LONG, uint16_long, uint16_t, int64_t) \
    X(UINT32_LONG, uint32_long, uint32_t, int64_t) \
    X(UINT64_LONG, uint64_long, uint64_t, int64_t) \
    X(FLOAT_LONG, float_long, float, int64_t) \
    X(DOUBLE_LONG, double_long, double, int64_t) \
    X(LONG_DOUBLE_LONG, long_double_long, long double, int64_t)

#define TYPE_PAIR_STRUCT(kind, tag, value_type, index_type) \
    struct type_##tag { \
        value_type value; \
        index_type index; \
    } MAY_ALIAS;
TYPE_PAIRS(TYPE_PAIR_STRUCT)
#undef TYPE_PAIR_STRUCT

#endif
