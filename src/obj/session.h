/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: obj. A session as data (MPI 5.0 §11.3); they begin and end in room init. */
#ifndef OBJ_SESSION_H
#define OBJ_SESSION_H

#include <mpi.h>

#include "obj/obj.h"

struct errhandler;
struct send_buffer;

struct session {
    struct obj obj;
    struct errhandler *errhandler; /* referenced */
    struct send_buffer *buffer;    /* attached for buffered sends, owned by room p2p; NULL: none */
    int thread_level;              /* provided */
    char memory_kinds[MPI_MAX_INFO_VAL + 1]; /* provided (§11.4.3) */
};

#endif
