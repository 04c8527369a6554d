/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: op. The loops in the instruction set AVX-512. */
#include "base/isa.h"

#define KERNEL_TARGET ISA_TARGET_AVX512
#define KERNEL_UNROLL _Pragma("GCC unroll 4")
#define LOOPS_TABLE op_kernels_avx512
#include "op/int_loops.h"
