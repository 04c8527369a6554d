/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: bind. From an error code to the user's error handler (MPI 5.0 §9.3). Nothing else in the library calls one. */
#ifndef BIND_INT_RAISE_H
#define BIND_INT_RAISE_H

#include "bind/bind.h"

/* Put "MPI_X: " before the text of `rc`, call the handler of `object` with it, and return the code, which the handler
 * may have changed, if it lets the program go on. `object` is a communicator, window, file or session, or
 * the error handler of one that is being made; NULL: the error belongs to none and
 * goes to MPI_COMM_SELF's handler, or, when MPI does not run, to the initial one. */
int bind_raise(void *object, int rc, const char *function) COLD NOINLINE;

/* The same for a failed call on requests, on the communicator that room obj remembers: the request, and the user's
 * handle of the communicator, may be gone (§7.4.3). */
int bind_raise_request(int rc, const char *function) COLD NOINLINE;

/* The same for a call that ends `object`, a file or a window, which may be gone; takes over its handler as it was
 * before. The user's function gets the null handle then. */
int bind_raise_ended(void *object, struct errhandler *errhandler, int rc, const char *function) COLD NOINLINE;

/* The same for a function that is not there yet. */
int bind_unsupported(void *object, const char *function) COLD NOINLINE;

/* MPI_T functions call no handler and return bare codes (§15.3.10); a bad argument is MPI_T_ERR_INVALID. */
int bind_tool(int rc) COLD NOINLINE;

#endif
