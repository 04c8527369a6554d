/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: bind. Error handlers: attaching, finding and calling them (MPI 5.0 §9.3). */
#include "bind/int_raise.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "init/init.h"
#include "io/io.h"
#include "obj/comm.h"
#include "obj/info.h"
#include "obj/req.h"
#include "obj/session.h"
#include "rma/rma.h"
#include "sys/callsite.h"

/* The predefined error handlers and MPI_INFO_ENV may be named before MPI is initialised (§11.4.1). */
__attribute__((constructor)) static void predefine(void)
{
    errhandler_init();
    info_init();
}

/* Kind of handlers that an object takes. */
static enum obj_kind kind_of(const struct obj *object)
{
    return object->kind == OBJ_COMM_COMING ? OBJ_COMM : (enum obj_kind)object->kind;
}

/* Where an object keeps its handler. */
static struct errhandler **place_of(struct obj *object)
{
    if (kind_of(object) == OBJ_COMM)
        return &((struct comm *)(void *)object)->errhandler;
    if (object->kind == OBJ_SESSION)
        return &((struct session *)(void *)object)->errhandler;
    if (object->kind == OBJ_FILE)
        return io_handler_place(object);
    if (object->kind == OBJ_WIN)
        return &((struct win *)(void *)object)->errhandler;
    return NULL;
}

struct errhandler *bind_get_errhandler(void *object)
{
    struct errhandler **const place = place_of(object), *const errhandler = place ? errhandler_take(place) : NULL;

    return errhandler ? errhandler : &errhandler_fatal;
}

int bind_set_errhandler(void *object, struct errhandler *errhandler)
{
    struct obj *const head = object;

    if (errhandler->action == ERRHANDLER_USER && errhandler->object_kind != kind_of(head))
        return err(MPI_ERR_ERRHANDLER, "errhandler 0x%lx was made for another kind of object",
                   (unsigned long)obj_handle(&errhandler->obj));
    errhandler_replace(place_of(head), errhandler);
    return 0;
}

/* Whose handler acts: that of the object, or the object if it is a handler; MPI_COMM_SELF's for errors without one;
 * NULL, which is the initial handler (init_errhandler), when the world does not run. */
static struct obj *choose_object(struct obj *object)
{
    if (object && (object->kind == OBJ_FREED || object->kind == OBJ_COMM_COMING))
        object = NULL; /* the session of a group that has outlived it; a communicator that nobody can use yet */
    if (object && (object->kind == OBJ_SESSION || object->kind == OBJ_ERRHANDLER))
        return object;
    if (!init_has_errhandlers())
        return NULL;
    return object ? object : (struct obj *)(void *)obj_comm(MPI_COMM_SELF);
}

/* The standard leaves open what follows the code; here it is the text. A handler whose object could not be made, or is
 * gone, gets the null handle. Returns the code, which is what the call is to return (§9.3) and which the handler may
 * change. */
static int call_user(const struct errhandler *errhandler, struct obj *object, int code)
{
    char text[ERR_TEXT_SIZE];
    const uintptr_t handle = obj_handle(object);

    bind_error_text(code, text, sizeof text);
    if (object->kind == OBJ_ERRHANDLER && errhandler->object_kind == OBJ_COMM)
        errhandler->function.comm(&(MPI_Comm){ MPI_COMM_NULL }, &code, text);
    else if (object->kind == OBJ_ERRHANDLER && errhandler->object_kind == OBJ_WIN)
        errhandler->function.win(&(MPI_Win){ MPI_WIN_NULL }, &code, text);
    else if (object->kind == OBJ_ERRHANDLER && errhandler->object_kind == OBJ_FILE)
        errhandler->function.file(&(MPI_File){ MPI_FILE_NULL }, &code, text);
    else if (object->kind == OBJ_ERRHANDLER && errhandler->object_kind == OBJ_SESSION)
        errhandler->function.session(&(MPI_Session){ MPI_SESSION_NULL }, &code, text);
    else if (object->kind == OBJ_COMM)
        errhandler->function.comm(&(MPI_Comm){ (MPI_Comm)handle }, &code, text);
    else if (object->kind == OBJ_WIN)
        errhandler->function.win(&(MPI_Win){ (MPI_Win)handle }, &code, text);
    else if (object->kind == OBJ_FILE)
        errhandler->function.file(&(MPI_File){ (MPI_File)handle }, &code, text);
    else if (object->kind == OBJ_SESSION)
        errhandler->function.session(&(MPI_Session){ (MPI_Session)handle }, &code, text);
    return code;
}

/* The class, where it makes an exit status that says failure. */
static int exit_code(int code)
{
    const int error_class = code <= MPI_ERR_LASTCODE ? err_class(code) : 0;

    return error_class > 0 ? error_class : 1;
}

/* MPI_ERRORS_ABORT ends the whole job too: the processes of the communicator alone cannot be ended. `caller` is the
 * function of MPI that the program is in, if the text does not begin with it; `comm` whose handler it called. */
static _Noreturn void end_job(int code, const char *caller, const char *comm)
{
    char text[ERR_TEXT_SIZE], message[ERR_TEXT_SIZE + COMM_LABEL_SIZE + 80];

    bind_error_text(code, text, sizeof text);
    if (*comm && !strstr(text, comm))
        snprintf(message, sizeof message, "E%04d: %s%s (on %s)", err_id(code), caller, text, comm);
    else
        snprintf(message, sizeof message, "E%04d: %s%s", err_id(code), caller, text);
    init_abort(exit_code(code), message, callsite_find());
}

/* The errhandler of `object`, or the one that it is, with a reference. */
static struct errhandler *errhandler_of(struct obj *object)
{
    struct errhandler *errhandler;

    if (!object)
        return init_errhandler();
    if (object->kind != OBJ_ERRHANDLER)
        return bind_get_errhandler(object);
    errhandler = (struct errhandler *)(void *)object;
    obj_ref(&errhandler->obj);
    return errhandler;
}

/* As bind_call_errhandler; `caller` and `comm` as in end_job. Returns what the call that has failed returns. */
static int call_errhandler(struct obj *object, int code, const char *caller, const char *comm)
{
    struct errhandler *errhandler;

    object = choose_object(object);
    errhandler = errhandler_of(object);
    if (errhandler->action == ERRHANDLER_FATAL || errhandler->action == ERRHANDLER_ABORT)
        end_job(code, caller, comm);
    if (errhandler->action == ERRHANDLER_USER)
        code = call_user(errhandler, object, code);
    errhandler_unref(errhandler);
    return code;
}

void bind_abort(const struct comm *comm, int code, const void *caller)
{
    char text[COMM_LABEL_SIZE + 100], label[COMM_LABEL_SIZE];

    snprintf(text, sizeof text, "E0113: MPI_Abort: the program ends the job with code %d, on %s", code,
             obj_comm_label(comm, label));
    init_abort(code, text, callsite_of(caller));
}

void bind_call_errhandler(void *object, int code)
{
    const int kind = object ? ((struct obj *)object)->kind : OBJ_COMM;
    char label[COMM_LABEL_SIZE];

    if (kind == OBJ_SESSION)
        call_errhandler(object, code, "MPI_Session_call_errhandler: ", "");
    else if (kind == OBJ_FILE)
        call_errhandler(object, code, "MPI_File_call_errhandler: ", "");
    else if (kind == OBJ_WIN)
        call_errhandler(object, code, "MPI_Win_call_errhandler: ", win_label(object, label));
    else
        call_errhandler(object, code, "MPI_Comm_call_errhandler: ",
                        object ? obj_comm_label(object, label) : "");
}

/* The text of an error on a communicator or window tells which one, unless it does already. */
static int complete_text(int rc, const char *function, const struct obj *object)
{
    char label[COMM_LABEL_SIZE];

    rc = err_prefix(rc, function);
    if (object && object->kind == OBJ_COMM)
        rc = err_suffix(rc, obj_comm_label((const struct comm *)(const void *)object, label));
    if (object && object->kind == OBJ_WIN)
        rc = err_suffix(rc, win_label((const struct win *)(const void *)object, label));
    return rc;
}

int bind_raise(void *object, int rc, const char *function)
{
    rc = complete_text(rc, function, object);
    return call_errhandler(object, rc, "", "");
}

int bind_raise_ended(void *object, struct errhandler *errhandler, int rc, const char *function)
{
    const struct obj *const head = object;

    if (head->kind == OBJ_FREED)
        rc = call_errhandler(&errhandler->obj, err_prefix(rc, function), "", "");
    else
        rc = bind_raise(object, rc, function);
    errhandler_unref(errhandler);
    return rc;
}

/* The user's function gets the code that is in the status of the request, and the call returns MPI_ERR_IN_STATUS
 * whatever it makes of that (§9.3.1). */
static int raise_in_status(struct obj *owner, int rc, int of_request, const char *function)
{
    struct obj *const object = choose_object(owner);
    struct errhandler *errhandler = errhandler_of(object);

    if (errhandler->action != ERRHANDLER_USER)
        rc = bind_raise(owner, rc, function);
    else
        call_user(errhandler, object, complete_text(of_request, function, owner));
    errhandler_unref(errhandler);
    return rc;
}

int bind_raise_request(int rc, const char *function)
{
    int of_request;
    struct obj *const owner = req_failed_owner(&of_request);

    rc = of_request ? raise_in_status(owner, rc, of_request, function) : bind_raise(owner, rc, function);
    if (owner && owner->kind == OBJ_COMM)
        comm_unref((struct comm *)(void *)owner);
    return rc;
}

int bind_unsupported(void *object, const char *function)
{
    return bind_raise(object, err(MPI_ERR_UNSUPPORTED_OPERATION, "this function is not implemented yet"), function);
}

int bind_tool(int rc)
{
    return rc >= MPI_T_ERR_CANNOT_INIT && rc <= MPI_T_ERR_PVAR_NO_ATOMIC ? rc : MPI_T_ERR_INVALID;
}

int bind_create_errhandler(enum obj_kind kind, void (*function)(void), struct errhandler **out)
{
    *out = errhandler_create(kind);
    if (!*out)
        return err(MPI_ERR_NO_MEM, "no memory for an error handler");
    if (kind == OBJ_COMM)
        (*out)->function.comm = (MPI_Comm_errhandler_function *)function;
    else if (kind == OBJ_WIN)
        (*out)->function.win = (MPI_Win_errhandler_function *)function;
    else if (kind == OBJ_FILE)
        (*out)->function.file = (MPI_File_errhandler_function *)function;
    else
        (*out)->function.session = (MPI_Session_errhandler_function *)function;
    return 0;
}
