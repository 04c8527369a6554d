/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: op. The loops in the instruction set that everything is compiled for. */
#define LOOPS_TABLE op_kernels_base
#include "op/int_loops.h"
