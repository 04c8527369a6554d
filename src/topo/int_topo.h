/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: topo, private. What its files share. */
#ifndef TOPO_INT_TOPO_H
#define TOPO_INT_TOPO_H

#include <stdint.h>

#include "obj/comm.h"
#include "obj/topology.h"
#include "topo/int_map.h"

/* The topology of `comm` if it is of this kind (MPI_CART, …). Error: MPI_ERR_TOPOLOGY, with what it is. */
int topo_find(const struct comm *comm, int kind, const struct topology **out);

/* Hash of arguments that must be equal everywhere, one array after the other; starts with 0. */
uint64_t topo_hash(uint64_t hash, const int *array, int count);

/* Collective: all tell how the check of their arguments ended (`rc`, 0 or a code) and a value that must be equal.
 * 0, or an error at all processes: their own one, else that of another, else that `what` differs. */
int topo_agree(struct comm *comm, const char *call, int rc, uint64_t hash, const char *what);

/* Collective: the communicator of the first `size` processes of `comm`, with this topology. Takes over the caller's
 * reference to it, also when it fails; at a process that is left out it may be NULL. */
int topo_make_first(struct comm *comm, const char *call, int size, struct topology *topology, struct comm **out);
/* The same for a group, of which the reference is taken over, too. */
int topo_make(struct comm *comm, const char *call, struct group *group, struct topology *topology, struct comm **out);

/* `reorder` in one call that makes a communicator of the first `size` processes of `comm`. */
struct topo_reorder {
    struct comm *comm;
    const char *call;
    int size;
    bool is_on;
    bool is_better;          /* there is another order than that of the old ranks */
    int *order;              /* of each new rank the old one */
    struct comm_seat *seats; /* of all in `comm` */
};

/* Who talks to whom; called where that is to be known. */
typedef int topo_talk_fn(const void *arg, struct topo_talk *talk);

/* Local: get the memory. Errors: MPI_ERR_NO_MEM, MPI_ERR_OTHER (a wrong PARLEY_MACHINE). Then, in any case,
 * topo_reorder_close. */
int topo_reorder_open(struct topo_reorder *r, struct comm *comm, const char *call, int size, int reorder);
void topo_reorder_close(struct topo_reorder *r);
/* Collective: find the order; `make_talk` is called at rank 0. An error there is one everywhere. */
int topo_reorder_find(struct topo_reorder *r, topo_talk_fn *make_talk, const void *arg);
/* The new rank of this process; its old one if it is left out. */
int topo_reorder_rank(const struct topo_reorder *r);
/* As topo_make_first, in that order. */
int topo_reorder_make(const struct topo_reorder *r, struct topology *topology, struct comm **out);
/* Local: the new rank that this process would have by what the launcher tells; MPI_UNDEFINED if it is left out. */
int topo_reorder_alone(struct comm *comm, int size, topo_talk_fn *make_talk, const void *arg, int *rank);

/* Collective: the communicator of a distributed graph. Takes over the reference to `topology`, that of the node with
 * this process's rank. */
int topo_dist_make(struct comm *comm, const char *call, int reorder, struct topology *topology, struct comm **out);

#endif
