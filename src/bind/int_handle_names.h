/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: bind. Names of the predefined handles (MPI 5.0 §20.5), for messages; the table is generated from api/. */
#ifndef BIND_INT_HANDLE_NAMES_H
#define BIND_INT_HANDLE_NAMES_H

#include <stdint.h>

/* "MPI_INT" for 521; NULL for values that name nothing. */
const char *bind_handle_name(uintptr_t value);

#endif
