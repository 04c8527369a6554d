/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: topo, private. What its files share. */
#ifndef TOPO_INT_TOPO_H
#define TOPO_INT_TOPO_H

#include <stdint.h>

#include "obj/comm.h"
#include "obj/topology.h"

/* The topology of `comm` if it is of this kind (MPI_CART, …). Error: MPI_ERR_TOPOLOGY, with what it is. */
int topo_find(const struct comm *comm, int kind, const struct topology **out);

/* Hash of arguments that must be equal everywhere, one array after the other; starts with 0. */
uint64_t topo_hash(uint64_t hash, const int *array, int count);

/* Collective: all tell how the check of their arguments ended (`rc`, 0 or a code) and a value that must be equal. 0, or
 * an error at all processes: their own one, else that of another, else that `what` differs. */
int topo_agree(struct comm *comm, const char *call, int rc, uint64_t hash, const char *what);

/* Collective: the communicator of the first `size` processes of `comm`, with this topology. Takes over the caller's
 * reference to it, also when it fails; at a process that is left out it may be NULL. */
int topo_make_first(struct comm *comm, const char *call, int size, struct topology *topology, struct comm **out);
/* The same for a group, of which the reference is taken over, too. */
int topo_make(struct comm *comm, const char *call, struct group *group, struct topology *topology, struct comm **out);

#endif
