/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: type. The predefined pairs of a value and an index as C sees them (MPI 5.0 §6.9.4). */
#ifndef TYPE_PAIR_H
#define TYPE_PAIR_H

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
    X(DOUBLE_DOUBLE, double_double, double, double)

#define TYPE_PAIR_STRUCT(kind, tag, value_type, index_type) \
    struct type_##tag { \
        value_type value; \
        index_type index; \
    } MAY_ALIAS;
TYPE_PAIRS(TYPE_PAIR_STRUCT)
#undef TYPE_PAIR_STRUCT

#endif
