/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §11.6, §7.8: threads may name an object and ask for its name at the same time: each gets one of the names,
 * whole. */
#include "mpithread.h"

enum { ROUNDS = 30000, SHORTEST = 20, LENGTHS = 15, LETTERS = 26 };

static MPI_Comm comm;
static MPI_Datatype type;
static MPI_Win win;

/* One letter, again and again; how often follows from it. */
static void check(const char *what, const char *name, int len)
{
    const int letter = name[0] - 'a';

    CHECK(letter >= 0 && letter < LETTERS, "a %s is called \"%s\"", what, name);
    CHECK_INT(len, SHORTEST + letter % LENGTHS);
    CHECK_INT(strlen(name), len);
    for (int i = 1; i < len; i++)
        CHECK(name[i] == name[0], "a %s is called \"%s\"", what, name);
}

static void give(int number)
{
    char name[SHORTEST + LENGTHS] = "";

    memset(name, 'a' + number % LETTERS, (size_t)(SHORTEST + number % LETTERS % LENGTHS));
    CHECK_OK(MPI_Comm_set_name(comm, name));
    CHECK_OK(MPI_Type_set_name(type, name));
    CHECK_OK(MPI_Win_set_name(win, name));
}

static void ask(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    int len;

    CHECK_OK(MPI_Comm_get_name(comm, name, &len));
    check("communicator", name, len);
    CHECK_OK(MPI_Type_get_name(type, name, &len));
    check("datatype", name, len);
    CHECK_OK(MPI_Win_get_name(win, name, &len));
    check("window", name, len);
}

static void body(int thread)
{
    for (int i = 0; i < ROUNDS; i++) {
        if (thread < THREADS / 2)
            give(i * THREADS + thread);
        else
            ask();
    }
}

int main(int argc, char **argv)
{
    void *memory;

    test_begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    CHECK_OK(MPI_Type_contiguous(3, MPI_INT, &type));
    CHECK_OK(MPI_Win_allocate(8, 1, MPI_INFO_NULL, comm, &memory, &win));
    give(0);
    run_threads(THREADS, body);
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Comm_free(&comm));
    return test_end();
}
