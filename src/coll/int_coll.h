/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll, private. What every algorithm is made of: the tag of a call, blocks, messages, temporary
 * buffers. Communicators have fewer than 2^30 members: the sum of two ranks is an int. */
#ifndef COLL_INT_COLL_H
#define COLL_INT_COLL_H

#include "coll/coll.h"

/* Tags of collective messages, all in the context of their own that the communicator has for them: calls
 * count down from -COLL_TAG_FIRST, so that they match in order; MPI_Comm_create_group uses the user's tag, 0
 * or more. MPI_ANY_TAG is not reached. */
enum { COLL_TAG_FIRST = 16, COLL_TAG_MASK = (1 << 30) - 1 };

/* `count` items at `buf`: what one message carries. */
struct coll_block {
    void *buf;
    MPI_Count count;
    struct type *type;
};

/* Address `bytes` after `buf`, which may be any number (MPI_BOTTOM, a null buffer of no items). */
static inline void *coll_address(const void *buf, MPI_Count bytes)
{
    return (void *)((uintptr_t)buf + (uintptr_t)bytes);
}

MPI_Count coll_number(const struct coll_numbers *numbers, int i);
/* The block of rank `i`. */
struct coll_block coll_data_block(const struct coll_data *data, int i);
/* `n` neighbouring blocks from that of rank `first` on; only of COLL_SAME. */
struct coll_block coll_data_range(const struct coll_data *data, int first, int n);

/* Buffers that go with arrays of counts are not checked by the caller: no buffer for items, or MPI_IN_PLACE,
 * at `buf`. Error: MPI_ERR_BUFFER with the parameter's name. */
int coll_check_buffer(const void *buf, MPI_Count count, const struct type *type, const char *name);
/* The same for the blocks of `size` ranks. */
int coll_check_data(const struct coll_data *data, int size, const char *name);

static inline bool coll_is_in_place(const void *buf)
{
    return buf == MPI_IN_PLACE;
}

/* Blocking messages of a collective call. */
int coll_send(struct comm *comm, int tag, const struct coll_block *block, int dest);
int coll_recv(struct comm *comm, int tag, const struct coll_block *block, int source);
/* Both at once; a peer may be MPI_PROC_NULL. */
int coll_exchange(struct comm *comm, int tag, const struct coll_block *send, int dest,
                  const struct coll_block *recv, int source);
/* What a process would send to itself. Errors: MPI_ERR_TRUNCATE, MPI_ERR_BUFFER if it lies there already. */
int coll_copy(const struct coll_block *from, const struct coll_block *to);

/* Room for `count` items, gaps between and before them included; `buf` has the alignment of malloc. */
struct coll_temp {
    void *memory;
    void *buf;
};
int coll_temp_alloc(struct coll_temp *temp, const struct type *type, MPI_Count count);
void coll_temp_free(struct coll_temp *temp);

/* Does the operator go with the type, and are operand and result apart? `has_result`: the receive buffer counts here.
 * Errors: MPI_ERR_OP, MPI_ERR_BUFFER. */
int coll_check_reduction(const struct coll_reduction *args, bool has_result);

/* The operand of this process. */
static inline const void *coll_input(const struct coll_reduction *args)
{
    return coll_is_in_place(args->send) ? args->recv : args->send;
}

static inline struct coll_block coll_operand(const struct coll_reduction *args, const void *buf)
{
    return (struct coll_block){ (void *)(uintptr_t)buf, args->count, args->type };
}

/* Copy the operand to where it may be changed. */
static inline void coll_operand_copy(const struct coll_reduction *args, void *to, const void *from)
{
    if (to != from)
        type_copy(to, args->count, args->type, from, args->count, args->type);
}

/* Reduce to `result` at `root`, operands in the order of ranks counted from `root`. `result` is not used
 * elsewhere. It may be where the operand of the root is (in place). The operator has been checked. */
int coll_reduce_tree(struct comm *comm, int tag, const struct coll_reduction *args, int root, void *result);

#endif
