/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: obj. Predefined and user-made error handlers. Knows: base. */
#include "obj/errhandler.h"

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
