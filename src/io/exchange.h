/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: io, private. Collective access in two phases: some processes, the aggregators, each take a part of the file
 * between the first and the last byte that anybody wants, and go through it window by window. What belongs to a window
 * is exchanged in memory, and the window is read or written as one piece. All processes take the same decisions from
 * what each has told the others of its access. */
#ifndef IO_EXCHANGE_H
#define IO_EXCHANGE_H

#include "io/operation.h"

/* What each tells the others. */
struct io_summary {
    MPI_Offset first, end; /* in the file, of what it wants */
    uint64_t at, len;      /* of its stream */
    uint64_t outline;      /* bytes that describe its view */
    uint64_t block;        /* bytes in a row, on average */
    int32_t error;         /* class; 0: it may go on */
    uint8_t is_rising, has_gaps;
};

enum io_stage { IO_TELLING, IO_OWN, IO_OUTLINES, IO_READY, IO_ROUND, IO_EXCHANGED, IO_ENDING, IO_OVER };

struct io_exchange {
    enum io_stage stage;
    struct req *pending;          /* a collective call under way */
    int error;                    /* the first one of this process */
    struct io_summary *all;       /* of all ranks; owned, as all that follows */
    struct io_view **views;       /* of all ranks; kept with the view */
    char *outlines;
    MPI_Count *counts;            /* four arrays: what is sent and received, and where */
    int aggregators, *ranks;      /* of them, which have room for all */
    MPI_Offset low, high;         /* what anybody wants */
    MPI_Offset domain;            /* bytes of the file for each aggregator */
    size_t window;                /* of these in a round */
    int64_t rounds, round;
    bool is_sparse;               /* there may be rounds in which nobody has anything */
    /* the file's memory: */
    char *own, *others;           /* data of this process; those of all in a window */
    char *bytes, *old;            /* the window; what it was before */
    uint64_t *covered;            /* a bit for each byte of the window that somebody has written */
    MPI_Offset stop;              /* where in the file an error or the end was met */
    uint64_t outcome[2];
};

static inline MPI_Count *io_send_counts(const struct io_exchange *x)
{
    return x->counts;
}

static inline MPI_Count *io_send_places(const struct io_exchange *x, int size)
{
    return x->counts + size;
}

static inline MPI_Count *io_recv_counts(const struct io_exchange *x, int size)
{
    return x->counts + 2 * (size_t)size;
}

static inline MPI_Count *io_recv_places(const struct io_exchange *x, int size)
{
    return x->counts + 3 * (size_t)size;
}

/* The head of what a process gets to read: up to where in the file it is good. */
struct io_reply {
    MPI_Offset end;
    int64_t error; /* class */
};

/* Begin; `rc` is what is wrong with the call, which the others learn. Error: MPI_ERR_NO_MEM, and then nobody else may
 * have begun. */
int io_exchange_begin(struct io_op *op, int rc);
/* Go on as far as can be without waiting; a blocking operation always to the end. True: it is over, *rc is what came of
 * it. *events counts what has happened. */
bool io_exchange_move(struct io_op *op, int *rc, int *events);
void io_exchange_end(struct io_op *op);

static inline struct comm *io_comm_of(const struct io_op *op)
{
    return op->access.file->comm;
}

/* One collective call of a step, to be waited for. */
struct coll_args;
int io_exchange_call(struct io_op *op, const struct coll_args *args);

/* --- what all decide alike (exchange_choose.c) --- */

/* What this process tells; `rc` is what is wrong with its call. */
void io_exchange_summary(const struct io_op *op, int rc, struct io_summary *s);
/* The error of another process, as this one returns it; of all that have told: 0, or the first one. */
int io_exchange_failed(const struct io_op *op, int error_class, int rank);
int io_other_error(const struct io_op *op);
bool io_is_exchanging(const struct io_op *op);

/* --- rounds (exchange_round.c) --- */

/* The views of all, once after they have been set: tell, and make them of what has come. Errors: MPI_ERR_NO_MEM,
 * those of collective calls. */
int io_tell_outlines(struct io_op *op);
int io_read_outlines(struct io_op *op);
/* Which aggregator has what, in how many rounds; the memory for it. Error: MPI_ERR_NO_MEM. */
void io_lay_out(struct io_op *op);
int io_get_memory(struct io_op *op);
/* Rounds in which nobody has anything are left out. */
void io_skip_rounds(struct io_op *op);
/* Send and receive what belongs to a round; then use it. */
int io_begin_round(struct io_op *op);
void io_end_round(struct io_op *op);

/* --- windows (file_window.c) --- */

/* The number of an aggregator; -1: that rank is none. */
int io_aggregator_number(const struct io_exchange *x, int rank);
/* The part of the stream of `rank` that lies in this round's window of an aggregator: *from counts from its first byte.
 * Returns its length. */
size_t io_window_part(const struct io_exchange *x, int number, int rank, size_t *from);
/* The first round from this one on in which `rank` has something in the window of an aggregator; x->rounds: none. */
int64_t io_next_round(const struct io_exchange *x, int number, int rank);
/* Read this round's window of this process and put what each rank gets in `others`. */
void io_window_read(struct io_op *op, int number);
/* Put what has come in `others` into the window, and write it. */
void io_window_write(struct io_op *op, int number);

#endif
