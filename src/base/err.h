/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: base. Error codes and their texts.
 *
 * A code is 14 bits wide, so that it stays below MPI_ERR_LASTCODE (MPI 5.0 §9.4):
 *
 *   bits 13..6  slot of the text made where the fault was found, 1..255; 0: no text of its own
 *   bits  5..0  error class, 0..62
 *
 * The texts stand in a ring of 255 that the whole process shares; an old one gives way to a new one. Codes
 * above MPI_ERR_LASTCODE belong to the user (MPI_Add_error_code) and are not known here. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <mpi.h>

#include "base/base.h"

enum {
    ERR_CLASS_BITS = 6,
    ERR_CLASS_MASK = (1 << ERR_CLASS_BITS) - 1,
    ERR_SLOTS = 255,
    ERR_TEXT_SIZE = MPI_MAX_ERROR_STRING,
};

/* Keep the text and return a code of class `error_class` that leads to it. Thread safe, allocates nothing. A format
 * that begins with "E0123: " gives the error that id, which does not become part of the text; otherwise the id is that
 * of the class (base/diagnostic.h). */
int err(int error_class, const char *format, ...) COLD PRINTF_LIKE(2, 3);

/* The same with a text that is finished, of another process; the id that it may begin with counts. */
int err_told(int error_class, const char *text) COLD;

/* Put "prefix: " in front of the text of `code`, in place, and return the code. Codes without a text get one. */
int err_prefix(int code, const char *prefix) COLD;

/* Put " (on name)" behind it, unless it has the name already, or no text of its own. */
int err_suffix(int code, const char *name) COLD;

/* Class of a code of ours; a bare class is its own class. */
int err_class(int code);

/* Id of an error for diagnostics: of the place that made its text, else that of its class. */
int err_id(int code);

/* Copy the text of `code`, or the general text of its class, into `text`, ended by a zero. */
void err_text(int code, char *text, size_t size);

/* General text of a class; NULL if there is no such class. */
const char *err_class_text(int error_class);

#endif
