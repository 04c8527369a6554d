/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll, private. What every algorithm is made of: the tag of a call, blocks, messages, temporary
 * buffers. Communicators have fewer than 2^30 members: the sum of two ranks is an int. */
#ifndef COLL_INT_COLL_H
#define COLL_INT_COLL_H

#include "coll/coll.h"

/* Tags; see call.c. */
enum {
    COLL_TAG_FIRST = 16,
    COLL_TAG_BITS = 30,
    COLL_PERSISTENT_BIT = 29,
    COLL_SEQUENCE_BIT = 15,
    COLL_SEQUENCE_BITS = 14,
    COLL_SEQUENCE_MASK = (1 << COLL_SEQUENCE_BITS) - 1,
    COLL_PERSISTENT_MASK = (1 << 23) - 1,
    COLL_SUB_BITS = 6,
};

/* Count a call, and remember its name for reports; from 1. */
static inline uint32_t coll_count_call(struct comm *comm, const char *call)
{
    comm->coll_call = call;
    comm->coll_calls[comm->coll_sequence % COMM_CALLS] = comm->coll_outer ? comm->coll_outer : call;
    return ++comm->coll_sequence;
}

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

/* The sum of `n` counts. */
MPI_Count coll_sum(const struct coll_data *data, int n);

/* Blocking messages, without a schedule. */
int coll_send(struct comm *comm, int tag, const struct coll_block *block, int dest);
int coll_recv(struct comm *comm, int tag, const struct coll_block *block, int source);
/* Both at once; a peer may be MPI_PROC_NULL. */
int coll_exchange(struct comm *comm, int tag, const struct coll_block *send, int dest,
                  const struct coll_block *recv, int source);
/* What a process would send to itself. Errors: MPI_ERR_TRUNCATE, MPI_ERR_BUFFER if it lies there already. */
int coll_copy(const struct coll_block *from, const struct coll_block *to);

enum { COLL_ITEMS_ALIGN = 16 };

/* Where items of `span` go in memory that has COLL_ITEMS_ALIGN bytes more than they take. Their address, not their
 * first byte, is aligned: so are then their parts, for user functions. */
static inline void *coll_place_items(const void *memory, struct type_span span)
{
    const uintptr_t buf = (uintptr_t)memory - (uintptr_t)span.low;

    return (void *)((buf + COLL_ITEMS_ALIGN - 1) & ~(uintptr_t)(COLL_ITEMS_ALIGN - 1));
}

/* Room for `count` items, gaps between and before them included; `buf` has the alignment of malloc. */
struct coll_temp {
    void *memory;
    void *buf;
};
int coll_temp_alloc(struct coll_temp *temp, const struct type *type, MPI_Count count);
void coll_temp_free(struct coll_temp *temp);

/* Does the operator of a reduction go with the type, and are its `count` operands and the result apart? `has_result`:
 * the receive buffer counts here. Errors: MPI_ERR_OP, MPI_ERR_BUFFER. */
int coll_check_reduction(const struct coll_args *args, MPI_Count count, bool has_result);

/* The operand of this process. */
static inline const void *coll_own(const struct coll_args *args)
{
    return coll_is_in_place(args->send.buf) ? args->recv.buf : args->send.buf;
}

/* As many items as a reduction has, at `buf`. */
static inline struct coll_block coll_operand(const struct coll_args *args, const void *buf)
{
    return (struct coll_block){ (void *)(uintptr_t)buf, args->recv.count, args->recv.type };
}

#endif
