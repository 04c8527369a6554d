/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: obj. Error handlers as data (MPI 5.0 §9.3); they are called in room bind only. */
#ifndef OBJ_ERRHANDLER_H
#define OBJ_ERRHANDLER_H

#include "obj/obj.h"

enum errhandler_action { ERRHANDLER_FATAL, ERRHANDLER_ABORT, ERRHANDLER_RETURN, ERRHANDLER_USER };

struct errhandler {
    struct obj obj;
    uint8_t action;          /* enum errhandler_action */
    uint8_t object_kind;     /* ERRHANDLER_USER: kind of object it is made for */
    union {
        MPI_Comm_errhandler_function *comm;
        MPI_Win_errhandler_function *win;
        MPI_File_errhandler_function *file;
        MPI_Session_errhandler_function *session;
    } function;
};

/* The three predefined ones; valid at any time, also before MPI is initialised. */
extern struct errhandler errhandler_fatal, errhandler_abort, errhandler_return;

/* A handler that calls a user's function; set `function` afterwards. NULL if there is no memory. */
struct errhandler *errhandler_create(enum obj_kind object_kind);
/* The handler that an object keeps in that place, with a reference; NULL if there is none. Other threads may be
 * replacing it, so nobody reads such a place in another way once others know the object. */
struct errhandler *errhandler_take(struct errhandler *const *place);
/* The object's own, which may be predefined, instead of the one before; the caller keeps its reference. */
void errhandler_replace(struct errhandler **place, struct errhandler *errhandler);
/* Drop a reference. */
void errhandler_unref(struct errhandler *errhandler);
/* Predefined ones into the table of handles; may be called more than once. */
void errhandler_init(void);

#endif
