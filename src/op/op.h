/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: op. Reduction operators, predefined and made by the user (MPI 5.0 §6.9). */
#ifndef OP_OP_H
#define OP_OP_H

#include "obj/obj.h"
#include "type/type.h"

/* inout[i] = in[i] OP inout[i] for `count` items. */
typedef void op_kernel(const void *in, void *inout, MPI_Count count);

struct op {
    struct obj obj;
    bool is_commutative;
    bool is_accumulate_only;         /* MPI_REPLACE, MPI_NO_OP: one-sided calls only (§12.3.4) */
    bool is_large;                   /* the user's function counts in MPI_Count */
    uint16_t classes;                /* predefined: bit c is set if types of enum type_class c are allowed */
    op_kernel *const *kernels;       /* predefined: TYPE_KINDS of them; NULL for the other two sorts */
    union {
        MPI_User_function *small;
        MPI_User_function_c *large;
    } user;
    const char *name;                /* of a predefined one */
};

/* 0 if a collective reduction may apply `op` to `type`, else MPI_ERR_OP with both names. A user's operator
 * goes with every type; MPI_CHAR counts as a C integer, which the standard does not ask for. */
int op_check(const struct op *op, const struct type *type);

/* inout[i] = in[i] OP inout[i] for `count` items: `in` is the operand of the lower rank (§6.9.5). The pair
 * has passed op_check; the buffers do not overlap, hold whole items with the type's extent, and need no
 * alignment for predefined operators (a user's function gets them as they are). MPI_REPLACE: inout = in.
 * MPI_NO_OP: nothing. A user's function runs inside; hold no lock. */
void op_reduce(const struct op *op, const void *in, void *inout, MPI_Count count, const struct type *type);

/* §6.9.5. One reference goes to the caller. Error: MPI_ERR_NO_MEM. */
int op_create(MPI_User_function *function, bool is_commutative, struct op **out);
int op_create_large(MPI_User_function_c *function, bool is_commutative, struct op **out);
/* The user's MPI_Op_free: drops the handle's reference. Error: MPI_ERR_OP for a predefined one. */
int op_free(struct op *op);

/* Whoever keeps an operator beyond the call holds a reference. */
static inline void op_ref(struct op *op)
{
    obj_ref(&op->obj);
}

void op_unref(struct op *op);

/* §6.9.7 MPI_Reduce_local: check, then reduce. Error: that of op_check; MPI_ERR_BUFFER if the buffers overlap (with a
 * user's operator: if they are one). */
int op_reduce_local(const struct op *op, const void *in, void *inout, MPI_Count count,
                    const struct type *type);

/* Predefined operators into the table of handles; may be called more than once. */
void op_init(void);

#endif
