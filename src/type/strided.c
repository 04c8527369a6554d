/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: type. The inner loops: blocks of one length, evenly apart in memory and in the packed stream, in two levels,
 * and blocks at displacements. One loop for each usual length, where the compiler sees the length as a constant;
 * other lengths are copied in pieces of 16 bytes, long ones by memcpy.
 * Knows: nothing but bytes. */
#include <string.h>

#include "base/wide.h"
#include "type/int_plan.h"

enum { PIECE = 16, PIECES_END = 8 * PIECE };

/* At any address. */
typedef uint64_t two_words __attribute__((vector_size(16), aligned(1))) MAY_ALIAS;
typedef uint64_t word __attribute__((aligned(1))) MAY_ALIAS;

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

/* `len` is a constant at each call, 0 for s->len; the blocks of a constant step too if it is not 0. */
static ALWAYS_INLINE void loop(const struct strided *s, uintptr_t memory, char *stream, size_t len, size_t step,
                               bool is_pack)
{
    const size_t apart = step ? step : s->inner_step, inner = s->inner;
    const uintptr_t stride = (uintptr_t)s->inner_stride;

    for (size_t i = 0; i < s->outer; i++) {
        uintptr_t at = memory + i * (uintptr_t)s->outer_stride;
        char *out = stream + i * s->outer_step;

#pragma GCC unroll 4
        for (size_t j = 0; j < inner; j++) {
            if (len)
                move(at, out, len, is_pack);
            else
                move_any(at, out, s->len, is_pack);
            at += stride;
            out += apart;
        }
    }
}

/* Two words of 8 bytes are brought together in a register and stored at once. */
static void pack_8(const struct strided *s, uintptr_t memory, char *stream)
{
    const uintptr_t stride = (uintptr_t)s->inner_stride;
    const size_t inner = s->inner;

    for (size_t i = 0; i < s->outer; i++) {
        uintptr_t at = memory + i * (uintptr_t)s->outer_stride;
        char *out = stream + i * s->outer_step;
        size_t j = 0;

#pragma GCC unroll 4
        for (; j + 2 <= inner; j += 2) {
            *(two_words *)(void *)out = (two_words){ *(const word *)at, *(const word *)(at + stride) };
            at += 2 * stride;
            out += 16;
        }
        if (j < inner)
            memcpy(out, (const void *)at, 8);
    }
}

/* One function for each length; blocks of a loop lie without gaps in the stream, those of a field do not. */
#define PACK_LOOP(len) \
    static void pack_##len(const struct strided *s, uintptr_t memory, char *stream) \
    { \
        loop(s, memory, stream, len, len, true); \
    }
#define LOOPS(len) \
    static void pack_field_##len(const struct strided *s, uintptr_t memory, char *stream) \
    { \
        loop(s, memory, stream, len, 0, true); \
    } \
    static void unpack_##len(const struct strided *s, uintptr_t memory, char *stream) \
    { \
        loop(s, memory, stream, len, len, false); \
    } \
    static void unpack_field_##len(const struct strided *s, uintptr_t memory, char *stream) \
    { \
        loop(s, memory, stream, len, 0, false); \
    }
PACK_LOOP(0) LOOPS(0)
PACK_LOOP(1) LOOPS(1)
PACK_LOOP(2) LOOPS(2)
PACK_LOOP(4) LOOPS(4)
LOOPS(8)
PACK_LOOP(12) LOOPS(12)
PACK_LOOP(16) LOOPS(16)
PACK_LOOP(24) LOOPS(24)
PACK_LOOP(32) LOOPS(32)
PACK_LOOP(64) LOOPS(64)
#undef LOOPS

typedef void loop_fn(const struct strided *s, uintptr_t memory, char *stream);

enum { LENGTHS = 65, WAYS = 4 };

/* pack, pack a field, unpack, unpack a field */
static loop_fn *const loops[LENGTHS][WAYS] = {
#define LOOPS(len) [len] = { pack_##len, pack_field_##len, unpack_##len, unpack_field_##len }
    LOOPS(0), LOOPS(1), LOOPS(2), LOOPS(4), LOOPS(8), LOOPS(12), LOOPS(16), LOOPS(24), LOOPS(32), LOOPS(64),
#undef LOOPS
};

static loop_fn *choose(const struct strided *s, bool is_pack)
{
    const size_t row = s->len < LENGTHS && loops[s->len][0] ? s->len : 0;

    return loops[row][(is_pack ? 0 : 2) + (row && s->inner_step != s->len)];
}

void strided_pack(const struct strided *s, uintptr_t memory, char *stream)
{
    choose(s, true)(s, memory, stream);
}

void strided_unpack(const struct strided *s, uintptr_t memory, const char *stream)
{
    choose(s, false)(s, memory, (char *)(uintptr_t)stream);
}

/* --- at displacements --- */

static ALWAYS_INLINE void even_loop(const MPI_Count *disps, size_t n, size_t len, uintptr_t memory, char *stream,
                                    bool is_pack)
{
#pragma GCC unroll 4
    for (size_t i = 0; i < n; i++)
        move(plan_place(memory, disps[i]), stream + i * len, len, is_pack);
}

static ALWAYS_INLINE void even(const MPI_Count *disps, size_t n, size_t len, uintptr_t memory, char *stream,
                               bool is_pack)
{
    switch (len) {
    case 1:
        even_loop(disps, n, 1, memory, stream, is_pack);
        break;
    case 2:
        even_loop(disps, n, 2, memory, stream, is_pack);
        break;
    case 4:
        even_loop(disps, n, 4, memory, stream, is_pack);
        break;
    case 8:
        even_loop(disps, n, 8, memory, stream, is_pack);
        break;
    case 16:
        even_loop(disps, n, 16, memory, stream, is_pack);
        break;
    case 32:
        even_loop(disps, n, 32, memory, stream, is_pack);
        break;
    default:
        for (size_t i = 0; i < n; i++)
            move_any(plan_place(memory, disps[i]), stream + i * len, len, is_pack);
    }
}

void strided_even(const MPI_Count *disps, size_t n, size_t len, uintptr_t memory, char *stream, bool is_pack)
{
    if (is_pack)
        even(disps, n, len, memory, stream, true);
    else
        even(disps, n, len, memory, stream, false);
}

static ALWAYS_INLINE void blocks(const MPI_Count *disps, const size_t *ends, size_t n, size_t begin,
                                 uintptr_t memory, char *stream, bool is_pack)
{
    for (size_t i = 0; i < n; i++) {
        const size_t len = ends[i] - begin;
        move_any(plan_place(memory, disps[i]), stream, len, is_pack);
        stream += len;
        begin = ends[i];
    }
}

void strided_blocks(const MPI_Count *disps, const size_t *ends, size_t n, size_t begin, uintptr_t memory,
                    char *stream, bool is_pack)
{
    if (is_pack)
        blocks(disps, ends, n, begin, memory, stream, true);
    else
        blocks(disps, ends, n, begin, memory, stream, false);
}
