/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: base. The form of diagnostics, shared by the library and mpiexec:
 *
 *   E0215: MPI_Recv at app.c:88: cause with the values
 *   remedy
 *
 * Each has an id; diagnostics.txt is the catalogue of all, with causes, remedies and explanations. */
#ifndef BASE_DIAGNOSTIC_H
#define BASE_DIAGNOSTIC_H

#include <stddef.h>

#include "base/base.h"

enum {
    DIAGNOSTIC_ID_LENGTH = 7,        /* of "E0123: " */
    DIAGNOSTIC_CLASS = 200,          /* E0200 plus an error class of MPI: errors without an id of their own */
    DIAGNOSTIC_USER_CODE = 263,      /* codes that the program has added */
};

/* 123, if `text` begins with "E0123: "; else 0. */
int diagnostic_id(const char *text);

/* What to do about it, one line from the catalogue; NULL: it names nothing, or does not know the id. */
const char *diagnostic_remedy(int id);

/* Copy `text` to `out` with " at SITE" behind the name of the function of MPI that it begins with, id apart. As it is
 * if `site` is NULL, or there is no such name. */
void diagnostic_add_site(const char *text, const char *site, char *out, size_t size);

#endif
