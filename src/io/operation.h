/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: io, private. Operations: an access with what the user wants of it, from the call to the status. Blocking ones
 * are done by the call; the others are requests that move on whenever something is polled. */
#ifndef IO_OPERATION_H
#define IO_OPERATION_H

#include "io/int_io.h"
#include "obj/req.h"

struct io_exchange;

struct io_op {
    struct req req;            /* first: the handle is its address */
    struct list link;          /* among those that are polled, or that wait for their turn */
    struct io_access access;   /* of the file's bytes; holds references to file, view and type */
    void *stage;               /* data in the file's representation, moved instead of the user's; owned; NULL: none */
    void *user_buf;            /* then these are the user's */
    MPI_Count user_count;
    struct type *user_type;    /* referenced with a stage */
    size_t done;               /* bytes moved */
    const char *call;          /* for reports */
    int failed;                /* what is wrong with the call, for a collective one */
    bool is_blocking;
    bool is_collective;        /* it takes its turn among those of the file */
    bool is_detached;          /* the user has let go of the request */
    struct io_exchange *exchange; /* of a collective one under way */
};

/* Check the call and fill in the operation. Errors: MPI_ERR_ACCESS, MPI_ERR_READ_ONLY, MPI_ERR_UNSUPPORTED_OPERATION
 * for the file's amode; MPI_ERR_ARG, MPI_ERR_TYPE for arguments; MPI_ERR_NO_MEM, MPI_ERR_CONVERSION. After success it
 * needs io_op_fini. */
int io_op_init(struct io_op *op, const struct io_call *call);
void io_op_fini(struct io_op *op);
/* When all has been moved, or not: what has come reaches the user's memory. `rc` is what came of the moving; returns
 * that or the error of a conversion. req.bytes is what the status tells. */
int io_op_end(struct io_op *op, int rc);

/* A request, not under way yet. NULL: no memory. */
struct io_op *io_op_create(void);
/* From now on it moves by itself. */
void io_op_enqueue(struct io_op *op);
/* A read that met the end of the file leaves the pointer there, unless somebody else has moved it meanwhile. */
void io_draw_back(const struct io_op *op);

/* Wait until no operation is under way that nobody can wait for any more. Returns how many others there are. */
int io_op_settle(struct file *file);

/* Wait for the collective operations under way, so that another collective call comes after them everywhere. */
void io_op_drain(struct file *file);
/* Etypes that a call moves; 0 if something is wrong with it. */
MPI_Offset io_call_etypes(const struct io_call *call);

void io_op_close(void);

/* Where seeking leads to; `current`: what MPI_SEEK_CUR counts from (data_access.c). */
int io_find_target(struct file *file, const struct io_view *view, MPI_Offset offset, int whence, MPI_Offset current,
                   MPI_Offset *target);

#endif
