/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: bind. What the lines of calls/ need besides the rooms below: error handlers, error classes and codes of the
 * user, handles as integers, the facts about the ABI. Everything is thread safe and callable at any time. */
#ifndef BIND_BIND_H
#define BIND_BIND_H

#include "base/err.h"
#include "obj/errhandler.h"
#include "obj/info.h"
#include "obj/obj.h"

struct comm;
struct type;

/* --- error handlers (raise.c) --- */

/* Call the handler of `object` with a code of the user's; returns when the handler does (§9.5.2). */
void bind_call_errhandler(void *object, int code);

/* MPI_Abort (§9.7), called from `caller`, a return address: it may stand in a signal handler, so nothing is unwound.
 * The whole job ends, whatever the communicator: the processes of one alone cannot be ended. */
_Noreturn void bind_abort(const struct comm *comm, int code, const void *caller);

/* Attach a handler; the object holds a reference to it, and drops that to the old one. Error: MPI_ERR_ERRHANDLER if
 * it is made for another kind of object. */
int bind_set_errhandler(void *object, struct errhandler *errhandler);
/* The handler attached, with a new reference. */
struct errhandler *bind_get_errhandler(void *object);
/* A handler that calls the user's function on objects of a kind (§9.3.1 to §9.3.4). */
int bind_create_errhandler(enum obj_kind kind, void (*function)(void), struct errhandler **out);

/* --- error classes, codes, strings (error.c, §9.4, §9.5.1) --- */

/* MPI_LASTUSEDCODE follows what is added and removed.
 * Errors of all: MPI_ERR_ARG for what is no error code or class, or was not added by the user; MPI_ERR_NO_MEM. */
int bind_error_class(int code, int *error_class);
/* `text` has room for MPI_MAX_ERROR_STRING. */
int bind_error_string(int code, char *text, int *length);
int bind_add_error_class(int *error_class);
int bind_add_error_code(int error_class, int *code);
int bind_add_error_string(int code, const char *text);
/* In the order string, code, class: what others still stand on cannot be removed. */
int bind_remove_error_class(int error_class);
int bind_remove_error_code(int code);
int bind_remove_error_string(int code);
/* Text of any code whatever; says so if it is no code. */
void bind_error_text(int code, char *text, size_t size);

/* --- packing (packing.c, §5.2) --- */

struct bind_packing {
    const struct comm *comm;
    const struct type *type;
    MPI_Count size;      /* of the buffer */
    MPI_Count *position; /* in it; moves on */
};

/* Errors: as type_pack_into and type_pack_size. */
int bind_pack(const struct bind_packing *args, const void *in, MPI_Count count, void *out);
int bind_unpack(const struct bind_packing *args, const void *in, void *out, MPI_Count count);
int bind_pack_size(const struct comm *comm, MPI_Count count, const struct type *type, MPI_Count *size);

/* --- handles as integers (handle_int.c, §20.4.5) --- */

/* The same int for the same handle at every call; a predefined handle is its own value. */
int bind_handle_to_int(uintptr_t handle);
/* The handle of an int that bind_handle_to_int gave, or 0, which is never a handle. */
uintptr_t bind_int_to_handle(int value);

/* --- facts about the library and the ABI (abi.c, §9.1.1, §20.2, §20.4.1) --- */

extern const char bind_version[]; /* "0.1.0"; version.c.in */
void bind_library_version(char *text, int *length);
int bind_abi_info(struct info **out);
/* NULL when nobody has told the library. */
int bind_get_fortran_info(struct info **out);
/* The first call counts; MPI_ERR_ABI from all others. */
int bind_set_fortran_info(struct info *info);
int bind_set_fortran_booleans(int size, const void *is_true, const void *is_false);
int bind_get_fortran_booleans(int size, void *is_true, void *is_false, int *is_set);

/* Make the status say that `count` basic elements came (set_elements.c, §13.3). Errors: as type_element_bytes. */
int bind_set_elements(MPI_Status *status, const struct type *type, MPI_Count count);

#endif
