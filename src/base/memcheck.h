/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: base. What valgrind's memcheck cannot see by itself: memory that another process has written, and buffers that
 * nobody may touch for a while. Without valgrind at run time, or without its headers when we were built, every function
 * does nothing. For slow paths. */
#ifndef BASE_MEMCHECK_H
#define BASE_MEMCHECK_H

#include <stdbool.h>

#include "base/base.h"

/* Under valgrind? Asks the processor's emulator, a few instructions. */
bool memcheck_is_on(void);

/* `len` bytes at `p` have been written by another process: they have values from now on. */
void memcheck_written(const void *p, size_t len);

/* Nobody may touch the `len` bytes at `p` until memcheck_show. Returns what is known of their values, to be handed to
 * that; NULL, and nothing has changed: no memory for that, or valgrind is not there. Memory that the program may not
 * use itself is reported by valgrind here. */
void *memcheck_hide(void *p, size_t len);
/* As it was before; `saved` is gone. */
void memcheck_show(void *p, size_t len, void *saved);

#endif
