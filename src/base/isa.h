/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: base. Instruction sets beyond the one that everything is compiled for: for code that is made several times
 * and chosen when the program runs.
 *
 * A function marked ISA_TARGET_X may be called if isa_best() >= ISA_X. On other processors than x86-64 there is only
 * ISA_BASE, and the marks mean nothing. */
#ifndef BASE_ISA_H
#define BASE_ISA_H

enum isa { ISA_BASE, ISA_AVX2, ISA_AVX512, ISAS };

#include <stdbool.h>

#if defined(__x86_64__)

#include <cpuid.h>

#define ISA_TARGET_AVX2 __attribute__((target("avx2,f16c")))
#define ISA_TARGET_AVX512 \
    __attribute__((target("f16c,avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")))

/* The best set that this processor and this system have; what has AVX-512 has F16C. The first processors with AVX-512
 * slow down when it is used; the ones with VBMI2 do not. */
static inline enum isa isa_best(void)
{
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return ISA_AVX512;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c") ? ISA_AVX2 : ISA_BASE;
}

/* Are string instructions (rep movsb) quick to start? The bit is called FSRM; gcc 12 has no name for it. */
static inline bool isa_has_short_strings(void)
{
    unsigned a, b, c, d;

    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && d & 1u << 4;
}

/* Is there an instruction that puts a line out of all caches and does not wait for it (clflushopt)? */
static inline bool isa_can_forget(void)
{
    unsigned a, b, c, d;

    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & 1u << 23;
}

#else

#define ISA_TARGET_AVX2
#define ISA_TARGET_AVX512

static inline enum isa isa_best(void)
{
    return ISA_BASE;
}

#endif

#endif
