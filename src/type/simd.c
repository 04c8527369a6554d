/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: type. What wide registers or another order of the loops do faster than the loops of strided.c: transposed
 * matrices, pairs of an int and a double, long blocks. Each is given a plan's ways and gives back better ones.
 * Knows: the plans' forms, the instruction sets. */
#include "base/wide.h"
#include "type/int_move.h"
#include "type/int_plan.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum {
    TILE = 4,          /* words a side */
    LINE_WORDS = 8,
    GROUP = 8,         /* columns that are taken together … */
    LONG_COLUMN = 128, /* … if each has so many elements: more lines than stay near */
};

static enum isa best; /* that may be used; plans keep what was chosen when they were made */

void simd_choose_isa(enum isa isa)
{
    best = isa;
}

static uint64_t magnitude(MPI_Count value)
{
    return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

/* --- columns whose first elements lie side by side --- */

/* Each column is one of the inner loops, so the stream has them one after the other. No two blocks share a byte. */
static bool is_transposed(const struct strided *s)
{
    return s->inner_step == s->len && s->outer_stride == (MPI_Count)s->len && s->outer >= TILE && s->inner >= TILE &&
           magnitude(s->inner_stride) / s->outer >= s->len;
}

/* A few columns at a time, row by row, so that a line is used for all that it has. */
static void by_groups(const struct strided *s, uintptr_t memory, char *stream, bool is_pack)
{
    for (size_t done = 0, n; done < s->outer; done += n) {
        n = size_min(GROUP, s->outer - done);
        const struct strided turned = { .outer = s->inner, .inner = n, .len = s->len,
                                        .outer_stride = s->inner_stride, .inner_stride = s->outer_stride,
                                        .outer_step = s->inner_step, .inner_step = s->outer_step };
        move_way(strided_ways(&turned), &turned, memory + done * s->len, stream + done * s->outer_step, is_pack);
    }
}

static void pack_groups(const void *how, uintptr_t memory, char *stream)
{
    by_groups(how, memory, stream, true);
}

static void unpack_groups(const void *how, uintptr_t memory, char *stream)
{
    by_groups(how, memory, stream, false);
}

#if defined(__x86_64__)

typedef uint64_t words_4 __attribute__((vector_size(32)));
typedef words_4 loose_words_4 __attribute__((aligned(1))) MAY_ALIAS;

/* Four rows of four words become columns. */
ISA_TARGET_AVX2 static ALWAYS_INLINE void tile(uintptr_t from, uintptr_t from_step, uintptr_t to, uintptr_t to_step)
{
    const words_4 a = *(const loose_words_4 *)from, b = *(const loose_words_4 *)(from + from_step);
    const words_4 c = *(const loose_words_4 *)(from + 2 * from_step);
    const words_4 d = *(const loose_words_4 *)(from + 3 * from_step);
    const words_4 even = { 0, 4, 2, 6 }, odd = { 1, 5, 3, 7 }, low = { 0, 1, 4, 5 }, high = { 2, 3, 6, 7 };
    const words_4 ab_even = __builtin_shuffle(a, b, even), ab_odd = __builtin_shuffle(a, b, odd);
    const words_4 cd_even = __builtin_shuffle(c, d, even), cd_odd = __builtin_shuffle(c, d, odd);

    *(loose_words_4 *)to = __builtin_shuffle(ab_even, cd_even, low);
    *(loose_words_4 *)(to + to_step) = __builtin_shuffle(ab_odd, cd_odd, low);
    *(loose_words_4 *)(to + 2 * to_step) = __builtin_shuffle(ab_even, cd_even, high);
    *(loose_words_4 *)(to + 3 * to_step) = __builtin_shuffle(ab_odd, cd_odd, high);
}

/* Words from that column and row on, one by one. */
static NOINLINE void words_left(const struct strided *s, size_t column, size_t columns, size_t row, uintptr_t memory,
                                char *stream, bool is_pack)
{
    for (size_t i = column; i < column + columns; i++)
        for (size_t j = row; j < s->inner; j++)
            move(memory + 8 * i + j * (uintptr_t)s->inner_stride, stream + i * s->outer_step + 8 * j, 8, is_pack);
}

/* Tiles over the columns of a line, along the whole of them. */
ISA_TARGET_AVX2 static ALWAYS_INLINE void tiles(const struct strided *s, uintptr_t memory, char *stream, bool is_pack)
{
    const uintptr_t stride = (uintptr_t)s->inner_stride, step = s->outer_step, packed = (uintptr_t)stream;
    const size_t rows = s->inner / TILE * TILE, columns = s->outer / TILE * TILE;

    for (size_t i = 0, n; i < columns; i += n) {
        n = size_min(LINE_WORDS, columns - i);
        for (size_t j = 0; j < rows; j += TILE)
            for (size_t k = i; k < i + n; k += TILE) {
                const uintptr_t at = memory + 8 * k + j * stride, out = packed + k * step + 8 * j;
                if (is_pack)
                    tile(at, stride, out, step);
                else
                    tile(out, step, at, stride);
            }
        if (rows < s->inner)
            words_left(s, i, n, rows, memory, stream, is_pack);
    }
    if (columns < s->outer)
        words_left(s, columns, s->outer - columns, 0, memory, stream, is_pack);
}

ISA_TARGET_AVX2 LINE_OF_CODE static void pack_tiles(const void *how, uintptr_t memory, char *stream)
{
    tiles(how, memory, stream, true);
}

ISA_TARGET_AVX2 LINE_OF_CODE static void unpack_tiles(const void *how, uintptr_t memory, char *stream)
{
    tiles(how, memory, stream, false);
}

/* --- an int, a gap and a double, and nothing else --- */

enum { GAPPED = 12, GAP = 4, RECORD = 16 };

typedef char bytes_16 __attribute__((vector_size(16)));
typedef bytes_16 loose_bytes_16 __attribute__((aligned(1))) MAY_ALIAS;

static ALWAYS_INLINE void records_left(size_t n, uintptr_t memory, uintptr_t stride, char *stream, bool is_pack)
{
    for (; n > 0; n--, memory += stride, stream += GAPPED) {
        move(memory, stream, GAP, is_pack);
        move(memory + 2 * GAP, stream + GAP, GAPPED - GAP, is_pack);
    }
}

/* One load, one shuffle and one store for both fields. The store covers bytes of the next item too, which come later,
 * so the last ones go the other way. What lies in the gap is read and does not matter; another thread may be writing
 * it. */
ISA_TARGET_AVX2 NO_TSAN LINE_OF_CODE static void pack_shuffled(const void *how, uintptr_t memory, char *stream)
{
    const bytes_16 places = { 0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15, 0, 0, 0, 0 };
    const struct strided_fields *const f = how;
    const uintptr_t stride = (uintptr_t)f->stride;
    size_t n = f->count;

    for (; n >= 4; n -= 2, memory += 2 * stride, stream += 2 * GAPPED) {
        const bytes_16 first = *(const loose_bytes_16 *)memory;
        const bytes_16 second = *(const loose_bytes_16 *)(memory + stride);
        *(loose_bytes_16 *)(void *)stream = __builtin_shuffle(first, places);
        *(loose_bytes_16 *)(void *)(stream + GAPPED) = __builtin_shuffle(second, places);
    }
    records_left(n, memory, stride, stream, true);
}

/* Four records that touch: one store under a mask, which leaves the gaps alone. */
ISA_TARGET_AVX512 LINE_OF_CODE static void unpack_masked(const void *how, uintptr_t memory, char *stream)
{
    const __m512i places = _mm512_setr_epi32(0, 0, 1, 2, 3, 3, 4, 5, 6, 6, 7, 8, 9, 9, 10, 11);
    const struct strided_fields *const f = how;
    const __mmask16 fields = 0xdddd, packed = 0x0fff;
    size_t n = f->count;

    for (; n >= 4; n -= 4, memory += 4 * RECORD, stream += 4 * GAPPED)
        _mm512_mask_storeu_epi32((void *)memory, fields,
                                 _mm512_permutexvar_epi32(places, _mm512_maskz_loadu_epi32(packed, stream)));
    records_left(n, memory, RECORD, stream, false);
}

struct move_ways simd_fields(const struct strided_fields *f, struct move_ways ways)
{
    if (f->first_len != GAP || f->second_len != GAPPED - GAP || f->second != 2 * GAP || f->step != GAPPED)
        return ways;
    if (best >= ISA_AVX2)
        ways.pack = pack_shuffled;
    if (best >= ISA_AVX512 && f->stride == RECORD)
        ways.unpack = unpack_masked;
    return ways;
}

/* --- blocks of some length at displacements --- */

enum { WIDE_END = 4096, ROW_END = 256 };

/* One piece of `width` bytes. */
#define PIECE_OF(width, target) \
    typedef char bytes_##width __attribute__((vector_size(width))); \
    typedef bytes_##width loose_bytes_##width __attribute__((aligned(1))) MAY_ALIAS; \
    target static ALWAYS_INLINE void piece_##width(uintptr_t from, uintptr_t to) \
    { \
        *(loose_bytes_##width *)to = *(const loose_bytes_##width *)from; \
    }
PIECE_OF(32, ISA_TARGET_AVX2)
PIECE_OF(64, ISA_TARGET_AVX512)
#undef PIECE_OF

/* Pieces of 32 bytes, the last of which may lie over the one before. */
ISA_TARGET_AVX2 static ALWAYS_INLINE void block_by_32(uintptr_t from, uintptr_t to, size_t len)
{
    for (size_t done = 0; done < len - 32; done += 32)
        piece_32(from + done, to + done);
    piece_32(from + len - 32, to + len - 32);
}

/* Loaded before one is stored: a load from an address whose lower bits are those of a store just made waits for it. */
ISA_TARGET_AVX512 static ALWAYS_INLINE void three_pieces(uintptr_t from, uintptr_t to)
{
    const bytes_64 a = *(const loose_bytes_64 *)from, b = *(const loose_bytes_64 *)(from + 64);
    const bytes_64 c = *(const loose_bytes_64 *)(from + 128);

    *(loose_bytes_64 *)to = a;
    *(loose_bytes_64 *)(to + 64) = b;
    *(loose_bytes_64 *)(to + 128) = c;
}

/* What is left, by the smallest piece that does it: a store across two lines of the cache costs twice. */
ISA_TARGET_AVX512 static ALWAYS_INLINE void last_piece(uintptr_t from, uintptr_t to, size_t len)
{
    const size_t left = len % 64;

    if (left > 32)
        piece_64(from + len - 64, to + len - 64);
    else if (left > PIECE)
        piece_32(from + len - 32, to + len - 32);
    else if (left > 0)
        memcpy((void *)(to + len - PIECE), (const void *)(from + len - PIECE), PIECE);
}

ISA_TARGET_AVX512 static ALWAYS_INLINE void block_by_64(uintptr_t from, uintptr_t to, size_t len)
{
    for (; len >= 256; len -= 192, from += 192, to += 192)
        three_pieces(from, to);
    if (len >= 192) {
        three_pieces(from, to);
    } else {
        piece_64(from, to);
        if (len >= 128)
            piece_64(from + 64, to + 64);
    }
    last_piece(from, to, len);
}

/* The way there and back over the blocks of a list, in its order or from the last one on. */
#define BLOCKS_BY(width, target, name, step) \
    target LINE_OF_CODE static void name##_by_##width(const void *how, uintptr_t memory, char *stream) \
    { \
        const struct strided_runs *const runs = how; \
        const struct strided_run *const run = runs->at; \
        const size_t n = runs->count; \
\
        step(block_by_##width); \
    }
#define PACK_EACH(block) \
    for (size_t i = 0; i < n; i++) \
        block(plan_place(memory, run[i].disp), (uintptr_t)stream + run[i].begin, run[i].len)
#define UNPACK_EACH(block) \
    for (size_t i = 0; i < n; i++) \
        block((uintptr_t)stream + run[i].begin, plan_place(memory, run[i].disp), run[i].len)
#define UNPACK_FROM_LAST(block) \
    for (size_t i = n; i-- > 0;) \
        block((uintptr_t)stream + run[i].begin, plan_place(memory, run[i].disp), run[i].len)
BLOCKS_BY(32, ISA_TARGET_AVX2, pack, PACK_EACH)
BLOCKS_BY(32, ISA_TARGET_AVX2, unpack, UNPACK_EACH)
BLOCKS_BY(64, ISA_TARGET_AVX512, pack, PACK_EACH)
BLOCKS_BY(64, ISA_TARGET_AVX512, unpack, UNPACK_EACH)
BLOCKS_BY(64, ISA_TARGET_AVX512, unpack_back, UNPACK_FROM_LAST)
#undef BLOCKS_BY
#undef PACK_EACH
#undef UNPACK_EACH
#undef UNPACK_FROM_LAST

/* Blocks evenly apart, too long for a loop of their own, and so short that each call of memcpy counts. */
#define ROWS_BY_64(name, block) \
    ISA_TARGET_AVX512 LINE_OF_CODE static void name(const void *how, uintptr_t memory, char *stream) \
    { \
        const struct strided *const s = how; \
\
        for (size_t i = 0; i < s->outer; i++) { \
            uintptr_t at = memory + i * (uintptr_t)s->outer_stride; \
            uintptr_t in = (uintptr_t)stream + i * s->outer_step; \
            for (size_t n = s->inner; n > 0; n--, at += (uintptr_t)s->inner_stride, in += s->inner_step) \
                block; \
        } \
    }
ROWS_BY_64(pack_rows, block_by_64(at, in, s->len))
ROWS_BY_64(unpack_rows, block_by_64(in, at, s->len))
#undef ROWS_BY_64

static struct move_ways x86_loops(const struct strided *s, struct move_ways ways)
{
    if (best >= ISA_AVX2 && s->len == 8 && is_transposed(s))
        return (struct move_ways){ pack_tiles, unpack_tiles };
    if (best >= ISA_AVX512 && s->len > 64 && s->len <= ROW_END)
        return (struct move_ways){ pack_rows, unpack_rows };
    return ways;
}

bool simd_takes_blocks(const struct plan *plan)
{
    const size_t width = best == ISA_AVX512 ? 64 : 32;

    for (size_t i = 0; best > ISA_BASE && i < (size_t)plan->count; i++) {
        const size_t len = plan->ends[i] - plan_begin(plan, i);
        if (len < width || len > WIDE_END)
            return false;
    }
    return best > ISA_BASE;
}

/* Data mostly lie farther on in memory than in the stream: from the last block on no load meets the last stores. */
struct move_ways simd_blocks(const struct plan *plan)
{
    if (best < ISA_AVX512)
        return (struct move_ways){ pack_by_32, unpack_by_32 };
    return (struct move_ways){ pack_by_64, plan->is_disjoint ? unpack_back_by_64 : unpack_by_64 };
}

#else

static struct move_ways x86_loops(const struct strided *s, struct move_ways ways)
{
    (void)s;
    return ways;
}

struct move_ways simd_fields(const struct strided_fields *f, struct move_ways ways)
{
    (void)f;
    return ways;
}

bool simd_takes_blocks(const struct plan *plan)
{
    (void)plan;
    return false;
}

struct move_ways simd_blocks(const struct plan *plan)
{
    (void)plan;
    return (struct move_ways){ NULL, NULL };
}

#endif

struct move_ways simd_loops(const struct strided *s, struct move_ways ways)
{
    if (s->len <= PIECE && s->inner >= LONG_COLUMN && is_transposed(s))
        ways = (struct move_ways){ pack_groups, unpack_groups };
    return x86_loops(s, ways);
}
