/* SPDX-License-Identifier: BSD-3-Clause */
/* What moves transposed matrices, records, words far apart or at many displacements, and long blocks, with every
 * instruction set that this processor has, against a walk over the blocks: whole, and cut at any byte. */
#include <string.h>

#include "base/check.h"
#include "type/int_plan.h"

enum {
    HALF = 80000,      /* bytes on either side of the buffer's address */
    BLOCKS = 4000,
    STREAM = 40000,
    CUTS = 4,
    GAP_BYTE = 0xA5,
};

static struct {
    MPI_Count disp, len;
} blocks[BLOCKS];
static int n_blocks;
static unsigned char memory[2 * HALF], back[2 * HALF], want[2 * HALF], stream[STREAM], packed[STREAM];
static uint32_t state = 1;

static size_t any(size_t below)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
}

static void add(MPI_Count disp, MPI_Count len)
{
    CHECK(n_blocks < BLOCKS && disp >= -HALF && disp + len <= HALF);
    blocks[n_blocks].disp = disp;
    blocks[n_blocks++].len = len;
}

static void check_cut(const struct type *type, MPI_Count count, size_t size, size_t at)
{
    memset(packed, 0, size);
    type_pack(type, memory + HALF, count, 0, packed, at);
    type_pack(type, memory + HALF, count, at, packed + at, size - at);
    CHECK(memcmp(packed, stream, size) == 0);
    memset(back, GAP_BYTE, sizeof back);
    type_unpack(type, back + HALF, count, at, stream + at, size - at);
    type_unpack(type, back + HALF, count, 0, stream, at);
    CHECK(memcmp(back, want, sizeof back) == 0);
}

/* The same through memory that two processes share, near and far. */
static void check_shared(const struct type *type, MPI_Count count, size_t size, size_t at)
{
    for (int is_far = 0; is_far < 2; is_far++) {
        memset(packed, 0, size);
        type_pack_far(type, memory + HALF, count, at, packed + at, size - at, is_far);
        type_pack_far(type, memory + HALF, count, 0, packed, at, is_far);
        CHECK(memcmp(packed, stream, size) == 0);
        memset(back, GAP_BYTE, sizeof back);
        type_unpack_far(type, back + HALF, count, 0, stream, at, is_far);
        type_unpack_far(type, back + HALF, count, at, stream + at, size - at, is_far);
        CHECK(memcmp(back, want, sizeof back) == 0);
    }
}

/* `count` items of the type are the blocks; releases it. */
static void check_type(struct type *type, MPI_Count count)
{
    size_t size = 0;

    memset(want, GAP_BYTE, sizeof want);
    for (int i = 0; i < n_blocks; i++) {
        const size_t at = (size_t)(HALF + blocks[i].disp), len = (size_t)blocks[i].len;
        CHECK(size + len <= STREAM);
        memcpy(stream + size, memory + at, len);
        memcpy(want + at, memory + at, len);
        size += len;
    }
    CHECK_INT(type_bytes(type, count), size);
    for (size_t i = 0; i < CUTS; i++)
        check_cut(type, count, size, i ? any(size + 1) : 0);
    check_shared(type, count, size, any(size + 1));
    CHECK_INT(type_free(type), 0);
    n_blocks = 0;
}

static struct type *vector_of(int combiner, MPI_Count n, MPI_Count length, MPI_Count stride, struct type *old)
{
    struct type *type;

    CHECK_INT(type_vector(combiner, (const MPI_Count[3]){ n, length, stride }, old, false, &type), 0);
    return type;
}

/* A matrix of `rows` rows of `apart` elements, `columns` of which are sent column by column. */
static void one_transpose(MPI_Datatype element, MPI_Count rows, MPI_Count columns, MPI_Count apart)
{
    const MPI_Count len = obj_type(element)->size;
    struct type *const column = vector_of(MPI_COMBINER_VECTOR, rows, 1, apart, obj_type(element));

    for (MPI_Count i = 0; i < columns; i++)
        for (MPI_Count j = 0; j < rows; j++)
            add((i + j * apart) * len, len);
    check_type(vector_of(MPI_COMBINER_HVECTOR, columns, 1, len, column), 1);
    CHECK_INT(type_free(column), 0);
}

static void test_transposes(void)
{
    static const MPI_Datatype elements[] = { MPI_BYTE, MPI_SHORT, MPI_FLOAT, MPI_DOUBLE, MPI_C_DOUBLE_COMPLEX };
    static const int sides[] = { 3, 4, 5, 8, 9, 14 };

    for (size_t e = 0; e < ARRAY_LEN(elements); e++) {
        for (size_t r = 0; r < ARRAY_LEN(sides); r++)
            for (size_t c = 0; c < ARRAY_LEN(sides); c++) {
                one_transpose(elements[e], sides[r], sides[c], sides[c] + (int)any(4));
                one_transpose(elements[e], sides[r], sides[c], -sides[c] - (int)any(4));
            }
        one_transpose(elements[e], 130, 9, 10);
        one_transpose(elements[e], 200, 11, 12);
        one_transpose(elements[e], 200, 5, -5);
    }
}

static void test_pairs(void)
{
    for (int n = 1; n <= 11; n++)
        for (int gap = 0; gap < 40; gap += 13) {
            for (int i = 0; i < n; i++)
                add(i * (16 + gap), 16);
            check_type(vector_of(MPI_COMBINER_HVECTOR, n, 2, 16 + gap, obj_type(MPI_DOUBLE)), 1);
        }
}

/* Words at multiples of 512 bytes, as many as share few sets of the first cache, in one row and in two. */
static void test_apart(void)
{
    for (MPI_Count stride = 512; stride <= 4096; stride *= 2)
        for (MPI_Count n = HALF / stride - 3; n < HALF / stride; n++)
            for (int sign = -1; sign <= 1; sign += 2) {
                for (MPI_Count i = 0; i < n; i++)
                    add(sign * i * stride, 8);
                check_type(vector_of(MPI_COMBINER_HVECTOR, n, 1, sign * stride, obj_type(MPI_DOUBLE)), 1);
                for (MPI_Count i = 0; i < 2 * n; i++)
                    add(sign * (i % n) * stride + (i < n ? 0 : 24), 8);
                struct type *const row = vector_of(MPI_COMBINER_HVECTOR, n, 1, sign * stride, obj_type(MPI_DOUBLE));
                check_type(vector_of(MPI_COMBINER_HVECTOR, 2, 1, 24, row), 1);
                CHECK_INT(type_free(row), 0);
            }
}

/* As many as have a list of their own: words in any order, a multiple of `unit` bytes apart; `blocks` is too small. */
static void one_long_list(MPI_Count unit)
{
    enum { MANY = 9001 };
    static MPI_Aint disps[MANY];
    static double out[MANY], in[3 * MANY], got[3 * MANY];
    const struct type_blocks args = { .combiner = MPI_COMBINER_HINDEXED_BLOCK, .count = MANY, .length = 1,
                                      .disps = TYPE_NUMBERS(disps) };
    struct type *type;

    for (size_t i = 0; i < MANY; i++)
        disps[i] = (MPI_Aint)((i * 4001 % MANY) * 16 + any(16 / (size_t)unit) * (size_t)unit);
    for (size_t i = 0; i < 3 * MANY; i++)
        in[i] = (double)i;
    CHECK_INT(type_indexed(&args, obj_type(MPI_DOUBLE), &type), 0);
    type_pack(type, in, 1, 0, out, 800);
    type_pack(type, in, 1, 800, (char *)out + 800, sizeof out - 800);
    for (size_t i = 0; i < MANY; i++)
        CHECK(memcmp(&out[i], (char *)in + disps[i], sizeof *out) == 0);
    type_unpack(type, got, 1, 0, out, 801);
    type_unpack(type, got, 1, 801, (char *)out + 801, sizeof out - 801);
    for (size_t i = 0; i < MANY; i++)
        CHECK(memcmp(&out[i], (char *)got + disps[i], sizeof *out) == 0);
    CHECK_INT(type_free(type), 0);
}

static void one_record(MPI_Count n, MPI_Count extent)
{
    const int lengths[] = { 1, 1 };
    const MPI_Aint disps[] = { 0, 8 };
    const MPI_Datatype types[] = { MPI_INT, MPI_DOUBLE };
    const struct type_blocks args = { .combiner = MPI_COMBINER_STRUCT, .count = 2, .lengths = TYPE_NUMBERS(lengths),
                                      .disps = TYPE_NUMBERS(disps) };
    struct type *record, *spaced;

    CHECK_INT(type_struct(&args, types, &record), 0);
    CHECK_INT(type_resized(record, 0, extent, false, &spaced), 0);
    CHECK_INT(type_free(record), 0);
    for (MPI_Count i = 0; i < n; i++) {
        add(i * extent, 4);
        add(i * extent + 8, 8);
    }
    check_type(spaced, n);
}

/* Lengths about the limits of what is moved by wide registers, and in any order in memory. */
static void test_blocks(void)
{
    static const int lengths[] = { 32, 33, 63, 64, 65, 100, 127, 128, 129, 200, 1000, 4095, 4096, 4097, 31 };
    int chosen[8];
    MPI_Aint disps[8];

    for (int round = 0; round < 200; round++) {
        const int n = 2 + (int)any(7), most = round % 3 ? 11 : ARRAY_LEN(lengths);
        const struct type_blocks args = { .combiner = MPI_COMBINER_HINDEXED, .count = n,
                                          .lengths = TYPE_NUMBERS(chosen), .disps = TYPE_NUMBERS(disps) };
        struct type *type;

        for (int i = 0; i < n; i++) {
            chosen[i] = lengths[any((size_t)most)];
            disps[i] = (MPI_Aint)((i * 5 % n) * 4200 - 10000 + (int)any(90));
            add(disps[i], chosen[i]);
        }
        CHECK_INT(type_indexed(&args, obj_type(MPI_BYTE), &type), 0);
        check_type(type, 1);
    }
}

/* Evenly apart, in one level and in two. */
static void test_rows(void)
{
    static const MPI_Count lengths[] = { 64, 65, 80, 97, 127, 128, 129, 176, 191, 192, 193, 255, 256, 257 };

    for (size_t i = 0; i < ARRAY_LEN(lengths); i++)
        for (MPI_Count n = 2; n < 6; n++) {
            const MPI_Count len = lengths[i], stride = len + 3 * n;
            struct type *row, *rows;

            CHECK_INT(type_vector(MPI_COMBINER_HVECTOR, (MPI_Count[]){ n, len, stride }, obj_type(MPI_BYTE), false,
                                  &row), 0);
            CHECK_INT(type_vector(MPI_COMBINER_HVECTOR, (MPI_Count[]){ 3, 1, 2000 }, row, false, &rows), 0);
            CHECK_INT(type_free(row), 0);
            for (MPI_Count k = 0; k < 3 * n; k++)
                add(k / n * 2000 + k % n * stride, len);
            check_type(rows, 1);
        }
}

int main(void)
{
    type_init();
    for (size_t i = 0; i < sizeof memory; i++)
        memory[i] = (unsigned char)((i * 37 >> 3) % 251);
    for (int isa = ISA_BASE; isa <= (int)isa_best(); isa++) {
        simd_choose_isa((enum isa)isa);
        test_transposes();
        test_pairs();
        test_apart();
        one_long_list(8);
        one_long_list(4);
        for (MPI_Count n = 1; n <= 21; n++) {
            one_record(n, 16);
            one_record(n, 24);
            one_record(n, -16);
        }
        test_blocks();
        test_rows();
    }
    type_fini();
    obj_fini();
    CHECK_INT(mem_live(), 0);
    return 0;
}
