/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: base. Copying bytes: a few whose number is known only at run time, without a call; very many; and through
 * memory that two processes share. */
#ifndef BASE_COPY_H
#define BASE_COPY_H

#include <stdbool.h>
#include <string.h>

#include "base/base.h"

enum { COPY_SHORT_MAX = 40 };

/* `len` is at most COPY_SHORT_MAX; the areas do not overlap. Two or three overlapping moves, no loop. */
static ALWAYS_INLINE void copy_short(void *to, const void *from, size_t len)
{
    char *out = to;
    const char *in = from;

    if (len >= 8) {
        if (len > 16) {
            memcpy(out, in, 16);
            if (len > 32)
                memcpy(out + 16, in + 16, 16);
            memcpy(out + len - 16, in + len - 16, 16);
        } else {
            memcpy(out, in, 8);
            memcpy(out + len - 8, in + len - 8, 8);
        }
    } else if (len >= 4) {
        memcpy(out, in, 4);
        memcpy(out + len - 4, in + len - 4, 4);
    } else if (len) {
        out[0] = in[0];
        out[len / 2] = in[len / 2];
        out[len - 1] = in[len - 1];
    }
}

/* `len` is at most 64. */
static ALWAYS_INLINE void copy_up_to_64(void *to, const void *from, size_t len)
{
    char *out = to;
    const char *in = from;

    if (len > 32) {
        memcpy(out, in, 32);
        memcpy(out + len - 32, in + len - 32, 32);
    } else {
        copy_short(out, in, len);
    }
}

/* Any length. */
static ALWAYS_INLINE void copy_bytes(void *to, const void *from, size_t len)
{
    if (likely(len <= COPY_SHORT_MAX))
        copy_short(to, from, len);
    else
        memcpy(to, from, len);
}

enum { COPY_BLOCK = 131072 };

/* Any length. A memcpy of more than the second cache has goes by loads and stores, which fetch the lines that are to be
 * written, a shorter one by the processor's own copy, which does not (glibc 2.36 on x86-64: 1 MB in 0.85 of the
 * time, and what else goes through the caches is slowed down less). */
static inline void copy_long(void *to, const void *from, size_t len)
{
    char *out = to;
    const char *in = from;

    for (size_t part; len; len -= part, out += part, in += part) {
        part = size_min(len, COPY_BLOCK);
        memcpy(out, in, part);
    }
}

/* Memory that two processes share, its lines in the cache of the one that used it last: shared_write writes what
 * another process has read and will read again, shared_read reads what another one has just written. Any length; the
 * areas do not overlap. Any thread. `is_far`: lines take long from one to the other. */
void shared_write(void *to, const void *from, size_t len, bool is_far);
void shared_read(void *to, const void *from, size_t len);

/* shared_read of a part of a message of `whole` bytes, each of which is read when it has been written. */
void shared_read_part(void *to, const void *from, size_t len, size_t whole);

/* shared_write of one of many blocks of at least 1 KB each, where lines are near. */
void shared_write_block(void *to, const void *from, size_t len);

/* Before whole lines of such memory are written, which lie in another processor's cache: shared_forget puts them out
 * of all caches, shared_own then fetches them into this processor's own, alone (`is_first`: since the last ones were
 * forgotten). Nothing in them changes. Both take a moment, so they are for times of waiting. False: this processor has
 * no such instruction, and nothing was done. */
bool shared_forget(void *start, size_t len);
void shared_own(void *start, size_t len, bool is_first);

#endif
