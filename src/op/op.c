/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: op. The operators: which types they take, how they are applied, the user's own (MPI 5.0 §6.9).
 * Knows: datatypes by class and kind. Does not know: communication. */
#include "op/int_op.h"

#include <assert.h>
#include <stdio.h>

#include "base/base.h"
#include "base/err.h"

#define CLASS(name) (1u << TYPE_CLASS_##name)

/* MPI 5.0 §6.9.2, the table of operators and types. */
enum {
    ORDERED = CLASS(C_INTEGER) | CLASS(FORTRAN_INTEGER) | CLASS(FLOATING) | CLASS(MULTI_LANGUAGE),
    ARITHMETIC = ORDERED | CLASS(COMPLEX),
    LOGIC = CLASS(C_INTEGER) | CLASS(LOGICAL),
    BITS = CLASS(C_INTEGER) | CLASS(FORTRAN_INTEGER) | CLASS(BYTE) | CLASS(MULTI_LANGUAGE),
    LOCATION = CLASS(PAIR),
};

#define REDUCTION(constant, classes_) { \
        .obj = { .kind = OBJ_OP, .predefined = (uint16_t)(uintptr_t)MPI_##constant }, \
        .is_commutative = true, .classes = (classes_), .kernels = op_kernels[OP_##constant], \
        .name = "MPI_" #constant, \
    }
#define ACCUMULATE_ONLY(constant, commutes) { \
        .obj = { .kind = OBJ_OP, .predefined = (uint16_t)(uintptr_t)MPI_##constant }, \
        .is_commutative = (commutes), .is_accumulate_only = true, .name = "MPI_" #constant, \
    }

static struct op predefined[] = {
    REDUCTION(MAX, ORDERED),
    REDUCTION(MIN, ORDERED),
    REDUCTION(SUM, ARITHMETIC),
    REDUCTION(PROD, ARITHMETIC),
    REDUCTION(LAND, LOGIC),
    REDUCTION(LOR, LOGIC),
    REDUCTION(LXOR, LOGIC),
    REDUCTION(BAND, BITS),
    REDUCTION(BOR, BITS),
    REDUCTION(BXOR, BITS),
    REDUCTION(MAXLOC, LOCATION),
    REDUCTION(MINLOC, LOCATION),
    ACCUMULATE_ONLY(REPLACE, false),
    ACCUMULATE_ONLY(NO_OP, false),
};

static const char *const class_names[] = {
    [TYPE_CLASS_NONE] = "no type with predefined operators",
    [TYPE_CLASS_C_INTEGER] = "C integer",
    [TYPE_CLASS_FORTRAN_INTEGER] = "Fortran integer",
    [TYPE_CLASS_FLOATING] = "floating point",
    [TYPE_CLASS_LOGICAL] = "logical",
    [TYPE_CLASS_COMPLEX] = "complex",
    [TYPE_CLASS_BYTE] = "byte",
    [TYPE_CLASS_MULTI_LANGUAGE] = "multi-language",
    [TYPE_CLASS_TEXT] = "text",
    [TYPE_CLASS_PAIR] = "pair of value and index",
};

static bool is_user(const struct op *op)
{
    return !op->kernels && !op->is_accumulate_only;
}

static COLD int refuse(const struct op *op, const struct type *type)
{
    char allowed[160], name[TYPE_TEXT_MAX];
    size_t len = 0;

    if (op->is_accumulate_only)
        return err(MPI_ERR_OP, "E0371: %s is for one-sided accumulate calls only, not for reductions", op->name);
    for (unsigned c = 0; c < ARRAY_LEN(class_names); c++)
        if (op->classes >> c & 1)
            len += (size_t)snprintf(allowed + len, sizeof allowed - len, "%s%s", len ? ", " : "",
                                    class_names[c]);
    return err(MPI_ERR_OP, "E0371: %s cannot be applied to %s (%s); it takes: %s", op->name,
               type_describe(type, name), class_names[type->type_class], allowed);
}

/* The standard leaves MPI_CHAR to text. Programs reduce it as a small number all the same (some benchmarks do nothing
 * else), and the other libraries let them. */
static COLD bool is_number_by_habit(const struct op *op, const struct type *type)
{
    return type == obj_type(MPI_CHAR) && op->classes >> TYPE_CLASS_C_INTEGER & 1;
}

int op_check(const struct op *op, const struct type *type)
{
    if (likely(op->classes >> type->type_class & 1) || is_user(op) || is_number_by_habit(op, type))
        return 0;
    return refuse(op, type);
}

/* A function that counts in int gets the vector in pieces (§6.9.5). */
static void call_small(const struct op *op, const void *in, void *inout, MPI_Count count,
                       const struct type *type)
{
    while (count > 0) {
        MPI_Datatype handle = (MPI_Datatype)obj_handle(&type->obj);
        int len = count < COUNT_LIMIT ? (int)count : COUNT_LIMIT;
        const uintptr_t step = (uintptr_t)len * (uintptr_t)type->extent;

        count -= len;
        op->user.small((void *)(uintptr_t)in, inout, &len, &handle);
        in = (const void *)((uintptr_t)in + step);
        inout = (void *)((uintptr_t)inout + step);
    }
}

static void call_large(const struct op *op, const void *in, void *inout, MPI_Count count,
                       const struct type *type)
{
    MPI_Datatype handle = (MPI_Datatype)obj_handle(&type->obj);

    if (count > 0)
        op->user.large((void *)(uintptr_t)in, inout, &count, &handle);
}

static NOINLINE void reduce_special(const struct op *op, const void *in, void *inout, MPI_Count count,
                                    const struct type *type)
{
    if (!op->is_accumulate_only && op->is_large)
        call_large(op, in, inout, count, type);
    else if (!op->is_accumulate_only)
        call_small(op, in, inout, count, type);
    else if (op->obj.predefined == (uintptr_t)MPI_REPLACE)
        type_copy(inout, count, type, in, count, type);
}

void op_reduce(const struct op *op, const void *in, void *inout, MPI_Count count, const struct type *type)
{
    if (unlikely(!op->kernels)) {
        reduce_special(op, in, inout, count, type);
        return;
    }
    assert(op->kernels[type->kind]);
    op->kernels[type->kind](in, inout, count);
}

/* A user's datatype may interleave the two buffers, so of them only the beginnings are compared. */
static bool overlaps(const struct op *op, const void *in, const void *inout, MPI_Count count,
                     const struct type *type)
{
    const uintptr_t a = (uintptr_t)in, b = (uintptr_t)inout, distance = a > b ? a - b : b - a;

    if (is_user(op))
        return a == b && type->size > 0;
    return distance < (uintptr_t)count * (uintptr_t)type->extent;
}

int op_reduce_local(const struct op *op, const void *in, void *inout, MPI_Count count,
                    const struct type *type)
{
    const int rc = op_check(op, type);

    if (rc || count == 0)
        return rc;
    if (unlikely(overlaps(op, in, inout, count, type)))
        return err(MPI_ERR_BUFFER, "inbuf and inoutbuf overlap: %lld items of %lld bytes at %p and at %p",
                   (long long)count, (long long)type->extent, in, inout);
    op_reduce(op, in, inout, count, type);
    return 0;
}

static struct op *create(bool is_commutative)
{
    struct op *op = obj_create(OBJ_OP, sizeof *op);

    if (op) {
        op->is_commutative = is_commutative;
        op->name = "a user-defined operator";
    }
    return op;
}

int op_create(MPI_User_function *function, bool is_commutative, struct op **out)
{
    struct op *op = create(is_commutative);

    if (!op)
        return err(MPI_ERR_NO_MEM, "no memory for an operator");
    op->user.small = function;
    *out = op;
    return 0;
}

int op_create_large(MPI_User_function_c *function, bool is_commutative, struct op **out)
{
    struct op *op = create(is_commutative);

    if (!op)
        return err(MPI_ERR_NO_MEM, "no memory for an operator");
    op->is_large = true;
    op->user.large = function;
    *out = op;
    return 0;
}

void op_unref(struct op *op)
{
    if (obj_unref(&op->obj))
        obj_destroy(&op->obj);
}

int op_free(struct op *op)
{
    if (op->obj.predefined)
        return err(MPI_ERR_OP, "E0343: %s is predefined and cannot be freed", op->name);
    op_unref(op);
    return 0;
}

op_kernel_table op_kernels;

void op_choose_isa(enum isa isa)
{
    static const op_kernel_table *const tables[ISAS] = {
        [ISA_BASE] = &op_kernels_base, [ISA_AVX2] = &op_kernels_avx2, [ISA_AVX512] = &op_kernels_avx512,
    };

    for (int code = 0; code < OP_CODES; code++)
        for (int kind = 0; kind < TYPE_KINDS; kind++) {
            op_kernel *const loop = (*tables[isa])[code][kind];

            op_kernels[code][kind] = loop ? loop : op_kernels_wide[code][kind];
        }
}

void op_init(void)
{
    if (!op_kernels[OP_SUM][TYPE_INT32])
        op_choose_isa(isa_best());
    for (size_t i = 0; i < ARRAY_LEN(predefined); i++)
        obj_predefine(&predefined[i].obj, OBJ_OP, predefined[i].obj.predefined);
}
