/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll, private. What two-level algorithms are made of. Their parts are up, in each node to its leader, across,
 * between leaders, and down. A node may do what is its own by messages (levels.c) or on a shelf (here.c), as it likes:
 * the messages across are the same. */
#ifndef COLL_LEVELS_H
#define COLL_LEVELS_H

#include "coll/algorithms.h"

enum { LEVELS_UP, LEVELS_ACROSS, LEVELS_DOWN, LEVELS_ON };

struct coll_levels {
    struct coll_team node;   /* place 0 is the leader */
    struct coll_team top;    /* the leaders, by nodes; place 0 is that of the root's node */
    bool is_leader;
    bool has_runs;           /* the order by nodes is that of ranks */
    int nodes;
    const int *node_of;      /* NULL: one node */
    int *order, *start;      /* ranks by nodes; where each node begins in that order */
};

/* The leader is the root in its node, elsewhere the first of the node. False without memory. */
bool coll_levels_of(struct sched *s, int root, struct coll_levels *l);

static inline int coll_levels_node(const struct coll_levels *l, int rank)
{
    return l->node_of ? l->node_of[rank] : 0;
}

/* `n` blocks of `len` bytes from number `first` on. */
static inline struct coll_block coll_blocks_at(void *buf, size_t len, MPI_Count first, MPI_Count n)
{
    return coll_byte_block(coll_address(buf, (MPI_Count)len * first), len * (size_t)n);
}

/* The blocks of an allgather(v) by nodes, packed: all of `len` bytes, or each from its `at` on. */
struct coll_row {
    void *buf;
    size_t len;
    const MPI_Count *at;     /* of each, and the end; NULL: they have one length */
};

/* Without a place for them. What `recv` says of each rank's is the same at all members. */
struct coll_row coll_levels_row(struct sched *s, const struct coll_levels *l, const struct coll_data *recv);
/* Bytes of all its `size` blocks. */
static inline size_t coll_row_bytes(const struct coll_row *row, int size)
{
    return row->at ? (size_t)row->at[size] : row->len * (size_t)size;
}

/* `n` blocks from number `first` on. */
struct coll_block coll_row_part(const struct coll_row *row, int first, int n);
/* Of a leader: the blocks of its node to the next leader, and on. */
int coll_levels_ring(struct sched *s, const struct coll_levels *l, const struct coll_row *all, int after);

/* What a leader keeps in an alltoall: the blocks of its node by source and then destination; what goes to each node and
 * what comes from it, by sources and then destinations; at last by destinations, and then sources. */
struct coll_bundle {
    const struct coll_levels *l;
    size_t len;
    void *in, *across, *come;
    int k, n;            /* processes of this node; of all */
};

/* With room for it. */
struct coll_bundle coll_bundle_of(struct sched *s, const struct coll_levels *l, size_t len);
/* The blocks between this node and all others, and those for each process of the node to where they are sent from, in
 * the order of their sources. */
int coll_bundle_swap(struct sched *s, const struct coll_bundle *b, int after);

/* Of a gather: a leader's blocks of its node, `len` bytes each, to the root, which puts those of other nodes in their
 * places. Of a scatter: the way back. `pack` counts at other leaders only. */
int coll_levels_collect(struct sched *s, const struct coll_levels *l, const struct coll_data *recv, void *pack,
                        size_t len, int after);
int coll_levels_deal(struct sched *s, const struct coll_levels *l, const struct coll_data *send, void *pack,
                     size_t len);

/* Of a reduce_scatter: what the leaders' vectors, in `value`, are when combined, for this node; its blocks in the order
 * of the node. */
struct coll_share {
    struct coll_block result;
    int last;            /* after which it is there */
};
struct coll_share coll_levels_share(struct sched *s, const struct coll_levels *l, const struct coll_data *recv,
                                    struct coll_block value, int after);

/* For scans, of nodes that are runs of ranks: the leader is the last of the node. */
bool coll_levels_of_last(struct sched *s, struct coll_levels *l);
/* Of a leader: `value`, that of its node, becomes that of all nodes up to this one, and `before` that of the nodes
 * before, if there are any. */
int coll_levels_before(struct sched *s, const struct coll_levels *l, struct coll_block value, struct coll_block before,
                       int after);

/* A barrier: in each node, then what `across` puts behind step `after` for the leaders (its last step), and back. */
typedef int coll_meet_fn(struct sched *s, const struct coll_team *top, int after);
void coll_barrier_by(struct sched *s, coll_meet_fn *across);

/* here.c. Do a blocking call in two levels whose part in this node goes by its shelf, if it may and that is what the
 * rules say: true, and *rc is what it returns. */
bool coll_levels_here(struct comm *comm, const struct coll_args *args, int *rc);

#endif
