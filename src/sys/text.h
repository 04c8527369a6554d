/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. The small files by which the system tells of itself: below /proc, /sys and the like. */
#ifndef SYS_TEXT_H
#define SYS_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* The beginning of file `path`, at most size - 1 bytes, ended by a zero; without memory of its own. False, with an
 * empty text, if it cannot be read. */
bool text_read(const char *path, char *text, size_t size);

#endif
