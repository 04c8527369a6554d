/* SPDX-License-Identifier: BSD-3-Clause */
/* fortran: functions of the user, called by the C library with arguments of C, from here with those of Fortran
 * (MPI 5.0 §19.3.6), and attributes, which are integers of the size of an address (§19.3.7).
 *
 * mpif.h, mpi and mpi_f08 give callbacks the same arguments: handles and ierror as INTEGER by address.
 * Knows: convert.h. What was handed over is kept until the end of the process, each once: C callbacks may be called
 * as long as an object lives, and nobody tells when it has gone. */
#ifndef FORTRAN_CALLBACKS_H
#define FORTRAN_CALLBACKS_H

#include "convert.h"

/* --- callbacks that get no state: each Fortran function has a C function of its own --- */

/* NULL if there is none left; then the caller fails with too_many_functions(). The large form of an operator differs
 * in the type of `len` only, which is handed on by address. */
MPI_User_function *op_function(fortran_fn fn);
MPI_User_function_c *op_function_c(fortran_fn fn);
MPI_Comm_errhandler_function *comm_error_function(fortran_fn fn);
MPI_Win_errhandler_function *win_error_function(fortran_fn fn);
MPI_File_errhandler_function *file_error_function(fortran_fn fn);
MPI_Session_errhandler_function *session_error_function(fortran_fn fn);
int too_many_functions(void);

/* --- callbacks that get a state: it says which functions, and what their own state is --- */

enum { STATE_FUNCTIONS = 3 };
struct callback_state {
    fortran_fn fn[STATE_FUNCTIONS]; /* in the order of the arguments */
    MPI_Aint extra;
};

/* The one with these contents; NULL without memory. */
struct callback_state *state_of(fortran_fn first, fortran_fn second, fortran_fn third, MPI_Aint extra);

int comm_copy_function(MPI_Comm, int, void *, void *, void *, int *);
int comm_delete_function(MPI_Comm, int, void *, void *);
int type_copy_function(MPI_Datatype, int, void *, void *, void *, int *);
int type_delete_function(MPI_Datatype, int, void *, void *);
int win_copy_function(MPI_Win, int, void *, void *, void *, int *);
int win_delete_function(MPI_Win, int, void *, void *);
int old_copy_function(MPI_Comm, int, void *, void *, void *, int *); /* values are INTEGER */
int old_delete_function(MPI_Comm, int, void *, void *);
int grequest_query_function(void *, MPI_Status *);
int grequest_free_function(void *);
int grequest_cancel_function(void *, int);
int datarep_read_function(void *, MPI_Datatype, int, void *, MPI_Offset, void *);
int datarep_write_function(void *, MPI_Datatype, int, void *, MPI_Offset, void *);
int datarep_read_function_c(void *, MPI_Datatype, MPI_Count, void *, MPI_Offset, void *);
int datarep_write_function_c(void *, MPI_Datatype, MPI_Count, void *, MPI_Offset, void *);
int datarep_extent_function(MPI_Datatype, MPI_Aint *, void *);
/* Whether it is MPI_CONVERSION_FN_NULL or its large form. */
bool is_conversion_null(fortran_fn fn);

/* --- attributes --- */

/* What an attribute of Fortran is for C: a pointer to its value, always the same for the same value. NULL without
 * memory. */
void *attribute_of(MPI_Aint value);
/* What an attribute of C is for Fortran: what a predefined one or one of Fortran points to, else the pointer. */
MPI_Aint attribute_to(int keyval, void *attribute);

#endif
