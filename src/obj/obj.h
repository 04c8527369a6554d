/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: obj. The head of every object, and the way from a handle to its object and back (MPI 5.0 §20.3.2).
 *
 * A handle below 4096 is one of the ABI's constants and indexes obj_table; any other handle is the address of
 * the object's head. Objects lie in pools that keep their memory until MPI is finalised, and a freed one has
 * kind OBJ_FREED: so a freed handle is recognised, not followed. */
#ifndef OBJ_OBJ_H
#define OBJ_OBJ_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/base.h"
#include "base/mem.h"

enum obj_kind {
    OBJ_FREED = 0,
    OBJ_COMM, OBJ_GROUP, OBJ_TYPE, OBJ_OP, OBJ_ERRHANDLER, OBJ_INFO, OBJ_REQUEST, OBJ_MESSAGE, OBJ_WIN, OBJ_FILE,
    OBJ_SESSION,
    OBJ_COMM_COMING, /* a communicator whose making has begun (MPI_Comm_idup) */
};

enum { OBJ_PREDEFINED_END = 4096 };

struct obj {
    uint8_t kind;                /* enum obj_kind */
    uint8_t flags;               /* the kind's own use */
    uint16_t predefined;         /* value of the ABI's constant; 0: made by the user */
    _Atomic uint32_t refs;       /* handle, plus operations and objects that use it; not counted if predefined */
};

/* Objects of the predefined handles, by value; NULL for null handles and unused values. */
extern struct obj *obj_table[OBJ_PREDEFINED_END];

/* Enter a predefined object in the table; `value` is the ABI's constant. Does nothing if it is there. */
void obj_predefine(struct obj *obj, enum obj_kind kind, uintptr_t value);

static inline void obj_init(struct obj *obj, enum obj_kind kind)
{
    obj->kind = (uint8_t)kind;
    obj->flags = 0;
    obj->predefined = 0;
    atomic_init(&obj->refs, 1);
}

static inline uintptr_t obj_handle(const struct obj *obj)
{
    return obj->predefined ? obj->predefined : (uintptr_t)obj;
}

static inline void obj_ref(struct obj *obj)
{
    if (!obj->predefined)
        atomic_fetch_add_explicit(&obj->refs, 1, memory_order_relaxed);
}

/* True when this was the last reference: the caller now takes the object apart. */
static inline bool obj_unref(struct obj *obj)
{
    /* acquire and release: whoever takes it apart sees what every other user did to it */
    return !obj->predefined && atomic_fetch_sub_explicit(&obj->refs, 1, memory_order_acq_rel) == 1;
}

/* The live object of this kind behind `handle`, or NULL. */
static ALWAYS_INLINE struct obj *obj_find(uintptr_t handle, enum obj_kind kind)
{
    struct obj *obj = handle < OBJ_PREDEFINED_END ? obj_table[handle] : (struct obj *)handle;

    return likely(obj && obj->kind == kind) ? obj : NULL;
}

/* One function for each kind of handle; every one returns NULL for anything but a live object of its kind.
 * The head is the first member of each of these structs. */
#define OBJ_FIND(function, handle_type, object_kind, tag) \
    struct tag; \
    static ALWAYS_INLINE struct tag *function(handle_type handle) \
    { \
        return (struct tag *)(void *)obj_find((uintptr_t)handle, object_kind); \
    }

OBJ_FIND(obj_comm, MPI_Comm, OBJ_COMM, comm)
OBJ_FIND(obj_group, MPI_Group, OBJ_GROUP, group)
OBJ_FIND(obj_type, MPI_Datatype, OBJ_TYPE, type)
OBJ_FIND(obj_op, MPI_Op, OBJ_OP, op)
OBJ_FIND(obj_errhandler, MPI_Errhandler, OBJ_ERRHANDLER, errhandler)
OBJ_FIND(obj_info, MPI_Info, OBJ_INFO, info)
OBJ_FIND(obj_request, MPI_Request, OBJ_REQUEST, req)
OBJ_FIND(obj_message, MPI_Message, OBJ_MESSAGE, message)
OBJ_FIND(obj_win, MPI_Win, OBJ_WIN, win)
OBJ_FIND(obj_file, MPI_File, OBJ_FILE, file)
OBJ_FIND(obj_session, MPI_Session, OBJ_SESSION, session)

/* A communicator, also one that is still being made. */
static inline struct comm *obj_comm_early(MPI_Comm handle)
{
    struct obj *obj = obj_find((uintptr_t)handle, OBJ_COMM_COMING);

    return obj ? (struct comm *)(void *)obj : obj_comm(handle);
}

/* Memory for an object with its head set, all else zero; NULL if there is none. One pool a kind, with a lock
 * of its own. `size` is the same at every call for a kind. */
void *obj_create(enum obj_kind kind, size_t size);
/* Give back what obj_create made; its handle is invalid from now on. */
void obj_destroy(struct obj *obj);
/* Release the pools of those kinds of which no object is left. */
void obj_fini(void);

/* How many bytes of a name that the user gives an object are kept: at most MPI_MAX_OBJECT_NAME - 1, and no part of a
 * character of UTF-8. */
size_t obj_name_len(const char *name);
/* Held, last of all locks, while the name of an object is set or given to the user: threads may do so at the same time
 * (§11.6). Messages are made without it: memory of names stays, and ends with a zero. */
void obj_names_lock(void);
void obj_names_unlock(void);

#endif
