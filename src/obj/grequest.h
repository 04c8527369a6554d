/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: obj. Generalized requests (MPI 5.0 §13.2): the user's program does what they stand for, and says when it is
 * done. The three functions of the user are called without locks, in the thread and within the call that needs them;
 * their codes, of MPI or of the user, are passed on. */
#ifndef OBJ_GREQUEST_H
#define OBJ_GREQUEST_H

#include "obj/req.h"

/* A request that is active from now on. Error: MPI_ERR_NO_MEM. */
int grequest_start(MPI_Grequest_query_function *query_fn, MPI_Grequest_free_function *free_fn,
                   MPI_Grequest_cancel_function *cancel_fn, void *extra_state, struct req **out);
/* What it stands for is done. Wakes who waits for it; any thread. One that the user has freed ends here: then what
 * free_fn says. Errors: MPI_ERR_REQUEST if it is no generalized request or complete already. */
int grequest_complete(struct req *req);

/* For wait.c, of a complete one. query_fn fills in the status, which may be NULL; returns what it says. */
int grequest_query(const struct req *req, MPI_Status *status);
/* free_fn, then the request is gone; returns what free_fn says. */
int grequest_end(struct req *req);

/* Gives the pool back if no request is left. */
void grequest_fini(void);

#endif
