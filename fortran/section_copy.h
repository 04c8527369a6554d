/* SPDX-License-Identifier: BSD-3-Clause */
/* fortran: copies of array sections, with the elements one after the other in Fortran's order: for one call, or for as
 * long as what it has begun.
 * Knows: the table of the C library's for sections. */
#ifndef FORTRAN_SECTION_COPY_H
#define FORTRAN_SECTION_COPY_H

#include "door/sections.h"
#include "section.h"

/* NULL if the C library is another one, or of another build. */
const struct sections *section_table(void);

struct section_copy {
    struct req_hold hold;      /* of the first of a call's */
    struct section_copy *next; /* of the same call */
    CFI_cdesc_t *array;        /* its own */
    char *data;                /* for the call */
    char *before;              /* what it held before, or NULL: it is not written back */
    size_t len;
    atomic_bool is_in_use;     /* what the call writes has not been written back yet */
};

/* NULL without memory. */
struct section_copy *section_copy_make(const CFI_cdesc_t *array, bool is_out);
/* Written back are the bytes that the call has changed: what lies between may belong to another call by now. */
void section_copy_end(struct section_copy *copy);

#endif
