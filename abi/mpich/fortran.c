/* SPDX-License-Identifier: BSD-3-Clause */
/* Door to the MPICH ABI: what MPICH's own library for Fortran (libmpifort.so.12, libmpichfort.so.12) calls beyond MPI.
 * It is installed where programs in Fortran were built, knows handles as ints and calls C functions for the rest: so it
 * stands on this door as it stood on MPICH. */
#include "boxes.h"
#include "door.h"

/* How an attribute is seen: from C as a pointer, 0; from Fortran as a number, 1 of the width of an address, 3 of an
 * INTEGER. Numbers stand in boxes, to which C finds a pointer (MPI 5.0 §19.3.7). */
enum { ATTRIBUTE_NUMBER = 1 };

static void *boxed(void *number)
{
    void *const box = box_of((intptr_t)number);

    if (!box)
        door_die("E0116: no memory for attributes of a program of another MPI");
    return box;
}

static void *unboxed(void *value)
{
    return (void *)box_value(value);
}

/* Keys of Fortran for what MPI tells of itself are those of C and one more, and lead to numbers, not to addresses. */
static bool is_fortran_key(int keyval)
{
    return (keyval & ~0xf) == (F_TAG_UB & ~0xf) || (keyval & ~0xf) == (F_WIN_BASE & ~0xf) ? !(keyval & 1) : false;
}

static void *number_of(int keyval, void *address)
{
    if (keyval == F_WIN_BASE)
        return address;
    return (void *)(intptr_t)(keyval == F_WIN_SIZE ? *(const MPI_Aint *)address : *(const int *)address);
}

#define ATTRIBUTES(Kind, type)                                                                       \
    EXPORTED int PMPI_##Kind##_get_attr(type, int, void *, int *);                                   \
    EXPORTED int PMPI_##Kind##_set_attr(type, int, void *);                                          \
    EXPORTED int MPII_##Kind##_get_attr(type, int, void *, int *, int);                              \
    int MPII_##Kind##_get_attr(type object, int keyval, void *value, int *flag, int way)             \
    {                                                                                                \
        const bool is_fortran = way && is_fortran_key(keyval);                                       \
        const int key = is_fortran ? keyval - 1 : keyval;                                            \
        const int rc = PMPI_##Kind##_get_attr(object, key, value, flag);                             \
        if (!rc && *flag && is_fortran)                                                              \
            *(void **)value = number_of(key, *(void **)value);                                       \
        else if (!rc && *flag && way)                                                                \
            *(void **)value = unboxed(*(void **)value);                                              \
        return rc;                                                                                   \
    }                                                                                                \
    EXPORTED int MPII_##Kind##_set_attr(type, int, void *, int);                                     \
    int MPII_##Kind##_set_attr(type object, int keyval, void *value, int way)                        \
    {                                                                                                \
        return PMPI_##Kind##_set_attr(object, keyval, way ? boxed(value) : value);                   \
    }
ATTRIBUTES(Comm, F_Comm)
ATTRIBUTES(Type, F_Datatype)
ATTRIBUTES(Win, F_Win)

/* --- functions of attributes in another language --- */

typedef int copy_proxy(void (*)(void), int, int, void *, int, void *, void **, int *);
typedef int delete_proxy(void (*)(void), int, int, int, void *, void *);

/* What stands between us and such a function: it is called with the function first. */
struct proxies {
    struct keyval key; /* as it was */
    copy_proxy *copy;
    delete_proxy *delete;
};

static int copy_by_proxy(int object, int keyval, void *state, void *in, void *out, int *flag)
{
    const struct proxies *const p = state;
    void *const number = unboxed(in);
    void *copy = number;
    const int rc = p->copy(p->key.copy, object, keyval, p->key.extra_state, ATTRIBUTE_NUMBER, number, &copy, flag);

    *(void **)out = copy == number ? in : boxed(copy); /* what C has set and was only copied stays a pointer */
    return rc;
}

static int delete_by_proxy(int object, int keyval, void *value, void *state)
{
    const struct proxies *const p = state;

    return p->delete(p->key.delete, object, keyval, ATTRIBUTE_NUMBER, unboxed(value), p->key.extra_state);
}

EXPORTED void MPII_Keyval_set_proxy(int, copy_proxy *, delete_proxy *);
void MPII_Keyval_set_proxy(int keyval, copy_proxy *copy, delete_proxy *delete)
{
    struct keyval *const key = door_keyval(keyval);
    struct proxies *const p = key ? door_memory(sizeof *p) : NULL;

    if (!p)
        return;
    *p = (struct proxies){ *key, copy, delete };
    if (key->copy)
        key->copy = (void (*)(void))copy_by_proxy;
    if (key->delete)
        key->delete = (void (*)(void))delete_by_proxy;
    key->extra_state = p;
}

EXPORTED void MPII_Grequest_set_lang_f77(F_Request);
void MPII_Grequest_set_lang_f77(F_Request request)
{
    (void)request;
    door_grequest_is_fortran();
}
