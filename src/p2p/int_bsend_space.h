/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. Where buffered messages lie (MPI 5.0 §3.6.1): in one attached buffer, or in memory of our own.
 * Knows: base. Does not know: messages, requests, transports. */
#ifndef P2P_INT_BSEND_SPACE_H
#define P2P_INT_BSEND_SPACE_H

#include <mpi.h>
#include <stdbool.h>

#include "base/list.h"

struct send_buffer;
struct p2p_req;
struct req_ops;
struct ibsend;

/* Place of one message. The first part belongs to the space, the second to whoever has taken it. */
struct bsend_segment {
    struct list link;           /* by address; alone: it lies in memory of our own */
    char *end;
    size_t charge;              /* what it takes of the buffer as the standard counts */

    struct send_buffer *buffer;
    struct p2p_req *r;          /* that sends it */
    const struct req_ops *request_ops; /* its own; while it stands for this message it has others */
    struct ibsend *handle;      /* what the user may cancel it by; NULL */
    uint64_t number;
    struct list age;            /* in buffer->messages */
    _Alignas(16) char data[];   /* the packed message */
};

enum { BSEND_ALIGN = _Alignof(struct bsend_segment) };

_Static_assert(sizeof(struct bsend_segment) + 2 * BSEND_ALIGN <= MPI_BSEND_OVERHEAD, "what we may take for ourselves");

struct bsend_space {
    void *address;              /* as the user gave them */
    size_t size;
    bool is_automatic;          /* MPI_BUFFER_AUTOMATIC: no address, no end */
    size_t free;                /* size less the charges */
    char *start, *end;          /* the aligned part */
    struct list segments;       /* by address */
    struct list *last;          /* where the search begins: the segment taken last, or the list's head */
};

/* `address` may be MPI_BUFFER_AUTOMATIC, of any alignment, and NULL if size is 0. */
void bsend_space_init(struct bsend_space *space, void *address, size_t size);

/* Must a message of `len` bytes be taken? It must as long as len + MPI_BSEND_OVERHEAD of it and of each message that is
 * in there fit into the size. The model of the standard never takes more than that, whatever order its messages lie
 * and go in, so what it takes is taken here. */
static inline bool bsend_space_has(const struct bsend_space *space, size_t len)
{
    return space->is_automatic || (len <= space->free && space->free - len >= MPI_BSEND_OVERHEAD);
}

/* Take it: contiguous space in the buffer or, where there is none in one piece, memory of our own. One that need not be
 * taken is if it finds a place in the buffer, since we take less for ourselves than programs are told to reckon with,
 * and some reckon with nothing. NULL: no memory, or no place. Constant time. */
struct bsend_segment *bsend_space_take(struct bsend_space *space, size_t len);
/* Give a place back. */
void bsend_space_give(struct bsend_space *space, struct bsend_segment *segment);

#endif
