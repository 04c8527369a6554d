/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: op, private: the kernels of the predefined operators. */
#ifndef OP_INT_OP_H
#define OP_INT_OP_H

#include "op/op.h"

enum op_code {
    OP_MAX, OP_MIN, OP_SUM, OP_PROD,
    OP_LAND, OP_LOR, OP_LXOR, OP_BAND, OP_BOR, OP_BXOR,
    OP_MAXLOC, OP_MINLOC,
    OP_CODES,
};

/* By operator and enum type_kind; NULL where the operator has no meaning. */
extern op_kernel *const op_kernels[OP_CODES][TYPE_KINDS];

#endif
