/* SPDX-License-Identifier: BSD-3-Clause */
/* fortran: callbacks of the user. Reduction operators and error handlers get nothing that tells which Fortran function
 * was meant, so each such function takes one of a fixed number of C functions, for good.
 * Knows: convert.h. Does not know: the routines that hand callbacks over. */
#include "callbacks.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* --- one C function for each Fortran function --- */

enum { OPS = 256, HANDLERS = 64 };

struct slots {
    int room;
    _Atomic(int) used; /* raised after the slot is filled, with the lock */
    fortran_fn fn[OPS];
};
static pthread_mutex_t slots_lock = PTHREAD_MUTEX_INITIALIZER;
static struct slots ops = { .room = OPS }, comm_handlers = { .room = HANDLERS }, win_handlers = { .room = HANDLERS },
                    file_handlers = { .room = HANDLERS }, session_handlers = { .room = HANDLERS };

static int slot_of(struct slots *slots, fortran_fn fn)
{
    int i = 0;

    pthread_mutex_lock(&slots_lock);
    while (i < slots->used && slots->fn[i] != fn)
        i++;
    if (i == slots->used && i < slots->room) {
        slots->fn[i] = fn;
        slots->used = i + 1;
    }
    pthread_mutex_unlock(&slots_lock);
    return i < slots->room ? i : -1;
}

static void call_op(int slot, void *in, void *inout, void *len, MPI_Datatype datatype)
{
    int number = type_to(datatype);

    ((void (*)(void *, void *, void *, int *))ops.fn[slot])(in, inout, len, &number);
}

static void call_handler(const struct slots *slots, int slot, int number, int *error_code)
{
    ((void (*)(int *, int *))slots->fn[slot])(&number, error_code);
}

/* SIXTEEN(M, 0) is M(0x00) to M(0x0f). */
#define SIXTEEN(M, h)                                                                                   \
    M(0x##h##0) M(0x##h##1) M(0x##h##2) M(0x##h##3) M(0x##h##4) M(0x##h##5) M(0x##h##6) M(0x##h##7)     \
    M(0x##h##8) M(0x##h##9) M(0x##h##a) M(0x##h##b) M(0x##h##c) M(0x##h##d) M(0x##h##e) M(0x##h##f)
#define EACH_HANDLER(M) SIXTEEN(M, 0) SIXTEEN(M, 1) SIXTEEN(M, 2) SIXTEEN(M, 3)
#define EACH_OP(M)                                                                                      \
    EACH_HANDLER(M)                                                                                     \
    SIXTEEN(M, 4) SIXTEEN(M, 5) SIXTEEN(M, 6) SIXTEEN(M, 7) SIXTEEN(M, 8) SIXTEEN(M, 9) SIXTEEN(M, a)   \
    SIXTEEN(M, b) SIXTEEN(M, c) SIXTEEN(M, d) SIXTEEN(M, e) SIXTEEN(M, f)

#define OP(n)                                                                                           \
    static void op_##n(void *in, void *inout, int *len, MPI_Datatype *datatype)                         \
    {                                                                                                   \
        call_op(n, in, inout, len, *datatype);                                                          \
    }                                                                                                   \
    static void op_c_##n(void *in, void *inout, MPI_Count *len, MPI_Datatype *datatype)                 \
    {                                                                                                   \
        call_op(n, in, inout, len, *datatype);                                                          \
    }
#define COMM_HANDLER(n)                                                                                 \
    static void comm_handler_##n(MPI_Comm *comm, int *error_code, ...)                                  \
    {                                                                                                   \
        call_handler(&comm_handlers, n, comm_to(*comm), error_code);                                    \
    }
#define WIN_HANDLER(n)                                                                                  \
    static void win_handler_##n(MPI_Win *win, int *error_code, ...)                                     \
    {                                                                                                   \
        call_handler(&win_handlers, n, win_to(*win), error_code);                                       \
    }
#define FILE_HANDLER(n)                                                                                 \
    static void file_handler_##n(MPI_File *file, int *error_code, ...)                                  \
    {                                                                                                   \
        call_handler(&file_handlers, n, file_to(*file), error_code);                                    \
    }
#define SESSION_HANDLER(n)                                                                              \
    static void session_handler_##n(MPI_Session *session, int *error_code, ...)                         \
    {                                                                                                   \
        call_handler(&session_handlers, n, session_to(*session), error_code);                           \
    }
EACH_OP(OP)
EACH_HANDLER(COMM_HANDLER)
EACH_HANDLER(WIN_HANDLER)
EACH_HANDLER(FILE_HANDLER)
EACH_HANDLER(SESSION_HANDLER)

#define OP_NAME(n) op_##n,
#define OP_C_NAME(n) op_c_##n,
#define COMM_NAME(n) comm_handler_##n,
#define WIN_NAME(n) win_handler_##n,
#define FILE_NAME(n) file_handler_##n,
#define SESSION_NAME(n) session_handler_##n,

MPI_User_function *op_function(fortran_fn fn)
{
    static MPI_User_function *const functions[] = { EACH_OP(OP_NAME) };
    const int slot = slot_of(&ops, fn);

    return slot < 0 ? NULL : functions[slot];
}

MPI_User_function_c *op_function_c(fortran_fn fn)
{
    static MPI_User_function_c *const functions[] = { EACH_OP(OP_C_NAME) };
    const int slot = slot_of(&ops, fn);

    return slot < 0 ? NULL : functions[slot];
}

MPI_Comm_errhandler_function *comm_error_function(fortran_fn fn)
{
    static MPI_Comm_errhandler_function *const functions[] = { EACH_HANDLER(COMM_NAME) };
    const int slot = slot_of(&comm_handlers, fn);

    return slot < 0 ? NULL : functions[slot];
}

MPI_Win_errhandler_function *win_error_function(fortran_fn fn)
{
    static MPI_Win_errhandler_function *const functions[] = { EACH_HANDLER(WIN_NAME) };
    const int slot = slot_of(&win_handlers, fn);

    return slot < 0 ? NULL : functions[slot];
}

MPI_File_errhandler_function *file_error_function(fortran_fn fn)
{
    static MPI_File_errhandler_function *const functions[] = { EACH_HANDLER(FILE_NAME) };
    const int slot = slot_of(&file_handlers, fn);

    return slot < 0 ? NULL : functions[slot];
}

MPI_Session_errhandler_function *session_error_function(fortran_fn fn)
{
    static MPI_Session_errhandler_function *const functions[] = { EACH_HANDLER(SESSION_NAME) };
    const int slot = slot_of(&session_handlers, fn);

    return slot < 0 ? NULL : functions[slot];
}

int too_many_functions(void)
{
    static int code;

    return fortran_fail(&code, MPI_ERR_OTHER,
                        "too many Fortran functions: operators can be made from 256 of them, error handlers from 64 "
                        "for each kind of object");
}

/* --- states, each once --- */

struct kept_state {
    struct callback_state state; /* first */
    struct kept_state *next;
};

struct callback_state *state_of(fortran_fn first, fortran_fn second, fortran_fn third, MPI_Aint extra)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct kept_state *kept; /* guarded by lock */
    const struct callback_state wanted = { { first, second, third }, extra };
    struct kept_state *entry;

    pthread_mutex_lock(&lock);
    for (entry = kept; entry; entry = entry->next)
        if (!memcmp(&entry->state, &wanted, sizeof wanted))
            break;
    if (!entry && (entry = malloc(sizeof *entry))) {
        entry->state = wanted;
        entry->next = kept;
        kept = entry;
    }
    pthread_mutex_unlock(&lock);
    return entry ? &entry->state : NULL;
}

/* --- attributes: copy and delete --- */

/* A value that C has set and that was only copied stays what it was for C. */
static int copied(int rc, int *flag, MPI_Aint in, MPI_Aint out, void *attribute, void *attribute_out)
{
    void *result = out == in ? attribute : attribute_of(out);

    *flag = *flag != 0;
    if (rc || !*flag)
        return rc;
    if (!result && out)
        return MPI_ERR_NO_MEM;
    memcpy(attribute_out, &result, sizeof result);
    return 0;
}

typedef void copy_fn(int *, int *, MPI_Aint *, MPI_Aint *, MPI_Aint *, int *, int *);
typedef void delete_fn(int *, int *, MPI_Aint *, MPI_Aint *, int *);

static int call_copy(int object, int keyval, void *extra, void *attribute, void *attribute_out, int *flag)
{
    struct callback_state *state = extra;
    MPI_Aint own = state->extra, in = attribute_to(keyval, attribute), value = in, out = in;
    int rc = 0;

    *flag = 0;
    ((copy_fn *)state->fn[0])(&object, &keyval, &own, &value, &out, flag, &rc);
    return copied(rc, flag, in, out, attribute, attribute_out);
}

static int call_delete(int object, int keyval, void *attribute, void *extra)
{
    struct callback_state *state = extra;
    MPI_Aint own = state->extra, value = attribute_to(keyval, attribute);
    int rc = 0;

    ((delete_fn *)state->fn[1])(&object, &keyval, &value, &own, &rc);
    return rc;
}

int comm_copy_function(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    return call_copy(comm_to(comm), keyval, extra, in, out, flag);
}

int comm_delete_function(MPI_Comm comm, int keyval, void *attribute, void *extra)
{
    return call_delete(comm_to(comm), keyval, attribute, extra);
}

int type_copy_function(MPI_Datatype datatype, int keyval, void *extra, void *in, void *out, int *flag)
{
    return call_copy(type_to(datatype), keyval, extra, in, out, flag);
}

int type_delete_function(MPI_Datatype datatype, int keyval, void *attribute, void *extra)
{
    return call_delete(type_to(datatype), keyval, attribute, extra);
}

int win_copy_function(MPI_Win win, int keyval, void *extra, void *in, void *out, int *flag)
{
    return call_copy(win_to(win), keyval, extra, in, out, flag);
}

int win_delete_function(MPI_Win win, int keyval, void *attribute, void *extra)
{
    return call_delete(win_to(win), keyval, attribute, extra);
}

int old_copy_function(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    struct callback_state *state = extra;
    const MPI_Aint before = attribute_to(keyval, in);
    int object = comm_to(comm), own = (int)state->extra, value = (int)before, result = value, rc = 0;

    *flag = 0;
    ((void (*)(int *, int *, int *, int *, int *, int *, int *))state->fn[0])(&object, &keyval, &own, &value, &result,
                                                                             flag, &rc);
    return copied(rc, flag, before, result == (int)before ? before : result, in, out);
}

int old_delete_function(MPI_Comm comm, int keyval, void *attribute, void *extra)
{
    struct callback_state *state = extra;
    int object = comm_to(comm), own = (int)state->extra, value = (int)attribute_to(keyval, attribute), rc = 0;

    ((void (*)(int *, int *, int *, int *, int *))state->fn[1])(&object, &keyval, &value, &own, &rc);
    return rc;
}

/* --- generalized requests --- */

int grequest_query_function(void *extra, MPI_Status *status)
{
    struct callback_state *state = extra;
    MPI_Aint own = state->extra;
    int rc = 0;

    ((void (*)(MPI_Aint *, int *, int *))state->fn[0])(&own, (int *)status, &rc);
    return rc;
}

int grequest_free_function(void *extra)
{
    struct callback_state *state = extra;
    MPI_Aint own = state->extra;
    int rc = 0;

    ((void (*)(MPI_Aint *, int *))state->fn[1])(&own, &rc);
    return rc;
}

int grequest_cancel_function(void *extra, int complete)
{
    struct callback_state *state = extra;
    MPI_Aint own = state->extra;
    int is_complete = complete != 0, rc = 0;

    ((void (*)(MPI_Aint *, int *, int *))state->fn[2])(&own, &is_complete, &rc);
    return rc;
}

/* --- data representations --- */

static int call_conversion(fortran_fn fn, void *userbuf, MPI_Datatype datatype, void *count, void *filebuf,
                           MPI_Offset position, MPI_Aint extra)
{
    int number = type_to(datatype), rc = 0;

    ((void (*)(void *, int *, void *, void *, MPI_Offset *, MPI_Aint *, int *))fn)(userbuf, &number, count, filebuf,
                                                                                   &position, &extra, &rc);
    return rc;
}

int datarep_read_function(void *userbuf, MPI_Datatype datatype, int count, void *filebuf, MPI_Offset position,
                          void *extra)
{
    const struct callback_state *state = extra;

    return call_conversion(state->fn[0], userbuf, datatype, &count, filebuf, position, state->extra);
}

int datarep_write_function(void *userbuf, MPI_Datatype datatype, int count, void *filebuf, MPI_Offset position,
                           void *extra)
{
    const struct callback_state *state = extra;

    return call_conversion(state->fn[1], userbuf, datatype, &count, filebuf, position, state->extra);
}

int datarep_read_function_c(void *userbuf, MPI_Datatype datatype, MPI_Count count, void *filebuf, MPI_Offset position,
                            void *extra)
{
    const struct callback_state *state = extra;

    return call_conversion(state->fn[0], userbuf, datatype, &count, filebuf, position, state->extra);
}

int datarep_write_function_c(void *userbuf, MPI_Datatype datatype, MPI_Count count, void *filebuf, MPI_Offset position,
                             void *extra)
{
    const struct callback_state *state = extra;

    return call_conversion(state->fn[1], userbuf, datatype, &count, filebuf, position, state->extra);
}

int datarep_extent_function(MPI_Datatype datatype, MPI_Aint *extent, void *extra)
{
    struct callback_state *state = extra;
    MPI_Aint own = state->extra;
    int number = type_to(datatype), rc = 0;

    ((void (*)(int *, MPI_Aint *, MPI_Aint *, int *))state->fn[2])(&number, extent, &own, &rc);
    return rc;
}
