/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Collective communication (MPI 5.0 §6) over point-to-point messages.
 *
 * * Every function is collective over the communicator, blocks, and returns 0 or an error code. Counts are
 * widened and handles, roots and the places of MPI_IN_PLACE are checked by the caller; what is significant at
 * one process only is not looked at elsewhere. Several threads may call at once, each for another
 * communicator (§6.14). After an error the other processes may be left waiting. Intercommunicators give
 * MPI_ERR_COMM for now. */
#ifndef COLL_COLL_H
#define COLL_COLL_H

#include <limits.h>
#include <mpi.h>

#include "obj/comm.h"
#include "op/op.h"
#include "progress/progress.h"
#include "type/type.h"

/* An array of counts or displacements as the user gave it, in the width that it came in. */
struct coll_numbers {
    const void *p;
    size_t width; /* bytes of an element: 4 or 8 */
};

/* The data that one process sends or receives: a block for each rank, or a single one. Built by COLL_SAME,
 * COLL_VARYING and COLL_MIXED; nothing in it is owned, and arrays are read only where they are
 * significant. */
struct coll_data {
    void *buf;                  /* may be MPI_IN_PLACE where the call allows it */
    MPI_Count count;            /* of each block, unless there are counts */
    struct type *type;          /* of each block, unless there are types */
    struct coll_numbers counts; /* p NULL: all the same */
    struct coll_numbers displs; /* in extents of the type; with types in bytes */
    const MPI_Datatype *types;  /* checked handles, or NULL */
};

#define COLL_NUMBERS(array) ((struct coll_numbers){ (array), sizeof *(array) })
/* Blocks of one size, one after the other. */
#define COLL_SAME(buffer, number, datatype) \
    (&(struct coll_data){ .buf = (void *)(buffer), .count = (number), .type = (datatype) })
/* Blocks of one type, each with its own size and place. */
#define COLL_VARYING(buffer, numbers, places, datatype)    \
    (&(struct coll_data){ .buf = (void *)(buffer),         \
                          .counts = COLL_NUMBERS(numbers), \
                          .displs = COLL_NUMBERS(places),  \
                          .type = (datatype) })
/* Blocks each with its own size, place and type (MPI_Alltoallw). */
#define COLL_MIXED(buffer, numbers, places, handles)       \
    (&(struct coll_data){ .buf = (void *)(buffer),         \
                          .counts = COLL_NUMBERS(numbers), \
                          .displs = COLL_NUMBERS(places),  \
                          .types = (handles) })

struct blocked;
struct job_head;

struct coll_config {
    struct job_head *segment; /* its head, mapped */
    int segment_fd;           /* of the whole of it */
    size_t offset;            /* where the part for words that the members of a communicator share begins */
    int procs;                /* in the job */
};

/* Use that part. Without: everything goes by messages. Errors: MPI_ERR_NO_MEM, a setting with a wrong value. */
int coll_init(const struct coll_config *config);
void coll_fini(void);
/* The communicator is being taken apart; not collective, does not block. */
void coll_comm_close(struct comm *comm);
/* What a long wait that is not for a message waits for. False: not one of ours. */
bool coll_describe_wait(const struct progress_long *told, struct blocked *out) COLD;

/* §6.3, §6.4 */
int coll_barrier(struct comm *comm);
int coll_bcast(struct comm *comm, void *buf, MPI_Count count, struct type *type, int root);

/* §6.5 to §6.8. The plain forms take COLL_SAME on both sides; the v forms COLL_VARYING on the side that
 * differs; MPI_Alltoallw COLL_MIXED on both. */
int coll_gather(struct comm *comm, const struct coll_data *send, const struct coll_data *recv, int root);
int coll_scatter(struct comm *comm, const struct coll_data *send, const struct coll_data *recv, int root);
int coll_allgather(struct comm *comm, const struct coll_data *send, const struct coll_data *recv);
int coll_allgatherv(struct comm *comm, const struct coll_data *send, const struct coll_data *recv);
int coll_alltoall(struct comm *comm, const struct coll_data *send, const struct coll_data *recv);

/* What a reduction works on (§6.9 to §6.11). `send` may be MPI_IN_PLACE where the call allows it. */
struct coll_reduction {
    const void *send;
    void *recv;
    MPI_Count count;
    struct type *type;
    struct op *op;
};

#define COLL_REDUCTION(sendbuf, recvbuf, number, datatype, operation) \
    (&(struct coll_reduction){ (sendbuf), (recvbuf), (number), (datatype), (operation) })

/* Operands are combined in the order of ranks, whatever the operation. The results of allreduce are the same
 * to the bit on all processes. */
int coll_reduce(struct comm *comm, const struct coll_reduction *args, int root);
int coll_allreduce(struct comm *comm, const struct coll_reduction *args);
int coll_scan(struct comm *comm, const struct coll_reduction *args);
int coll_exscan(struct comm *comm, const struct coll_reduction *args);
/* args->count is that of each block. */
int coll_reduce_scatter_block(struct comm *comm, const struct coll_reduction *args);
/* args->count is not used. */
int coll_reduce_scatter(struct comm *comm, const struct coll_reduction *args, struct coll_numbers counts);

/* For room comm: `size` bytes from the first process of `group` to all the others in it, along a tree, over a
 * communicator that has them all; only they communicate. `tag` keeps concurrent calls apart (§7.4.2): it is
 * the user's, 0 to INT_MAX, and does not meet those of other collectives; or COLL_NEXT_TAG, and then the call
 * is collective over `comm` like any other. Error: MPI_ERR_GROUP if a process is not in `comm`. */
enum { COLL_NEXT_TAG = -1 };
/* Begin a collective call: refuse intercommunicators, take the tag of its messages. `call` names it
 * in reports. Also for collective calls of other rooms. */
int coll_begin(struct comm *comm, int *tag, const char *call);

/* For room comm: tags of messages between the leaders of two groups, in the context of collectives, which no collective
 * call uses. The first for the two sides of an intercommunicator, the others by the user's tag or the like. */
#define COLL_SIDES_TAG INT_MIN
static inline int coll_leader_tag(int tag)
{
    return INT_MIN + 1 + tag % ((1 << 30) - 64);
}

int coll_group_bcast(struct comm *comm, const struct group *group, void *buf, size_t size, int tag);

#endif
