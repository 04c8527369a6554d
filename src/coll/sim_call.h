/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll, for tests. Calls of every operation for simulated processes: buffers, arguments, and what is to come out;
 * lengths, layouts and parameters at random. Not part of the library. */
#ifndef COLL_SIM_CALL_H
#define COLL_SIM_CALL_H

#include "coll/sim.h"

enum { SIM_CANARY = 0x5a5a5a5a };

struct sim_call {
    const struct coll_algorithm *algorithm;
    enum coll_operation operation;
    long parameter;
    int size, root;
    int count;           /* items of a block */
    bool is_wide, is_in_place, is_ordered;
    struct sim *sim;
    struct sim_buffers *of;  /* by ranks */
    int64_t *sums;       /* of the operands of the ranks before each */
};

struct sim_buffers {
    int64_t *send, *recv, *want_send, *want_recv;
    size_t words[2];
    int *counts, *displs;
    MPI_Datatype *types;
};

/* Types and operators; before all else. */
void sim_call_init(void);
/* Where the random numbers begin: as the text says, or anywhere; returns it. A number below one. */
uint64_t sim_seed(const char *text);
uint64_t sim_any(uint64_t below);

/* Make the processes, and set what they bring and what they are to get. */
void sim_call_prepare(struct sim_call *t, const struct sim_config *config);
void sim_call_release(struct sim_call *t);
/* End the program unless this rank has what it is to get, and nothing else has changed. */
void sim_call_compare(const struct sim_call *t, int rank);
void sim_call_fail(const struct sim_call *t, const char *what, int rank) COLD;

enum { SIM_ONE_NODE, SIM_NODES_OF_NEIGHBOURS, SIM_NODES_IN_TURNS, SIM_ANY_NODES, SIM_LAYOUTS };

/* One node; nodes of a few neighbouring ranks; nodes that take turns; ranks anywhere. `node_of` has room for 64. */
const struct coll_layout *sim_make_layout(int kind, int size, struct coll_layout *layout, int *node_of);
bool sim_has_runs(const struct coll_layout *layout, int size);
struct coll_shape sim_shape_of(const struct sim_call *t, const struct coll_layout *layout, bool runs);
long sim_any_parameter(const struct coll_algorithm *algorithm);
bool sim_has_root(enum coll_operation operation);
bool sim_is_reduction(enum coll_operation operation);
int sim_any_count(const struct sim_call *t);

#endif
