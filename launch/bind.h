/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: which processors each rank gets.
 *
 *   topology.c  the machine                           bind_options.c  --bind-to and the like -> struct binding
 *   bind.c      the two -> processors for each rank   bind_job.c      when, and for which ranks
 *   bind_watch.c  busy threads of bound ranks         bind_show.c     the picture
 *
 * The rule when nothing is asked for, the same for every number of ranks: the processors that mpiexec may use are
 * divided into equal, disjoint shares, neighbours in the machine to neighbours in rank; whole cores, as long as there
 * are as many cores as ranks. No binding if there are not enough processors for all ranks and their OMP_NUM_THREADS. */
#ifndef LAUNCH_BIND_H
#define LAUNCH_BIND_H

#include <stdbool.h>

#include "topology.h"

enum bind_to {
    BIND_SHARE,  /* nothing asked for */
    BIND_NONE,
    BIND_OBJECT, /* the object of a kind that the rank's share begins in */
    BIND_LISTS,  /* given sets, one rank after the other */
};

enum bind_map {
    BIND_MAP_SHARE,  /* nothing asked for: all of the machine is shared */
    BIND_MAP_OBJECT, /* rank by rank to the next object of a kind; those on one object share it */
    BIND_MAP_PER,    /* so many ranks on each object of a kind */
};

/* What the options ask for. All zero: nothing. */
struct binding {
    enum bind_to to;
    enum topology_kind to_kind;
    int to_count; /* objects for each rank, 0: one */
    struct cpus *lists;
    int list_count;
    enum bind_map map;
    enum topology_kind map_kind;
    int map_count;    /* with PER: ranks for each object; with OBJECT: every so many objects, 0: each */
    int width;        /* cores, or hardware threads with has_threads, for each rank; 0: not said */
    bool has_threads; /* hardware threads take the place of cores */
    bool is_ranked;   /* ranks are not numbered as they are mapped, but by rank_kind */
    enum topology_kind rank_kind; /* CORE, THREAD: in machine order; others: in turns, one on each object */
    struct cpus *only;            /* of the allowed processors only these; NULL: all */
    const char *only_text;
    bool is_ordered; /* rank r has the r-th of `only`: becomes lists when both are known */
    bool is_shown;
};

/* What comes of it. */
struct bind_plan {
    struct cpus *masks; /* of each rank; NULL: no rank is bound */
    int cpus;           /* processors that the ranks have together; fewer than ranks if some must share */
    const char *why;    /* in words: by which rule, or why not */
};

/* `threads`: OMP_NUM_THREADS or 1. `cpus`: processors that a quota leaves. Ends mpiexec (E0101) if something is asked
 * for that cannot be. */
void bind_make(const struct binding *binding, const struct topology *topology, int ranks, int threads, int cpus,
               struct bind_plan *plan);

void bind_free(struct bind_plan *plan);

/* One option, without dashes and perhaps with "=VALUE", and its value (NULL: it has none). The value must stay
 * where it is. Ends mpiexec (E0101) if it is wrong. */
void bind_option(struct binding *binding, const char *option, const char *value);

/* Ranks of a program for which no number is given: 1, but so many as ppr:N:OBJECT says. Reads the machine then. */
int bind_ranks(const struct binding *binding);

struct job;

/* Decide for all ranks before the first is started: job->masks, and the processors that the library counts on. */
void bind_job(struct job *job);

/* After the start, and at each TIMER_BINDING: have ranks more busy threads than the default leaves processors to? */
void bind_watch(struct job *job);

/* The picture, to stderr; the plan's ranks are called so. */
void bind_show(const struct topology *topology, const struct bind_plan *plan, const int *names, int ranks);

#endif
