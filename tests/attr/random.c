/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §7.7: keys, attributes, objects and error handlers at random, against a model: which attribute an object has,
 * what each callback is given, how often it is called; callbacks that fail, keys freed while attributes have them,
 * duplicates of duplicates, keys of one kind of object used for another, error handlers that live as long as an object
 * has them. */
#include "mpitest.h"

enum { KINDS = 2, KEYS = 12, OBJECTS = 10, STEPS = 3000, COPY_ADDS = 1000 };
enum copying { NOT, AS_IS, BY_FUNCTION };
enum { COMM, TYPE };

/* A key that is freed stays in use by the attributes that have it. */
struct key {
    int number, kind;
    enum copying copying;
    int has_delete, is_made, is_freed;
};

struct object {
    int kind, is_made;
    MPI_Comm comm;
    MPI_Datatype type;
    intptr_t value[KEYS];     /* 0: none */
    int handler;              /* whose errors it makes; -1: MPI_ERRORS_RETURN */
};

static struct key keys[KEYS];
static struct object objects[OBJECTS];
static intptr_t next_value = 1;
static uint64_t draws;

static int fails;                        /* the callbacks return an error */
static struct { int copies, deletes; } expected, came;
static const struct object *busy;        /* whose callbacks may come */

static int draw(int below)
{
    return (int)(test_key(77, (int)draws++, 0) % (uint64_t)below);
}

/* --- callbacks; extra state is the key --- */

static int copied(const struct key *key, int number, void *value, void *out, int *flag)
{
    CHECK_INT(number, key->number);
    CHECK((intptr_t)value == busy->value[key - keys], "copy of %ld", (long)(intptr_t)value);
    came.copies++;
    *(void **)out = (char *)value + COPY_ADDS;
    *flag = (intptr_t)value % 3 != 0; /* a third is not copied */
    return fails ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int deleted(const struct key *key, int number, void *value)
{
    CHECK_INT(number, key->number);
    CHECK((intptr_t)value == busy->value[key - keys] || (intptr_t)value > COPY_ADDS, "delete of %ld",
          (long)(intptr_t)value);
    came.deletes++;
    return fails ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int copy_comm(MPI_Comm comm, int number, void *extra, void *value, void *out, int *flag)
{
    CHECK(comm == busy->comm, "another communicator");
    return copied(extra, number, value, out, flag);
}

static int delete_comm(MPI_Comm comm, int number, void *value, void *extra)
{
    CHECK(comm != MPI_COMM_NULL, "no communicator");
    return deleted(extra, number, value);
}

static int copy_type(MPI_Datatype type, int number, void *extra, void *value, void *out, int *flag)
{
    CHECK(type == busy->type, "another datatype");
    return copied(extra, number, value, out, flag);
}

static int delete_type(MPI_Datatype type, int number, void *value, void *extra)
{
    CHECK(type != MPI_DATATYPE_NULL, "no datatype");
    return deleted(extra, number, value);
}

/* --- the calls of both kinds --- */

static int make_key(struct key *key)
{
    if (key->kind == COMM)
        return MPI_Comm_create_keyval(key->copying == NOT ? MPI_COMM_NULL_COPY_FN
                                      : key->copying == AS_IS ? MPI_COMM_DUP_FN : copy_comm,
                                      key->has_delete ? delete_comm : MPI_COMM_NULL_DELETE_FN, &key->number, key);
    return MPI_Type_create_keyval(key->copying == NOT ? MPI_TYPE_NULL_COPY_FN
                                  : key->copying == AS_IS ? MPI_TYPE_DUP_FN : copy_type,
                                  key->has_delete ? delete_type : MPI_TYPE_NULL_DELETE_FN, &key->number, key);
}

static int free_key(int kind, int *number)
{
    return kind == COMM ? MPI_Comm_free_keyval(number) : MPI_Type_free_keyval(number);
}

static int set(const struct object *o, int number, intptr_t value)
{
    void *const word = (char *)0 + value;

    return o->kind == COMM ? MPI_Comm_set_attr(o->comm, number, word) : MPI_Type_set_attr(o->type, number, word);
}

static int get(const struct object *o, int number, intptr_t *value, int *flag)
{
    void *word = NULL;
    const int rc = o->kind == COMM ? MPI_Comm_get_attr(o->comm, number, &word, flag)
                                   : MPI_Type_get_attr(o->type, number, &word, flag);

    *value = (intptr_t)word;
    return rc;
}

static int take_away(const struct object *o, int number)
{
    return o->kind == COMM ? MPI_Comm_delete_attr(o->comm, number) : MPI_Type_delete_attr(o->type, number);
}

/* --- error handlers of communicators, which duplicates take over --- */

static int handled;

static void handle(MPI_Comm *comm, int *code, ...)
{
    (void)code;
    CHECK(*comm == busy->comm, "the handler got another communicator");
    handled++;
}

/* It is freed at once: the object has it. */
static void give_handler(struct object *o)
{
    MPI_Errhandler handler;

    CHECK_OK(MPI_Comm_create_errhandler(handle, &handler));
    CHECK_OK(MPI_Comm_set_errhandler(o->comm, handler));
    CHECK_OK(MPI_Errhandler_free(&handler));
    o->handler = 1;
}

static void make_error(struct object *o)
{
    handled = 0;
    busy = o;
    CHECK_CLASS(MPI_Send(NULL, -1, MPI_INT, 0, 0, o->comm), MPI_ERR_COUNT);
    CHECK_INT(handled, o->handler);
}

/* --- steps --- */

static int is_used(int key)
{
    for (int i = 0; i < OBJECTS; i++)
        if (objects[i].is_made && objects[i].value[key])
            return 1;
    return 0;
}

static void begin(const struct object *o)
{
    busy = o;
    expected.copies = expected.deletes = came.copies = came.deletes = 0;
}

static void check_calls(void)
{
    CHECK_INT(came.copies, expected.copies);
    CHECK_INT(came.deletes, expected.deletes);
}

static void step_key(struct key *key)
{
    int number = key->number;

    if (!key->is_made) {
        *key = (struct key){ .kind = draw(KINDS), .copying = (enum copying)draw(3), .is_made = 1 };
        key->has_delete = draw(2);
        CHECK_OK(make_key(key));
    } else if (!key->is_freed) {
        CHECK_CLASS(free_key(!key->kind, &number), MPI_ERR_KEYVAL);
        CHECK_OK(free_key(key->kind, &number));
        CHECK_INT(number, MPI_KEYVAL_INVALID);
        key->is_freed = 1;
    }
    if (key->is_made && key->is_freed && !is_used((int)(key - keys)))
        key->is_made = 0;
}

static void step_set(struct object *o, struct key *key)
{
    const int index = (int)(key - keys);
    const intptr_t value = next_value;

    begin(o);
    if (!key->is_made || key->kind != o->kind || key->is_freed) {
        if (key->is_made)
            CHECK_CLASS(set(o, key->number, value), MPI_ERR_KEYVAL);
        return;
    }
    next_value = next_value % (COPY_ADDS - 1) + 1;
    fails = !draw(8);
    expected.deletes = o->value[index] && key->has_delete;
    if (fails && expected.deletes) {
        CHECK_CLASS(set(o, key->number, value), MPI_ERR_OTHER);
    } else {
        CHECK_OK(set(o, key->number, value));
        o->value[index] = value;
    }
    fails = 0;
    check_calls();
}

static void step_get(struct object *o, struct key *key)
{
    intptr_t value;
    int flag = -1;

    begin(o);
    if (!key->is_made)
        return;
    if (key->kind != o->kind) {
        CHECK_CLASS(get(o, key->number, &value, &flag), MPI_ERR_KEYVAL);
        return;
    }
    CHECK_OK(get(o, key->number, &value, &flag));
    CHECK_INT(flag, o->value[key - keys] != 0);
    CHECK_INT(value, o->value[key - keys]);
}

static void step_delete(struct object *o, struct key *key)
{
    const int index = (int)(key - keys);

    begin(o);
    if (!key->is_made || key->kind != o->kind)
        return;
    fails = !draw(8);
    expected.deletes = o->value[index] && key->has_delete;
    if (fails && expected.deletes) {
        CHECK_CLASS(take_away(o, key->number), MPI_ERR_OTHER);
    } else {
        CHECK_OK(take_away(o, key->number));
        o->value[index] = 0;
    }
    fails = 0;
    check_calls();
    if (key->is_freed && !is_used(index))
        key->is_made = 0;
}

/* What a duplicate gets, or nothing if a callback fails. */
static void expect_copies(const struct object *from, struct object *to)
{
    for (int i = 0; i < KEYS; i++) {
        const intptr_t value = from->value[i];
        const enum copying copying = keys[i].copying;

        to->value[i] = 0;
        if (!value || copying == NOT)
            continue;
        if (copying == AS_IS)
            to->value[i] = value;
        else if (value % 3)
            to->value[i] = value + COPY_ADDS;
        expected.copies += copying == BY_FUNCTION;
    }
}

static void step_duplicate(const struct object *from, struct object *to)
{
    int rc;

    begin(from);
    *to = (struct object){ .kind = from->kind, .handler = from->handler };
    expect_copies(from, to);
    fails = expected.copies > 0 && !draw(6);
    rc = from->kind == COMM ? MPI_Comm_dup(from->comm, &to->comm) : MPI_Type_dup(from->type, &to->type);
    if (fails) {
        CHECK_CLASS(rc, MPI_ERR_OTHER);
    } else {
        CHECK_OK(rc);
        check_calls();
        to->is_made = 1;
    }
    fails = 0;
}

/* Values of copies of copies grow beyond what `deleted` takes for one of a copy; both are known to the model. */
static void step_free(struct object *o)
{
    int has_deletes = 0;

    begin(o);
    for (int i = 0; i < KEYS; i++)
        has_deletes += o->value[i] && keys[i].has_delete;
    expected.deletes = has_deletes;
    CHECK_OK(o->kind == COMM ? MPI_Comm_free(&o->comm) : MPI_Type_free(&o->type));
    o->is_made = 0;
    check_calls();
    for (int i = 0; i < KEYS; i++)
        if (keys[i].is_made && keys[i].is_freed && !is_used(i))
            keys[i].is_made = 0;
}

static void step_object(struct object *o)
{
    const struct object *from = &objects[draw(OBJECTS)];

    if (o->is_made) {
        if (!draw(3))
            step_free(o);
    } else if (from->is_made) {
        step_duplicate(from, o);
    } else {
        *o = (struct object){ .kind = draw(KINDS), .is_made = 1 };
        if (o->kind == COMM)
            CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &o->comm));
        else
            CHECK_OK(MPI_Type_contiguous(3, MPI_INT, &o->type));
    }
}

static void step(void)
{
    struct object *o = &objects[draw(OBJECTS)];
    struct key *key = &keys[draw(KEYS)];
    const int what = draw(12);

    if (what == 0)
        step_key(key);
    else if (what < 3)
        step_object(o);
    else if (!o->is_made)
        return;
    else if (what < 7)
        step_set(o, key);
    else if (what < 9)
        step_delete(o, key);
    else if (what < 11)
        step_get(o, key);
    else if (o->kind == COMM && draw(3))
        make_error(o);
    else if (o->kind == COMM)
        give_handler(o);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    if (!test_is_parley()) /* all that the standard leaves open is as here */
        test_skip("keys that are freed, callbacks that fail: others do otherwise");
    for (int i = 0; i < STEPS; i++)
        step();
    for (int i = 0; i < OBJECTS; i++)
        if (objects[i].is_made)
            step_free(&objects[i]);
    for (int i = 0; i < KEYS; i++)
        if (keys[i].is_made && !keys[i].is_freed)
            CHECK_OK(free_key(keys[i].kind, &keys[i].number));
    return test_end();
}
