/* SPDX-License-Identifier: BSD-3-Clause */
/* A target: one function that takes any bytes and must come back. With clang libFuzzer calls it, else driver.c. */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* 0. Whatever the bytes are: no crash, no endless loop, no memory kept, and what it says is within its bounds. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must hold. Not assert: that is off in release builds. */
#define MUST(condition) ((condition) ? (void)0 : fuzz_broken(#condition, __FILE__, __LINE__))

static inline __attribute__((noreturn)) void fuzz_broken(const char *condition, const char *file, int line)
{
    fprintf(stderr, "%s:%d: %s does not hold\n", file, line, condition);
    __builtin_trap();
}

#endif
