/* SPDX-License-Identifier: BSD-3-Clause */
/* fortran: what the standard has for Fortran alone, or in another form: attributes as INTEGER, deprecated since MPI 2.0
 * (MPI 5.0 §16.1), and MPI_F_sync_reg (§19.1.8). Compiled twice, as the generated routines.
 * Knows: callbacks.h, routines.h. */
#include "callbacks.h"
#include "routines.h"

void NAME(attr_put_)(int *comm, int *keyval, int *attribute_val, int *ierror);
void NAME(attr_put_)(int *comm, int *keyval, int *attribute_val, int *ierror)
{
    void *attribute = attribute_of(*attribute_val);

    give(ierror, attribute ? CALL(Comm_set_attr)(comm_of(*comm), *keyval, attribute) : no_memory());
}
OTHER_NAMES(attr_put, ATTR_PUT)

void NAME(attr_get_)(int *comm, int *keyval, int *attribute_val, int *flag, int *ierror);
void NAME(attr_get_)(int *comm, int *keyval, int *attribute_val, int *flag, int *ierror)
{
    void *attribute = NULL;
    int is_set = 0;
    const int rc = CALL(Comm_get_attr)(comm_of(*comm), *keyval, &attribute, &is_set);

    if (!rc && is_set)
        *attribute_val = (int)attribute_to(*keyval, attribute);
    *flag = is_set != 0;
    give(ierror, rc);
}
OTHER_NAMES(attr_get, ATTR_GET)

void NAME(attr_delete_)(int *comm, int *keyval, int *ierror);
void NAME(attr_delete_)(int *comm, int *keyval, int *ierror)
{
    give(ierror, CALL(Comm_delete_attr)(comm_of(*comm), *keyval));
}
OTHER_NAMES(attr_delete, ATTR_DELETE)

void NAME(keyval_create_)(fortran_fn copy_fn, fortran_fn delete_fn, int *keyval, int *extra_state, int *ierror);
void NAME(keyval_create_)(fortran_fn copy_fn, fortran_fn delete_fn, int *keyval, int *extra_state, int *ierror)
{
    struct callback_state *state = state_of(copy_fn, delete_fn, NULL, *extra_state);

    give(ierror, state ? CALL(Comm_create_keyval)(old_copy_function, old_delete_function, keyval, state) : no_memory());
}
OTHER_NAMES(keyval_create, KEYVAL_CREATE)

void NAME(keyval_free_)(int *keyval, int *ierror);
void NAME(keyval_free_)(int *keyval, int *ierror)
{
    give(ierror, CALL(Comm_free_keyval)(keyval));
}
OTHER_NAMES(keyval_free, KEYVAL_FREE)

/* The call alone is what it is for. */
void NAME(f_sync_reg_)(const void *buf);
void NAME(f_sync_reg_)(const void *buf)
{
    (void)buf;
}
OTHER_NAMES(f_sync_reg, F_SYNC_REG)
