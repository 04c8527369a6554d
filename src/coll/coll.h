/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Collective communication (MPI 5.0 §6, §8.6), in all its forms.
 *
 * * A call is described by struct coll_args, the same for its blocking, nonblocking and persistent form. Every form is
 * collective over the communicator and returns 0 or an error code. Counts are widened and handles, roots and the
 * places of MPI_IN_PLACE are checked by the caller; what is significant at one process only is not looked at
 * elsewhere. Several threads may call at once, each for another communicator (§6.14). After an error the other
 * processes may be left waiting. */
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
/* Blocks of one size, one after the other; or a single one. */
#define COLL_SAME(buffer, number, datatype) \
    ((struct coll_data){ .buf = (void *)(uintptr_t)(buffer), .count = (number), .type = (datatype) })
/* Blocks of one type, each with its own size, one after the other. */
#define COLL_PACKED(buffer, numbers, datatype) \
    ((struct coll_data){ .buf = (void *)(uintptr_t)(buffer), .counts = COLL_NUMBERS(numbers), .type = (datatype) })
/* Blocks of one type, each with its own size and place. */
#define COLL_VARYING(buffer, numbers, places, datatype)       \
    ((struct coll_data){ .buf = (void *)(uintptr_t)(buffer), \
                         .counts = COLL_NUMBERS(numbers),     \
                         .displs = COLL_NUMBERS(places),      \
                         .type = (datatype) })
/* Blocks each with its own size, place and type (MPI_Alltoallw). */
#define COLL_MIXED(buffer, numbers, places, handles)          \
    ((struct coll_data){ .buf = (void *)(uintptr_t)(buffer), \
                         .counts = COLL_NUMBERS(numbers),     \
                         .displs = COLL_NUMBERS(places),      \
                         .types = (handles) })
/* None. */
#define COLL_NOTHING ((struct coll_data){ .buf = NULL })

struct blocked;
struct job_head;
struct joint;

struct coll_config {
    struct job_head *segment; /* its head, mapped; NULL: there is none */
    int segment_fd;           /* of the whole of it */
    size_t offset;            /* where the part for words that the members of a communicator share begins */
    int procs;                /* in the job */
    const struct joint *joint; /* several clients of IMPI; NULL: this job is alone */
};

/* Use that part. Without: everything goes by messages. Errors: MPI_ERR_NO_MEM, a setting with a wrong value. */
int coll_init(const struct coll_config *config);
/* The same of a process that has been alone until now, and has initialised the room. */
int coll_share(const struct coll_config *config);
void coll_fini(void);
/* Where in the segment that part ends. */
size_t coll_segment_end(const struct coll_config *config);
/* The first MPI_COMM_WORLD of the job has been made; once, and not for those of processes that are started later.
 * Error: MPI_ERR_NO_MEM. */
int coll_world_open(struct comm *world);
/* The communicator is being taken apart; not collective, does not block. */
void coll_comm_close(struct comm *comm);
/* A word in the memory that the members share, for the room that has made the communicator; nobody else uses it. It
 * holds anything at first. NULL, at all of them: they share none. Collective if no call has been made on it yet. */
_Atomic int64_t *coll_shared_word(struct comm *comm);
/* What a long wait that is not for a message waits for. False: not one of ours. */
bool coll_describe_wait(const struct progress_long *told, struct blocked *out) COLD;

/* In this order in tables; 5 bits of a tag. */
enum coll_operation {
    COLL_BARRIER, COLL_BCAST, COLL_GATHER, COLL_GATHERV, COLL_SCATTER, COLL_SCATTERV, COLL_ALLGATHER, COLL_ALLGATHERV,
    COLL_ALLTOALL, COLL_ALLTOALLV, COLL_ALLTOALLW, COLL_REDUCE, COLL_ALLREDUCE, COLL_REDUCE_SCATTER_BLOCK,
    COLL_REDUCE_SCATTER, COLL_SCAN, COLL_EXSCAN, COLL_NEIGHBOR_ALLGATHER, COLL_NEIGHBOR_ALLGATHERV,
    COLL_NEIGHBOR_ALLTOALL, COLL_NEIGHBOR_ALLTOALLV, COLL_NEIGHBOR_ALLTOALLW,
    COLL_OPERATIONS,
    COLL_NOTICE = 30,   /* of another call, see disagree.c */
    COLL_INTERNAL = 31, /* what room comm does with messages of its own */
};

/* What a call is to do.
 *
 *   bcast              send: the buffer, of all
 *   plain forms        COLL_SAME on both sides
 *   v forms            COLL_VARYING on the side that differs, or both (alltoallv)
 *   w forms            COLL_MIXED on both
 *   reductions         send, recv: the operands and the result; reduce_scatter_block: count of each block in both;
 *                      reduce_scatter: recv COLL_PACKED, send the same type without a count
 *   neighborhoods      blocks by places in the lists of neighbours
 *
 * send.buf or recv.buf may be MPI_IN_PLACE where the standard allows it. */
struct coll_args {
    enum coll_operation operation;
    int root;                   /* also MPI_ROOT, MPI_PROC_NULL */
    struct op *op;              /* of a reduction */
    struct coll_data send, recv;
};

/* For the bindings and for calls from other rooms. */
#define COLL_ARGS(operation_, send_, recv_, op_, root_) (&(struct coll_args){ operation_, root_, op_, send_, recv_ })

/* The blocking form. Results of reductions are combined in the order of ranks, whatever the operation; those of
 * allreduce are the same to the bit everywhere. */
int coll_run(struct comm *comm, const struct coll_args *args);
/* What processes have found out about a call that all of them make. */
struct coll_agreement {
    int error_class, rank;      /* of the greatest error class, and who has it; 0: all get on */
    bool is_same;               /* the value, at all */
};
/* Tell the others of this process's error, if `rc` is one, and compare a value; `call` names it in reports. Blocks.
 * Returns rc, else the error of the exchange itself. */
int coll_agree(struct comm *comm, const char *call, int rc, uint64_t value, struct coll_agreement *out);
/* The nonblocking form (§6.12, §8.7): local. */
int coll_start(struct comm *comm, const struct coll_args *args, struct req **out);
/* The persistent form (§6.13, §8.8): local; begun by req_start, in any order on the processes. */
int coll_make(struct comm *comm, const struct coll_args *args, struct req **out);
/* Has another process made a collective call that this one has not, or has made in another way? Its messages have come
 * and nobody has asked for them. The first one for between calls, the second for the end: then calls count that this
 * process has not made. 0 while calls that are requests are not complete, and after the first error on a
 * communicator. Error: MPI_ERR_OTHER, E0700. */
int coll_check_done(struct comm *comm) COLD;
/* Throw away what others have said of calls of long ago, before their numbers come round again. */
void coll_forget_notices(struct comm *comm) COLD;
int coll_check_end(struct comm *comm);
/* coll_run and coll_start for MPI_Barrier and MPI_Ibarrier. */
int coll_barrier(struct comm *comm);
int coll_ibarrier(struct comm *comm, struct req **out);

/* For room comm: `size` bytes from the first process of `group` to all the others in it, along a tree, over a
 * communicator that has them all; only they communicate. `tag` keeps concurrent calls apart (§7.4.2): it is
 * the user's, 0 to INT_MAX, and does not meet those of other collectives; or COLL_NEXT_TAG, and then the call
 * is collective over `comm` like any other. A process that has `failed` (an error, which is returned; 0: it has not)
 * takes part all the same, and those below it in the tree have the error, too, with its rank; *buf is set if the bytes
 * have come to it. Error: MPI_ERR_GROUP if a process is not in `comm`; that of another one. */
enum { COLL_NEXT_TAG = -1 };
int coll_group_bcast(struct comm *comm, const struct group *group, void *buf, size_t size, int tag, int failed);
/* The error of a process that has failed, for others: with its rank in `comm`. */
int coll_failed_at(const struct comm *comm, int rc) COLD;
/* Begin a collective call without a schedule, as another room's COLL_INTERNAL: the tag of its messages. `call` names
 * it in reports. */
int coll_begin(struct comm *comm, enum coll_operation operation, const char *call);

/* For room comm: tags of messages between the leaders of two groups, in the context of collectives, which no
 * collective call uses. The first for the two sides of an intercommunicator, the others by the user's tag or the
 * like. */
#define COLL_SIDES_TAG INT_MIN
static inline int coll_leader_tag(int tag)
{
    return INT_MIN + 1 + tag % ((1 << 30) - 64);
}

#endif
