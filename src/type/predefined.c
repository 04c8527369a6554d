/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: type. The predefined types, as one table (MPI 5.0 §3.2.2, §6.9.4, §20.5).
 *
 * Fortran types are those of a compiler with 4-byte default INTEGER, REAL and LOGICAL on the same machine.
 * A type that the platform lacks stands in the table too: its handle is valid, its size undefined. */
#include "type/type.h"

#include <wchar.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/wide.h"
#include "type/pair.h"

/* Kind of a C integer type by its width; there is no integer type of another width. */
#define INT_KIND(c_type) \
    (sizeof(c_type) == 1 ? TYPE_INT8 : sizeof(c_type) == 2 ? TYPE_INT16 : sizeof(c_type) == 4 ? TYPE_INT32 \
     : sizeof(c_type) == 8 ? TYPE_INT64 : TYPE_INT128)
#define UINT_KIND(c_type) (INT_KIND(c_type) - TYPE_INT8 + TYPE_UINT8)

/* Signatures follow the representation, so that MPI_INT matches MPI_INT32_T and MPI_INTEGER, but letters
 * do not match numbers, nor truth values numbers. */
#define NUMBER(kind) (kind)
#define TRUTH(kind) (0x100 | (kind))
#define TEXT(kind) (0x200 | (kind))
#define MIXED(kind) (0x300 | (kind))

/* Rows name the constant without MPI_: the whole name is a macro, which would be gone before it is made a
 * string. */
#define HANDLE(constant) \
    .obj = { .kind = OBJ_TYPE, .predefined = (uint16_t)(uintptr_t)MPI_##constant }, .name = "MPI_" #constant

#define BASIC(constant, c_type, kind_, class_, signature_) { \
        HANDLE(constant), \
        .size = sizeof(c_type), .extent = sizeof(c_type), .true_extent = sizeof(c_type), \
        .is_contig = true, .is_committed = true, .is_basic = true, .is_supported = true, \
        .signature = (signature_), .kind = (kind_), .type_class = (class_), \
        .blocks = (const struct type_block[]){ { 0, sizeof(c_type), sizeof(c_type) } }, .block_count = 1, \
    }

#define UNSUPPORTED(constant) { HANDLE(constant), .is_contig = true, .is_basic = true }

/* Types that not every compiler has. */
#define OPTIONAL(constant, has, c_type, kind_, class_, signature_) { \
        HANDLE(constant), \
        .size = (has) ? sizeof(c_type) : 0, .extent = (has) ? sizeof(c_type) : 0, \
        .true_extent = (has) ? sizeof(c_type) : 0, \
        .is_contig = true, .is_committed = (has), .is_basic = true, .is_supported = (has), \
        .signature = (has) ? (signature_) : 0, .kind = (has) ? (kind_) : TYPE_OTHER, \
        .type_class = (has) ? (class_) : TYPE_CLASS_NONE, \
        .blocks = (const struct type_block[]){ { 0, sizeof(c_type), sizeof(c_type) } }, \
        .block_count = (has), \
    }

#define MEMBER_SIZE(tag, member) sizeof(((struct tag *)0)->member)

/* Value and index of different types: two runs if there is a gap between them or behind them. */
#define PAIR(constant, tag, kind_) { \
        HANDLE(constant), \
        .size = MEMBER_SIZE(tag, value) + MEMBER_SIZE(tag, index), \
        .extent = sizeof(struct tag), \
        .true_extent = offsetof(struct tag, index) + MEMBER_SIZE(tag, index), \
        .is_contig = sizeof(struct tag) == MEMBER_SIZE(tag, value) + MEMBER_SIZE(tag, index), \
        .is_committed = true, .is_supported = true, \
        .signature = MIXED(kind_), .kind = (kind_), .type_class = TYPE_CLASS_PAIR, \
        .blocks = (const struct type_block[]){ \
            { 0, MEMBER_SIZE(tag, value), MEMBER_SIZE(tag, value) }, \
            { offsetof(struct tag, index), MEMBER_SIZE(tag, index), MEMBER_SIZE(tag, index) }, \
        }, \
        .block_count = 2, \
    }

/* Value and index of the same type: one run of two elements. */
#define TWIN(constant, c_type, kind_, signature_) { \
        HANDLE(constant), \
        .size = 2 * sizeof(c_type), .extent = 2 * sizeof(c_type), .true_extent = 2 * sizeof(c_type), \
        .is_contig = true, .is_committed = true, .is_supported = true, \
        .signature = (signature_), .kind = (kind_), .type_class = TYPE_CLASS_PAIR, \
        .blocks = (const struct type_block[]){ { 0, 2 * sizeof(c_type), sizeof(c_type) } }, \
        .block_count = 1, \
    }

#define C_INT(constant, c_type) \
    BASIC(constant, c_type, INT_KIND(c_type), TYPE_CLASS_C_INTEGER, NUMBER(INT_KIND(c_type)))
#define C_UINT(constant, c_type) \
    BASIC(constant, c_type, UINT_KIND(c_type), TYPE_CLASS_C_INTEGER, NUMBER(UINT_KIND(c_type)))
#define MULTI(constant, c_type) \
    BASIC(constant, c_type, INT_KIND(c_type), TYPE_CLASS_MULTI_LANGUAGE, NUMBER(INT_KIND(c_type)))
#define F_INT(constant, c_type) \
    BASIC(constant, c_type, INT_KIND(c_type), TYPE_CLASS_FORTRAN_INTEGER, NUMBER(INT_KIND(c_type)))
#define TRUTH_VALUE(constant, c_type) \
    BASIC(constant, c_type, UINT_KIND(c_type), TYPE_CLASS_LOGICAL, TRUTH(UINT_KIND(c_type)))
#define LETTER(constant, c_type) \
    BASIC(constant, c_type, INT_KIND(c_type), TYPE_CLASS_TEXT, TEXT(INT_KIND(c_type)))
#define FLOATING(constant, c_type, kind_) BASIC(constant, c_type, kind_, TYPE_CLASS_FLOATING, NUMBER(kind_))
#define COMPLEX_NUMBER(constant, c_type, kind_) \
    BASIC(constant, c_type, kind_, TYPE_CLASS_COMPLEX, NUMBER(kind_))

static struct type predefined[] = {
    BASIC(BYTE, unsigned char, TYPE_UINT8, TYPE_CLASS_BYTE, TYPE_SIGNATURE_ANY),
    BASIC(PACKED, unsigned char, TYPE_OTHER, TYPE_CLASS_NONE, TYPE_SIGNATURE_ANY),
    MULTI(AINT, MPI_Aint),
    MULTI(COUNT, MPI_Count),
    MULTI(OFFSET, MPI_Offset),

    LETTER(CHAR, char),
    LETTER(WCHAR, wchar_t),
    C_INT(SIGNED_CHAR, signed char),
    C_INT(SHORT, short),
    C_INT(INT, int),
    C_INT(LONG, long),
    C_INT(LONG_LONG, long long),
    C_INT(INT8_T, int8_t),
    C_INT(INT16_T, int16_t),
    C_INT(INT32_T, int32_t),
    C_INT(INT64_T, int64_t),
    C_UINT(UNSIGNED_CHAR, unsigned char),
    C_UINT(UNSIGNED_SHORT, unsigned short),
    C_UINT(UNSIGNED, unsigned),
    C_UINT(UNSIGNED_LONG, unsigned long),
    C_UINT(UNSIGNED_LONG_LONG, unsigned long long),
    C_UINT(UINT8_T, uint8_t),
    C_UINT(UINT16_T, uint16_t),
    C_UINT(UINT32_T, uint32_t),
    C_UINT(UINT64_T, uint64_t),
    TRUTH_VALUE(C_BOOL, _Bool),
    TRUTH_VALUE(CXX_BOOL, _Bool),

    FLOATING(FLOAT, float, TYPE_FLOAT),
    FLOATING(DOUBLE, double, TYPE_DOUBLE),
    FLOATING(LONG_DOUBLE, long double, TYPE_LONG_DOUBLE),
    COMPLEX_NUMBER(C_FLOAT_COMPLEX, _Complex float, TYPE_COMPLEX_FLOAT),
    COMPLEX_NUMBER(C_DOUBLE_COMPLEX, _Complex double, TYPE_COMPLEX_DOUBLE),
    COMPLEX_NUMBER(C_LONG_DOUBLE_COMPLEX, _Complex long double, TYPE_COMPLEX_LONG_DOUBLE),
    COMPLEX_NUMBER(CXX_FLOAT_COMPLEX, _Complex float, TYPE_COMPLEX_FLOAT),
    COMPLEX_NUMBER(CXX_DOUBLE_COMPLEX, _Complex double, TYPE_COMPLEX_DOUBLE),
    COMPLEX_NUMBER(CXX_LONG_DOUBLE_COMPLEX, _Complex long double, TYPE_COMPLEX_LONG_DOUBLE),

    PAIR(FLOAT_INT, type_float_int, TYPE_FLOAT_INT),
    PAIR(DOUBLE_INT, type_double_int, TYPE_DOUBLE_INT),
    PAIR(LONG_INT, type_long_int, TYPE_LONG_INT),
    PAIR(SHORT_INT, type_short_int, TYPE_SHORT_INT),
    PAIR(LONG_DOUBLE_INT, type_long_double_int, TYPE_LONG_DOUBLE_INT),
    TWIN(2INT, int, TYPE_INT_INT, NUMBER(TYPE_INT32)),
    TWIN(2INTEGER, int, TYPE_INT_INT, NUMBER(TYPE_INT32)),
    TWIN(2REAL, float, TYPE_FLOAT_FLOAT, NUMBER(TYPE_FLOAT)),
    TWIN(2DOUBLE_PRECISION, double, TYPE_DOUBLE_DOUBLE, NUMBER(TYPE_DOUBLE)),

    LETTER(CHARACTER, char),
    TRUTH_VALUE(LOGICAL, int32_t),
    TRUTH_VALUE(LOGICAL1, int8_t),
    TRUTH_VALUE(LOGICAL2, int16_t),
    TRUTH_VALUE(LOGICAL4, int32_t),
    TRUTH_VALUE(LOGICAL8, int64_t),
    OPTIONAL(LOGICAL16, HAS_INT128, wide_uint, TYPE_UINT128, TYPE_CLASS_LOGICAL, TRUTH(TYPE_UINT128)),
    F_INT(INTEGER, int32_t),
    F_INT(INTEGER1, int8_t),
    F_INT(INTEGER2, int16_t),
    F_INT(INTEGER4, int32_t),
    F_INT(INTEGER8, int64_t),
    OPTIONAL(INTEGER16, HAS_INT128, wide_int, TYPE_INT128, TYPE_CLASS_FORTRAN_INTEGER, NUMBER(TYPE_INT128)),
    FLOATING(REAL, float, TYPE_FLOAT),
    FLOATING(DOUBLE_PRECISION, double, TYPE_DOUBLE),
    UNSUPPORTED(REAL2),
    FLOATING(REAL4, float, TYPE_FLOAT),
    FLOATING(REAL8, double, TYPE_DOUBLE),
    OPTIONAL(REAL16, HAS_FLOAT128, wide_float, TYPE_FLOAT128, TYPE_CLASS_FLOATING, NUMBER(TYPE_FLOAT128)),
    COMPLEX_NUMBER(COMPLEX, _Complex float, TYPE_COMPLEX_FLOAT),
    COMPLEX_NUMBER(DOUBLE_COMPLEX, _Complex double, TYPE_COMPLEX_DOUBLE),
    UNSUPPORTED(COMPLEX4),
    COMPLEX_NUMBER(COMPLEX8, _Complex float, TYPE_COMPLEX_FLOAT),
    COMPLEX_NUMBER(COMPLEX16, _Complex double, TYPE_COMPLEX_DOUBLE),
    OPTIONAL(COMPLEX32, HAS_FLOAT128, wide_complex, TYPE_COMPLEX_FLOAT128, TYPE_CLASS_COMPLEX,
             NUMBER(TYPE_COMPLEX_FLOAT128)),
};

void type_init(void)
{
    for (size_t i = 0; i < ARRAY_LEN(predefined); i++)
        obj_predefine(&predefined[i].obj, OBJ_TYPE, predefined[i].obj.predefined);
}

void type_fini(void)
{
    for (size_t i = 0; i < ARRAY_LEN(predefined); i++) {
        mem_free(predefined[i].user_name);
        predefined[i].user_name = NULL;
    }
}

int type_match_size(int type_class, int size, struct type **out)
{
    static const struct {
        int type_class;
        MPI_Datatype type;
    } candidates[] = {
        { MPI_TYPECLASS_INTEGER, MPI_INTEGER1 },  { MPI_TYPECLASS_INTEGER, MPI_INTEGER2 },
        { MPI_TYPECLASS_INTEGER, MPI_INTEGER4 },  { MPI_TYPECLASS_INTEGER, MPI_INTEGER8 },
        { MPI_TYPECLASS_INTEGER, MPI_INTEGER16 }, { MPI_TYPECLASS_REAL, MPI_REAL4 },
        { MPI_TYPECLASS_REAL, MPI_REAL8 },        { MPI_TYPECLASS_REAL, MPI_REAL16 },
        { MPI_TYPECLASS_COMPLEX, MPI_COMPLEX8 },  { MPI_TYPECLASS_COMPLEX, MPI_COMPLEX16 },
        { MPI_TYPECLASS_COMPLEX, MPI_COMPLEX32 },
    };
    bool has_class = false;

    for (size_t i = 0; i < ARRAY_LEN(candidates); i++) {
        struct type *const type = obj_type(candidates[i].type);

        if (candidates[i].type_class != type_class)
            continue;
        has_class = true;
        if (type->is_supported && type->size == size) {
            *out = type;
            return 0;
        }
    }
    if (!has_class)
        return err(MPI_ERR_ARG, "type class %d is none of MPI_TYPECLASS_INTEGER, _REAL, _COMPLEX",
                   type_class);
    return err(MPI_ERR_ARG, "no Fortran type of %d bytes in type class %d on this platform", size,
               type_class);
}

struct type *type_find_pair(const struct type *value, const struct type *index)
{
    static const struct {
        MPI_Datatype value, index, pair;
    } pairs[] = {
        { MPI_FLOAT, MPI_INT, MPI_FLOAT_INT },
        { MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT },
        { MPI_LONG, MPI_INT, MPI_LONG_INT },
        { MPI_INT, MPI_INT, MPI_2INT },
        { MPI_SHORT, MPI_INT, MPI_SHORT_INT },
        { MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT },
        { MPI_REAL, MPI_REAL, MPI_2REAL },
        { MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_2DOUBLE_PRECISION },
        { MPI_INTEGER, MPI_INTEGER, MPI_2INTEGER },
    };

    for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
        if (obj_type(pairs[i].value) == value && obj_type(pairs[i].index) == index)
            return obj_type(pairs[i].pair);
    return NULL;
}
