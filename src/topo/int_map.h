/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: topo, private. Which process is to be which node of a graph, so that neighbours are near: a calculation on
 * plain arrays, without communicators. Its parts:
 *
 *   talk.c    who talks to whom and how much      places.c  who is near whom
 *   bisect.c  a set of nodes cut in two           map.c     the mapping by cuts, and what it costs */
#ifndef TOPO_INT_MAP_H
#define TOPO_INT_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "comm/comm.h"

/* Who talks to whom: each pair stands at both its ends. */
struct topo_talk {
    int count;       /* nodes */
    int *begin;      /* of each node: its first pair; count + 1 of them */
    int *other;
    int64_t *weight; /* above 0 */
    int ndims;       /* a grid, whose nodes run as ranks do; 0: it is none */
    const int *dims; /* the caller's */
};

/* One pair as it is told. */
struct topo_pair {
    int node, other;
    int64_t weight;
};

enum { TOPO_PAIRS_MAX = 1 << 29 }; /* more are not mapped */

/* From pairs in any order, at most TOPO_PAIRS_MAX; those of a node with itself and those of weight 0 do not count.
 * Error: MPI_ERR_NO_MEM; topo_talk_free is for success. */
int topo_talk_pairs(struct topo_talk *talk, int count, const struct topo_pair *pairs, int64_t pair_count);
/* A grid, in which a node talks to the next ones in each dimension. */
int topo_talk_grid(struct topo_talk *talk, int ndims, const int *dims, const int *periods);
void topo_talk_free(struct topo_talk *talk);

/* Who is near whom: a tree of machines, packages, caches and so on, as far as they tell processes apart. */
struct topo_places {
    int count, levels;
    int *path; /* of each process: its part on each level, from large to small */
    int *slot; /* processes in the order of the tree; in one leaf by number */
};

/* Error: MPI_ERR_NO_MEM; topo_places_free is for success. */
int topo_places_read(struct topo_places *places, const struct comm_seat *seats, int count);
void topo_places_free(struct topo_places *places);
/* Levels on which two processes are apart: 0 on one place, `levels` on two machines. */
int topo_places_hops(const struct topo_places *places, int process, int other);

/* The work of one cut; arrays by node. */
struct topo_cut {
    const struct topo_talk *talk;
    const int *position; /* of the process with the node's number in the order of the tree */
    int8_t *side;        /* 0, 1; -1: not in the set */
    int64_t *gain;       /* how much less the cut is once the node has changed sides */
    bool *is_fixed;
    int *order, *best, *queue, *key; /* one piece of memory */
    struct topo_heap {
        struct topo_gain {
            int64_t gain;
            int node;
        } *at;
        int count;
    } heap[2];
};

/* Error: MPI_ERR_NO_MEM; topo_cut_close in any case. */
int topo_cut_open(struct topo_cut *cut, const struct topo_talk *talk, const int *position);
void topo_cut_close(struct topo_cut *cut);
/* Sort `count` nodes, which rise, so that the first `first` of them talk little with the others; both parts rise
 * again. Several cuts are tried: through the grid, by rounds of neighbours, as the nodes are now; and the two best
 * are made better by exchanging nodes as long as that helps. Always the same for the same arguments. n log n in
 * pairs. */
void topo_cut_nodes(struct topo_cut *cut, int *nodes, int count, int first);

/* order[node] is the process that is to be it. *is_better is false if nothing is gained, and order[i] is i then. The
 * same on all machines. Error: MPI_ERR_NO_MEM. */
int topo_map(const struct topo_talk *talk, const struct topo_places *places, int *order, bool *is_better);
/* The sum of weight times hops over all pairs. */
int64_t topo_map_cost(const struct topo_talk *talk, const struct topo_places *places, const int *order);

#endif
