/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: who waits for whom, as a graph, and who of them waits for ever. Knows nothing of pages and messages. */
#ifndef LAUNCH_WAITS_H
#define LAUNCH_WAITS_H

#include <stdbool.h>
#include <stdint.h>

enum wait_state {
    WAIT_ACTS,    /* may do anything at any time */
    WAIT_BLOCKED, /* acts again when each of its needs is met */
    WAIT_GONE,    /* never acts again */
};

enum { WAIT_NEEDS = 6, WAIT_NOBODY = -1, WAIT_ANYONE = -2 };

/* Something that one of several ranks must do. */
struct wait_need {
    int rank;            /* the only one, or WAIT_ANYONE: each rank of `set`, or of the job if that is NULL */
    const uint64_t *set; /* a bit for each rank, as many as there are */
};

struct wait_node {
    enum wait_state state;
    int need_count;      /* a blocked one without needs is woken by something else */
    struct wait_need need[WAIT_NEEDS];
    bool is_stuck;       /* out: waits for ever */
    int blamed;          /* out: the need that is never met; -1: not stuck */
};

/* The largest set of blocked ranks of which each has a need that only members of the set, or ranks that are gone, could
 * meet: none of them ever acts again. Ranks of a set that the job does not have do not count, nor does a rank in its
 * own need. At most count^2 needs are looked at. */
void waits_find_stuck(struct wait_node *nodes, int count);

/* The one rank that a stuck one waits for; WAIT_NOBODY: it is not stuck; WAIT_ANYONE: for one of several. */
int waits_next(const struct wait_node *nodes, int count, int rank);

/* The cycle that stuck ranks form from `rank` on, each waiting for the next: into `cycle`, of `count` places; begins
 * with its lowest rank. Its length; 0: the way does not come back to `rank`. */
int waits_cycle(const struct wait_node *nodes, int count, int rank, int *cycle);

/* Blocked ranks, not stuck, that wait for `root`, directly or through others of the kind: is_waiting[rank] is set for
 * them, cleared for the rest. How many there are. `stack` has room for all. */
int waits_find_waiting(const struct wait_node *nodes, int count, int root, bool *is_waiting, int *stack);

#endif
