/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Schedules: what one process does in a collective operation, as steps that wait for each other. An
 * algorithm builds one (this part); blocking, nonblocking and persistent calls run it (sched_run.c), and so does a
 * simulation of many ranks in one process (sim.c).
 *
 * A step is a message sent or received, a copy, a reduction, or a call. It begins when all the steps that it was told
 * to come after are over. Steps that may begin at once do so in the order in which they were made, messages first.
 *
 * Messages of one call between two processes are told apart by `sub`, 0 to 63: a round, a segment, the place of an
 * edge. Those in one direction with the same number match in the order in which they begin, so the builder either
 * gives different numbers or lets one wait for the other.
 *
 * A schedule that runs more than once, always with the same steps, has turns as well: the order in which its steps are
 * over if each message is there when it is asked for. A run takes them in turn for as long as that holds, and keeps no
 * books till then.
 *
 * Building cannot fail in the middle: without memory the schedule is marked as failed, what is added is ignored, and
 * whoever has asked for the schedule learns of it at the end. Buffers may be wrong addresses then. */
#ifndef COLL_SCHED_H
#define COLL_SCHED_H

#include "base/list.h"
#include "coll/int_coll.h"
#include "obj/req.h"
#include "p2p/p2p.h"

enum sched_kind { SCHED_NOTHING, SCHED_SEND, SCHED_RECV, SCHED_COPY, SCHED_REDUCE, SCHED_CALL, SCHED_MEET };

/* In place of a step: none. It ends lists of steps as well, where none is SCHED_NONE. */
enum { SCHED_NONE = -1, SCHED_END = -2 };

enum {
    SCHED_SUBS = 64,
    SCHED_FIRST_STEPS = 12,  /* for which there is room without asking for memory */
    SCHED_FIRST_EDGES = 16,
    SCHED_FIRST_BYTES = 256,
    SCHED_SHORT = 8192,      /* bytes of a message that is looked for before it is posted */
};

/* Nodes have numbers from 0, in the order of their first ranks. */
struct coll_layout {
    int nodes;
    const int *node_of; /* by ranks */
};

/* What calls have in common that have the same steps; see kept.c. */
struct sched_key {
    const struct op *op;
    const struct type *send_type, *recv_type;
    MPI_Count send_count, recv_count;
    int root;
    uint8_t operation;         /* enum coll_operation */
    bool is_send_in_place, is_recv_in_place;
};

struct sched;
/* What an algorithm does itself, in a run. Returns an error code; the rest goes on. */
typedef int sched_call_fn(const struct sched *s, void *arg);

struct sched_edge {
    int to, next; /* a step that waits; the next edge from the same step, or -1 */
};

struct sched_step {
    struct p2p_slip slip;      /* first */
    struct coll_block from;    /* sent, received, copied from, or reduced in */
    struct coll_block to;      /* copied to, or reduced into */
    struct req *req;           /* of a message under way */
    sched_call_fn *call;       /* its argument is from.buf */
    int peer;                  /* rank of a message */
    uint8_t kind;              /* enum sched_kind */
    uint8_t sub;               /* of SCHED_MEET: the word */
    bool is_local;             /* of an intercommunicator: a message in the local group */
    bool is_up_to;             /* a receive of what may be shorter */
    bool is_put_off;           /* in this run: a receive that has given way to what may be sent */
    bool is_dropped;           /* in this run: a receive that is not to be */
    bool is_void;              /* in this run: comes after what has not come; or, between clients, after what could not
                                * be sent, see clients.h */
    bool is_short;             /* of those with turns: a receive that is looked for before it is posted */
    uint8_t from_buffer, to_buffer; /* of those that are kept: which of the user's it is in; see kept.c */
    int needs, waits;          /* steps that come before: all, and those not over in this run */
    int first_edge, last_edge; /* to those that come after; -1: none */
    int next;                  /* in a queue of the run; -1: the last */
    int turn;                  /* which step has the turn with this one's number */
};

struct sched_queue {
    int first, last; /* steps; first -1: empty */
};

struct sched {
    struct req req;            /* first: the handle is its address */
    struct list link;          /* among those that are polled */
    struct comm *comm;
    struct op *op;             /* referenced; NULL: none */
    const char *call;          /* for reports */
    uint32_t sequence;         /* which collective call on the communicator, from 1 */
    enum coll_operation operation;
    int root;
    uint64_t bytes;            /* that all have to give alike; 0: they need not */
    unsigned hash;             /* of what all have to give alike, 4 bits */
    int tag, local_tag;        /* of the messages with sub 0; the latter in the local group, … */
    uint32_t local_sequence;   /* … where it is this call */
    int client_tag;            /* the same, between clients of IMPI; see clients.h */
    bool is_laid_down;         /* by IMPI: `sub` is the tag between clients */
    bool spans_clients;        /* the communicator does */
    struct sched_step *steps;
    struct sched_edge *edges;
    int step_count, step_room, edge_count, edge_room;
    struct sched_memory *memory; /* temporary buffers */
    size_t bytes_used;         /* of first_bytes */
    size_t bytes_more;         /* of `memory` */
    int failed;                /* while building: an error code */
    long parameter;            /* while building: of the algorithm, see choose.h; never 0 for one that takes one */
    const struct coll_layout *layout; /* while building: which node each rank is on; NULL: all on one */
    bool has_choices;          /* only a run shows which steps there are, or it is a barrier by words: no turns */
    bool has_turns;
    bool has_receives;         /* of those */
    bool is_epoch;             /* the request of a nonblocking barrier: see struct comm_epochs */
    bool is_void;              /* all of it, from the beginning: `cause` says why */
    bool is_kept;              /* by its communicator, which gives it back to the pool */
    _Atomic bool is_taken;     /* of those: it runs, or is about to */
    struct sched_key key;      /* of those */
    const void *buffers[2];    /* of those: what is sent and what is received, as the steps have it */

    /* of a run */
    int left;                  /* steps not over */
    bool is_blocking;          /* the thread that has called does nothing else */
    int error;                 /* the first one; the others go on, so that nobody waits for them */
    bool has_waited;           /* for long: see whether the others disagree */
    bool has_noticed;          /* has told whom it waits for what is called here */
    bool is_given_up;          /* they do: no step begins any more */
    bool has_cause;            /* something has not come, and `cause` says why */
    struct sched_queue messages, work; /* that may begin */
    struct p2p_inbox inbox[2]; /* of the communicator, of the local group */
    _Atomic uint32_t news;
    int meet;                  /* the step SCHED_MEET that is under way; or SCHED_NONE */
    uint32_t meet_number;      /* which barrier it is, … */
    int meet_next;             /* … and the first member that has not begun it */
    int oldest;                /* a step whose message has been under way for long; or SCHED_NONE */

    struct sched_step first_steps[SCHED_FIRST_STEPS];
    struct sched_edge first_edges[SCHED_FIRST_EDGES];
    char first_bytes[SCHED_FIRST_BYTES]; /* for small temporary buffers */
    struct p2p_cause cause;    /* of steps that are void */
};

/* Steps that the next one comes after: any number, SCHED_NONE among them. */
#define AFTER(...) ((const int[]){ __VA_ARGS__, SCHED_END })
#define AT_ONCE ((const int[]){ SCHED_END })

/* All of these return the step, which others may be told to come after. Blocks stay where they are until the operation
 * is over; their types are referenced. */
int sched_send(struct sched *s, struct coll_block block, int dest, int sub, const int *after);
int sched_recv(struct sched *s, struct coll_block block, int source, int sub, const int *after);
/* In the local group of an intercommunicator; of an intracommunicator the same as above. */
int sched_send_local(struct sched *s, struct coll_block block, int dest, int sub, const int *after);
int sched_recv_local(struct sched *s, struct coll_block block, int source, int sub, const int *after);
/* Error of the operation: MPI_ERR_TRUNCATE if `to` is smaller. */
int sched_copy(struct sched *s, struct coll_block from, struct coll_block to, const int *after);
/* inout = in OP inout: `in` is that of the lower ranks. Both blocks have one count and type. */
int sched_reduce(struct sched *s, struct coll_block in, struct coll_block inout, const int *after);
/* Nothing: over when all that it comes after is. */
int sched_join(struct sched *s, const int *after);
/* A receive of what may be shorter: only what comes says how long it is. */
int sched_recv_up_to(struct sched *s, struct coll_block block, int source, int sub, const int *after);
/* Call `fn`, which may read what has come, and set blocks of steps that come after: bytes, in memory of the
 * schedule. */
int sched_call(struct sched *s, sched_call_fn *fn, void *arg, const int *after);
/* In a call: what a step sends, nothing if it has no bytes; what it copies. */
void sched_set_send(const struct sched *s, int step, struct coll_block bytes);
void sched_set_from(const struct sched *s, int step, struct coll_block bytes);
/* A receive that a call may drop, … */
int sched_recv_perhaps(struct sched *s, struct coll_block block, int source, int sub, const int *after);
/* … from a message that nobody will send; in this run. It may have begun. */
void sched_drop(const struct sched *s, int step);
/* One more that `step` comes after. */
void sched_also(struct sched *s, int step, int before);

/* A barrier on the communicator's shelf, by that word (node.h); a schedule has one at most. */
int sched_meet(struct sched *s, int word, const int *after);

/* Temporary memory that lives as long as the schedule: `count` items, with room for their gaps, aligned as malloc's;
 * as many bytes. */
struct coll_block sched_items(struct sched *s, struct type *type, MPI_Count count);
void *sched_bytes(struct sched *s, size_t len);

/* An empty schedule of a communicator; only what building needs is set. */
void sched_init(struct sched *s, struct comm *comm);
/* Give back what belongs to it: memory and references, not the request's own. */
void sched_fini(struct sched *s);

/* Ready for a run, from the beginning. */
void sched_rewind(struct sched *s);
/* The next step of the queues, messages first; SCHED_NONE: none may begin now. */
int sched_next(struct sched *s);
/* The same, but a receive goes to the end of the queue first: what may be sent is not to wait for it. All receives do,
 * so they keep their order. */
int sched_next_turn(struct sched *s);
/* Give the steps their turns. */
void sched_make_turns(struct sched *s);
/* Another process has begun something else with the same number: an error that names both; else 0. Takes time in the
 * number of messages that wait for collective calls. */
int sched_disagreement(const struct sched *s) COLD;
/* Send what is called here, for the other's sched_disagreement, if that goes at once: nobody may ever receive it, and
 * then a message that is held back would keep this process from leaving. */
bool sched_notify(const struct sched *s, int dest) COLD;
/* A step goes to the end of its queue: one that may begin, or that sched_next has given and gives way. */
void sched_enqueue(struct sched *s, int step);
/* A step is over: those that waited for it alone join the queues. */
void sched_over(struct sched *s, int step);
/* Do a copy, a reduction or a call. */
int sched_work(const struct sched *s, const struct sched_step *step);
/* What this step should receive will not come: it is void, and with it what comes after. */
void sched_make_void(struct sched_step *step) COLD;
/* Is there nothing to do for a step that is no message, since it is void? Calls say what is sent. */
static inline bool sched_is_idle(const struct sched_step *step)
{
    return step->is_void && step->kind != SCHED_CALL;
}

/* Part of a block: `count` items from number `first` on. */
static inline struct coll_block coll_part(struct coll_block block, MPI_Count first, MPI_Count count)
{
    block.buf = coll_address(block.buf, first * block.type->extent);
    block.count = count;
    return block;
}

static inline size_t coll_bytes(const struct coll_block *block)
{
    return type_bytes(block->type, block->count);
}

#endif
