/* SPDX-License-Identifier: BSD-3-Clause */
/* For the tests of the hang report: programs that wait for ever, or only for long.
 *   hang CASE
 * Ranks that are not spoken of take no part. */
#include <mpi.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LARGE = 1 << 20, MANY = 8 };

static int rank, size, next, number[LARGE];
static const MPI_Comm world = MPI_COMM_WORLD;

static void receive(int source, int tag, MPI_Comm comm)
{
    MPI_Recv(number, 3, MPI_INT, source, tag, comm, MPI_STATUS_IGNORE);
}

static void ring(void)
{
    receive(next, 7, world);
}

/* All but one wait for it, each with a tag of its own. */
static void tags(void)
{
    if (rank > 0)
        receive(0, rank, world);
    MPI_Barrier(world);
}

/* The last one does not come. */
static void missing(void)
{
    if (rank == size - 1)
        receive(0, 9, world);
    MPI_Barrier(world);
}

/* The first collective call on a communicator, where members ask each other for memory. */
static void first_call(void)
{
    MPI_Comm own;

    MPI_Comm_dup(world, &own);
    if (rank == size - 1)
        receive(0, 9, world);
    MPI_Bcast(&rank, 1, MPI_INT, 0, own);
}

/* Two do not come, and work. */
static void late(void)
{
    if (rank >= 2)
        for (;;)
            pause();
    MPI_Barrier(world);
}

static void mismatch(void)
{
    if (rank == 1)
        MPI_Bcast(number, 1, MPI_INT, 0, world);
    else
        MPI_Barrier(world);
    receive(rank, 3, world);
}

static void roots(void)
{
    MPI_Bcast(number, 1, MPI_INT, next, world);
}

static void wrong_tag(void)
{
    if (rank == 0)
        MPI_Send(number, 1, MPI_INT, 1, 8, world);
    if (rank < 2)
        receive(!rank, 7, world);
}

static void wrong_comm(void)
{
    MPI_Comm land;

    MPI_Comm_dup(world, &land);
    MPI_Comm_set_name(land, "the land");
    if (rank == 0)
        MPI_Send(number, 2, MPI_INT, 1, 7, land);
    if (rank < 2)
        receive(!rank, 7, world);
}

static void large(void)
{
    if (rank < 2)
        MPI_Send(number, LARGE, MPI_INT, !rank, 4, world);
}

static void posted(void)
{
    MPI_Request request;

    if (rank == 0)
        MPI_Ssend(number, 1, MPI_INT, 1, 5, world);
    if (rank == 1) {
        MPI_Irecv(number, 1, MPI_INT, 0, 6, world, &request);
        receive(0, 9, world);
    }
}

static void finalised(void)
{
    if (rank == 0)
        receive(1, 7, world);
    MPI_Finalize();
    if (rank == 1)
        for (;;)
            pause();
    exit(0);
}

static void gone(void)
{
    if (rank == 0)
        receive(1, 7, world);
    MPI_Finalize();
    exit(0);
}

static void any(void)
{
    receive(rank == 0 ? MPI_ANY_SOURCE : 0, 7, world);
}

static void waitall(void)
{
    MPI_Request requests[MANY];

    for (int i = 0; i < MANY; i++)
        MPI_Irecv(number, 1, MPI_INT, next, i, world, &requests[i]);
    MPI_Send(number, 1, MPI_INT, (rank + size - 1) % size, 2, world);
    MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
}

static void waitany(void)
{
    MPI_Request requests[2];
    int index;

    MPI_Irecv(number, 1, MPI_INT, next, 1, world, &requests[0]);
    MPI_Irecv(number, 1, MPI_INT, (next + 1) % size, 2, world, &requests[1]);
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
}

/* The last one may still answer any of them. */
static void asleep(void)
{
    MPI_Request requests[2];
    int index;

    if (rank == size - 1)
        for (;;)
            pause();
    if (rank == 0)
        receive(MPI_ANY_SOURCE, 7, world);
    if (rank != 1)
        receive(size - 1, 7, world);
    MPI_Irecv(number, 1, MPI_INT, 0, 1, world, &requests[0]);
    MPI_Irecv(number, 1, MPI_INT, size - 1, 2, world, &requests[1]);
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
}

static void polling(void)
{
    MPI_Request request;
    int flag = 0;

    MPI_Irecv(number, 1, MPI_INT, next, 1, world, &request);
    if (rank)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    while (!flag) {
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        usleep(1000);
    }
}

/* The ranks the other way round. */
static void reversed(void)
{
    MPI_Comm comm;

    MPI_Comm_split(world, 0, -rank, &comm);
    MPI_Comm_set_name(comm, "reversed");
    receive((size - 1 - rank + 1) % size, 7, comm);
}

static void subset(void)
{
    if (rank < 2)
        receive(!rank, 7, world);
    for (;;)
        pause();
}

static void *rest(void *arg)
{
    (void)arg;
    for (;;)
        pause();
    return NULL;
}

/* Another thread of each may still send. */
static void threads(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, rest, NULL);
    receive(next, 7, world);
}

static int nothing(void *state, MPI_Status *status)
{
    (void)state;
    (void)status;
    return MPI_SUCCESS;
}

static int nothing_freed(void *state)
{
    (void)state;
    return MPI_SUCCESS;
}

static int nothing_cancelled(void *state, int complete)
{
    (void)state;
    (void)complete;
    return MPI_SUCCESS;
}

static void grequest(void)
{
    MPI_Request request;

    MPI_Grequest_start(nothing, nothing_freed, nothing_cancelled, NULL, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* A long message that nobody receives, in an attached buffer. */
static void finalize(void)
{
    static char buffer[LARGE + MPI_BSEND_OVERHEAD];

    MPI_Comm_attach_buffer(world, buffer, sizeof buffer);
    if (rank == 0)
        MPI_Bsend(number, LARGE / 4, MPI_INT, 1, 7, world);
    if (rank == 1)
        receive(0, 8, world);
}

/* A receive that is freed, and no message comes. */
static void freed(void)
{
    MPI_Request request;

    if (rank == 0) {
        MPI_Irecv(number, 3, MPI_INT, 1, 7, world, &request);
        MPI_Request_free(&request);
    }
    if (rank == 1)
        receive(0, 8, world);
}

static MPI_Win field(void)
{
    MPI_Win win;
    int *base;

    MPI_Win_allocate(sizeof *base, 1, MPI_INFO_NULL, world, &base, &win);
    MPI_Win_set_name(win, "field");
    return win;
}

/* Rank 0 keeps the lock while it waits for a message of rank 1, which wants it first. */
static void lock(void)
{
    MPI_Win win = field();

    if (rank == 0)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    MPI_Barrier(world);
    if (rank == 0)
        receive(1, 7, world);
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
}

/* Rank 0 has the lock and works. */
static void held(void)
{
    MPI_Win win = field();

    if (rank == 0)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    MPI_Barrier(world);
    while (rank == 0)
        pause();
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
}

/* Rank 0 has the shared pointer of a file and works. */
static void pointer(void)
{
    MPI_File fh;

    MPI_File_open(world, "/dev/null", MPI_MODE_WRONLY, MPI_INFO_NULL, &fh);
    while (rank == 0)
        pause();
    MPI_File_write_shared(fh, "x", 1, MPI_CHAR, MPI_STATUS_IGNORE);
}

/* Rank 0 starts to access rank 1, which waits to be accessed by rank 2; that one waits for rank 0. */
static void epochs(void)
{
    MPI_Win win = field();
    MPI_Group all, one;

    MPI_Comm_group(world, &all);
    MPI_Group_incl(all, 1, &next, &one);
    if (rank == 0)
        MPI_Win_start(one, 0, win);
    if (rank == 2)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win), MPI_Win_unlock(0, win), receive(0, 7, world);
    MPI_Win_post(one, 0, win);
    MPI_Win_wait(win);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    { "ring", ring },         { "missing", missing },       { "late", late },         { "mismatch", mismatch },
    { "tags", tags },
    { "roots", roots },       { "wrong_tag", wrong_tag },   { "wrong_comm", wrong_comm }, { "large", large },
    { "posted", posted },     { "finalised", finalised },   { "gone", gone },         { "any", any },
    { "waitall", waitall },   { "waitany", waitany },       { "asleep", asleep },     { "polling", polling },
    { "reversed", reversed }, { "subset", subset },         { "threads", threads },   { "grequest", grequest },
    { "finalize", finalize }, { "freed", freed },           { "lock", lock },         { "epochs", epochs },
    { "held", held },         { "first_call", first_call }, { "pointer", pointer },
};

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    int provided;

    MPI_Init_thread(&argc, &argv, strcmp(name, "threads") ? MPI_THREAD_FUNNELED : MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    next = (rank + 1) % size;
    MPI_Barrier(world);
    puts("in MPI");
    fflush(stdout);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (!strcmp(name, cases[i].name))
            cases[i].run();
    MPI_Finalize();
    return 0;
}
