/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: obj. Memory that the library allocates for the user (MPI 5.0 §9.2). */
#ifndef OBJ_USER_MEMORY_H
#define OBJ_USER_MEMORY_H

#include <mpi.h>
#include <stddef.h>

struct info;

/* `size` bytes, at *(void **)base_out; none: an address that can be freed. The info key mpi_minimum_memory_alignment, a
 * power of two, is followed; it may be NULL. Any thread. Errors: MPI_ERR_NO_MEM; MPI_ERR_INFO_VALUE for an alignment
 * that is none. */
int user_memory_alloc(MPI_Aint size, struct info *info, void *base_out);
/* The alignment that the info asks for, if that is more than *align; NULL: none. Error: MPI_ERR_INFO_VALUE. */
int user_memory_alignment(struct info *info, size_t *align);
/* What user_memory_alloc has given; NULL: nothing. */
void user_memory_free(void *base);

#endif
