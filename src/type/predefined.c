/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: type. The predefined types, as one table (MPI 5.0 §3.2.2, §6.9.4, §20.5).
 *
 * Fortran types are those of a compiler with 4-byte default INTEGER, REAL and LOGICAL on the same machine.
 * A type that the platform lacks stands in the table too: its handle is valid, its size undefined. */
#include "type/type.h"

#include <mpi_older.h>
#include <mpix.h>
#include <wchar.h>

#include "base/mem.h"
#include "base/wide.h"
#include "obj/attr.h"
#include "type/int_plan.h"
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

/* Rows name the constant without MPI_: the whole name is a macro, which would be gone before it is made a
 * string. */
#define HANDLE(constant) \
    .obj = { .kind = OBJ_TYPE, .predefined = (uint16_t)(uintptr_t)MPI_##constant }, .name = "MPI_" #constant

/* How an element of this kind becomes external32, and in how many bytes: the C type decides, but for three. Complex
 * numbers are two numbers. */
#define SWAP(bytes) \
    ((bytes) == 2 ? FORM_SWAP_2 : (bytes) == 4 ? FORM_SWAP_4 : (bytes) == 8 ? FORM_SWAP_8 \
     : (bytes) == 16 ? FORM_SWAP_16 : FORM_BYTES)
#define UNIT(signature_, c_type, external_, form_) \
    { .signature = (signature_), .size = sizeof(c_type), .external = (external_), .form = (form_), \
      .align = _Alignof(c_type) }

/* Types that the standard does not have (mpix.h). */
#define EXTENSION(constant) \
    .obj = { .kind = OBJ_TYPE, .predefined = (uint16_t)(uintptr_t)MPIX_##constant }, .name = "MPIX_" #constant

/* Types that not every compiler has: `has` is 0 then. */
#define ROW(head, has, c_type, kind_, class_, signature_, external_, form_) { \
        head, \
        .size = (has) ? sizeof(c_type) : 0, .extent = (has) ? sizeof(c_type) : 0, \
        .true_extent = (has) ? sizeof(c_type) : 0, \
        .is_contig = true, .is_committed = (has), .is_basic = true, .is_supported = (has), .is_permanent = true, \
        .kind = (has) ? (kind_) : TYPE_OTHER, .type_class = (has) ? (class_) : TYPE_CLASS_NONE, \
        .units = (const struct type_unit[]){ UNIT(signature_, c_type, external_, form_) }, \
    }

#define SPECIAL(constant, has, c_type, kind_, class_, signature_, external_, form_) \
    ROW(HANDLE(constant), has, c_type, kind_, class_, signature_, external_, form_)

#define BASIC(constant, c_type, kind_, class_, signature_) \
    SPECIAL(constant, 1, c_type, kind_, class_, signature_, sizeof(c_type), SWAP(sizeof(c_type)))

#define OPTIONAL(constant, has, c_type, kind_, class_, signature_) \
    SPECIAL(constant, has, c_type, kind_, class_, signature_, sizeof(c_type), SWAP(sizeof(c_type)))

#define MEMBER_SIZE(tag, member) sizeof(((struct tag *)0)->member)

/* Value and index. Of different types: two runs if there is a gap between them or behind them. */
#define PAIR(constant, tag, kind_, value_unit, index_unit) { \
        HANDLE(constant), \
        .size = MEMBER_SIZE(tag, value) + MEMBER_SIZE(tag, index), \
        .extent = sizeof(struct tag), \
        .true_extent = offsetof(struct tag, index) + MEMBER_SIZE(tag, index), \
        .is_contig = sizeof(struct tag) == MEMBER_SIZE(tag, value) + MEMBER_SIZE(tag, index), \
        .is_committed = true, .is_supported = true, .is_permanent = true, \
        .kind = (kind_), .type_class = TYPE_CLASS_PAIR, \
        .units = (const struct type_unit[]){ value_unit, index_unit }, \
    }

/* Nothing but a bound, for constructors (removed by MPI 3.0; mpi_older.h). */
#define MARK(constant, mark) { \
        HANDLE(constant), \
        .is_contig = true, .is_committed = true, .is_supported = true, .is_permanent = true, \
        .kind = TYPE_OTHER, .type_class = TYPE_CLASS_NONE, .marks = (mark), \
    }

#define INT_UNIT UNIT(NUMBER(INT_KIND(int)), int, sizeof(int), FORM_SWAP_4)
#define FLOAT_UNIT UNIT(NUMBER(TYPE_FLOAT), float, sizeof(float), FORM_SWAP_4)
#define DOUBLE_UNIT UNIT(NUMBER(TYPE_DOUBLE), double, sizeof(double), FORM_SWAP_8)
#define SHORT_UNIT UNIT(NUMBER(INT_KIND(short)), short, sizeof(short), FORM_SWAP_2)
#define LONG_UNIT UNIT(NUMBER(INT_KIND(long)), long, EXTERNAL_LONG, FORM_LONG)
#define LONG_DOUBLE_UNIT UNIT(NUMBER(TYPE_LONG_DOUBLE), long double, EXTERNAL_LONG_DOUBLE, FORM_LONG_DOUBLE)

enum { EXTERNAL_LONG = 4, EXTERNAL_WCHAR = 2, EXTERNAL_LONG_DOUBLE = 16 }; /* bytes in external32 */

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
    SPECIAL(constant, 1, c_type, kind_, TYPE_CLASS_COMPLEX, NUMBER(kind_), sizeof(c_type), SWAP(sizeof(c_type) / 2))
#define COMPLEX_LONG_DOUBLE(constant) \
    SPECIAL(constant, 1, _Complex long double, TYPE_COMPLEX_LONG_DOUBLE, TYPE_CLASS_COMPLEX, \
            NUMBER(TYPE_COMPLEX_LONG_DOUBLE), 2 * EXTERNAL_LONG_DOUBLE, FORM_LONG_DOUBLE)

static struct type predefined[] = {
    BASIC(BYTE, unsigned char, TYPE_UINT8, TYPE_CLASS_BYTE, TYPE_SIGNATURE_ANY),
    BASIC(PACKED, unsigned char, TYPE_OTHER, TYPE_CLASS_NONE, TYPE_SIGNATURE_ANY),
    MULTI(AINT, MPI_Aint),
    MULTI(COUNT, MPI_Count),
    MULTI(OFFSET, MPI_Offset),

    LETTER(CHAR, char),
    SPECIAL(WCHAR, 1, wchar_t, INT_KIND(wchar_t), TYPE_CLASS_TEXT, TEXT(INT_KIND(wchar_t)), EXTERNAL_WCHAR, FORM_WCHAR),
    C_INT(SIGNED_CHAR, signed char),
    C_INT(SHORT, short),
    C_INT(INT, int),
    SPECIAL(LONG, 1, long, INT_KIND(long), TYPE_CLASS_C_INTEGER, NUMBER(INT_KIND(long)), EXTERNAL_LONG, FORM_LONG),
    C_INT(LONG_LONG, long long),
    C_INT(INT8_T, int8_t),
    C_INT(INT16_T, int16_t),
    C_INT(INT32_T, int32_t),
    C_INT(INT64_T, int64_t),
    C_UINT(UNSIGNED_CHAR, unsigned char),
    C_UINT(UNSIGNED_SHORT, unsigned short),
    C_UINT(UNSIGNED, unsigned),
    SPECIAL(UNSIGNED_LONG, 1, unsigned long, UINT_KIND(long), TYPE_CLASS_C_INTEGER, NUMBER(UINT_KIND(long)),
            EXTERNAL_LONG, FORM_UNSIGNED_LONG),
    C_UINT(UNSIGNED_LONG_LONG, unsigned long long),
    C_UINT(UINT8_T, uint8_t),
    C_UINT(UINT16_T, uint16_t),
    C_UINT(UINT32_T, uint32_t),
    C_UINT(UINT64_T, uint64_t),
    TRUTH_VALUE(C_BOOL, _Bool),
    TRUTH_VALUE(CXX_BOOL, _Bool),

    FLOATING(FLOAT, float, TYPE_FLOAT),
    FLOATING(DOUBLE, double, TYPE_DOUBLE),
    SPECIAL(LONG_DOUBLE, 1, long double, TYPE_LONG_DOUBLE, TYPE_CLASS_FLOATING, NUMBER(TYPE_LONG_DOUBLE),
            EXTERNAL_LONG_DOUBLE, FORM_LONG_DOUBLE),
    ROW(EXTENSION(C_FLOAT16), HAS_FLOAT16, half_float, TYPE_FLOAT16, TYPE_CLASS_FLOATING, NUMBER(TYPE_FLOAT16),
        sizeof(half_float), SWAP(sizeof(half_float))),
    ROW(EXTENSION(BFLOAT16), 1, uint16_t, TYPE_BFLOAT16, TYPE_CLASS_FLOATING, NUMBER(TYPE_BFLOAT16), sizeof(uint16_t),
        FORM_SWAP_2),
    COMPLEX_NUMBER(C_FLOAT_COMPLEX, _Complex float, TYPE_COMPLEX_FLOAT),
    COMPLEX_NUMBER(C_DOUBLE_COMPLEX, _Complex double, TYPE_COMPLEX_DOUBLE),
    COMPLEX_LONG_DOUBLE(C_LONG_DOUBLE_COMPLEX),
    COMPLEX_NUMBER(CXX_FLOAT_COMPLEX, _Complex float, TYPE_COMPLEX_FLOAT),
    COMPLEX_NUMBER(CXX_DOUBLE_COMPLEX, _Complex double, TYPE_COMPLEX_DOUBLE),
    COMPLEX_LONG_DOUBLE(CXX_LONG_DOUBLE_COMPLEX),

    PAIR(FLOAT_INT, type_float_int, TYPE_FLOAT_INT, FLOAT_UNIT, INT_UNIT),
    PAIR(DOUBLE_INT, type_double_int, TYPE_DOUBLE_INT, DOUBLE_UNIT, INT_UNIT),
    PAIR(LONG_INT, type_long_int, TYPE_LONG_INT, LONG_UNIT, INT_UNIT),
    PAIR(SHORT_INT, type_short_int, TYPE_SHORT_INT, SHORT_UNIT, INT_UNIT),
    PAIR(LONG_DOUBLE_INT, type_long_double_int, TYPE_LONG_DOUBLE_INT, LONG_DOUBLE_UNIT, INT_UNIT),
    PAIR(2INT, type_int_int, TYPE_INT_INT, INT_UNIT, INT_UNIT),
    PAIR(2INTEGER, type_int_int, TYPE_INT_INT, INT_UNIT, INT_UNIT),
    PAIR(2REAL, type_float_float, TYPE_FLOAT_FLOAT, FLOAT_UNIT, FLOAT_UNIT),
    PAIR(2DOUBLE_PRECISION, type_double_double, TYPE_DOUBLE_DOUBLE, DOUBLE_UNIT, DOUBLE_UNIT),

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
    OPTIONAL(REAL2, HAS_FLOAT16, half_float, TYPE_FLOAT16, TYPE_CLASS_FLOATING, NUMBER(TYPE_FLOAT16)),
    FLOATING(REAL4, float, TYPE_FLOAT),
    FLOATING(REAL8, double, TYPE_DOUBLE),
    OPTIONAL(REAL16, HAS_FLOAT128, wide_float, TYPE_FLOAT128, TYPE_CLASS_FLOATING, NUMBER(TYPE_FLOAT128)),
    COMPLEX_NUMBER(COMPLEX, _Complex float, TYPE_COMPLEX_FLOAT),
    COMPLEX_NUMBER(DOUBLE_COMPLEX, _Complex double, TYPE_COMPLEX_DOUBLE),
    SPECIAL(COMPLEX4, HAS_FLOAT16, half_complex, TYPE_COMPLEX_FLOAT16, TYPE_CLASS_COMPLEX,
            NUMBER(TYPE_COMPLEX_FLOAT16), sizeof(half_complex), FORM_SWAP_2),
    COMPLEX_NUMBER(COMPLEX8, _Complex float, TYPE_COMPLEX_FLOAT),
    COMPLEX_NUMBER(COMPLEX16, _Complex double, TYPE_COMPLEX_DOUBLE),
    SPECIAL(COMPLEX32, HAS_FLOAT128, wide_complex, TYPE_COMPLEX_FLOAT128, TYPE_CLASS_COMPLEX,
            NUMBER(TYPE_COMPLEX_FLOAT128), sizeof(wide_complex), FORM_SWAP_16),

    MARK(LB, TYPE_MARKS_LB),
    MARK(UB, TYPE_MARKS_UB),
};

_Static_assert(sizeof(wide_complex) <= TYPE_ELEMENT_MAX && sizeof(struct type_long_double_int) <= TYPE_ELEMENT_MAX &&
               sizeof(_Complex long double) <= TYPE_ELEMENT_MAX, "the largest");

/* Plans of the predefined types. Those of a pair: two blocks for the map, and for moving bytes one or two. */
static struct predefined_plan {
    struct plan whole, value, index, list;
    const struct plan *children[2];
    MPI_Count disps[2];
    size_t ends[2], external_ends[2];
} plans[ARRAY_LEN(predefined)];

/* A list of value and index, with the nodes for a map, without for bytes. */
static void init_pair_list(struct plan *list, struct predefined_plan *own, bool is_map)
{
    list->kind = is_map ? PLAN_LIST : PLAN_BLOCKS;
    list->count = 2;
    list->blocks = 2;
    list->is_disjoint = !is_map;
    list->disps = own->disps;
    list->ends = own->ends;
    list->external_ends = own->external_ends;
    list->children = own->children;
    list->size = own->ends[1];
    list->high = own->disps[1] + own->index.high;
    list->align = own->value.align > own->index.align ? own->value.align : own->index.align;
    list->elements = 2;
    list->external = own->value.external + own->index.external;
    list->hash = signature_join(own->value.hash, own->index.hash, 1);
    plan_prepare(list);
}

static void init_pair(struct type *type, struct predefined_plan *own)
{
    plan_init_block(&own->value, type->units[0].size, &type->units[0]);
    plan_init_block(&own->index, type->units[1].size, &type->units[1]);
    own->children[0] = &own->value;
    own->children[1] = &own->index;
    own->disps[1] = type->true_extent - type->units[1].size;
    own->ends[0] = own->value.size;
    own->ends[1] = (size_t)type->size;
    own->external_ends[0] = own->value.external;
    own->external_ends[1] = own->value.external + own->index.external;
    type->map.plan = &own->list;
    type->plan.plan = &own->whole;
    if (plan_unit_same(&type->units[0], &type->units[1])) {
        plan_init_block(&own->whole, (size_t)type->size, &type->units[0]);
        type->map = type->plan;
        return;
    }
    init_pair_list(&own->list, own, true);
    if (type->true_extent == type->size)
        plan_init_block(&own->whole, (size_t)type->size, NULL);
    else
        init_pair_list(&own->whole, own, false);
}

static void init_one(struct type *type, struct predefined_plan *own)
{
    obj_predefine(&type->obj, OBJ_TYPE, type->obj.predefined);
    if (!type->is_supported || !type->units)
        return;
    if (type->is_basic) {
        plan_init_block(&own->whole, (size_t)type->size, &type->units[0]);
        type->plan.plan = &own->whole;
        type->map = type->plan;
    } else {
        init_pair(type, own);
    }
    type->signature = signature_of(type->map.plan);
}

size_t unit_number(const struct type_unit *unit)
{
    size_t i = 0;

    while (!unit_of_number(i) || !plan_unit_same(unit, &predefined[i].units[0]))
        i++;
    return i;
}

const struct type_unit *unit_of_number(uint64_t number)
{
    const struct type *const type = number < ARRAY_LEN(predefined) ? &predefined[number] : NULL;

    return type && type->is_basic && type->is_supported ? &type->units[0] : NULL;
}

struct type *predefined_of_kind(enum type_kind kind)
{
    for (size_t i = 0; i < ARRAY_LEN(predefined); i++)
        if (predefined[i].kind == kind && predefined[i].is_supported)
            return &predefined[i];
    return NULL;
}

/* Several types have one; that of C is told rather than MPI_AINT and the like, which stand before. */
const char *type_name_of_signature(uint16_t signature)
{
    const struct type *found = NULL;

    for (size_t i = 0; i < ARRAY_LEN(predefined); i++) {
        const struct type *const type = &predefined[i];

        if (type->is_basic && type->is_supported && type->signature == signature &&
            (!found || found->type_class == TYPE_CLASS_MULTI_LANGUAGE))
            found = type;
    }
    return found ? type_name(found) : NULL;
}

void type_init(void)
{
    simd_choose_isa(isa_best());
    for (size_t i = 0; i < ARRAY_LEN(predefined); i++)
        init_one(&predefined[i], &plans[i]);
}

void type_fini(void)
{
    for (size_t i = 0; i < ARRAY_LEN(predefined); i++) {
        mem_free(predefined[i].user_name);
        predefined[i].user_name = NULL;
        mem_free(atomic_exchange_explicit(&predefined[i].outline, NULL, memory_order_relaxed));
        attr_drop_all(&predefined[i].attrs);
    }
    fortran_fini();
    pair_fini();
}
