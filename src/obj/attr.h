/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: obj. Attributes that users attach to communicators, datatypes and windows, and their keys (MPI 5.0 §7.7).
 *
 * An object has a pointer to its attributes, NULL as long as it has none. All functions are thread safe; no lock is
 * held while a callback of the user runs, so a callback may call all of them, too. What a callback returns is the
 * caller's result: a code that the user has added as it is, any other with a text in front. */
#ifndef OBJ_ATTR_H
#define OBJ_ATTR_H

#include "obj/obj.h"

/* The attributes of one object, in the order in which they were set. */
struct attrs;

/* A new key for objects of `kind`. The callbacks have the types of that kind, or the values of MPI_COMM_NULL_COPY_FN,
 * MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, which are those of the other kinds, too. Errors: MPI_ERR_NO_MEM;
 * MPI_ERR_OTHER if there are 2^20 keys. */
int attr_keyval_create(enum obj_kind kind, void (*copy)(void), void (*delete)(void), void *extra_state, int *keyval);
/* *keyval becomes MPI_KEYVAL_INVALID. Attributes with that key stay what they are: the key goes with the last one.
 * Until then it may be freed again, which does nothing. Error: MPI_ERR_KEYVAL. */
int attr_keyval_free(enum obj_kind kind, int *keyval);

/* Error of the next three, for a key that is not one, is predefined or was made for another kind: MPI_ERR_KEYVAL. */

/* Stores the attribute in the pointer at `value`; *flag 0: there is none. */
int attr_get(const struct obj *obj, struct attrs *const *attrs, int keyval, void *value, int *flag);
/* An attribute that is there already is deleted first; if its callback fails it stays. Errors: MPI_ERR_KEYVAL also if
 * the key was freed, or in the callback that deletes this attribute; MPI_ERR_NO_MEM. */
int attr_set(const struct obj *obj, struct attrs **attrs, int keyval, void *value);
/* Does nothing if there is none. If the callback fails the attribute stays. */
int attr_delete(const struct obj *obj, struct attrs **attrs, int keyval);

/* For a duplicate: what the copy callbacks make of the attributes of `obj`, in the order in which they were set, for
 * `copy`, which nobody else knows yet. After an error it has none: those made already have been deleted. */
int attr_copy(const struct obj *obj, struct attrs *const *attrs, const struct obj *copy, struct attrs **copy_attrs);
/* For the end of an object: delete all, the last one first. The first callback that fails stops it, and the object
 * must stay. */
int attr_delete_all(const struct obj *obj, struct attrs **attrs);
/* Forget all, without callbacks. */
void attr_drop_all(struct attrs **attrs);

#endif
