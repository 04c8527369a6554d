/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: rma, private. What the two ends of operations by messages share: message.c begins them and takes in answers,
 * serve.c does them at the target. Parcels of the window's communicator (p2p/parcel.h); the user's word says which:
 *
 *   CALL      struct win_call_head, the outline of the target's type, data: an operation, or a piece of a long one
 *   REPLY     struct win_reply_head, data: what has been read
 *   FLUSH     nothing: answer when all that came before is done
 *   FLUSHED   nothing: the answer
 *
 * A target does what comes from one origin in the order in which it was sent. */
#ifndef RMA_INT_MESSAGE_H
#define RMA_INT_MESSAGE_H

#include "base/list.h"
#include "p2p/parcel.h"
#include "rma/int_rma.h"

enum win_parcel { PARCEL_CALL = 1, PARCEL_REPLY, PARCEL_FLUSH, PARCEL_FLUSHED };

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

enum {
    MESSAGE_PIECE = 1 << 18, /* bytes of data in one parcel, unless the outline before them is long, too */
    MESSAGE_REPLIES = 8,     /* of one window that are on their way at a time; more wait */
    MESSAGE_TYPES = 4,       /* types of origins that are kept */
};

struct win_reply;

/* A parcel that has come or is coming. */
struct win_parcel_in {
    struct list link;     /* in the queue of its origin, if it waits for others */
    int rank;
    uint32_t word;
    bool is_here;
    size_t len;
    size_t done;          /* bytes of the data that have been dealt with, where that goes in steps */
    struct win_reply *reply; /* that is being filled; owned; NULL: none */
    unsigned char bytes[] ALIGNED(16);
};

struct win_peer {
    struct list queue;    /* struct win_parcel_in: calls and flushes from there, in order */
    uint32_t reading;     /* operations whose answers are not complete */
    bool is_unflushed;    /* something was sent that no flush is behind */
    bool is_flushing;     /* an answer to a flush is on its way */
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

#endif
