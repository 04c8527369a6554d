/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: obj. Predefined and user-made error handlers. Knows: base. */
#include "obj/errhandler.h"

#include <pthread.h>

/* Guards the errhandler of every object. Not held while a handler runs. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct errhandler errhandler_fatal = { .action = ERRHANDLER_FATAL };
struct errhandler errhandler_abort = { .action = ERRHANDLER_ABORT };
struct errhandler errhandler_return = { .action = ERRHANDLER_RETURN };

struct errhandler *errhandler_create(enum obj_kind object_kind)
{
    struct errhandler *errhandler = obj_create(OBJ_ERRHANDLER, sizeof *errhandler);

    if (errhandler) {
        errhandler->action = ERRHANDLER_USER;
        errhandler->object_kind = (uint8_t)object_kind;
    }
    return errhandler;
}

struct errhandler *errhandler_take(struct errhandler *const *place)
{
    pthread_mutex_lock(&lock);
    struct errhandler *errhandler = *place;
    if (errhandler)
        obj_ref(&errhandler->obj);
    pthread_mutex_unlock(&lock);
    return errhandler;
}

void errhandler_replace(struct errhandler **place, struct errhandler *errhandler)
{
    obj_ref(&errhandler->obj);
    pthread_mutex_lock(&lock);
    struct errhandler *old = *place;
    *place = errhandler;
    pthread_mutex_unlock(&lock);
    if (old)
        errhandler_unref(old);
}

void errhandler_unref(struct errhandler *errhandler)
{
    if (obj_unref(&errhandler->obj))
        obj_destroy(&errhandler->obj);
}

void errhandler_init(void)
{
    obj_predefine(&errhandler_fatal.obj, OBJ_ERRHANDLER, (uintptr_t)MPI_ERRORS_ARE_FATAL);
    obj_predefine(&errhandler_abort.obj, OBJ_ERRHANDLER, (uintptr_t)MPI_ERRORS_ABORT);
    obj_predefine(&errhandler_return.obj, OBJ_ERRHANDLER, (uintptr_t)MPI_ERRORS_RETURN);
}
