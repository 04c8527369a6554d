/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §11.8.2: MPI_Comm_spawn starts processes that have a world of their own and an intercommunicator with those
 * who have started them; arguments, error codes, MPI_ARGV_NULL, MPI_ERRCODES_IGNORE; then messages, collective calls
 * and a window over what MPI_Intercomm_merge makes of both sides. */
#include "mpitest.h"

enum { CHILDREN = 3, LENGTH = 50000 };

static char *words[] = { "one", "two words", "", "--last=4", NULL };
static char big[LENGTH];

static void check_words(int argc, char **argv)
{
    CHECK_INT(argc, 5);
    for (int i = 0; words[i]; i++)
        CHECK(!strcmp(argv[i + 1], words[i]), "argument %d is \"%s\"", i, argv[i + 1]);
}

/* Both sides, over the intercommunicator: a ring of short and long messages, an allgather. */
static void talk(MPI_Comm inter)
{
    int rank, size, remote, sum = 0, *all;
    long long theirs;
    MPI_Status status;

    CHECK_OK(MPI_Comm_rank(inter, &rank));
    CHECK_OK(MPI_Comm_size(inter, &size));
    CHECK_OK(MPI_Comm_remote_size(inter, &remote));
    if (rank == 0) {
        CHECK_OK(MPI_Sendrecv(&size, 1, MPI_INT, 0, 1, &sum, 1, MPI_INT, 0, 1, inter, &status));
        CHECK_INT(sum, remote);
        memset(big, remote, LENGTH);
        CHECK_OK(MPI_Sendrecv_replace(big, LENGTH, MPI_CHAR, 0, 2, 0, 2, inter, &status));
        CHECK_INT(big[LENGTH - 1], size);
    }
    all = malloc((size_t)remote * sizeof *all);
    CHECK_OK(MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, inter));
    for (int i = 0; i < remote; i++)
        CHECK_INT(all[i], i);
    free(all);
    sum = rank + 1;
    CHECK_OK(MPI_Allreduce(&(long long){ sum }, &theirs, 1, MPI_LONG_LONG, MPI_SUM, inter));
    CHECK_INT(theirs, (long long)remote * (remote + 1) / 2);
}

/* Everybody puts its rank into everybody's window. */
static void put_to_all(MPI_Comm all)
{
    int rank, size, *memory;
    MPI_Win win;

    CHECK_OK(MPI_Comm_rank(all, &rank));
    CHECK_OK(MPI_Comm_size(all, &size));
    CHECK_OK(MPI_Win_allocate((MPI_Aint)(size * (int)sizeof(int)), sizeof(int), MPI_INFO_NULL, all, &memory, &win));
    for (int i = 0; i < size; i++)
        memory[i] = -1;
    CHECK_OK(MPI_Win_fence(0, win));
    for (int i = 0; i < size; i++)
        CHECK_OK(MPI_Put(&rank, 1, MPI_INT, i, rank, 1, MPI_INT, win));
    CHECK_OK(MPI_Win_fence(0, win));
    for (int i = 0; i < size; i++)
        CHECK_INT(memory[i], i);
    CHECK_OK(MPI_Win_free(&win));
}

static void merge(MPI_Comm inter, int is_child)
{
    int rank, size, local, remote, sum, right, left, got;
    MPI_Comm all;

    CHECK_OK(MPI_Intercomm_merge(inter, is_child, &all));
    CHECK_OK(MPI_Comm_rank(all, &rank));
    CHECK_OK(MPI_Comm_size(all, &size));
    CHECK_OK(MPI_Comm_size(inter, &local));
    CHECK_OK(MPI_Comm_remote_size(inter, &remote));
    CHECK_INT(size, local + remote);
    if (is_child)
        CHECK_INT(rank, remote + test_rank);
    for (int i = 0; i < 20; i++) {
        CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all));
        CHECK_INT(sum, size * (size - 1) / 2);
        CHECK_OK(MPI_Barrier(all));
    }
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    CHECK_OK(MPI_Sendrecv(&rank, 1, MPI_INT, right, 3, &got, 1, MPI_INT, left, 3, all, MPI_STATUS_IGNORE));
    CHECK_INT(got, left);
    put_to_all(all);
    CHECK_OK(MPI_Comm_free(&all));
}

static void be_child(MPI_Comm parent, int argc, char **argv)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length, flag, *appnum;
    MPI_Comm again;

    check_words(argc, argv);
    CHECK_INT(test_size, CHILDREN);
    CHECK_OK(MPI_Comm_get_parent(&again));
    CHECK(again == parent, "another handle than before");
    CHECK_OK(MPI_Comm_get_name(parent, name, &length));
    CHECK(!strcmp(name, "MPI_COMM_PARENT"), "the name is %s", name);
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &appnum, &flag));
    CHECK(flag && *appnum == 0, "appnum %d", flag ? *appnum : -1);
    talk(parent);
    merge(parent, 1);
    CHECK_OK(MPI_Comm_disconnect(&parent));
    CHECK_OK(MPI_Comm_get_parent(&parent));
    CHECK(parent == MPI_COMM_NULL, "there is still a parent");
}

int main(int argc, char **argv)
{
    int codes[CHILDREN] = { -1, -1, -1 }, *universe, flag;
    MPI_Comm parent, children;

    test_begin(&argc, &argv);
    CHECK_OK(MPI_Comm_get_parent(&parent));
    if (parent != MPI_COMM_NULL) {
        be_child(parent, argc, argv);
        return test_end();
    }
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &flag));
    CHECK(!flag || *universe >= test_size, "MPI_UNIVERSE_SIZE is %d", *universe);
    CHECK_OK(MPI_Comm_spawn(argv[0], words, CHILDREN, MPI_INFO_NULL, test_size - 1, MPI_COMM_WORLD, &children,
                            test_rank % 2 ? MPI_ERRCODES_IGNORE : codes));
    for (int i = 0; i < CHILDREN && test_rank % 2 == 0; i++)
        CHECK_INT(codes[i], MPI_SUCCESS);
    CHECK_OK(MPI_Comm_remote_size(children, &flag));
    CHECK_INT(flag, CHILDREN);
    talk(children);
    merge(children, 0);
    CHECK_OK(MPI_Comm_disconnect(&children));
    return test_end();
}
