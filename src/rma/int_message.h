/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: rma, private. What the two ends of operations by messages share: message.c makes them, outbox.c sends them and
 * waits, serve.c does them at the target, far.c is locks, posts and completes of far ranks. Parcels of the window's
 * communicator (p2p/parcel.h). The low 8 bits of the user's word say which:
 *
 *   CALLS     any number of operations, one behind the other: of each a struct win_call_head, the outline of the
 *             target's type, data, filled up to WIN_CALL_ALIGN
 *   DATA      bytes of the put that was the last one of the CALLS before, in order
 *   REPLY     what has been read, in the order in which it was asked for, and no more of one operation
 *   REFUSED   struct win_refusal, instead of a reply
 *   ANSWER    nothing: all is done that came up to the parcel which has asked for it; or struct win_refusal: not all
 *   POSTED    MPI_Win_post has opened an exposure epoch for the receiver
 *
 * The others say what is to be done besides (enum win_also), with CALLS and DATA. A target does these in the order in
 * which one origin has sent them. So a lock, what is done under it, its end and the question whether all is done may be
 * one parcel.
 *
 * The data of a put that go as DATA are read into the window as they come, unless the lock before it is not had yet. */
#ifndef RMA_INT_MESSAGE_H
#define RMA_INT_MESSAGE_H

#include "base/list.h"
#include "p2p/attend.h"
#include "p2p/parcel.h"
#include "rma/int_rma.h"

enum win_parcel { PARCEL_CALLS = 1, PARCEL_DATA, PARCEL_REPLY, PARCEL_REFUSED, PARCEL_ANSWER, PARCEL_POSTED };

enum win_also {
    ALSO_LOCK = 1 << 8,       /* first: the target's lock is wanted, … */
    ALSO_SHARED = 1 << 9,     /* … or given back, for reading */
    ALSO_DATA = 1 << 10,      /* the last operation is a put whose data follow */
    ALSO_UNLOCK = 1 << 11,    /* then the lock is given back */
    ALSO_COMPLETE = 1 << 12,  /* MPI_Win_complete has ended an access epoch */
    ALSO_ANSWER = 1 << 13,    /* at last: an answer is wanted */
    ALSO_TRY = 1 << 14,       /* the lock, for reading, only if it can be had now; in an answer: it could not */
    WIN_PARCEL_KIND = 255,
};

enum win_action {
    ACTION_PUT,      /* data: the piece */
    ACTION_PUT_DATA, /* no data; DATA follow */
    ACTION_GET,      /* no data; replies */
    ACTION_COMBINE,  /* data: the piece, but for MPI_NO_OP; a reply of the same length if is_asked */
    ACTION_SWAP,     /* data: the new value and the one to compare with; reply: the old one */
    ACTION_FAVOUR,   /* data: where the data are; op 0: a put; favour.c */
};

enum { WIN_CALL_ALIGN = 8 };

struct win_call_head {
    uint64_t address;     /* of the target's side, there */
    int64_t count;        /* items of the target's type */
    uint64_t at, len;     /* the piece: bytes of the stream */
    uint32_t size;        /* of all of it, up to the next one */
    uint32_t outline_len; /* 0: the target's type is MPI_BYTE */
    uint16_t op;          /* COMBINE: handle of a predefined operator */
    uint8_t action;       /* enum win_action */
    uint8_t kind;         /* COMBINE, SWAP: enum type_kind of the elements */
    bool is_asked;        /* replies are wanted */
    uint8_t unused[3];
};

/* Nothing has been done: these bytes of the target are not attached. */
struct win_refusal {
    uint64_t left;        /* bytes of the reply that do not come */
    uint64_t address, len;
};

enum {
    MESSAGE_PIECE = 61440,   /* bytes of data in one parcel, where they are copied; unless the outline before them is
                              * long, too */
    MESSAGE_BATCH = 16384,   /* bytes of operations that are put together; longer ones go alone … */
    MESSAGE_ENOUGH = 8192,   /* … and so many do not wait for more */
    MESSAGE_DIRECT = 131073, /* data of a put from here on go as DATA, if the target's side is one run: below, copies
                              * at both ends cost less than a parcel more */
    MESSAGE_REPLIES = 8,     /* of one window that are on their way at a time, copied; more wait */
    MESSAGE_TYPES = 4,       /* types of origins that are kept */
};

struct win_reply;
struct win_asked;

/* How far a lock for a far process has come. */
enum win_turn { TURN_NONE, TURN_WAITS };

/* A parcel that has come or is coming. */
struct win_parcel_in {
    struct list link;     /* in the queue of its origin, if it waits for others */
    int rank;
    uint32_t word;        /* what is done is taken out */
    bool is_here;
    bool is_in_place;     /* its bytes do not lie here, but where they belong */
    size_t len;
    size_t at;            /* CALLS: of the operation that is next; DATA, REPLY: in the stream */
    size_t done;          /* bytes of its data that have been dealt with, where that goes in steps */
    struct win_reply *reply; /* that is being filled; owned; NULL: none */
    struct win_asked *asked; /* REPLY: to what */
    uint32_t ticket;      /* LOCK: ours in the queue of the lock, … */
    uint8_t turn;         /* … enum win_turn … */
    struct win_patience since; /* … and how long we have waited */
    unsigned char bytes[] ALIGNED(16);
};

/* Operations that wait to be sent together. */
struct win_batch {
    size_t len;
    unsigned char bytes[MESSAGE_BATCH] ALIGNED(16);
};

struct win_peer {
    struct win_messages *m;
    bool is_lost;         /* nothing comes from there any more */
    /* we are the origin */
    struct win_batch *batch; /* owned; NULL: not needed so far */
    uint32_t lock_also;   /* of enum win_also: the next parcel asks for the lock; 0: nothing to be asked for */
    uint32_t burst;       /* when something was sent last; see win_outbox_tick */
    uint32_t reading;     /* operations whose replies are not complete */
    uint32_t sending;     /* puts whose data the transport has yet to read */
    uint32_t answers;     /* that are on their way to us */
    bool is_unflushed;    /* something was sent that no question is behind */
    bool is_unheard;      /* an unlock was sent that no question is behind: a window that goes waits for it */
    struct list asked;    /* struct win_asked: in the order of their replies, without those that all have come for */
    bool is_denied;       /* what was tried last: the lock was not to be had */
    int error;            /* for the next flush; 0: none */
    /* we are the target */
    struct list queue;    /* struct win_parcel_in: CALLS and DATA from there, in order */
    struct list *begun;   /* the last of them whose operations are done, or whose bytes come to where they belong */
    uint32_t puts_come, puts_done; /* puts with DATA: begun here; done, but for these */
    size_t data_begun;    /* bytes of DATA of the last that has come, so far */
    char *landing;        /* where the DATA of the last that is done go; NULL: they are refused */
    unsigned replies;     /* on their way to it */
    uint32_t lock_held;   /* ALSO_LOCK, perhaps ALSO_SHARED: it has our lock; 0: it has not */
    bool has_left;        /* it has left a ticket for our lock, … */
    uint32_t left;        /* … this one */
    bool has_denied;      /* the next answer tells that its lock was not to be had */
    bool is_refused;      /* the next answer tells … */
    struct win_refusal refusal; /* … this */
};

/* Of a window; guarded by the lock of its box. */
struct win_messages {
    struct win *win;
    struct win_messages *next; /* in the list of all; guarded by that list's lock */
    bool is_deferred;     /* something is to be tried again by the next poll: a queue waits for memory, a stripe, a
                           * lock or replies to go; a batch waits to be sent */
    unsigned replies;     /* on their way out, copied */
    struct {
        size_t len;
        unsigned char *outline; /* owned */
        struct type *type;  /* referenced */
    } kept[MESSAGE_TYPES];
    unsigned next_kept;
    struct win_peer peer[];
};

static inline struct win_messages *win_messages_of(const struct win *win)
{
    return win->messages;
}

/* What begins or ends something that a flush waits for. */
static inline void win_pending(struct win *win, int change)
{
    atomic_fetch_add_explicit(&win->pending, (uint32_t)change,
                              change < 0 ? memory_order_release : memory_order_relaxed);
}

/* --- message.c --- */

/* Nothing that was asked of a lost rank will come: `rc` says why. */
void win_forget_asked(struct win_peer *peer, int rc);

/* --- outbox.c, with the lock --- */

/* Polls so far: what was sent since the last one is a burst. */
extern _Atomic uint32_t win_outbox_tick;

/* Something has been or will be sent that a question must come behind. */
void win_unflushed(struct win_messages *m, int rank);
/* Send what waits, saying also that. Error: MPI_ERR_NO_MEM, and all is as before. */
int win_outbox_send(struct win_messages *m, int rank, uint32_t also);
/* Room for an operation of so many bytes, or NULL: no memory. It is sent with what follows it. */
void *win_outbox_room(struct win_messages *m, int rank, size_t size);
/* It is written. Send it if it should not wait. `is_asked`: there will be replies. */
void win_outbox_added(struct win_messages *m, int rank, bool is_asked);
/* One that goes alone, behind what waits; takes over the memory. Error: MPI_ERR_NO_MEM. */
int win_outbox_alone(struct win_messages *m, int rank, uint32_t word, void *bytes, size_t len, p2p_letter_gone *gone,
                     void *arg);
/* As the next poll would do. */
void win_outbox_retry(struct win_messages *m, int rank);
/* An answer has come. `rc`: what was refused; `word`: of the parcel. */
void win_outbox_answered(struct win_messages *m, int rank, uint32_t word, int rc);
void win_outbox_lost(struct win_messages *m, int rank);

/* --- serve.c --- */

/* The window takes part from now on; it goes, and nothing is left in its queues. */
void win_serve_open(struct win_messages *m);
void win_serve_close(struct win_messages *m);
/* With the lock: the next poll is to look at this window. */
void win_defer(struct win_messages *m);
/* With the lock: something from `rank` is here. What can be done is done. */
void win_serve(struct win_messages *m, int rank);
/* The rank is lost: what it has sent, and what it has locked. */
void win_serve_lost(struct win_messages *m, int rank);
/* Where the bytes of a parcel that has just begun go, which is the next one of its queue. */
void *win_serve_begin(struct win_messages *m, struct win_parcel_in *in);

/* favour.c. With the lock: do it if it is still wanted. */
void win_serve_favour(struct win_messages *m, int rank, const struct win_call_head *head, const struct type *type,
                      const char *data);

/* What was left to be tried again (attend_unfinished): something waits for that; try. */
int win_serve_again(void);

/* --- far.c, with the lock. At the target. --- */

enum { LATER = -1 }; /* nothing more could be done now */
/* LATER, or it is had, or known that it is not. */
int win_serve_lock(struct win_messages *m, struct win_parcel_in *in);
/* `also`: as in the parcel that has asked for it. */
void win_serve_unlock(struct win_messages *m, uint32_t also);
/* An access epoch of `rank` has ended; else an exposure epoch has begun there. */
void win_serve_notice(struct win_messages *m, int rank, bool is_end);

#endif
