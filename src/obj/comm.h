/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: obj. A communicator as data (MPI 5.0 §7). Making new ones is communication and stands in room comm. */
#ifndef OBJ_COMM_H
#define OBJ_COMM_H

#include "obj/group.h"
#include "obj/obj.h"

struct attrs;
struct p2p_comm;
struct send_buffer;
struct errhandler;
struct kept;
struct spread;
struct topology;
struct ways;

/* Nonblocking barriers that the user has not been told the end of: rounds of a program that ends each by one. What
 * others send behind it belongs to the next (p2p/probe.c). */
struct comm_epochs {
    _Atomic uint32_t begun, over;    /* of those begun, so many are over */
    _Atomic uint32_t put_off;        /* how often a message has been said not to be there since the last was told */
};

/* Memory that the members share for collective calls: which, and the last round that this process has begun on it.
 * Owned by room coll. */
struct comm_shelf {
    int number;     /* 0: not asked for yet, -1: there is none */
    uint32_t round;
};

/* Which trays of its own a member has used, in which round and for whom, and which one is next. Owned by room coll. */
enum { COMM_TRAYS = 2, COMM_CELLS = 16 };

struct comm_trays {
    struct {
        uint32_t round;
        int reader;     /* its rank and one; 0: it has not been used */
    } tray[COMM_TRAYS];
    int next;
};

/* The last choice of an algorithm for a collective call, which the next one will most likely repeat. Owned by room
 * coll. */
struct comm_choice {
    uint64_t bytes;
    uint32_t ranks, key;   /* operation and what else counts; 0: none */
    const void *algorithm;
    long parameter;
};

/* Of a communicator over several clients: what messages of collective calls between them say of the call, beside what
 * IMPI has there; see coll/clients.h. 0: nothing. Owned by room coll; room p2p sends and compares. */
struct comm_notes {
    uint64_t sent;         /* goes with what is sent now */
    uint64_t asked;        /* of the last call that blocks */
    uint64_t wrong;        /* a message with this has been received in its place … */
    int wrong_from;        /* … from this rank */
};

enum { COMM_CALLS = 8, COMM_SHELF_WAYS = 40 };

struct comm {
    struct obj obj;
    int rank, size;                  /* of and in the local group */
    int remote_size;                 /* intercommunicator: of the remote group; else equal to size */
    uint32_t ctx;                    /* even; point-to-point travels in ctx, collectives in ctx + 1 */
    bool is_inter;
    bool is_ended;                   /* the user has freed it, which was made everywhere: what comes for ctx is late */
    struct p2p_comm *p2p;            /* matching state, owned by room p2p */
    struct group *group;             /* local group; referenced */
    struct group *remote_group;      /* whom ranks of send and receive mean: intercommunicator the remote group,
                                      * else the same pointer as group; referenced once more only if it differs */
    struct comm *local;              /* intercommunicator: of the local group, for the library; owned. Else NULL */
    struct session_ref session;      /* it comes from */
    struct errhandler *errhandler;   /* referenced */
    struct send_buffer *buffer;      /* attached for buffered sends, owned by room p2p; NULL: none */
    struct attrs *attrs;             /* of the user; owned; NULL: none */
    uint32_t coll_sequence;          /* collective calls so far: tag of the next one's messages */
    uint32_t coll_met;               /* that count when all were last known to have come to it */
    uint32_t coll_swept;             /* that count when old notices (coll/disagree.c) were last thrown away */
    uint32_t coll_persistent;        /* persistent collective operations made so far */
    const char *coll_call;           /* the last collective call, for reports */
    const char *coll_calls[COMM_CALLS]; /* by their numbers the last ones, by the names that the user knows */
    struct comm_choice coll_choice;
    struct kept *coll_kept;          /* schedules for calls that are repeated, owned by room coll; NULL: none */
    _Atomic uint32_t coll_running;   /* collective calls that are requests and not complete */
    struct comm_epochs epochs;
    bool coll_has_complained;        /* that another process makes other calls, once */
    const char *coll_outer;          /* the call that makes collective calls itself; NULL: none */
    _Atomic uint8_t hints;           /* a bit each, see comm/hints.c; read while another thread sets them */
    _Atomic bool may_overtake;       /* one of them: the user's messages and receives need not keep their order */
    struct spread *spread;           /* which node each member is on, owned by room coll; NULL: all on one, or … */
    bool is_placed;                  /* … this is false: nobody has looked yet */
    struct comm *whole;              /* room coll's own, of the members on a node: that of all of them. Else NULL */
    struct comm_shelf shelf;
    uint32_t shelf_known;            /* a round that all members have come to */
    int shelf_meets;                 /* words of it that persistent barriers have been given */
    int8_t shelf_copies;             /* may members copy from each other's memory? 1 yes, -1 no, 0 not asked yet */
    size_t shelf_copy_min;           /* bytes from which that pays here, and if fewer would elsewhere; known with it */
    bool shelf_has_ways;             /* which way long blocks go is found by trial (coll/int_ways.h): */
    uint8_t shelf_ways[COMM_SHELF_WAYS]; /* that of each kind of calls and class of lengths now */
    struct ways *shelf_trials;       /* of rank 0; owned; NULL: it makes none */
    uint32_t shelf_short;            /* operations whose short calls go straight through it, a bit each */
    char *shelf_memory, *shelf_cells; /* where it is, if there is one */
    uint32_t shelf_cell_round[COMM_CELLS]; /* in which this member has last used each of its cells */
    struct comm_trays shelf_trays;
    char *shelf_scratch;             /* for intermediate results; owned; NULL: none yet */
    struct comm_notes notes;
    struct topology *topology;       /* virtual topology; referenced; NULL: none */
    char name[MPI_MAX_OBJECT_NAME];
    void (*destroy)(struct comm *comm); /* takes it apart; set by room comm, which makes communicators */
};

/* Name of collective call number `sequence`, from 1; NULL: not begun, or too long ago. */
static inline const char *comm_call_name(const struct comm *comm, uint64_t sequence)
{
    if (!sequence || sequence > comm->coll_sequence || comm->coll_sequence - sequence >= COMM_CALLS)
        return NULL;
    return comm->coll_calls[(sequence - 1) % COMM_CALLS];
}

enum { COMM_LABEL_SIZE = MPI_MAX_OBJECT_NAME };

/* What to call it in a message: its name or, made in `text`, "a communicator of 4 processes". */
const char *obj_comm_label(const struct comm *comm, char text[COMM_LABEL_SIZE]) COLD;

/* Drop a reference: the handle's, or that of an operation. */
static inline void comm_unref(struct comm *comm)
{
    if (unlikely(obj_unref(&comm->obj)))
        comm->destroy(comm);
}

#endif
