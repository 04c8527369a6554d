/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: obj. Memory that the library allocates for the user (MPI 5.0 §9.2). */
#ifndef OBJ_USER_MEMORY_H
#define OBJ_USER_MEMORY_H

#include <mpi.h>

struct info;

/* `size` bytes, at *(void **)base_out; none: an address that can be freed. The info key mpi_minimum_memory_alignment, a
 * power of two, is followed; it may be NULL. Any thread. Errors: MPI_ERR_NO_MEM; MPI_ERR_INFO_VALUE for an alignment
 * that is none. */
int user_memory_alloc(MPI_Aint size, struct info *info, void *base_out);
/* What that has given; NULL: nothing. */
void user_memory_free(void *base);

#endif
