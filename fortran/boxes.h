/* SPDX-License-Identifier: BSD-3-Clause */
/* fortran: boxes, in which values of attributes stand that Fortran has set, so that C finds a pointer: one for each
 * value, kept until the end. Callable by any thread at any time. Knows nothing of MPI: the door for MPICH has them,
 * too. */
#ifndef FORTRAN_BOXES_H
#define FORTRAN_BOXES_H

#include <stdint.h>

/* Where the value stands, always the same place for the same value. NULL without memory. */
void *box_of(intptr_t value);
/* What stands in the box; the pointer itself if it leads to none. */
intptr_t box_value(const void *p);

#endif
