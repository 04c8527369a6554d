/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4. The 18 predefined operations of p4_global_op: x[i] = x[i] op y[i]. Integers wrap around. The abs
 * forms give the larger or smaller magnitude, not negative (but that of INT_MIN, which no int holds). */
#include <math.h>

#include "p4/int_p4.h"

static int int_abs(int a)
{
    return a < 0 ? (int)(0u - (unsigned)a) : a;
}

#define SUM(a, b)        ((a) + (b))
#define MULT(a, b)       ((a) * (b))
#define WRAP_SUM(a, b)   ((int)((unsigned)(a) + (unsigned)(b)))
#define WRAP_MULT(a, b)  ((int)((unsigned)(a) * (unsigned)(b)))
#define MAX(a, b)        ((a) > (b) ? (a) : (b))
#define MIN(a, b)        ((a) < (b) ? (a) : (b))
#define INT_ABSMAX(a, b) MAX(int_abs(a), int_abs(b))
#define INT_ABSMIN(a, b) MIN(int_abs(a), int_abs(b))
#define FLT_ABSMAX(a, b) MAX(fabsf(a), fabsf(b))
#define FLT_ABSMIN(a, b) MIN(fabsf(a), fabsf(b))
#define DBL_ABSMAX(a, b) MAX(fabs(a), fabs(b))
#define DBL_ABSMIN(a, b) MIN(fabs(a), fabs(b))

#define OPERATION(name, type, combine)                \
    void name(char *x, char *y, int nelem)            \
    {                                                 \
        type *to = (type *)(void *)x;                 \
        const type *from = (const type *)(void *)y;   \
                                                      \
        for (int i = 0; i < nelem; i++)               \
            to[i] = combine(to[i], from[i]);          \
    }

OPERATION(p4_int_sum_op, int, WRAP_SUM)
OPERATION(p4_int_mult_op, int, WRAP_MULT)
OPERATION(p4_int_max_op, int, MAX)
OPERATION(p4_int_min_op, int, MIN)
OPERATION(p4_int_absmax_op, int, INT_ABSMAX)
OPERATION(p4_int_absmin_op, int, INT_ABSMIN)
OPERATION(p4_flt_sum_op, float, SUM)
OPERATION(p4_flt_mult_op, float, MULT)
OPERATION(p4_flt_max_op, float, MAX)
OPERATION(p4_flt_min_op, float, MIN)
OPERATION(p4_flt_absmax_op, float, FLT_ABSMAX)
OPERATION(p4_flt_absmin_op, float, FLT_ABSMIN)
OPERATION(p4_dbl_sum_op, double, SUM)
OPERATION(p4_dbl_mult_op, double, MULT)
OPERATION(p4_dbl_max_op, double, MAX)
OPERATION(p4_dbl_min_op, double, MIN)
OPERATION(p4_dbl_absmax_op, double, DBL_ABSMAX)
OPERATION(p4_dbl_absmin_op, double, DBL_ABSMIN)
