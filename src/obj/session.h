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
    uint64_t number;               /* no other session has or had it */
};

/* What comes from a session remembers it so. It may outlive the session (§11.3.1), in whose place another may be. */
struct session_ref {
    struct session *session; /* NULL: from none, but from the world */
    uint64_t number;
};

/* NULL also if it has ended. */
static inline struct session *session_alive(struct session_ref ref)
{
    struct session *const session = ref.session;

    return session && session->obj.kind == OBJ_SESSION && session->number == ref.number ? session : NULL;
}

#endif
