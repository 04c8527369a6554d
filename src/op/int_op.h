/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: op, private: the kernels of the predefined operators. */
#ifndef OP_INT_OP_H
#define OP_INT_OP_H

#include "op/op.h"

#include "base/isa.h"

enum op_code {
    OP_MAX, OP_MIN, OP_SUM, OP_PROD,
    OP_LAND, OP_LOR, OP_LXOR, OP_BAND, OP_BOR, OP_BXOR,
    OP_MAXLOC, OP_MINLOC,
    OP_CODES,
};

typedef op_kernel *op_kernel_table[OP_CODES][TYPE_KINDS];

/* By operator and enum type_kind; NULL where the operator has no meaning. Empty before op_init. */
extern op_kernel_table op_kernels;

/* What op_kernels is made of: numbers without vector code, and the others for each instruction set. */
extern const op_kernel_table op_kernels_wide, op_kernels_base, op_kernels_avx2, op_kernels_avx512;

/* From now on use the loops of `isa`, which the processor must have. For op_init and the test; not while others
 * reduce. */
void op_choose_isa(enum isa isa);

#endif
