/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. What the files of partitioned communication (MPI 5.0 §4) share.
 *
 * A message of `partitions` equal parts moves in pieces of whole partitions of the sender, each with its place in the
 * packed stream; the receiver counts the bytes of its own partitions. The two sides meet once: the sender's envelope
 * (SETUP) is sent by MPI_Psend_init, so envelopes come in the order of the init calls, and it is matched like a
 * message, in a key space that ordinary messages do not have. Each start of the receive grants a round (GRANT);
 * data moves while both are started. */
#ifndef P2P_INT_PART_H
#define P2P_INT_PART_H

#include "p2p/int_p2p.h"
#include "p2p/part.h"

enum {
    PART_SOURCE_BIT = INT32_MIN, /* in the source half of a match key, in the context of collectives: SETUP */
    PART_PIECES = 4,             /* offered pieces of one message under way */
    PART_PIECE_MAX = 1 << 20,    /* bytes of an offered piece, unless one partition is longer */
    PART_TOGETHER = 4096,        /* fewer ready bytes wait for more, or for the next poll */
};

/* --- bookkeeping (part_book.c); knows neither requests nor transports --- */

/* Sender: which partitions are ready, and which of them have been taken to be sent. */
struct part_marks {
    _Atomic uint64_t *ready;     /* a bit each; set by any thread */
    uint64_t *taken;             /* the same; with the lock, as all that follows */
    int count;
    int low;                     /* all words before this one are taken */
};

struct part_run {
    int first, count;
};

/* All clear; `words` has 2 * part_words(count) words and stays the caller's. */
size_t part_words(int count);
void part_marks_init(struct part_marks *m, int count, uint64_t *words);
void part_marks_clear(struct part_marks *m);
/* The first of `run` that is ready already, or -1. Without the lock, by any thread. */
int part_marks_find(const struct part_marks *m, struct part_run run);
/* Make them ready (release); how many of them were not. Without the lock, by any thread. */
int part_marks_set(struct part_marks *m, struct part_run run);
/* The next at most `max` partitions in a row that are ready (acquire) and not taken. False: none. */
bool part_marks_next(struct part_marks *m, int max, struct part_run *run);
void part_marks_take(struct part_marks *m, struct part_run run);

/* Receiver: the bytes that each partition still lacks. */
struct part_fill {
    _Atomic size_t *left;        /* read without the lock; 0 (release): the bytes are there */
    int count;
    size_t part_len;             /* bytes of a partition */
    size_t total_left;
};

/* Nothing has arrived of a message of `len` bytes, at most what there is room for. Partitions behind lack nothing. */
void part_fill_clear(struct part_fill *f, size_t len);
/* Bytes [offset, offset + len) have been written. With the lock. */
void part_fill_add(struct part_fill *f, size_t offset, size_t len);
/* Is all of it there (acquire)? By any thread. */
bool part_fill_has(const struct part_fill *f, int partition);

/* --- requests --- */

struct part_req;

/* An offered piece: the long-message protocol runs on its request, which has no ops since it is not the user's. */
struct part_piece {
    struct p2p_req r;            /* first */
    struct part_req *whole;
    size_t offset, len;          /* in the packed stream of the whole */
    bool is_used;
};

/* Of one with a process of another client of IMPI. */
struct part_abroad {
    uint64_t id;                 /* ours on the wire */
    struct part_run run;         /* send: partitions that are under way … */
    size_t at;                   /* … so many bytes of which are out */
    int error;                   /* … or which do not fit external32 */
    struct external_cursor cursor; /* receive: of the partitions under way */
};

struct part_req {
    struct req req;              /* first: the handle is its address */
    struct channel *channel;
    struct peer *peer;           /* NULL: MPI_PROC_NULL */
    int rank;                    /* of the other side */
    int tag;
    void *buf;
    struct type *type;
    MPI_Count count;             /* items of the whole message */
    int partitions;
    size_t part_len, len;        /* bytes of a partition, of the message; in external32, if it goes to another client */
    uint64_t remote_id;          /* of the other side; 0: not met yet */
    size_t remote_len;           /* bytes that the other side has in mind */
    struct match_entry match;    /* receive: posted until it has met its sender */
    bool is_laid_out;            /* not items of a partition after those of another */
    bool is_running;             /* started and not complete */
    bool is_queued;              /* the record in `out` waits for room */
    bool is_released;            /* the user has freed it: give it back once it has met, or the record is out */
    bool is_all_ready;           /* send: every mark of this round has been made, and nobody is about to touch us */
    bool is_pushing;             /* send: in part_push */
    bool is_end_sent;            /* send of no bytes: the record that ends the round has gone out */
    _Atomic bool may_send;       /* send: granted, so a mark may send at once */
    unsigned rounds, granted;    /* send: starts of this side; of the other side, as far as is known */
    int pieces;                  /* send: offered and not done */
    _Atomic int unready;         /* send: marks yet to be made in this round; who makes it 0 says is_all_ready */
    _Atomic int taken;           /* send: partitions given to the transport or offered */
    struct part_marks marks;     /* send */
    struct part_fill fill;       /* receive */
    struct list link;            /* send: in lane.parts while granted and not complete */
    struct list all_link;        /* in lane.part_all */
    struct outgoing out;
    struct net_head head;        /* of the record in `out` */
    uint32_t head_len;
    union {
        struct wire_rts setup;
        struct wire_cts grant;
    } control;
    struct part_piece piece[PART_PIECES];
    struct part_abroad abroad;
};

/* part.c. Complete the round; an error is in the request. Nothing may touch it afterwards. */
void part_complete(struct part_req *p);
/* Send the record in p->control, or queue it. */
void part_control_send(struct part_req *p, struct net_head head, uint32_t len);
/* Give the memory back. */
void part_free(struct part_req *p);
/* A free piece, prepared for bytes [offset, offset + len) of the whole; NULL: all are in use. */
struct part_piece *part_piece_open(struct part_req *p, size_t offset, size_t len);

/* part_send.c; more in int_p2p.h */
void part_send_setup(struct part_req *s);
void part_send_start(struct part_req *s);
void part_send_piece_done(struct part_req *s);

/* Both sides have started one round more; the receiver calls itself `id` and asks for `len` bytes. */
void part_granted(struct part_req *s, uint64_t id, size_t len);

/* part_abroad.c: with a process of another client of IMPI. A request begins: error E1211; what part.c and part_send.c
 * do with others: send the record of control, what is ready, the end of an empty round. False, or 0: no room now. */
int part_open_abroad(struct part_req *p);
bool part_control_abroad(const struct part_req *p);
int part_push_abroad(struct part_req *s);
bool part_end_abroad(const struct part_req *s);

/* part_recv.c */
void part_recv_post(struct part_req *r);
void part_recv_start(struct part_req *r);
/* Bytes [offset, offset + len) are there. */
void part_recv_done(struct part_req *r, size_t offset, size_t len);
/* The message is longer than the receive. */
bool part_recv_is_refused(const struct part_req *r);

#endif
