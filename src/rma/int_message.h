/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: rma, private. What the two ends of operations by messages share: message.c begins them and takes in answers,
 * serve.c does them at the target. Parcels of the window's communicator (p2p/parcel.h); the user's word says which:
 *
 *   CALL      struct win_call_head, the outline of the target's type, data: an operation, or a piece of a long one
 *   REPLY     struct win_reply_head, data: what has been read
 *   REFUSED   struct win_refusal: instead of a reply
 *   FLUSH     nothing: answer when all that came before is done
 *   FLUSHED   nothing: the answer; or struct win_refusal: not all has been done
 *
 * and between processes on different machines, which have nothing else to tell each other by, without data:
 *
 *   LOCK, LOCK_SHARED       the target's lock is wanted; what comes behind it waits until it is had
 *   GRANTED                 the answer
 *   UNLOCK, UNLOCK_SHARED   it is given back, when all that came before is done
 *   POSTED                  MPI_Win_post has opened an exposure epoch for the receiver
 *   COMPLETED               MPI_Win_complete has ended an access epoch, and all that came before is done
 *
 * A target does what comes from one origin in the order in which it was sent; but for POSTED, which is nothing done to
 * its memory. */
#ifndef RMA_INT_MESSAGE_H
#define RMA_INT_MESSAGE_H

#include "base/list.h"
#include "p2p/parcel.h"
#include "rma/int_rma.h"

enum win_parcel {
    PARCEL_CALL = 1,
    PARCEL_FLUSH,
    PARCEL_LOCK,
    PARCEL_LOCK_SHARED,
    PARCEL_UNLOCK,
    PARCEL_UNLOCK_SHARED,
    PARCEL_COMPLETED,
    PARCEL_ORDERED_LAST = PARCEL_COMPLETED, /* those up to here are done in their order */
    PARCEL_REPLY,
    PARCEL_REFUSED,
    PARCEL_FLUSHED,
    PARCEL_GRANTED,
    PARCEL_POSTED,
};

enum win_action {
    ACTION_PUT,     /* data: the piece */
    ACTION_GET,     /* no data; replies */
    ACTION_COMBINE, /* data: the piece, but for MPI_NO_OP; a reply of the same length if `asked` */
    ACTION_SWAP,    /* data: the new value and the one to compare with; reply: the old one */
};

struct win_call_head {
    uint64_t address;     /* of the target's side, there */
    int64_t count;        /* items of the target's type */
    uint64_t at, len;     /* the piece: bytes of the stream */
    uint64_t asked;       /* comes back in replies; 0: none is wanted */
    uint32_t outline_len;
    uint8_t action;       /* enum win_action */
    uint8_t kind;         /* COMBINE, SWAP: enum type_kind of the elements */
    uint16_t op;          /* COMBINE: handle of a predefined operator */
};

struct win_reply_head {
    uint64_t asked;
    uint64_t at;          /* in the stream */
};

/* Nothing has been done: these bytes of the target are not attached. */
struct win_refusal {
    uint64_t asked;
    uint64_t left;        /* bytes of the answer that do not come */
    uint64_t address, len;
};

enum {
    MESSAGE_PIECE = 1 << 18, /* bytes of data in one parcel, unless the outline before them is long, too */
    MESSAGE_REPLIES = 8,     /* of one window that are on their way at a time; more wait */
    MESSAGE_TYPES = 4,       /* types of origins that are kept */
};

struct win_reply;

/* How far a lock for a far process has come. */
enum win_turn { TURN_NONE, TURN_WAITS, TURN_HAS_COME };

/* A parcel that has come or is coming. */
struct win_parcel_in {
    struct list link;     /* in the queue of its origin, if it waits for others */
    int rank;
    uint32_t word;
    bool is_here;
    size_t len;
    size_t done;          /* bytes of the data that have been dealt with, where that goes in steps */
    struct win_reply *reply; /* that is being filled; owned; NULL: none */
    uint32_t ticket;      /* LOCK: ours in the queue of the lock, … */
    uint8_t turn;         /* … enum win_turn */
    unsigned char bytes[] ALIGNED(16);
};

struct win_peer {
    struct list queue;    /* struct win_parcel_in: calls and flushes from there, in order */
    uint32_t reading;     /* operations whose answers are not complete */
    bool is_unflushed;    /* something was sent that no flush is behind */
    bool is_flushing;     /* an answer to a flush is on its way */
    bool is_locking;      /* one to a LOCK is */
    bool is_unheard;      /* an UNLOCK was sent that no flush is behind: a window that goes waits for it */
    bool is_refused;      /* at the target: the next is to be told, … */
    struct win_refusal refusal; /* … this */
    int error;            /* at the origin: for the next flush; 0: none */
};

/* Of a window; guarded by the lock of its box. */
struct win_messages {
    struct win *win;
    struct win_messages *next; /* in the list of all; guarded by that list's lock */
    bool is_deferred;     /* some queue waits for memory, a stripe or replies to go, not for a parcel */
    unsigned replies;     /* on their way out */
    struct {
        size_t len;
        unsigned char *outline; /* owned */
        struct type *type;  /* referenced */
    } kept[MESSAGE_TYPES];
    unsigned next_kept;
    struct win_peer peer[];
};

/* serve.c. The window takes part from now on; it goes, and nothing is left in its queues. */
void win_serve_open(struct win_messages *m);
void win_serve_close(struct win_messages *m);
/* With the lock: a call from `rank` is here. What can be done is done. */
void win_serve(struct win_messages *m, int rank);

/* message.c. With the lock: something has been sent that a flush must come behind. */
void win_unflushed(struct win_messages *m, int rank);

/* far.c, with the lock. At the target: LATER, or done. */
enum { LATER = -1 }; /* nothing more could be done now */
int win_serve_lock(struct win_messages *m, struct win_parcel_in *in);
void win_serve_unlock(struct win_messages *m, const struct win_parcel_in *in);
/* GRANTED, POSTED or COMPLETED has come. */
void win_serve_notice(struct win_messages *m, const struct win_parcel_in *in);

#endif
