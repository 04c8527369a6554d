/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: type. One block of bytes from memory to the stream or back, written into the loop that uses it.
 * Knows: nothing but bytes. */
#ifndef TYPE_INT_MOVE_H
#define TYPE_INT_MOVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/base.h"

enum { PIECE = 16, PIECES_END = 8 * PIECE };

static ALWAYS_INLINE void move(uintptr_t memory, char *stream, size_t len, bool is_pack)
{
    if (is_pack)
        memcpy(stream, (const void *)memory, len);
    else
        memcpy((void *)memory, stream, len);
}

/* Any length over 16 bytes: pieces of 16, the last of which may lie over the one before. */
static ALWAYS_INLINE void move_pieces(uintptr_t memory, char *stream, size_t len, bool is_pack)
{
    for (size_t i = 0; i + PIECE < len; i += PIECE)
        move(memory + i, stream + i, PIECE, is_pack);
    move(memory + len - PIECE, stream + len - PIECE, PIECE, is_pack);
}

/* A length of more than half of `piece` and not more than that. */
static ALWAYS_INLINE void move_twice(uintptr_t memory, char *stream, size_t len, size_t piece, bool is_pack)
{
    move(memory, stream, piece / 2, is_pack);
    move(memory + len - piece / 2, stream + len - piece / 2, piece / 2, is_pack);
}

static ALWAYS_INLINE void move_any(uintptr_t memory, char *stream, size_t len, bool is_pack)
{
    if (len > PIECES_END)
        move(memory, stream, len, is_pack);
    else if (len > PIECE)
        move_pieces(memory, stream, len, is_pack);
    else if (len > 8)
        move_twice(memory, stream, len, 16, is_pack);
    else if (len > 4)
        move_twice(memory, stream, len, 8, is_pack);
    else
        for (size_t i = 0; i < len; i++)
            move(memory + i, stream + i, 1, is_pack);
}

#endif
