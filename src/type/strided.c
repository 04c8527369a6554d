/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: type. The inner loops: blocks of one length, evenly apart in memory and in the packed stream, in two levels,
 * and blocks at displacements. One loop for each usual length, where the compiler sees the length as a constant;
 * other lengths are copied in pieces of 16 bytes, long ones by memcpy.
 * Knows: nothing but bytes. */
#include <string.h>

#include "base/wide.h"
#include "type/int_move.h"
#include "type/int_plan.h"

enum {
    COLUMNS = 4, /* blocks in a row: taken by columns if there are not more, in at least so many rows */
    MANY_ROWS = 32,
    NEAR = 8192, /* bytes that stay in the first cache */
    /* Blocks a multiple of SAME_SETS bytes apart share few sets of the first cache: all that lie at the same place of a
     * page share one, of SET_LINES lines. */
    SAME_SETS = 512, PAGE = 4096, SET_LINES = 12,
    FEW_MOST = 65536, /* more of them come from memory */
};

/* At any address. */
typedef uint64_t two_words __attribute__((vector_size(16), aligned(1))) MAY_ALIAS;
typedef uint64_t word __attribute__((aligned(1))) MAY_ALIAS;

/* `len` is a constant at each call, 0 for any. */
static ALWAYS_INLINE void move_one(uintptr_t memory, char *stream, size_t len, size_t any_len, bool is_pack)
{
    if (len)
        move(memory, stream, len, is_pack);
    else
        move_any(memory, stream, any_len, is_pack);
}

/* `n` blocks. Four at a time, each of whose addresses is one sum: in a chain of sums each would wait for the last. */
static ALWAYS_INLINE void row(uintptr_t at, uintptr_t stride, char *out, size_t step, size_t n, size_t len,
                              size_t any_len, bool is_pack)
{
    const uintptr_t twice = own_register(2 * stride), thrice = own_register(3 * stride);

    for (; n >= 4; n -= 4, at += 4 * stride, out += 4 * step) {
        move_one(at, out, len, any_len, is_pack);
        move_one(at + stride, out + step, len, any_len, is_pack);
        move_one(at + twice, out + 2 * step, len, any_len, is_pack);
        move_one(at + thrice, out + 3 * step, len, any_len, is_pack);
    }
    for (; n > 0; n--, at += stride, out += step)
        move_one(at, out, len, any_len, is_pack);
}

/* Rows of few blocks: no row is worth a preparation. */
static ALWAYS_INLINE void short_rows(const struct strided *s, uintptr_t memory, char *stream, size_t len, size_t step,
                                     bool is_pack)
{
    const uintptr_t stride = (uintptr_t)s->inner_stride, outer_stride = (uintptr_t)s->outer_stride;
    const size_t inner = s->inner, outer = s->outer, outer_step = s->outer_step, any_len = s->len;

    for (size_t i = 0; i < outer; i++, memory += outer_stride, stream += outer_step) {
        uintptr_t at = memory;
        char *out = stream;
        for (size_t n = inner; n; n--, at += stride, out += step)
            move_one(at, out, len, any_len, is_pack);
    }
}

/* `len` as above; `step` too is a constant if it is not 0. */
static ALWAYS_INLINE void loop(const struct strided *s, uintptr_t memory, char *stream, size_t len, size_t step,
                               bool is_pack)
{
    const size_t apart = step ? step : s->inner_step, inner = s->inner;

    if (inner < 4) {
        short_rows(s, memory, stream, len, apart, is_pack);
        return;
    }
    for (size_t i = 0; i < s->outer; i++)
        row(memory + i * (uintptr_t)s->outer_stride, (uintptr_t)s->inner_stride, stream + i * s->outer_step, apart,
            inner, len, s->len, is_pack);
}

/* Two words of 8 bytes are brought together in a register and stored at once. */
static ALWAYS_INLINE void words(uintptr_t at, uintptr_t stride, char *out, size_t n)
{
    const uintptr_t twice = own_register(2 * stride), thrice = own_register(3 * stride);

    for (; n >= 4; n -= 4, at += 4 * stride, out += 32) {
        *(two_words *)(void *)out = (two_words){ *(const word *)at, *(const word *)(at + stride) };
        *(two_words *)(void *)(out + 16) = (two_words){ *(const word *)(at + twice), *(const word *)(at + thrice) };
    }
    for (; n > 0; n--, at += stride, out += 8)
        memcpy(out, (const void *)at, 8);
}

/* Words whose lines fall into few sets of the first cache, one by one. Stores wait in a row for their lines; four at a
 * time, or lines asked for early, drive out those that its head waits for, on some processors and at some times. */
LINE_OF_CODE static void unpack_apart_8(const void *how, uintptr_t memory, char *stream)
{
    const struct strided *const s = how;
    const uintptr_t stride = (uintptr_t)s->inner_stride;

    for (size_t i = 0; i < s->outer; i++) {
        uintptr_t at = memory + i * (uintptr_t)s->outer_stride;
        const char *in = stream + i * s->outer_step;

#pragma GCC unroll 1
        for (size_t n = s->inner; n; n--, at += stride, in += 8)
            memcpy((void *)at, in, 8);
    }
}

LINE_OF_CODE static void pack_8(const void *how, uintptr_t memory, char *stream)
{
    const struct strided *const s = how;

    for (size_t i = 0; i < s->outer; i++)
        words(memory + i * (uintptr_t)s->outer_stride, (uintptr_t)s->inner_stride, stream + i * s->outer_step,
              s->inner);
}

LINE_OF_CODE static void pack_row_8(const void *how, uintptr_t memory, char *stream)
{
    const struct strided *const s = how;

    words(memory, (uintptr_t)s->inner_stride, stream, s->inner);
}

/* One function for each length; blocks of a loop lie without gaps in the stream, those of a field do not. */
#define PACK_LOOP(len) \
    LINE_OF_CODE static void pack_##len(const void *how, uintptr_t memory, char *stream) \
    { \
        loop(how, memory, stream, len, len, true); \
    }
#define UNPACK_LOOP(len) \
    LINE_OF_CODE static void unpack_##len(const void *how, uintptr_t memory, char *stream) \
    { \
        loop(how, memory, stream, len, len, false); \
    }
/* One row, and its blocks in a row in the stream. */
#define PACK_ROW(len) \
    LINE_OF_CODE static void pack_row_##len(const void *how, uintptr_t memory, char *stream) \
    { \
        const struct strided *const s = how; \
\
        row(memory, (uintptr_t)s->inner_stride, stream, len, s->inner, len, len, true); \
    }
#define UNPACK_ROW(len) \
    LINE_OF_CODE static void unpack_row_##len(const void *how, uintptr_t memory, char *stream) \
    { \
        const struct strided *const s = how; \
\
        row(memory, (uintptr_t)s->inner_stride, stream, len, s->inner, len, len, false); \
    }
#define FIELD_LOOPS(len) \
    LINE_OF_CODE static void pack_field_##len(const void *how, uintptr_t memory, char *stream) \
    { \
        loop(how, memory, stream, len, 0, true); \
    } \
    LINE_OF_CODE static void unpack_field_##len(const void *how, uintptr_t memory, char *stream) \
    { \
        loop(how, memory, stream, len, 0, false); \
    }
PACK_LOOP(0) UNPACK_LOOP(0) FIELD_LOOPS(0)
PACK_LOOP(1) UNPACK_LOOP(1) FIELD_LOOPS(1)
PACK_LOOP(2) UNPACK_LOOP(2) FIELD_LOOPS(2)
PACK_LOOP(4) UNPACK_LOOP(4) FIELD_LOOPS(4)
UNPACK_LOOP(8) FIELD_LOOPS(8)
PACK_LOOP(12) UNPACK_LOOP(12) FIELD_LOOPS(12)
PACK_LOOP(16) UNPACK_LOOP(16) FIELD_LOOPS(16)
PACK_LOOP(24) UNPACK_LOOP(24) FIELD_LOOPS(24)
PACK_LOOP(32) UNPACK_LOOP(32) FIELD_LOOPS(32)
PACK_LOOP(64) UNPACK_LOOP(64) FIELD_LOOPS(64)
PACK_ROW(4) UNPACK_ROW(4)
UNPACK_ROW(8)
PACK_ROW(16) UNPACK_ROW(16)
PACK_ROW(32) UNPACK_ROW(32)
PACK_ROW(64) UNPACK_ROW(64)

enum { LENGTHS = 65, WAYS = 4 };

/* pack, pack a field, unpack, unpack a field */
static move_fn *const loops[LENGTHS][WAYS] = {
#define LOOPS(len) [len] = { pack_##len, pack_field_##len, unpack_##len, unpack_field_##len }
    LOOPS(0), LOOPS(1), LOOPS(2), LOOPS(4), LOOPS(8), LOOPS(12), LOOPS(16), LOOPS(24), LOOPS(32), LOOPS(64),
#undef LOOPS
};

static const struct move_ways row_loops[LENGTHS] = {
#define ROWS(len) [len] = { pack_row_##len, unpack_row_##len }
    ROWS(4), ROWS(8), ROWS(16), ROWS(32), ROWS(64),
#undef ROWS
};

static uint64_t magnitude(MPI_Count value)
{
    return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

/* Are there more blocks in a row than the first cache can keep, as far apart as they are? */
static bool share_sets(const struct strided *s)
{
    const uint64_t stride = magnitude(s->inner_stride), apart = stride & -stride;

    return apart >= SAME_SETS && s->inner <= FEW_MOST && s->inner > SET_LINES * (PAGE / (apart < PAGE ? apart : PAGE));
}

static move_fn *choose(const struct strided *s, bool is_pack)
{
    const size_t row = s->len < LENGTHS && loops[s->len][0] ? s->len : 0;

    if (!is_pack && s->len == 8 && s->inner_step == 8 && share_sets(s))
        return unpack_apart_8;
    if (s->outer == 1 && row && s->inner_step == s->len && row_loops[row].pack)
        return is_pack ? row_loops[row].pack : row_loops[row].unpack;
    return loops[row][(is_pack ? 0 : 2) + (row && s->inner_step != s->len)];
}

/* Few blocks a row and many rows are better taken by columns: the same place of each row in a loop of its own, over so
 * many rows that what they touch stays near. Packing may go in any order; unpacking only if no blocks overlap. */
static bool may_go_by_columns(const struct strided *s, bool is_pack)
{
    const uint64_t apart = magnitude(s->inner_stride), rows = magnitude(s->outer_stride);

    if (s->inner > COLUMNS || s->outer < MANY_ROWS || s->inner < 2)
        return false;
    return is_pack || (apart >= s->len && rows >= (s->inner - 1) * apart + s->len);
}

static void by_columns(const struct strided *s, uintptr_t memory, char *stream, bool is_pack)
{
    const size_t most = size_max(NEAR / (s->inner * s->len), MANY_ROWS);

    for (size_t done = 0, n; done < s->outer; done += n) {
        n = size_min(most, s->outer - done);
        for (size_t j = 0; j < s->inner; j++) {
            const struct strided column = { .outer = 1, .inner = n, .len = s->len, .inner_stride = s->outer_stride,
                                            .inner_step = s->outer_step };
            choose(&column, is_pack)(&column,
                                     memory + done * (uintptr_t)s->outer_stride + j * (uintptr_t)s->inner_stride,
                                     stream + done * s->outer_step + j * s->inner_step);
        }
    }
}

static void pack_columns(const void *how, uintptr_t memory, char *stream)
{
    by_columns(how, memory, stream, true);
}

static void unpack_columns(const void *how, uintptr_t memory, char *stream)
{
    by_columns(how, memory, stream, false);
}

struct move_ways strided_ways(const struct strided *s)
{
    const struct move_ways ways = {
        may_go_by_columns(s, true) ? pack_columns : choose(s, true),
        may_go_by_columns(s, false) ? unpack_columns : choose(s, false),
    };

    return simd_loops(s, ways);
}

/* --- two fields of each item --- */

/* Each place in a register of its own: stores to a sum of two registers are slower on some processors. */
static ALWAYS_INLINE void both_rows(uintptr_t one, uintptr_t two, uintptr_t stride, char *stream, size_t step, size_t n,
                                    size_t first, size_t second, bool is_pack)
{
    uintptr_t next_one = own_register(one + stride), next_two = own_register(two + stride);
    const uintptr_t twice = 2 * stride;

    for (; n >= 2; n -= 2, stream += 2 * step) {
        move(one, stream, first, is_pack);
        move(two, stream + first, second, is_pack);
        move(next_one, stream + step, first, is_pack);
        move(next_two, stream + step + first, second, is_pack);
        one = own_register(one + twice);
        two = own_register(two + twice);
        next_one = own_register(next_one + twice);
        next_two = own_register(next_two + twice);
    }
    if (n) {
        move(one, stream, first, is_pack);
        move(two, stream + first, second, is_pack);
    }
}

/* Items of these two fields and no other have a constant step. */
static ALWAYS_INLINE void both(const struct strided_fields *f, uintptr_t memory, char *stream, size_t first,
                               size_t second, bool is_pack)
{
    const uintptr_t stride = (uintptr_t)f->stride, two = own_register(plan_place(memory, f->second));

    if (f->step == first + second)
        both_rows(memory, two, stride, stream, first + second, f->count, first, second, is_pack);
    else
        both_rows(memory, two, stride, stream, f->step, f->count, first, second, is_pack);
}

/* Lengths 2, 4, 8, 16 in both places. */
#define BOTH(first, second) \
    LINE_OF_CODE static void pack_##first##_##second(const void *how, uintptr_t memory, char *stream) \
    { \
        both(how, memory, stream, first, second, true); \
    } \
    LINE_OF_CODE static void unpack_##first##_##second(const void *how, uintptr_t memory, char *stream) \
    { \
        both(how, memory, stream, first, second, false); \
    }
#define BOTH_ALL(first) BOTH(first, 2) BOTH(first, 4) BOTH(first, 8) BOTH(first, 16)
BOTH_ALL(2)
BOTH_ALL(4)
BOTH_ALL(8)
BOTH_ALL(16)
#undef BOTH

enum { BOTH_LENGTHS = 17 };

static const struct move_ways both_ways[BOTH_LENGTHS][BOTH_LENGTHS] = {
#define BOTH(first, second) [first][second] = { pack_##first##_##second, unpack_##first##_##second }
    BOTH(2, 2), BOTH(2, 4), BOTH(2, 8), BOTH(2, 16), BOTH(4, 2), BOTH(4, 4), BOTH(4, 8), BOTH(4, 16),
    BOTH(8, 2), BOTH(8, 4), BOTH(8, 8), BOTH(8, 16), BOTH(16, 2), BOTH(16, 4), BOTH(16, 8), BOTH(16, 16),
#undef BOTH
};

struct move_ways strided_fields_ways(const struct strided_fields *f)
{
    struct move_ways ways = { NULL, NULL };

    if (f->first_len < BOTH_LENGTHS && f->second_len < BOTH_LENGTHS)
        ways = both_ways[f->first_len][f->second_len];
    return simd_fields(f, ways);
}

/* --- at displacements --- */

/* `len` as in `loop`. */
static ALWAYS_INLINE void even_loop(const struct strided_even *even, uintptr_t memory, char *stream, size_t len,
                                    bool is_pack)
{
    const MPI_Count *const disps = even->disps;
    const size_t n = even->count, any_len = even->len, step = len ? len : any_len;

#pragma GCC unroll 4
    for (size_t i = 0; i < n; i++)
        move_one(plan_place(memory, disps[i]), stream + i * step, len, any_len, is_pack);
}

#define EVEN(len) \
    LINE_OF_CODE static void pack_even_##len(const void *how, uintptr_t memory, char *stream) \
    { \
        even_loop(how, memory, stream, len, true); \
    } \
    LINE_OF_CODE static void unpack_even_##len(const void *how, uintptr_t memory, char *stream) \
    { \
        even_loop(how, memory, stream, len, false); \
    }
EVEN(0) EVEN(1) EVEN(2) EVEN(4) EVEN(16) EVEN(32)
#undef EVEN

/* Four words a turn; `list` is one of displacements, PLACE(i) the address of the next word but i. */
#define EVEN_8(name, list, type) \
    LINE_OF_CODE static void pack_##name(const void *how, uintptr_t memory, char *stream) \
    { \
        const struct strided_even *const even = how; \
        const type *disps = even->list; \
        size_t n = even->count; \
\
        for (; n >= 4; n -= 4, disps += 4, stream += 32) { \
            *(two_words *)(void *)stream = (two_words){ *(const word *)PLACE(0), *(const word *)PLACE(1) }; \
            *(two_words *)(void *)(stream + 16) = (two_words){ *(const word *)PLACE(2), *(const word *)PLACE(3) }; \
        } \
        for (; n > 0; n--, disps++, stream += 8) \
            memcpy(stream, (const void *)PLACE(0), 8); \
    } \
    LINE_OF_CODE static void unpack_##name(const void *how, uintptr_t memory, char *stream) \
    { \
        const struct strided_even *const even = how; \
        const type *disps = even->list; \
        size_t n = even->count; \
\
        for (; n >= 4; n -= 4, disps += 4, stream += 32) { \
            const two_words first = *(const two_words *)(const void *)stream; \
            const two_words second = *(const two_words *)(const void *)(stream + 16); \
            *(word *)PLACE(0) = first[0]; \
            *(word *)PLACE(1) = first[1]; \
            *(word *)PLACE(2) = second[0]; \
            *(word *)PLACE(3) = second[1]; \
        } \
        for (; n > 0; n--, disps++, stream += 8) \
            memcpy((void *)PLACE(0), stream, 8); \
    }
#define PLACE(i) plan_place(memory, disps[i])
EVEN_8(even_8, disps, MPI_Count)
#undef PLACE
#define PLACE(i) plan_place(memory, 8 * (MPI_Count)disps[i])
EVEN_8(words, words, int32_t)
#undef PLACE
#undef EVEN_8

enum { EVEN_LENGTHS = 33 };

static const struct move_ways even_ways[EVEN_LENGTHS] = {
#define EVEN(len) [len] = { pack_even_##len, unpack_even_##len }
    EVEN(0), EVEN(1), EVEN(2), EVEN(4), EVEN(8), EVEN(16), EVEN(32),
#undef EVEN
};

struct move_ways strided_even_ways(const struct strided_even *even)
{
    if (even->words)
        return (struct move_ways){ pack_words, unpack_words };
    return even_ways[even->len < EVEN_LENGTHS && even_ways[even->len].pack ? even->len : 0];
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
