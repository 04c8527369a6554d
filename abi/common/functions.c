/* SPDX-License-Identifier: BSD-3-Clause */
/* Doors: functions of the program that get handles or statuses: operators, error handlers, generalized requests, data
 * representations, events.
 *
 * Operators and error handlers get no state, so a function of the program is known by which function of ours is called.
 * Of those there are a few hundred, each lent to one function of the program for good: programs make many operators,
 * but of few functions. The others get a state of ours with the program's in it. */
#include "door.h"

#include <stdatomic.h>

typedef void function(void);

/* All two-digit hexadecimal numbers. */
#define SIXTEEN(M, x)                                                                                               \
    M(x##0) M(x##1) M(x##2) M(x##3) M(x##4) M(x##5) M(x##6) M(x##7) M(x##8) M(x##9) M(x##a) M(x##b) M(x##c) M(x##d) \
    M(x##e) M(x##f)
#define SIXTY_FOUR(M) SIXTEEN(M, 0x0) SIXTEEN(M, 0x1) SIXTEEN(M, 0x2) SIXTEEN(M, 0x3)
#define ALL(M)                                                                                                    \
    SIXTY_FOUR(M) SIXTEEN(M, 0x4) SIXTEEN(M, 0x5) SIXTEEN(M, 0x6) SIXTEEN(M, 0x7) SIXTEEN(M, 0x8) SIXTEEN(M, 0x9) \
    SIXTEEN(M, 0xa) SIXTEEN(M, 0xb) SIXTEEN(M, 0xc) SIXTEEN(M, 0xd) SIXTEEN(M, 0xe) SIXTEEN(M, 0xf)

/* The place of the program's function among `count` of them; a free one becomes its own. */
static int place_of(function *_Atomic *lent, int count, function *wanted, const char *full)
{
    for (int i = 0; i < count; i++) {
        function *held = NULL;
        if (atomic_compare_exchange_strong(&lent[i], &held, wanted) || held == wanted)
            return i;
    }
    door_die(full);
}

/* --- operators --- */

enum { OPERATORS = 256 };

typedef void f_user_function(void *, void *, int *, F_Datatype *);
typedef void f_user_function_c(void *, void *, MPI_Count *, F_Datatype *);

static function *_Atomic operators[OPERATORS], *_Atomic operators_c[OPERATORS];

#define OPERATOR(n)                                                                                  \
    static void operator_##n(void *in, void *inout, int *len, MPI_Datatype *datatype)                \
    {                                                                                                \
        ((f_user_function *)operators[n])(in, inout, len, &(F_Datatype){ out_type(*datatype) });     \
    }                                                                                                \
    static void operator_c_##n(void *in, void *inout, MPI_Count *len, MPI_Datatype *datatype)        \
    {                                                                                                \
        ((f_user_function_c *)operators_c[n])(in, inout, len, &(F_Datatype){ out_type(*datatype) }); \
    }
ALL(OPERATOR)

#define NAME(n) operator_##n,
static MPI_User_function *const our_operators[OPERATORS] = { ALL(NAME) };
#undef NAME
#define NAME(n) operator_c_##n,
static MPI_User_function_c *const our_operators_c[OPERATORS] = { ALL(NAME) };
#undef NAME

static const char too_many_operators[] =
    "E0116: the program makes reduction operators of more than 256 different functions";

DOOR(int, Op_create, f_user_function *user, int commute, F_Op *op)
{
    MPI_Op made = MPI_OP_NULL;
    const int n = user ? place_of(operators, OPERATORS, (function *)user, too_many_operators) : 0;
    const int rc = parley_calls_1.Op_create(user ? our_operators[n] : NULL, commute, op ? &made : NULL);

    if (!rc)
        *op = out_op(made);
    return out_code(rc);
}

DOOR(int, Op_create_c, f_user_function_c *user, int commute, F_Op *op)
{
    MPI_Op made = MPI_OP_NULL;
    const int n = user ? place_of(operators_c, OPERATORS, (function *)user, too_many_operators) : 0;
    const int rc = parley_calls_1.Op_create_c(user ? our_operators_c[n] : NULL, commute, op ? &made : NULL);

    if (!rc)
        *op = out_op(made);
    return out_code(rc);
}

/* --- error handlers --- */

enum { HANDLERS = 64 };

static const char too_many_handlers[] = "E0116: the program makes error handlers of more than 64 different functions";

/* Error handlers for one kind of object. A handler may change the code, which is what the call returns. */
#define HANDLERS_OF(Kind, kind)                                                                                   \
    typedef void f_##kind##_handler(F_##Kind *, int *, ...);                                                      \
    static function *_Atomic kind##_handlers[HANDLERS];                                                           \
    static void call_##kind##_handler(int n, MPI_##Kind object, int *code)                                        \
    {                                                                                                             \
        const int was = out_code(*code);                                                                          \
        int is = was;                                                                                             \
        ((f_##kind##_handler *)kind##_handlers[n])(&(F_##Kind){ out_##kind(object) }, &is);                       \
        if (is != was)                                                                                            \
            *code = in_code(is);                                                                                  \
    }                                                                                                             \
    SIXTY_FOUR(HANDLER_##Kind)                                                                                    \
    static MPI_##Kind##_errhandler_function *const our_##kind##_handlers[HANDLERS] = { SIXTY_FOUR(NAME_##Kind) }; \
    DOOR(int, Kind##_create_errhandler, f_##kind##_handler *user, F_Errhandler *errhandler)                       \
    {                                                                                                             \
        MPI_Errhandler made = MPI_ERRHANDLER_NULL;                                                                \
        const int n = user ? place_of(kind##_handlers, HANDLERS, (function *)user, too_many_handlers) : 0;        \
        const int rc = parley_calls_1.Kind##_create_errhandler(user ? our_##kind##_handlers[n] : NULL,            \
                                                               errhandler ? &made : NULL);                        \
        if (!rc)                                                                                                  \
            *errhandler = out_errhandler(made);                                                                   \
        return out_code(rc);                                                                                      \
    }
#define HANDLER(Kind, kind, n)                                         \
    static void kind##_handler_##n(MPI_##Kind *object, int *code, ...) \
    {                                                                  \
        call_##kind##_handler(n, *object, code);                       \
    }
#define HANDLER_Comm(n) HANDLER(Comm, comm, n)
#define HANDLER_Win(n) HANDLER(Win, win, n)
#define HANDLER_File(n) HANDLER(File, file, n)
#define HANDLER_Session(n) HANDLER(Session, session, n)
#define NAME_Comm(n) comm_handler_##n,
#define NAME_Win(n) win_handler_##n,
#define NAME_File(n) file_handler_##n,
#define NAME_Session(n) session_handler_##n,

HANDLERS_OF(Comm, comm)
HANDLERS_OF(Win, win)
HANDLERS_OF(File, file)
HANDLERS_OF(Session, session)

/* --- generalized requests --- */

typedef int f_query(void *, F_Status *);

struct grequest {
    f_query *query;
    MPI_Grequest_free_function *free;
    MPI_Grequest_cancel_function *cancel;
    void *extra_state;
    bool is_fortran; /* arguments by address, the error code last */
};

static _Thread_local struct grequest *last_started;

typedef void fortran_query(void *, F_Status *, int *);
typedef void fortran_free(void *, int *);
typedef void fortran_cancel(void *, int *, int *);

static int grequest_query(void *state, MPI_Status *status)
{
    const struct grequest *const g = state;
    const int error = status->MPI_ERROR;
    F_Status theirs = { 0 };

    int rc = 0;

    if (g->is_fortran)
        ((fortran_query *)(void (*)(void))g->query)(g->extra_state, &theirs, &rc);
    else
        rc = g->query(g->extra_state, &theirs);
    in_status(&theirs, status);
    if (!theirs.MPI_ERROR)
        status->MPI_ERROR = error;
    return in_code(rc);
}

static int grequest_free(void *state)
{
    struct grequest *const g = state;
    int rc = 0;

    if (g->is_fortran)
        ((fortran_free *)(void (*)(void))g->free)(g->extra_state, &rc);
    else
        rc = g->free(g->extra_state);
    door_far_done(g);
    return in_code(rc);
}

static int grequest_cancel(void *state, int complete)
{
    const struct grequest *const g = state;
    int rc = 0;

    if (g->is_fortran)
        ((fortran_cancel *)(void (*)(void))g->cancel)(g->extra_state, &complete, &rc);
    else
        rc = g->cancel(g->extra_state, complete);
    return in_code(rc);
}

void door_grequest_is_fortran(void)
{
    if (last_started)
        last_started->is_fortran = true;
}

DOOR(int, Grequest_start, f_query *query, MPI_Grequest_free_function *free, MPI_Grequest_cancel_function *cancel,
     void *extra_state, F_Request *request)
{
    struct grequest *const g = door_far(1, sizeof *g);
    MPI_Request made = MPI_REQUEST_NULL;

    *g = (struct grequest){ query, free, cancel, extra_state, false };
    last_started = g;
    const int rc = parley_calls_1.Grequest_start(query ? grequest_query : NULL, free ? grequest_free : NULL,
                                                 cancel ? grequest_cancel : NULL, g, request ? &made : NULL);
    if (rc)
        door_far_done(g);
    else
        *request = out_request(made);
    return out_code(rc);
}

/* --- data representations --- */

typedef int f_conversion(void *, F_Datatype, int, void *, MPI_Offset, void *);
typedef int f_conversion_c(void *, F_Datatype, MPI_Count, void *, MPI_Offset, void *);
typedef int f_extent(F_Datatype, MPI_Aint *, void *);

struct datarep {
    function *read, *write;
    f_extent *extent;
    void *extra_state;
};

static int datarep_extent(MPI_Datatype datatype, MPI_Aint *extent, void *state)
{
    const struct datarep *const d = state;

    return in_code(d->extent(out_type(datatype), extent, d->extra_state));
}

#define CONVERSION(direction, suffix, count_type)                                                                    \
    static int datarep_##direction##suffix(void *userbuf, MPI_Datatype datatype, count_type count, void *filebuf,    \
                                           MPI_Offset position, void *state)                                         \
    {                                                                                                                \
        const struct datarep *const d = state;                                                                       \
        return in_code(((f_conversion##suffix *)d->direction)(userbuf, out_type(datatype), count, filebuf, position, \
                                                              d->extra_state));                                      \
    }
CONVERSION(read, , int)
CONVERSION(write, , int)
CONVERSION(read, _c, MPI_Count)
CONVERSION(write, _c, MPI_Count)

static struct datarep *new_datarep(function *read, function *write, f_extent *extent, void *extra_state)
{
    struct datarep *const d = door_memory(sizeof *d);

    *d = (struct datarep){ read, write, extent, extra_state };
    return d;
}

DOOR(int, Register_datarep, const char *name, f_conversion *read, f_conversion *write, f_extent *extent,
     void *extra_state)
{
    struct datarep *const d = new_datarep((function *)read, (function *)write, extent, extra_state);

    return out_code(parley_calls_1.Register_datarep(name, read ? datarep_read : MPI_CONVERSION_FN_NULL,
                                                    write ? datarep_write : MPI_CONVERSION_FN_NULL,
                                                    extent ? datarep_extent : NULL, d));
}

DOOR(int, Register_datarep_c, const char *name, f_conversion_c *read, f_conversion_c *write, f_extent *extent,
     void *extra_state)
{
    struct datarep *const d = new_datarep((function *)read, (function *)write, extent, extra_state);

    return out_code(parley_calls_1.Register_datarep_c(name, read ? datarep_read_c : MPI_CONVERSION_FN_NULL_C,
                                                      write ? datarep_write_c : MPI_CONVERSION_FN_NULL_C,
                                                      extent ? datarep_extent : NULL, d));
}
