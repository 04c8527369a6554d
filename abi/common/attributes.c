/* SPDX-License-Identifier: BSD-3-Clause */
/* Doors: attributes. A key of the program leads to its functions, which we call with its handles; values of predefined
 * keys are addresses of numbers, some of which mean something else over there. */
#include "door.h"

#include <stdatomic.h>

static struct keyval *_Atomic all_keyvals;

struct keyval *door_keyval(int number)
{
    struct keyval *key = atomic_load(&all_keyvals);

    while (key && key->number != number)
        key = key->next;
    return key;
}

/* The key has been made; newest first, since numbers are used again. */
static void keep(struct keyval *key, int number)
{
    key->number = number;
    key->next = atomic_load(&all_keyvals);
    while (!atomic_compare_exchange_weak(&all_keyvals, &key->next, key)) {
    }
}

/* Our functions for the keys of one kind of object, and the function of MPI that makes such keys. */
#define KEYVALS(Kind, kind, name)                                                                                    \
    typedef int f_##kind##_copy(F_##Kind, int, void *, void *, void *, int *);                                       \
    typedef int f_##kind##_delete(F_##Kind, int, void *, void *);                                                    \
    static int copy_##kind(MPI_##Kind object, int keyval, void *state, void *in, void *out, int *flag)               \
    {                                                                                                                \
        const struct keyval *const key = state;                                                                      \
        f_##kind##_copy *const copy = (f_##kind##_copy *)key->copy;                                                  \
        return in_code(copy(out_##name(object), out_keyval(keyval), key->extra_state, in, out, flag));               \
    }                                                                                                                \
    static int delete_##kind(MPI_##Kind object, int keyval, void *value, void *state)                                \
    {                                                                                                                \
        const struct keyval *const key = state;                                                                      \
        f_##kind##_delete *const delete = (f_##kind##_delete *)key->delete;                                          \
        return in_code(delete(out_##name(object), out_keyval(keyval), value, key->extra_state));                     \
    }                                                                                                                \
    static int create_##kind(f_##kind##_copy *copy, f_##kind##_delete *delete, int *keyval, void *extra_state)       \
    {                                                                                                                \
        struct keyval *const key = door_memory(sizeof *key);                                                         \
        *key = (struct keyval){ .copy = (void (*)(void))copy, .delete = (void (*)(void))delete,                      \
                                .extra_state = extra_state };                                                        \
        const int rc = parley_calls_1.Kind##_CREATE(copy ? copy_##kind : MPI_##Kind##_NULL_COPY,                     \
                                                    delete ? delete_##kind : MPI_##Kind##_NULL_DELETE, keyval, key); \
        if (!rc)                                                                                                     \
            keep(key, *keyval = out_keyval(*keyval));                                                                \
        return out_code(rc);                                                                                         \
    }
#define Comm_CREATE Comm_create_keyval
#define Datatype_CREATE Type_create_keyval
#define Win_CREATE Win_create_keyval
#define MPI_Comm_NULL_COPY MPI_COMM_NULL_COPY_FN
#define MPI_Comm_NULL_DELETE MPI_COMM_NULL_DELETE_FN
#define MPI_Datatype_NULL_COPY MPI_TYPE_NULL_COPY_FN
#define MPI_Datatype_NULL_DELETE MPI_TYPE_NULL_DELETE_FN
#define MPI_Win_NULL_COPY MPI_WIN_NULL_COPY_FN
#define MPI_Win_NULL_DELETE MPI_WIN_NULL_DELETE_FN

KEYVALS(Comm, comm, comm)
KEYVALS(Datatype, type, type)
KEYVALS(Win, win, win)

DOOR(int, Comm_create_keyval, f_comm_copy *copy, f_comm_delete *delete, int *keyval, void *extra_state)
{
    return create_comm(copy, delete, keyval, extra_state);
}

/* The same under its name of MPI 1. */
DOOR(int, Keyval_create, f_comm_copy *copy, f_comm_delete *delete, int *keyval, void *extra_state)
{
    return create_comm(copy, delete, keyval, extra_state);
}

DOOR(int, Type_create_keyval, f_type_copy *copy, f_type_delete *delete, int *keyval, void *extra_state)
{
    return create_type(copy, delete, keyval, extra_state);
}

DOOR(int, Win_create_keyval, f_win_copy *copy, f_win_delete *delete, int *keyval, void *extra_state)
{
    return create_win(copy, delete, keyval, extra_state);
}

/* --- values of predefined keys --- */

/* The number that `value` points to, as the program knows it. It stays where it is told to be. */
static void convert(int keyval, void **value)
{
    static int host, io, last_code, flavor[4], memory_model[2];
    const int *const number = *value;
    int *place;

    switch (keyval) {
    case MPI_HOST: place = &host, *place = out_rank(*number); break;
    case MPI_IO: place = &io, *place = out_rank(*number); break;
    case MPI_LASTUSEDCODE: place = &last_code, *place = *number - MPI_ERR_LASTCODE + F_ERR_LASTCODE; break;
    case MPI_WIN_CREATE_FLAVOR: place = &flavor[(*number - 1) & 3], *place = out_flavor(*number); break;
    case MPI_WIN_MODEL: place = &memory_model[*number & 1], *place = out_memory_model(*number); break;
    default: return;
    }
    *value = place;
}

DOOR(int, Comm_get_attr, F_Comm comm, int keyval, void *value, int *flag)
{
    const int rc = parley_calls_1.Comm_get_attr(in_comm(comm), in_keyval(keyval), value, flag);

    if (!rc && *flag)
        convert(in_keyval(keyval), value);
    return out_code(rc);
}

DOOR(int, Attr_get, F_Comm comm, int keyval, void *value, int *flag)
{
    return PMPI_Comm_get_attr(comm, keyval, value, flag);
}

DOOR(int, Type_get_attr, F_Datatype datatype, int keyval, void *value, int *flag)
{
    return out_code(parley_calls_1.Type_get_attr(in_type(datatype), in_keyval(keyval), value, flag));
}

DOOR(int, Win_get_attr, F_Win win, int keyval, void *value, int *flag)
{
    const int rc = parley_calls_1.Win_get_attr(in_win(win), in_keyval(keyval), value, flag);

    if (!rc && *flag)
        convert(in_keyval(keyval), value);
    return out_code(rc);
}
