/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §7.7: hundreds of attributes on a communicator and a datatype, set and deleted at random, against a plain
 * array; and a copy of all. */
#include "mpiattr.h"

enum { KEYS = 200, STEPS = 4000 };

static intptr_t model[KEYS]; /* -1: none */
static int calls;

static int count_delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval;
    CHECK_INT((intptr_t)value, *(intptr_t *)extra);
    calls++;
    return MPI_SUCCESS;
}

static void step(MPI_Comm comm, const int *key, uint64_t *state)
{
    const size_t i = test_below(state, KEYS);
    const intptr_t value = (intptr_t)test_below(state, 1000);
    const int before = calls, had = model[i] != -1;

    CHECK_COMM_ATTR(comm, key[i], model[i]);
    if (test_below(state, 3)) {
        CHECK_OK(MPI_Comm_set_attr(comm, key[i], attr_word(value)));
        model[i] = value;
    } else {
        CHECK_OK(MPI_Comm_delete_attr(comm, key[i]));
        model[i] = -1;
    }
    CHECK_INT(calls - before, had);
}

int main(int argc, char **argv)
{
    uint64_t state;
    MPI_Comm comm, copy;
    int key[KEYS], count = 0;

    test_begin(&argc, &argv);
    state = test_key((uint64_t)test_rank, 0, 0);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    for (int i = 0; i < KEYS; i++) {
        model[i] = -1;
        NEEDS(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, count_delete, &key[i], &model[i]));
    }
    for (int i = 0; i < STEPS; i++)
        step(comm, key, &state);
    CHECK_OK(MPI_Comm_dup(comm, &copy));
    for (int i = 0; i < KEYS; i++) {
        CHECK_COMM_ATTR(copy, key[i], model[i]);
        count += model[i] != -1;
        CHECK_OK(MPI_Comm_free_keyval(&key[i]));
    }
    calls = 0;
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_INT(calls, count);
    CHECK_OK(MPI_Comm_free(&copy));
    CHECK_INT(calls, 2 * count);
    return test_end();
}
