/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. Huge pages for memory that long copies between processes use again and again. The system counts the users
 * of every page that such a copy touches, which is a third of its time with small pages; two thirds and more where a
 * hypervisor makes the system's copies dear. */
#ifndef SYS_HUGE_H
#define SYS_HUGE_H

#include <stddef.h>

enum { HUGE_COPY_MIN = 65536 }; /* bytes of a long copy */

/* `len` bytes from `at` on, memory of this process, are copied by another one (pages of its own memory make no
 * difference to who copies). A region of the size of a huge page that has been used so for long is made one, if the
 * system does that and nearly all of its small pages are there, so that it takes at most 64 KB more than before; bytes
 * and addresses stay as they are. Which pages the memory lies in is all that the program could tell. Any thread; does
 * not wait, but may take a millisecond once for a region. */
void huge_used(const void *at, size_t len);

/* The same of any copy; nothing comes of a shorter one. */
static inline void huge_note(const void *at, size_t len)
{
    if (len >= HUGE_COPY_MIN)
        huge_used(at, len);
}

#endif
