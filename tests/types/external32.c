/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §5.3, §14.5.2: external32, byte for byte. Every vector was written down from the standard's table: big-
 * endian, no gaps, long 4 bytes, wchar_t 2, long double binary128. */
#include "mpitest.h"

#include <stdbool.h>
#include <wchar.h>

#if __has_include(<mpix.h>)
#include <mpix.h> /* types that not every MPI has */
#endif

enum { MOST = 64 };

struct vector {
    const char *name;
    MPI_Datatype type;
    const void *value;
    size_t size;           /* in memory; 0: as MPI says */
    const char *bytes;     /* hexadecimal */
};

#define V(type, c_type, value, bytes) { #type, type, &(const c_type){ value }, sizeof(c_type), bytes }
#define W(type, c_type, a, b, bytes) { #type, type, &(const c_type[]){ a, b }, 2 * sizeof(c_type), bytes }

static const struct vector vectors[] = {
    V(MPI_PACKED, char, 0x5A, "5a"),
    V(MPI_BYTE, unsigned char, 0xF0, "f0"),
    V(MPI_CHAR, char, 'A', "41"),
    V(MPI_UNSIGNED_CHAR, unsigned char, 200, "c8"),
    V(MPI_SIGNED_CHAR, signed char, -2, "fe"),
    V(MPI_WCHAR, wchar_t, 0x263A, "263a"),
    V(MPI_SHORT, short, -2, "fffe"),
    V(MPI_UNSIGNED_SHORT, unsigned short, 0x1234, "1234"),
    V(MPI_INT, int, -2, "fffffffe"),
    V(MPI_INT, int, 0x01020304, "01020304"),
    V(MPI_UNSIGNED, unsigned, 0xFEDCBA98u, "fedcba98"),
    V(MPI_LONG, long, -5, "fffffffb"),
    V(MPI_LONG, long, 2147483647, "7fffffff"),
    V(MPI_UNSIGNED_LONG, unsigned long, 0xFEDCBA98u, "fedcba98"),
    V(MPI_LONG_LONG_INT, long long, -2, "fffffffffffffffe"),
    V(MPI_UNSIGNED_LONG_LONG, unsigned long long, 0x0123456789ABCDEFull, "0123456789abcdef"),
    V(MPI_FLOAT, float, 1.0f, "3f800000"),
    V(MPI_FLOAT, float, -0.15625f, "be200000"),
    V(MPI_DOUBLE, double, 1.0, "3ff0000000000000"),
    V(MPI_DOUBLE, double, -3.75, "c00e000000000000"),
    V(MPI_LONG_DOUBLE, long double, 1.0L, "3fff0000000000000000000000000000"),
    V(MPI_LONG_DOUBLE, long double, -3.75L, "c000e000000000000000000000000000"),
    V(MPI_LONG_DOUBLE, long double, 0x1.8p-16382L, "00018000000000000000000000000000"),
    V(MPI_LONG_DOUBLE, long double, __builtin_infl(), "7fff0000000000000000000000000000"),
    V(MPI_C_BOOL, _Bool, 1, "01"),
    V(MPI_C_BOOL, _Bool, 0, "00"),
    V(MPI_CXX_BOOL, _Bool, 1, "01"),
    V(MPI_INT8_T, int8_t, -128, "80"),
    V(MPI_INT16_T, int16_t, 258, "0102"),
    V(MPI_INT32_T, int32_t, -65536, "ffff0000"),
    V(MPI_INT64_T, int64_t, 0x0102030405060708, "0102030405060708"),
    V(MPI_UINT8_T, uint8_t, 255, "ff"),
    V(MPI_UINT16_T, uint16_t, 0xFF00, "ff00"),
    V(MPI_UINT32_T, uint32_t, 0x80000001u, "80000001"),
    V(MPI_UINT64_T, uint64_t, 0x8000000000000001u, "8000000000000001"),
    V(MPI_AINT, MPI_Aint, -3, "fffffffffffffffd"),
    V(MPI_COUNT, MPI_Count, (MPI_Count)1 << 40, "0000010000000000"),
    V(MPI_OFFSET, MPI_Offset, 255, "00000000000000ff"),
    W(MPI_C_COMPLEX, float, 1.0f, -2.0f, "3f800000c0000000"),
    W(MPI_C_FLOAT_COMPLEX, float, 1.0f, -2.0f, "3f800000c0000000"),
    W(MPI_C_DOUBLE_COMPLEX, double, 1.0, -2.0, "3ff0000000000000c000000000000000"),
    W(MPI_C_LONG_DOUBLE_COMPLEX, long double, 1.0L, -2.0L,
      "3fff0000000000000000000000000000c0000000000000000000000000000000"),
    W(MPI_CXX_FLOAT_COMPLEX, float, 0.5f, 0.0f, "3f00000000000000"),
    W(MPI_CXX_DOUBLE_COMPLEX, double, 0.5, 0.0, "3fe00000000000000000000000000000"),
    W(MPI_CXX_LONG_DOUBLE_COMPLEX, long double, 0.5L, 0.0L,
      "3ffe000000000000000000000000000000000000000000000000000000000000"),
    V(MPI_CHARACTER, char, 'z', "7a"),
    V(MPI_LOGICAL, int32_t, 1, "00000001"),
    V(MPI_INTEGER, int32_t, -2, "fffffffe"),
    V(MPI_REAL, float, 2.0f, "40000000"),
    V(MPI_DOUBLE_PRECISION, double, 2.0, "4000000000000000"),
    W(MPI_COMPLEX, float, 2.0f, 1.0f, "400000003f800000"),
    W(MPI_DOUBLE_COMPLEX, double, 2.0, 1.0, "40000000000000003ff0000000000000"),
    V(MPI_LOGICAL1, int8_t, 1, "01"),
    V(MPI_LOGICAL2, int16_t, 1, "0001"),
    V(MPI_LOGICAL4, int32_t, 1, "00000001"),
    V(MPI_LOGICAL8, int64_t, 1, "0000000000000001"),
    W(MPI_LOGICAL16, int64_t, 1, 0, "00000000000000000000000000000001"),
    V(MPI_INTEGER1, int8_t, -1, "ff"),
    V(MPI_INTEGER2, int16_t, 0x0102, "0102"),
    V(MPI_INTEGER4, int32_t, 0x01020304, "01020304"),
    V(MPI_INTEGER8, int64_t, -2, "fffffffffffffffe"),
    W(MPI_INTEGER16, int64_t, 0x0807060504030201, 0x100F0E0D0C0B0A09, "100f0e0d0c0b0a090807060504030201"),
    V(MPI_REAL2, uint16_t, 0x3C01, "3c01"),
#if defined(MPIX_BFLOAT16)
    V(MPIX_C_FLOAT16, uint16_t, 0x3C01, "3c01"),
    V(MPIX_BFLOAT16, uint16_t, 0x3F81, "3f81"),
#endif
    V(MPI_REAL4, float, 1.0f, "3f800000"),
    V(MPI_REAL8, double, 1.0, "3ff0000000000000"),
    W(MPI_REAL16, uint64_t, 0x0807060504030201u, 0x3FFF0E0D0C0B0A09u, "3fff0e0d0c0b0a090807060504030201"),
    W(MPI_COMPLEX4, uint16_t, 0x3C01, 0xC502, "3c01c502"),
    W(MPI_COMPLEX8, float, 1.0f, 2.0f, "3f80000040000000"),
    W(MPI_COMPLEX16, double, 1.0, 2.0, "3ff00000000000004000000000000000"),
    { "MPI_COMPLEX32", MPI_COMPLEX32,
      &(const uint64_t[]){ 0x0807060504030201u, 0x3FFF0E0D0C0B0A09u, 0x1817161514131211u, 0x3FFE1E1D1C1B1A19u },
      4 * sizeof(uint64_t), "3fff0e0d0c0b0a0908070605040302013ffe1e1d1c1b1a191817161514131211" },
    W(MPI_2REAL, float, 1.0f, 2.0f, "3f80000040000000"),
    W(MPI_2DOUBLE_PRECISION, double, 1.0, 2.0, "3ff00000000000004000000000000000"),
    W(MPI_2INTEGER, int32_t, 1, -2, "00000001fffffffe"),
};

struct pair {
    const char *name;
    MPI_Datatype type;
    const void *value;
    size_t size;
    const char *bytes;
};

#define PAIR(type, c_type, a, b, bytes) \
    { #type, type, &(const struct { c_type v; int i; }){ a, b }, sizeof(struct { c_type v; int i; }), bytes }

static const struct pair pairs[] = {
    PAIR(MPI_FLOAT_INT, float, 1.0f, 2, "3f80000000000002"),
    PAIR(MPI_DOUBLE_INT, double, 1.0, 2, "3ff000000000000000000002"),
    PAIR(MPI_LONG_INT, long, -1, 2, "ffffffff00000002"),
    PAIR(MPI_2INT, int, 1, 2, "0000000100000002"),
    PAIR(MPI_SHORT_INT, short, 1, 2, "000100000002"),
    PAIR(MPI_LONG_DOUBLE_INT, long double, 1.0L, 2, "3fff000000000000000000000000000000000002"),
};

static size_t from_hex(const char *text, unsigned char *out)
{
    size_t n = strlen(text) / 2, i;
    unsigned byte;

    for (i = 0; i < n; i++) {
        sscanf(text + 2 * i, "%2x", &byte);
        out[i] = (unsigned char)byte;
    }
    return n;
}

/* Pack, compare; unpack, pack natively, compare with the value packed natively: gaps and unused bytes do not count. */
static void check(const char *name, MPI_Datatype type, const void *value, size_t memory, const char *hex)
{
    unsigned char want[MOST], got[MOST];
    _Alignas(16) unsigned char back[MOST];
    MPI_Aint at = 0, size = -1;
    MPI_Count wide_at = 0, wide_size = -1;
    size_t n = from_hex(hex, want), i;
    int known = 0;

    CHECK_OK(MPI_Type_size(type, &known));
    if (known == MPI_UNDEFINED)
        return; /* an optional type */
    CHECK_OK(MPI_Pack_external_size("external32", 1, type, &size));
    CHECK(size == (MPI_Aint)n, "%s: expected %zu bytes, got %lld", name, n, (long long)size);
    CHECK_OK(MPI_Pack_external_size_c("external32", 1, type, &wide_size));
    CHECK_INT(wide_size, n);
    memset(got, TEST_CANARY, sizeof got);
    CHECK_OK(MPI_Pack_external("external32", value, 1, type, got, size, &at));
    CHECK_INT(at, n);
    for (i = 0; i < n; i++)
        CHECK(got[i] == want[i], "%s: byte %zu: expected %02x, got %02x", name, i, want[i], got[i]);
    CHECK_UNTOUCHED(got + n, sizeof got - n);

    memset(back, TEST_CANARY, sizeof back);
    CHECK_OK(MPI_Unpack_external_c("external32", want, (MPI_Count)n, &wide_at, back, 1, type));
    CHECK_INT(wide_at, n);
    CHECK_UNTOUCHED(back + memory, sizeof back - memory);
    memset(got, 0, sizeof got);
    wide_at = 0;
    CHECK_OK(MPI_Pack_external_c("external32", back, 1, type, got, sizeof got, &wide_at));
    CHECK(memcmp(got, want, n) == 0, "%s: another value after the way back", name);
}

/* Pairs that have no name: value, then index, without the gap (§6.9.4). */
static void check_unnamed_pairs(void)
{
    const struct {
        int64_t value;
        int index;
    } first = { -2, 3 };
    const struct {
        unsigned char value;
        long index;
    } second = { 200, -5 };
    MPI_Datatype type;

    CHECK_OK(MPI_Type_get_value_index(MPI_INT64_T, MPI_INT, &type));
    if (type != MPI_DATATYPE_NULL)
        check("INT64_T and INT", type, &first, sizeof first, "fffffffffffffffe00000003");
    CHECK_OK(MPI_Type_get_value_index(MPI_UNSIGNED_CHAR, MPI_LONG, &type));
    if (type != MPI_DATATYPE_NULL)
        check("UNSIGNED_CHAR and LONG", type, &second, sizeof second, "c8fffffffb");
}

/* Integers that do not fit keep their low bytes and their sign. */
static void check_narrow(void)
{
    const long large = -((long)1 << 40) - 1, positive = ((long)1 << 40) + 0x80000001L;
    unsigned char got[4];
    MPI_Aint at = 0;

    CHECK_OK(MPI_Pack_external("external32", &large, 1, MPI_LONG, got, 4, &at));
    CHECK(memcmp(got, "\xff\xff\xff\xff", 4) == 0, "a large negative number lost its sign: %02x", got[0]);
    at = 0;
    CHECK_OK(MPI_Pack_external("external32", &positive, 1, MPI_LONG, got, 4, &at));
    CHECK(memcmp(got, "\0\0\0\1", 4) == 0, "a large positive number became negative: %02x", got[0]);
}

/* Derived types: element after element, in the order of the type map. */
static void check_derived(void)
{
    const int lengths[] = { 1, 2 };
    const MPI_Aint disps[] = { 8, 0 };
    const MPI_Datatype types[] = { MPI_LONG, MPI_SHORT };
    struct {
        short a[2];
        long b;
    } value[2] = { { { 1, 2 }, 3 }, { { 4, 5 }, -6 } }, back[2];
    static const char want[] = "\0\0\0\3\0\1\0\2\xff\xff\xff\xfa\0\4\0\5";
    MPI_Datatype type, twice;
    MPI_Aint size, at = 0;
    char got[16];

    CHECK_OK(MPI_Type_create_struct(2, lengths, disps, types, &type));
    CHECK_OK(MPI_Type_contiguous(2, type, &twice));
    CHECK_OK(MPI_Type_commit(&twice));
    CHECK_OK(MPI_Pack_external_size("external32", 1, twice, &size));
    CHECK_INT(size, 16);
    CHECK_OK(MPI_Pack_external("external32", value, 1, twice, got, 16, &at));
    CHECK_INT(at, 16);
    CHECK(memcmp(got, want, 16) == 0, "the struct is packed in another way");
    memset(back, 0, sizeof back);
    at = 0;
    CHECK_OK(MPI_Unpack_external("external32", want, 16, &at, back, 1, twice));
    CHECK(back[0].b == 3 && back[1].b == -6 && back[0].a[1] == 2 && back[1].a[1] == 5, "other values came back");
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Type_free(&twice));
}

static void check_errors(void)
{
    int value = 1;
    char out[4];
    MPI_Aint at = 0, size;

    CHECK_CLASS(MPI_Pack_external_size("native", 1, MPI_INT, &size), MPI_ERR_UNSUPPORTED_DATAREP);
    CHECK_CLASS(MPI_Pack_external("internal", &value, 1, MPI_INT, out, 4, &at), MPI_ERR_UNSUPPORTED_DATAREP);
    CHECK_CLASS(MPI_Pack_external("external32", &value, 1, MPI_INT, out, 3, &at), MPI_ERR_TRUNCATE);
    CHECK_INT(at, 0);
    CHECK_CLASS(MPI_Unpack_external("external32", out, 3, &at, &value, 1, MPI_INT), MPI_ERR_TRUNCATE);
    at = 5;
    CHECK_CLASS(MPI_Unpack_external("external32", out, 4, &at, &value, 1, MPI_INT), MPI_ERR_ARG);
}

int main(int argc, char **argv)
{
    size_t i;

    test_begin(&argc, &argv);
    for (i = 0; i < sizeof vectors / sizeof vectors[0]; i++)
        check(vectors[i].name, vectors[i].type, vectors[i].value, vectors[i].size, vectors[i].bytes);
    for (i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        check(pairs[i].name, pairs[i].type, pairs[i].value, pairs[i].size, pairs[i].bytes);
    check_unnamed_pairs();
    check_narrow();
    check_derived();
    check_errors();
    return test_end();
}
