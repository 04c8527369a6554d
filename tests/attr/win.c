/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §7.7.3: attributes of windows: set, replaced, deleted; the delete callbacks run when the window is freed, the
 * last attribute first; one that fails keeps the window. */
#include "mpitest.h"

enum { KEYS = 3 };

static int keys[KEYS], deleted[16], count, refuse;
static MPI_Win window;

static int on_delete(MPI_Win win, int key, void *value, void *extra)
{
    CHECK(win == window, "the callback gets the window");
    CHECK(extra == &count, "the callback gets the extra state");
    if (refuse)
        return MPI_ERR_OTHER;
    for (int i = 0; i < KEYS; i++)
        if (keys[i] == key)
            deleted[count++] = 10 * i + (int)(intptr_t)value;
    return MPI_SUCCESS;
}

static void expect(int key, int value)
{
    void *found = NULL;
    int flag = -1;

    CHECK_OK(MPI_Win_get_attr(window, key, &found, &flag));
    CHECK_INT(flag, value != 0);
    if (flag)
        CHECK_INT((intptr_t)found, value);
}

int main(int argc, char **argv)
{
    int key, memory = 0;

    test_begin(&argc, &argv);
    for (int i = 0; i < KEYS; i++)
        CHECK_OK(MPI_Win_create_keyval(MPI_WIN_DUP_FN, on_delete, &keys[i], &count));
    CHECK_OK(MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window));
    CHECK_OK(MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN));
    expect(keys[0], 0);
    for (int i = 0; i < KEYS; i++)
        CHECK_OK(MPI_Win_set_attr(window, keys[i], (void *)(intptr_t)(i + 1)));
    expect(keys[1], 2);
    CHECK_OK(MPI_Win_set_attr(window, keys[1], (void *)(intptr_t)7));
    CHECK_INT(count, 1);
    CHECK_INT(deleted[0], 12);
    expect(keys[1], 7);
    CHECK_OK(MPI_Win_delete_attr(window, keys[0]));
    CHECK_INT(deleted[1], 1);
    expect(keys[0], 0);
    CHECK_OK(MPI_Win_delete_attr(window, keys[0]));
    CHECK_INT(count, 2);
    CHECK_CLASS(MPI_Win_set_attr(window, MPI_WIN_SIZE, NULL), MPI_ERR_KEYVAL);
    CHECK_CLASS(MPI_Win_delete_attr(window, MPI_WIN_BASE), MPI_ERR_KEYVAL);
    CHECK_CLASS(MPI_Win_get_attr(window, MPI_TAG_UB, &memory, &memory), MPI_ERR_KEYVAL);
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL));
    CHECK_CLASS(MPI_Win_set_attr(window, key, NULL), MPI_ERR_KEYVAL);
    CHECK_OK(MPI_Comm_free_keyval(&key));
    refuse = 1;
    CHECK_CLASS(MPI_Win_free(&window), MPI_ERR_OTHER);
    CHECK(window != MPI_WIN_NULL, "the window stays");
    expect(keys[2], 3);
    refuse = 0;
    count = 0;
    CHECK_OK(MPI_Win_set_attr(window, keys[0], (void *)(intptr_t)4));
    for (int i = 0; i < KEYS; i++) { /* they live on with their attributes */
        key = keys[i];
        CHECK_OK(MPI_Win_free_keyval(&key));
        CHECK_INT(key, MPI_KEYVAL_INVALID);
    }
    CHECK_OK(MPI_Win_free(&window));
    CHECK_INT(count, 3);
    CHECK_INT(deleted[0], 4);
    CHECK(deleted[1] + deleted[2] == 17 + 23, "all have been deleted");
    return test_end();
}
