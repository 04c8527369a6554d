/* SPDX-License-Identifier: BSD-3-Clause */
/* fortran: addresses as INTEGER (MPI_ADDRESS, removed by MPI 3.0). An address of today does not fit one, so where it
 * must, addresses are told from a place near the data, and that place is what MPI_BOTTOM means to Fortran from then on:
 * an old program finds differences and absolute addresses right, in 2 GB on either side of it. A program that never
 * calls MPI_ADDRESS has addresses that count from 0, as C.
 * Callable by any thread at any time. Knows: convert.h. */
#ifndef FORTRAN_ADDRESSES_H
#define FORTRAN_ADDRESSES_H

#include "convert.h"

/* What MPI_GET_ADDRESS says for an address of C. */
MPI_Aint address_to(MPI_Aint address);

/* The same as an INTEGER. False, and *number is as it was: it does not fit beside what has been told before. */
bool short_address_to(int *number, MPI_Aint address);

#endif
