/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll, for tests. Schedules of many simulated processes, run in this one: messages are queues in memory, steps
 * are over in a random order or at the time that a simple model of costs gives. What is counted is exact; the model
 * (Hockney's: a message of m bytes occupies both its sender's and its receiver's port for alpha + beta m) is for
 * comparing algorithms.
 *
 * Not part of the library. Not thread safe. */
#ifndef COLL_SIM_H
#define COLL_SIM_H

#include "coll/algorithms.h"

struct sim_config {
    int size;                   /* processes */
    int remote;                 /* those of the other side of an intercommunicator, behind the others; 0: it is none */
    uint64_t seed;              /* of a random order; 0: in the order of time */
    bool is_rendezvous;         /* a send is over when its receive has come; else at once */
    double alpha, beta, gamma;  /* seconds: of a message, of a byte of it, of a byte combined */
    const struct coll_layout *layout; /* or NULL */
    int mortal, lifetime;       /* process mortal - 1 dies when it would begin a step after so many; 0: none does */
};

struct sim_counts {
    long messages, most_messages; /* of all; that one process has sent */
    size_t bytes, most_bytes;
    long far_messages;          /* between nodes of the layout */
    size_t far_bytes;
    int depth;                  /* messages one after the other, on the longest way */
    double time;                /* until the last one is through; in a random order without meaning */
};

struct sim_rank {
    struct comm comm;
    struct coll_args args;      /* to be filled before sim_build */
    struct sched sched;
    struct sim_state *state;    /* of each step in this run */
    long messages;
    size_t bytes;
    double out_free, in_free;   /* when its ports are free again */
    bool is_built;
    bool is_dead;
    int begun;                  /* steps in this run */
};

struct sim {
    struct sim_config config;
    int all;                    /* processes of both sides */
    struct sim_rank *ranks;
    struct sim_events *events;
    struct sim_queue *queues;   /* by hash of receiver, sender and sub */
    int queue_bits;             /* how many there are: each run looks at them all */
    struct sim_counts counts;
    uint64_t random;
    char trouble[200];          /* why a run is wrong; "" */
};

/* Room for the processes; ends the program without memory. */
struct sim *sim_create(const struct sim_config *config);
void sim_destroy(struct sim *sim);

/* Let each process add its steps. 0, or the first error; then nothing is kept. */
int sim_build(struct sim *sim, coll_build_fn *build, long parameter);
/* Run what was built, from the beginning; may be repeated. 0, the first error of a step, or MPI_ERR_INTERN with
 * sim->trouble: processes wait for ever, messages are left over, one has not the length that was expected. If a process
 * may die, the errors of the others are in their schedules only. What it has sent eagerly before comes. */
int sim_run(struct sim *sim, struct sim_counts *counts);
/* Give back what was built. */
void sim_clear(struct sim *sim);

#endif
