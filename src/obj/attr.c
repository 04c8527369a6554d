/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: obj. Keys and attributes. Knows: base. Does not know what kinds of objects are made of: they come as their
 * heads and the place of their attributes.
 *
 * A key is a slot of a table in its low 20 bits and a number above them that makes it differ from those that had the
 * slot before, so that an old key is recognised; predefined keys are below. It lives as long as the user or an
 * attribute has it. The attributes of an object are a short array, searched from the front. */
#include "obj/attr.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"

enum { SLOT_BITS = 20, SLOTS = 1 << SLOT_BITS, SERIALS = (1 << (31 - SLOT_BITS)) - 1, FIRST_ROOM = 8 };

struct keyval {
    int number;         /* the user's name for it */
    uint8_t kind;       /* enum obj_kind */
    bool is_freed;      /* by the user */
    uint32_t refs;      /* the user's, attributes, callbacks that run */
    void (*copy)(void); /* of the type that belongs to the kind; or one of the predefined values */
    void (*delete)(void);
    void *extra_state;
};

struct attr {
    struct keyval *keyval; /* referenced */
    void *value;
    bool is_leaving;       /* its delete callback runs */
};

struct attrs {
    int count, room;
    struct attr attr[];
};

/* One lock for all keys and all attributes. */
static struct {
    pthread_mutex_t lock;
    struct keyval **slots; /* guarded by lock, as is all below; owned */
    int room, live;
    int first_free;        /* no slot before is free */
    unsigned serial;
} table = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* --- keys; all but the public functions are called with the lock --- */

static int grow(void)
{
    const int room = table.room ? 2 * table.room : FIRST_ROOM;
    struct keyval **slots;

    if (table.room == SLOTS)
        return err(MPI_ERR_OTHER, "there are %d attribute keys already; were they never freed?", SLOTS);
    slots = mem_realloc(table.slots, (size_t)room * sizeof *slots);
    if (!slots)
        return err(MPI_ERR_NO_MEM, "no memory for attribute keys");
    memset(slots + table.room, 0, (size_t)(room - table.room) * sizeof *slots);
    table.slots = slots;
    table.room = room;
    return 0;
}

static int enter(struct keyval *keyval)
{
    int rc;

    while (table.first_free < table.room && table.slots[table.first_free])
        table.first_free++;
    if (table.first_free == table.room && (rc = grow()))
        return rc;
    keyval->number = (int)(1 + table.serial++ % SERIALS) << SLOT_BITS | table.first_free;
    table.slots[table.first_free++] = keyval;
    table.live++;
    return 0;
}

static void keyval_unref(struct keyval *keyval)
{
    const int slot = keyval->number & (SLOTS - 1);

    if (--keyval->refs)
        return;
    table.slots[slot] = NULL;
    if (slot < table.first_free)
        table.first_free = slot;
    mem_free(keyval);
    if (--table.live)
        return;
    mem_free(table.slots);
    table.slots = NULL;
    table.room = table.first_free = 0;
}

static const char *predefined_name(int keyval)
{
    static const char *const comm[] = { "MPI_TAG_UB", "MPI_IO", "MPI_HOST", "MPI_WTIME_IS_GLOBAL", "MPI_APPNUM",
                                        "MPI_LASTUSEDCODE", "MPI_UNIVERSE_SIZE" };
    static const char *const win[] = { "MPI_WIN_BASE", "MPI_WIN_DISP_UNIT", "MPI_WIN_SIZE",
                                       "MPI_WIN_CREATE_FLAVOR", "MPI_WIN_MODEL" };

    if (keyval == MPI_KEYVAL_INVALID)
        return "MPI_KEYVAL_INVALID";
    if (keyval >= MPI_TAG_UB && keyval <= MPI_UNIVERSE_SIZE)
        return comm[keyval - MPI_TAG_UB];
    return keyval >= MPI_WIN_BASE && keyval <= MPI_WIN_MODEL ? win[keyval - MPI_WIN_BASE] : NULL;
}

static const char *kind_name(int kind)
{
    return kind == OBJ_COMM ? "communicators" : kind == OBJ_TYPE ? "datatypes" : "windows";
}

static int bad_keyval(int keyval, enum obj_kind kind, const struct keyval *other)
{
    const char *known = predefined_name(keyval);

    if (known)
        return err(MPI_ERR_KEYVAL, "the key is %s, which %s", known,
                   keyval ? "is predefined and not to be used here" : "is no key");
    if (other)
        return err(MPI_ERR_KEYVAL, "the key %d was made for attributes of %s, not of %s", keyval,
                   kind_name(other->kind), kind_name(kind));
    return err(MPI_ERR_KEYVAL, "%d is no key of an attribute (freed already?)", keyval);
}

/* NULL, and *rc is the error. */
static struct keyval *find_keyval(int number, enum obj_kind kind, int *rc)
{
    const int slot = number & (SLOTS - 1);
    struct keyval *keyval = number > 0 && slot < table.room ? table.slots[slot] : NULL;

    if (keyval && keyval->number != number)
        keyval = NULL;
    *rc = keyval && keyval->kind == kind ? 0 : bad_keyval(number, kind, keyval);
    return *rc ? NULL : keyval;
}

int attr_keyval_create(enum obj_kind kind, void (*copy)(void), void (*delete)(void), void *extra_state, int *keyval)
{
    struct keyval *made = mem_alloc(sizeof *made);
    int rc;

    if (!made)
        return err(MPI_ERR_NO_MEM, "no memory for an attribute key");
    *made = (struct keyval){
        .kind = (uint8_t)kind, .refs = 1, .copy = copy, .delete = delete, .extra_state = extra_state,
    };
    pthread_mutex_lock(&table.lock);
    rc = enter(made);
    if (!rc)
        *keyval = made->number;
    pthread_mutex_unlock(&table.lock);
    if (rc)
        mem_free(made);
    return rc;
}

int attr_keyval_free(enum obj_kind kind, int *keyval)
{
    struct keyval *found;
    int rc;

    pthread_mutex_lock(&table.lock);
    found = find_keyval(*keyval, kind, &rc);
    if (found && !found->is_freed) {
        found->is_freed = true;
        keyval_unref(found);
    }
    pthread_mutex_unlock(&table.lock);
    if (!rc)
        *keyval = MPI_KEYVAL_INVALID;
    return rc;
}

/* --- callbacks; called without the lock --- */

/* A code that the user has added is passed on as it is. */
static int failed(const struct keyval *keyval, const char *what, int rc)
{
    char text[64];

    snprintf(text, sizeof text, "the %s callback of key %d has failed", what, keyval->number);
    return err_prefix(rc, text);
}

static int call_delete(const struct keyval *keyval, const struct obj *obj, void *value)
{
    const uintptr_t handle = obj_handle(obj);
    void (*const delete)(void) = keyval->delete;
    void *const state = keyval->extra_state;
    int rc;

    if (obj->kind == OBJ_COMM)
        rc = ((MPI_Comm_delete_attr_function *)delete)((MPI_Comm)handle, keyval->number, value, state);
    else if (obj->kind == OBJ_TYPE)
        rc = ((MPI_Type_delete_attr_function *)delete)((MPI_Datatype)handle, keyval->number, value, state);
    else
        rc = ((MPI_Win_delete_attr_function *)delete)((MPI_Win)handle, keyval->number, value, state);
    return rc ? failed(keyval, "delete", rc) : 0;
}

static int call_copy(const struct keyval *keyval, const struct obj *obj, void *value, void *out, int *flag)
{
    const uintptr_t handle = obj_handle(obj);
    void (*const copy)(void) = keyval->copy;
    void *const state = keyval->extra_state;
    int rc;

    if (obj->kind == OBJ_COMM)
        rc = ((MPI_Comm_copy_attr_function *)copy)((MPI_Comm)handle, keyval->number, state, value, out, flag);
    else if (obj->kind == OBJ_TYPE)
        rc = ((MPI_Type_copy_attr_function *)copy)((MPI_Datatype)handle, keyval->number, state, value, out, flag);
    else
        rc = ((MPI_Win_copy_attr_function *)copy)((MPI_Win)handle, keyval->number, state, value, out, flag);
    return rc ? failed(keyval, "copy", rc) : 0;
}

/* --- attributes; all but the public functions are called with the lock --- */

static struct attr *find(struct attrs *attrs, const struct keyval *keyval)
{
    for (int i = 0; attrs && i < attrs->count; i++)
        if (attrs->attr[i].keyval == keyval)
            return &attrs->attr[i];
    return NULL;
}

/* Make room for `room` attributes. */
static int reserve(struct attrs **attrs, int room)
{
    struct attrs *const old = *attrs;
    struct attrs *larger = mem_realloc(old, sizeof *larger + (size_t)room * sizeof *larger->attr);

    if (!larger)
        return err(MPI_ERR_NO_MEM, "no memory for %d attributes", room);
    if (!old)
        larger->count = 0;
    larger->room = room;
    *attrs = larger;
    return 0;
}

static int append(struct attrs **attrs, struct keyval *keyval, void *value)
{
    const int count = *attrs ? (*attrs)->count : 0;
    int rc;

    if ((!*attrs || count == (*attrs)->room) && (rc = reserve(attrs, count ? 2 * count : 1)))
        return rc;
    keyval->refs++;
    (*attrs)->attr[(*attrs)->count++] = (struct attr){ .keyval = keyval, .value = value };
    return 0;
}

static void take_out(struct attrs *attrs, struct attr *attr)
{
    const size_t behind = (size_t)(attrs->attr + attrs->count - attr) - 1;

    keyval_unref(attr->keyval);
    memmove(attr, attr + 1, behind * sizeof *attr);
    attrs->count--;
}

/* The lock is not held while the callback runs: the attribute stays, and nobody else may touch it, but others may
 * come and go. */
static int remove_attr(const struct obj *obj, struct attrs **attrs, const struct keyval *keyval)
{
    struct attr *attr = find(*attrs, keyval);
    int rc = 0;

    if (!attr)
        return 0;
    if (attr->is_leaving)
        return err(MPI_ERR_KEYVAL, "the attribute with key %d is being deleted: its callback runs", keyval->number);
    if (keyval->delete) {
        void *const value = attr->value;

        attr->is_leaving = true;
        pthread_mutex_unlock(&table.lock);
        rc = call_delete(keyval, obj, value);
        pthread_mutex_lock(&table.lock);
        attr = find(*attrs, keyval);
        attr->is_leaving = false;
    }
    if (!rc)
        take_out(*attrs, attr);
    return rc;
}

int attr_get(const struct obj *obj, struct attrs *const *attrs, int keyval, void *value, int *flag)
{
    struct keyval *found;
    int rc;

    pthread_mutex_lock(&table.lock);
    found = find_keyval(keyval, obj->kind, &rc);
    if (found) {
        const struct attr *attr = find(*attrs, found);

        *flag = attr != NULL;
        if (attr)
            memcpy(value, &attr->value, sizeof attr->value);
    }
    pthread_mutex_unlock(&table.lock);
    return rc;
}

/* The old attribute's callback may free the key: hold it. */
static int replace(const struct obj *obj, struct attrs **attrs, struct keyval *keyval, void *value)
{
    int rc;

    keyval->refs++;
    rc = remove_attr(obj, attrs, keyval);
    if (!rc)
        rc = append(attrs, keyval, value);
    keyval_unref(keyval);
    return rc;
}

int attr_set(const struct obj *obj, struct attrs **attrs, int keyval, void *value)
{
    struct keyval *found;
    int rc;

    pthread_mutex_lock(&table.lock);
    found = find_keyval(keyval, obj->kind, &rc);
    if (found && found->is_freed)
        rc = err(MPI_ERR_KEYVAL, "the key %d has been freed; only attributes that have it can be read and deleted",
                 keyval);
    else if (found)
        rc = replace(obj, attrs, found, value);
    pthread_mutex_unlock(&table.lock);
    return rc;
}

int attr_delete(const struct obj *obj, struct attrs **attrs, int keyval)
{
    struct keyval *found;
    int rc;

    pthread_mutex_lock(&table.lock);
    found = find_keyval(keyval, obj->kind, &rc);
    if (found)
        rc = remove_attr(obj, attrs, found);
    pthread_mutex_unlock(&table.lock);
    return rc;
}

int attr_delete_all(const struct obj *obj, struct attrs **attrs)
{
    int rc = 0;

    pthread_mutex_lock(&table.lock);
    while (!rc && *attrs && (*attrs)->count)
        rc = remove_attr(obj, attrs, (*attrs)->attr[(*attrs)->count - 1].keyval);
    if (!rc) {
        mem_free(*attrs);
        *attrs = NULL;
    }
    pthread_mutex_unlock(&table.lock);
    return rc;
}

static void forget(struct attrs **attrs)
{
    while (*attrs && (*attrs)->count)
        take_out(*attrs, &(*attrs)->attr[(*attrs)->count - 1]);
    mem_free(*attrs);
    *attrs = NULL;
}

void attr_drop_all(struct attrs **attrs)
{
    pthread_mutex_lock(&table.lock);
    forget(attrs);
    pthread_mutex_unlock(&table.lock);
}

/* --- duplicates --- */

/* What there is now and stays: a callback may change what the object has. */
static int snapshot(struct attrs *attrs, struct attrs **out)
{
    int rc;

    *out = NULL;
    if (!attrs || !attrs->count)
        return 0;
    rc = reserve(out, attrs->count);
    for (int i = 0; !rc && i < attrs->count; i++)
        if (attrs->attr[i].keyval->copy && !attrs->attr[i].is_leaving)
            rc = append(out, attrs->attr[i].keyval, attrs->attr[i].value);
    return rc;
}

/* The callback of one, in place: what it makes becomes the value. Called without the lock. */
static int copy_one(const struct obj *obj, struct attr *attr, int *flag)
{
    void *value = NULL;
    int rc;

    *flag = 1;
    if (attr->keyval->copy == (void (*)(void))MPI_COMM_DUP_FN)
        return 0;
    *flag = 0;
    rc = call_copy(attr->keyval, obj, attr->value, &value, flag);
    attr->value = value;
    return rc;
}

/* Called without the lock: nobody else knows `made`. The first *done are the copy's. */
static int copy_each(const struct obj *obj, struct attrs *made, int *done)
{
    int rc = 0, flag;

    for (int i = *done = 0; made && i < made->count && !rc; i++) {
        rc = copy_one(obj, &made->attr[i], &flag);
        if (!rc && flag) {
            const struct attr kept = made->attr[i];

            made->attr[i] = made->attr[*done];
            made->attr[(*done)++] = kept;
        }
    }
    return rc;
}

int attr_copy(const struct obj *obj, struct attrs *const *attrs, const struct obj *copy, struct attrs **copy_attrs)
{
    struct attrs *made;
    int rc, done = 0;

    pthread_mutex_lock(&table.lock);
    rc = snapshot(*attrs, &made);
    pthread_mutex_unlock(&table.lock);
    if (!rc)
        rc = copy_each(obj, made, &done);
    pthread_mutex_lock(&table.lock);
    while (made && made->count > done)
        take_out(made, &made->attr[made->count - 1]);
    pthread_mutex_unlock(&table.lock);
    *copy_attrs = made;
    if (rc || !done) {
        attr_delete_all(copy, copy_attrs); /* if that fails too, the first error counts */
        attr_drop_all(copy_attrs);
    }
    return rc;
}
