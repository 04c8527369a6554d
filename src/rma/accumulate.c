/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: rma. The accumulate family (MPI 5.0 §12.3.4, §12.3.5): what may be combined with what, and the short ways of
 * MPI_Fetch_and_op and MPI_Compare_and_swap, which are one atomic operation of the processor where memory is mapped.
 * Knows: combining, messages. Does not know: how an element is kept whole. */
#include "base/err.h"
#include "rma/combine.h"
#include "rma/favour.h"
#include "rma/int_rma.h"

/* One call. */
struct accumulate {
    const char *name;
    struct win *win;
    const struct win_data *from;    /* looked at unless the operator is MPI_NO_OP */
    const struct win_data *result;  /* NULL: none is wanted */
    const struct win_aim *aim;
    const struct op *op;
    struct req **request;           /* NULL: without */
};

static bool is_no_op(const struct op *op)
{
    return op->obj.predefined == (uintptr_t)MPI_NO_OP;
}

/* --- what may be combined --- */

static COLD int bad_op(const struct accumulate *a)
{
    if (is_no_op(a->op))
        return err(MPI_ERR_OP, "E0850: %s changes the target, so MPI_NO_OP is not for it", a->name);
    return err(MPI_ERR_OP, "E0850: %s takes predefined operators, not one made by MPI_Op_create", a->name);
}

static COLD int no_element(const struct accumulate *a, const char *side, const struct type *type)
{
    char text[TYPE_TEXT_MAX];

    return err(MPI_ERR_TYPE, "E0851: the %s's datatype of %s, %s, is not made of one predefined datatype", side,
               a->name, type_describe(type, text));
}

static COLD int different(const struct accumulate *a, const char *side, const struct type *type,
                          const struct type *target)
{
    return err(MPI_ERR_TYPE, "E0852: %s has elements of %s at the %s's side and of %s at the target's", a->name,
               type_name(type), side, type_name(target));
}

static int check_side(const struct accumulate *a, const char *side, const struct win_data *data,
                      const struct type *target)
{
    const struct type *element;
    const int rc = win_check_sides(data, a->aim);

    if (rc || likely(data->type == target))
        return rc;
    element = type_element(data->type);
    if (!element)
        return no_element(a, side, data->type);
    return likely(type_is_alike(element, target)) ? 0 : different(a, side, element, target);
}

/* The target has some data. */
static int check(const struct accumulate *a, const struct type **element)
{
    int rc = 0;

    *element = type_element(a->aim->type);
    if (!*element)
        return no_element(a, "target", a->aim->type);
    if (!a->op->is_accumulate_only)
        rc = op_check(a->op, *element);
    if (!rc && !is_no_op(a->op))
        rc = check_side(a, "origin", a->from, *element);
    if (!rc && a->result)
        rc = check_side(a, "result", a->result, *element);
    return rc;
}

/* --- any call --- */

/* Our share of a favour. */
static int combine_some(void *arg, char *from, char *result, size_t *at, size_t end)
{
    struct type *const byte = obj_type(MPI_BYTE);
    struct combine c = *(const struct combine *)arg;
    int rc;

    c.from = (struct win_data){ from, (MPI_Count)(end - *at), byte };
    c.result = (struct win_data){ result, (MPI_Count)(end - *at), result ? byte : NULL };
    c.from_at = c.result_at = c.at = *at;
    c.end = end;
    rc = combine_run(&c);
    *at = c.at;
    return rc;
}

/* place->done: as far as it has come. */
static int combine(const struct accumulate *a, struct win_place *place, const struct type *element)
{
    struct combine c = {
        .win = a->win, .rank = a->aim->rank, .way = place->way, .call = a->name, .op = a->op, .element = element,
        .address = place->address, .shift = (intptr_t)((uintptr_t)place->here - (uintptr_t)place->address),
        .type = a->aim->type, .count = a->aim->count, .end = place->bytes,
    };
    int rc;

    if (!is_no_op(a->op))
        c.from = *a->from;
    if (a->result)
        c.result = *a->result;
    if (place->way == WIN_WAY_PEEK && !is_no_op(a->op) && win_favour_pays(a->win, a->aim, place))
        rc = win_favour_run(&(struct win_favour){ a->win, a->aim, place, a->from, a->result, a->op, element, a->name,
                                                  combine_some, &c },
                            &c.at);
    else
        rc = combine_run(&c);
    place->done = c.at;
    return rc;
}

/* Sides without data are equal, too. */
static int check_empty(const struct accumulate *a)
{
    int rc = is_no_op(a->op) ? 0 : win_check_sides(a->from, a->aim);

    return rc || !a->result ? rc : win_check_sides(a->result, a->aim);
}

static int accumulate(const struct accumulate *a)
{
    const struct type *element = NULL;
    struct win_place place;
    int rc = !a->op->obj.predefined || (is_no_op(a->op) && !a->result) ? bad_op(a) : 0;

    if (!rc)
        rc = win_reach(a->win, a->aim, a->request != NULL, &place);
    if (!rc && place.target)
        rc = place.bytes ? check(a, &element) : check_empty(a);
    if (!rc && place.target && place.bytes) {
        if (place.way != WIN_WAY_MESSAGES)
            rc = combine(a, &place, element);
        if (place.way == WIN_WAY_MESSAGES || rc == WIN_REFUSED)
            return win_message_combine(a->win, a->from, a->result, a->aim, &place, a->op, element, a->request);
    }
    if (!rc && a->request)
        *a->request = win_done_request();
    return rc;
}

int win_accumulate(struct win *win, const struct win_data *from, const struct win_aim *to, const struct op *op)
{
    return accumulate(&(struct accumulate){ "MPI_Accumulate", win, from, NULL, to, op, NULL });
}

int win_get_accumulate(struct win *win, const struct win_data *from, const struct win_data *result,
                       const struct win_aim *to, const struct op *op)
{
    return accumulate(&(struct accumulate){ "MPI_Get_accumulate", win, from, result, to, op, NULL });
}

int win_raccumulate(struct win *win, const struct win_data *from, const struct win_aim *to, const struct op *op,
                    struct req **request)
{
    return accumulate(&(struct accumulate){ "MPI_Raccumulate", win, from, NULL, to, op, request });
}

int win_rget_accumulate(struct win *win, const struct win_data *from, const struct win_data *result,
                        const struct win_aim *to, const struct op *op, struct req **request)
{
    return accumulate(&(struct accumulate){ "MPI_Rget_accumulate", win, from, result, to, op, request });
}

/* --- one element --- */

/* Where it lies, if the processor can deal with it there; NULL: look closer. */
static ALWAYS_INLINE void *atomic_place(const struct win *win, const struct win_aim *aim)
{
    const struct win_target *target;
    uint64_t offset;

    if (unlikely((unsigned)aim->rank >= (unsigned)win->size))
        return NULL;
    target = &win->target[aim->rank];
    if (unlikely(!target->base || !(win->is_open | target->access) || !aim->type->is_basic) ||
        unlikely(__builtin_mul_overflow((uint64_t)aim->disp, target->unit, &offset) || offset > target->size ||
                 (uint64_t)aim->type->size > target->size - offset) ||
        unlikely(!combine_is_atomic(win, aim->type, target->base + offset)))
        return NULL;
    return target->base + offset;
}

/* Also for one that has no name (MPI_Type_create_f90_integer). */
static int check_predefined(const char *call, const struct type *type)
{
    char text[TYPE_TEXT_MAX];

    return likely(type->is_permanent) ? 0 : err(MPI_ERR_TYPE, "E0851: %s takes a predefined datatype, not %s", call,
                                                type_describe(type, text));
}

int win_fetch_and_op(struct win *win, const void *from, void *result, const struct win_aim *to, const struct op *op)
{
    void *here = atomic_place(win, to);
    int rc;

    if (likely(here && (op->is_accumulate_only || op->classes >> to->type->type_class & 1))) {
        combine_fetch(op, to->type, here, from, result);
        return 0;
    }
    rc = check_predefined("MPI_Fetch_and_op", to->type);
    if (rc)
        return rc;
    return accumulate(&(struct accumulate){
        .name = "MPI_Fetch_and_op", .win = win, .from = &(struct win_data){ (void *)(uintptr_t)from, 1, to->type },
        .result = &(struct win_data){ result, 1, to->type }, .aim = to, .op = op });
}

/* MPI_CHAR as in reductions: the standard leaves it to text, other libraries take it as a number. */
static bool is_comparable(const struct type *type)
{
    return type->type_class == TYPE_CLASS_C_INTEGER || type->type_class == TYPE_CLASS_FORTRAN_INTEGER ||
           type->type_class == TYPE_CLASS_LOGICAL || type->type_class == TYPE_CLASS_MULTI_LANGUAGE ||
           type->type_class == TYPE_CLASS_BYTE || type == obj_type(MPI_CHAR);
}

static COLD int not_comparable(const struct type *type)
{
    char text[TYPE_TEXT_MAX];

    return err(MPI_ERR_TYPE, "E0853: MPI_Compare_and_swap takes integers, logical types and MPI_BYTE, not %s",
               type_describe(type, text));
}

/* One that is not the processor's to swap. */
static NOINLINE int swap_elsewhere(struct win *win, const void *from, const void *compare, void *result,
                                   const struct win_aim *to)
{
    const struct win_data old = { result, 1, to->type };
    struct win_place place;
    struct combine c;
    int rc = is_comparable(to->type) ? win_reach(win, to, false, &place) : not_comparable(to->type);

    if (rc || !place.target)
        return rc;
    if (place.way == WIN_WAY_MESSAGES)
        return win_message_swap(win, from, compare, &old, to, &place);
    if (place.way == WIN_WAY_DIRECT && combine_is_atomic(win, to->type, place.here)) {
        combine_swap(to->type, place.here, from, compare, result);
        return 0;
    }
    c = (struct combine){ .win = win, .rank = to->rank, .way = place.way, .call = "MPI_Compare_and_swap",
                          .element = to->type, .address = place.address,
                          .from = { (void *)(uintptr_t)from, 1, to->type }, .result = old };
    c.shift = (intptr_t)((uintptr_t)place.here - (uintptr_t)place.address);
    rc = combine_swap_striped(&c, compare);
    return rc == WIN_REFUSED ? win_message_swap(win, from, compare, &old, to, &place) : rc;
}

int win_compare_and_swap(struct win *win, const void *from, const void *compare, void *result, const struct win_aim *to)
{
    void *here = atomic_place(win, to);

    if (unlikely(!here || !is_comparable(to->type)))
        return swap_elsewhere(win, from, compare, result, to);
    combine_swap(to->type, here, from, compare, result);
    return 0;
}
