/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §9.5: classes, codes and strings of the user are of this process alone. Many of them, in any order, against a
 * plain array: a code keeps its class and its string until it is removed; MPI_LASTUSEDCODE never is below one that
 * stands. A handler gets them as they are. */
#include "mpitest.h"

enum { MOST = 200, STEPS = 3000 };

static struct entry {
    int code, class; /* the same: a class */
    char text[32];   /* "": none */
} entries[MOST];

static int count, last_code;

static void note(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    last_code = *code;
}

static int has_codes(int class)
{
    for (int i = 0; i < count; i++) {
        if (entries[i].class == class && entries[i].code != class)
            return 1;
    }
    return 0;
}

static void add(uint64_t *state)
{
    struct entry *entry = &entries[count];
    const struct entry *old = count ? &entries[test_below(state, (size_t)count)] : NULL;

    if (count == MOST)
        return;
    *entry = (struct entry){ 0, 0, "" };
    if (old && test_below(state, 2)) {
        entry->class = test_below(state, 4) ? old->class : MPI_ERR_IO;
        CHECK_OK(MPI_Add_error_code(entry->class, &entry->code));
    } else {
        CHECK_OK(MPI_Add_error_class(&entry->code));
        entry->class = entry->code;
    }
    CHECK(entry->code > MPI_ERR_LASTCODE, "code %d", entry->code);
    for (int i = 0; i < count; i++)
        CHECK(entries[i].code != entry->code, "code %d is given twice", entry->code);
    count++;
}

static void set_text(struct entry *entry, uint64_t *state)
{
    snprintf(entry->text, sizeof entry->text, "text %d", (int)test_below(state, 100000));
    CHECK_OK(MPI_Add_error_string(entry->code, entry->text));
}

/* What still has a string, or is a class with codes, stays. */
static void remove_one(struct entry *entry)
{
    const int is_class = entry->code == entry->class, may_go = !entry->text[0] && !(is_class && has_codes(entry->code));
    const int rc = is_class ? MPI_Remove_error_class(entry->code) : MPI_Remove_error_code(entry->code);

    CHECK_INT(test_class(rc), may_go ? MPI_SUCCESS : MPI_ERR_ARG);
    if (may_go)
        *entry = entries[--count];
}

static void remove_text(struct entry *entry)
{
    CHECK_CLASS(MPI_Remove_error_string(entry->code), entry->text[0] ? MPI_SUCCESS : MPI_ERR_ARG);
    entry->text[0] = '\0';
}

static void check(const struct entry *entry, MPI_Comm comm)
{
    char text[MPI_MAX_ERROR_STRING];
    int class = -1, length = -1, *last, flag;

    CHECK_OK(MPI_Error_class(entry->code, &class));
    CHECK_INT(class, entry->class);
    CHECK_OK(MPI_Error_string(entry->code, text, &length));
    CHECK(!strcmp(text, entry->text) && length == (int)strlen(text), "\"%s\" instead of \"%s\"", text, entry->text);
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag));
    CHECK(flag && *last >= entry->code, "MPI_LASTUSEDCODE is %d, below %d", *last, entry->code);
    CHECK_OK(MPI_Comm_call_errhandler(comm, entry->code));
    CHECK_INT(last_code, entry->code);
}

int main(int argc, char **argv)
{
    MPI_Errhandler handler;
    uint64_t state;
    MPI_Comm comm;

    test_begin(&argc, &argv);
    if (!test_is_parley())
        test_skip("names since 4.1");
    state = test_key((uint64_t)test_rank, 7, 0);
    CHECK_OK(MPI_Comm_create_errhandler(note, &handler));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    CHECK_OK(MPI_Comm_set_errhandler(comm, handler));
    CHECK_OK(MPI_Errhandler_free(&handler));
    for (int step = 0; step < STEPS; step++) {
        const size_t what = test_below(&state, 8);
        struct entry *entry = &entries[count ? test_below(&state, (size_t)count) : 0];
        if (what < 3 || !count)
            add(&state);
        else if (what == 3)
            set_text(entry, &state);
        else if (what == 4)
            remove_text(entry);
        else if (what == 5)
            remove_one(entry);
        else
            check(entry, comm);
    }
    CHECK_OK(MPI_Comm_free(&comm));
    return test_end();
}
