/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll, private. What stands between a call and its schedule: forms, the table of algorithms and the choice. */
#ifndef COLL_INT_CALL_H
#define COLL_INT_CALL_H

#include "coll/sched.h"

enum coll_form { COLL_BLOCKING, COLL_NONBLOCKING, COLL_PERSISTENT };

/* "MPI_Ibcast" */
const char *coll_name(enum coll_operation operation, enum coll_form form);

/* What an algorithm asks for. */
enum coll_needs {
    COLL_NEEDS_POWER = 1,        /* as many processes as a power of two */
    COLL_NEEDS_EVEN = 2,         /* an even number of processes, or one */
    COLL_NEEDS_COMMUTATIVE = 4,  /* an operator that commutes */
    COLL_NEEDS_RUNS = 8,         /* that, or nodes that are runs of ranks */
    COLL_NEEDS_IN_PLACE = 16,
    COLL_NEEDS_OUT_OF_PLACE = 32,
    COLL_NEEDS_NODE_RUNS = 64,   /* nodes that are runs of ranks */
};

typedef void coll_build_fn(struct sched *s, const struct coll_args *args);

/* One way to do some operations. `build` adds the steps of this process to an empty schedule whose communicator,
 * operator and parameter are set; it looks at nothing of the communicator but ranks, sizes and topology. */
struct coll_algorithm {
    const char *name;            /* for settings and rules */
    coll_build_fn *build;
    uint32_t operations;         /* a bit each */
    uint8_t needs;
    const char *parameter_name;  /* NULL: none */
    long parameter, least, most; /* what it is if nobody says, and what it may be */
};

/* All of them for intracommunicators without neighborhoods; for each operation the first one that needs nothing can
 * always be used. */
extern const struct coll_algorithm coll_algorithms[];
extern const int coll_algorithm_count;

/* What a choice depends on; all processes see the same. */
struct coll_shape {
    enum coll_operation operation;
    int ranks, nodes;
    size_t bytes;                /* coll_shape_of: of a block, of a vector; of all blocks together in allgatherv,
                                  * reduce_scatter; 0 where not all know it */
    bool is_commutative;
    bool is_in_place;
    bool has_runs;               /* nodes are runs of ranks */
    bool is_crowded;             /* ranks share processors; of those on several nodes it is not said */
    int node_ranks;              /* on the node that has most */
};

struct coll_choice {
    const struct coll_algorithm *algorithm;
    long parameter;
};

/* Why an algorithm cannot do this; NULL: it can. Says nothing about the operation. */
const char *coll_why_not(const struct coll_algorithm *algorithm, const struct coll_shape *shape);
/* "name" or "name:parameter" of `len` bytes among the algorithms of an operation. False: there is none, or not with
 * such a parameter. */
bool coll_find_algorithm(enum coll_operation operation, const char *text, size_t len, struct coll_choice *choice);
/* The names of the algorithms of an operation, with their parameters, into `text`. */
void coll_list_algorithms(enum coll_operation operation, char *text, size_t size);
/* The operation with this name of `len` bytes ("bcast"), or COLL_OPERATIONS. */
enum coll_operation coll_find_operation(const char *text, size_t len);

/* The same one on all processes of the communicator. Error: MPI_ERR_OTHER if the user has asked for one that cannot
 * do this. */
int coll_choose(struct comm *comm, const struct coll_args *args, struct coll_choice *choice);
/* `bytes` of the shape of a call. */
size_t coll_choice_bytes(const struct comm *comm, const struct coll_args *args);
/* Read what the user has set; errors say what is wrong with it. */
int coll_choice_init(void);
void coll_choice_fini(void);
/* A bit for each operation that may not go through shared memory, since the user has asked for one algorithm; all, if
 * reductions are to be reproducible: calls of different operations that meet by mistake are told of if both go one
 * way. */
extern uint32_t coll_by_messages;

/* call.c. What a blocking call begins with: name, number, tags, checks. It counts also after an error. */
int coll_count_and_check(struct sched *s, const struct coll_args *args);
/* What building needs to know beside the communicator. */
void coll_set_choice(struct sched *s, const struct coll_args *args, const struct coll_choice *choice);

/* sched_run.c. Do all of it now; blocks. 0 or the first error. */
int sched_run(struct sched *s);
/* Is this the error of a process that has ended, and will it end the job? Then the others are not given what has not
 * come, or is wrong, while it does. */
bool sched_ends_job(const struct comm *comm, int rc);
/* An empty schedule that can become a request; NULL: no memory. */
struct sched *sched_create(struct comm *comm);
void sched_destroy(struct sched *s);
/* From now on it is a request, with a reference to its communicator, until that is released. */
void sched_make_request(struct sched *s, bool is_persistent);
/* Begin it; it goes on whenever something is polled. */
void sched_start(struct sched *s);
/* No request is left: give back what they lay in. */
void sched_close(void);

/* kept.c. Schedules of the last calls on a communicator, for those that repeat them. One that is ready has turns and
 * lacks only what belongs to a call: name, number, tag.
 *
 * One for this call, ready or empty, which is the caller's until kept_give_back. NULL: calls of this kind are not kept,
 * or there is no memory. */
struct sched *kept_take(struct comm *comm, const struct coll_args *args);
/* Build it, an empty one. Returns its error; it is given back like a ready one. */
int kept_build(struct sched *s, const struct coll_args *args, coll_build_fn *build);
/* Any thread may. */
void kept_give_back(struct sched *s);
/* The communicator ends. */
void kept_drop(struct comm *comm);

#endif
