/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll, private. Memory for intermediate results, many bytes of which stay with the process for the next call:
 * the C library gives such memory back to the system, which then brings page after page of zeroes again, and that takes
 * as long as all the rest of a call. */
#ifndef COLL_INT_SPARE_H
#define COLL_INT_SPARE_H

#include <stddef.h>

/* As mem_alloc; freed by spare_free. Any thread. */
void *spare_alloc(size_t size) __attribute__((malloc));
/* NULL is fine. */
void spare_free(void *p);
/* Free all that stays. */
void spare_drop(void);

#endif
