/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: for unit tests of its files, what mpiexec.c gives to them: memory; and with ALONE_DIES, mistakes, which come
 * back to the test. */
#ifndef LAUNCH_ALONE_H
#define LAUNCH_ALONE_H

#include "base/mem.h"
#include "launch.h"

void *need(size_t size)
{
    return mem_zalloc(size);
}

void *need_more(void *old, size_t size)
{
    return mem_realloc(old, size);
}

#ifdef ALONE_DIES
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

static jmp_buf dead;
static char last_text[4096];
static int last_code;

void die(int exit_code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(last_text, sizeof last_text, format, args);
    va_end(args);
    last_code = exit_code;
    longjmp(dead, 1);
}
#endif

#endif
