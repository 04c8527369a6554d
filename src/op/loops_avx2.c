/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: op. The loops in the instruction set AVX2. */
#include "base/isa.h"

#define KERNEL_TARGET ISA_TARGET_AVX2
#define LOOPS_TABLE op_kernels_avx2
#include "op/int_loops.h"
