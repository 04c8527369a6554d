/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: obj. Kinds of memory that buffers may lie in (MPI 5.0 §11.4.3): which of those that are asked for are there. */
#ifndef OBJ_MEMORY_KINDS_H
#define OBJ_MEMORY_KINDS_H

#include <mpi.h>

/* `provided` becomes the kinds of the list `wanted` that are supported, as they are written there, and "mpi" and
 * "system" behind them, if they are missing. `wanted` may be NULL: nothing is asked for. What does not fit is left
 * out. */
void memory_kinds_provide(const char *wanted, char provided[MPI_MAX_INFO_VAL + 1]);

#endif
