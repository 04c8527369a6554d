/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. How debuggers find their way in a process of ours without debug information: a table of where the fields
 * are that they read, by name. The library exports one as `parley_debug_layout`; tools/ (the message-queue library and
 * the commands for gdb) reads it. A name is "struct.field" with its offset, "struct" with its size, or "NAME" with its
 * value. The version grows when the meaning or the width of a field changes; names may come and go. */
#ifndef SYS_DEBUG_H
#define SYS_DEBUG_H

#include <stdint.h>

#define DEBUG_LAYOUT_MAGIC UINT64_C(0x4f59414c59524c50) /* "PLRYLAYO" in memory of a little-endian machine */
enum { DEBUG_LAYOUT_VERSION = 1, DEBUG_NAME_SIZE = 28 };

struct debug_entry {
    char name[DEBUG_NAME_SIZE]; /* ended by a zero */
    uint32_t value;
};

struct debug_layout {
    uint64_t magic;
    uint32_t version;
    uint32_t count;                    /* of the entries */
    const struct debug_entry *entries;
    const void *roots;                 /* p2p/int_debug.h */
};

_Static_assert(sizeof(struct debug_entry) == 32, "debug_entry has no holes");

#endif
