/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: rma. Combining data with a target's memory, element by element, so that each element is changed as by one
 * operation at a time (MPI 5.0 §12.3.4, §12.7.1).
 *
 * There are two ways to make that so, and which one serves an element depends on nothing but the window, the element's
 * type and its address, never on the call or the operator; so any calls may meet at an element:
 *
 *   the processor's atomic operations   integers, truth values, letters and bytes of 1, 2, 4 or 8 bytes at an address
 *                                       that is a multiple of that, in windows whose memory all have mapped
 *   the stripe of its address           all other elements, and all in other windows */
#ifndef RMA_COMBINE_H
#define RMA_COMBINE_H

#include "op/op.h"
#include "rma/window.h"

enum { COMBINE_LATER = -1 }; /* a stripe is taken; this process is woken when it is free */

/* Data of the origin, target's memory, result: each a stream of the same elements. */
struct combine {
    struct win *win;
    int rank;                     /* whose memory */
    enum win_way way;             /* directly or by peeking */
    const char *call;             /* in which we may wait; NULL: we may not, then COMBINE_LATER */
    const struct op *op;          /* predefined; allowed for the elements */
    const struct type *element;   /* predefined */
    uint64_t address;             /* of the target's side, there */
    intptr_t shift;               /* directly: from an address there to one here */
    const struct type *type;      /* the target's side */
    MPI_Count count;
    struct win_data from;         /* the origin's side: looked at unless the operator is MPI_NO_OP */
    struct win_data result;       /* type NULL: nobody wants what was there */
    size_t from_at, result_at;    /* where in the target's stream the streams of these begin */
    size_t at, end;               /* bytes of the target's stream to deal with; `at` moves on */
};

/* WIN_REFUSED, or an error: those of win_peek. c->at is behind the last element that has been dealt with. */
int combine_run(struct combine *c);

/* Is an element dealt with by the processor, if it lies here? */
static inline bool combine_is_atomic(const struct win *win, const struct type *element, const void *here)
{
    return win->is_mapped && element->kind >= TYPE_INT8 && element->kind <= TYPE_UINT64 &&
           element->kind != TYPE_INT128 && (uintptr_t)here % (size_t)element->size == 0;
}

/* MPI_Fetch_and_op on such an element: op is MPI_NO_OP, and `from` not looked at, or allowed. `old` may have any
 * alignment. */
void combine_fetch(const struct op *op, const struct type *element, void *here, const void *from, void *old);
/* The same for `len` bytes of elements in a row; `from` NULL: only read; `old` NULL: nobody wants it. */
void combine_fetch_many(const struct op *op, const struct type *element, void *here, const void *from, void *old,
                        size_t len);
/* MPI_Compare_and_swap on such an element. */
void combine_swap(const struct type *element, void *here, const void *from, const void *compare, void *old);
/* MPI_Compare_and_swap on any other, whose memory is reached as c says; c->from and c->result are runs. */
int combine_swap_striped(struct combine *c, const void *compare);

#endif
