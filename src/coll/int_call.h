/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll, private. What stands between a call and its schedule: forms, the table of algorithms and the choice. */
#ifndef COLL_INT_CALL_H
#define COLL_INT_CALL_H

#include "coll/sched.h"

enum coll_form { COLL_BLOCKING, COLL_NONBLOCKING, COLL_PERSISTENT };

/* "MPI_Ibcast" */
const char *coll_name(enum coll_operation operation, enum coll_form form);

/* One way to do an operation. `build` adds the steps of this process to an empty schedule whose communicator and
 * operator are set; it looks at nothing of the communicator but ranks, sizes and topology. */
struct coll_algorithm {
    const char *name; /* for settings and rules */
    void (*build)(struct sched *s, const struct coll_args *args);
};

/* The same one on all processes of the communicator. */
const struct coll_algorithm *coll_choose(const struct comm *comm, const struct coll_args *args);

/* sched_run.c. Do all of it now; blocks. 0 or the first error. */
int sched_run(struct sched *s);
/* An empty schedule that is a request, with a reference to its communicator; NULL: no memory. */
struct sched *sched_create(struct comm *comm, bool is_persistent);
/* Begin it; it goes on whenever something is polled. */
void sched_start(struct sched *s);
/* No request is left: give back what they lay in. */
void sched_close(void);

#endif
