/* SPDX-License-Identifier: BSD-3-Clause */
/* For the tests of dying: comes up, does something again and again for MILLISECONDS, goes down, says "done".
 *   busy MILLISECONDS [messages|nonblocking|windows|files|spawn|ports|communicators|threads [FILE]]
 *   busy MILLISECONDS sleep MARK     messages, and every rank has a child that sleeps for MARK seconds */
#include <mpi.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST = 1 << 20, KINDS = 4, WINDOW = 1 << 16 };

static const int lengths[KINDS] = { 4, 1000, 30000, LONGEST };
static char from[LONGEST], to[LONGEST];
static const char *file_name;
static char *program;
static int rank, size;

/* Nobody may get something wrong while others see that a process is gone. */
static void expect_sum(int sum, int expected)
{
    if (sum != expected)
        MPI_Abort(MPI_COMM_WORLD, 99);
}

static void messages(int round)
{
    const int length = lengths[round % KINDS], next = (rank + 1) % size, previous = (rank + size - 1) % size;
    int sum;

    MPI_Sendrecv(from, length, MPI_CHAR, next, round % 3, to, length, MPI_CHAR, previous, round % 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Allreduce(&round, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect_sum(sum, size * round);
    if (round % 16 == 0)
        MPI_Barrier(MPI_COMM_WORLD);
}

/* Nonblocking and persistent: all at once. */
static void nonblocking(int round)
{
    const int length = lengths[round % KINDS] / size;
    MPI_Request requests[6];
    int one = 1, sum;

    MPI_Irecv(to, length, MPI_CHAR, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Issend(from, length, MPI_CHAR, (rank + 1) % size, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Ialltoall(from, length / 2, MPI_CHAR, to + LONGEST / 2, length / 2, MPI_CHAR, MPI_COMM_SELF, &requests[2]);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[3]);
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[4]);
    MPI_Bcast_init(from + LONGEST / 2, length / 2, MPI_CHAR, round % size, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[5]);
    MPI_Start(&requests[5]);
    MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
    expect_sum(sum, size);
    MPI_Request_free(&requests[5]);
}

static void windows(int round)
{
    const int target = (rank + 1 + round % size) % size;
    int *base, one = 1, before;
    MPI_Win win;

    if (round % 2)
        MPI_Win_allocate(WINDOW, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    else
        MPI_Win_create(to, WINDOW, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(from, WINDOW / 2, MPI_CHAR, target, 0, WINDOW / 2, MPI_CHAR, win);
    MPI_Accumulate(&one, 1, MPI_INT, target, WINDOW / 2, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Fetch_and_op(&one, &before, MPI_INT, 0, WINDOW / 2, MPI_SUM, win);
    MPI_Win_unlock(0, win);
    MPI_Win_lock_all(0, win);
    MPI_Get(from, WINDOW, MPI_CHAR, target, 0, WINDOW, MPI_CHAR, win);
    MPI_Win_flush(target, win);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

static void files(int round)
{
    MPI_Request request;
    MPI_File file;

    (void)round;
    MPI_File_open(MPI_COMM_WORLD, file_name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_write_at_all(file, (MPI_Offset)rank * WINDOW, from, WINDOW, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_write_shared(file, from, 100, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_write_ordered(file, from, 100, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_iread_at_all(file, (MPI_Offset)rank * WINDOW, to, WINDOW, MPI_CHAR, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

static void spawn(int round)
{
    char *argv[] = { "0", "child", NULL };
    MPI_Comm inter, all;
    int sum;

    MPI_Comm_spawn(program, argv, 2, MPI_INFO_NULL, round % size, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    MPI_Intercomm_merge(inter, 0, &all);
    MPI_Allreduce(&round, &sum, 1, MPI_INT, MPI_SUM, all);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&inter);
}

static int be_child(void)
{
    MPI_Comm inter, all;
    int round = 0, sum;

    MPI_Comm_get_parent(&inter);
    MPI_Intercomm_merge(inter, 1, &all);
    MPI_Allreduce(&round, &sum, 1, MPI_INT, MPI_SUM, all);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&inter);
    MPI_Finalize();
    return 0;
}

/* The lower half opens a port, the upper one connects. */
static void ports(int round)
{
    const int is_server = rank < size / 2;
    char name[MPI_MAX_PORT_NAME] = "";
    MPI_Comm half, inter;

    (void)round;
    MPI_Comm_split(MPI_COMM_WORLD, is_server, 0, &half);
    if (rank == 0)
        MPI_Open_port(MPI_INFO_NULL, name);
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (is_server)
        MPI_Comm_accept(name, MPI_INFO_NULL, 0, half, &inter);
    else
        MPI_Comm_connect(name, MPI_INFO_NULL, 0, half, &inter);
    if (rank == 0)
        MPI_Close_port(name);
    MPI_Barrier(inter);
    MPI_Comm_disconnect(&inter);
    MPI_Comm_free(&half);
}

static void communicators(int round)
{
    MPI_Request request;
    MPI_Comm dup, split, type;
    MPI_Group group;
    int sum;

    MPI_Comm_idup(MPI_COMM_WORLD, &dup, &request);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &split);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &type);
    MPI_Allreduce(&round, &sum, 1, MPI_INT, MPI_SUM, split);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&split);
    MPI_Comm_free(&type);
    MPI_Comm_group(dup, &group);
    MPI_Comm_create_from_group(group, "busy", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &split);
    MPI_Group_free(&group);
    MPI_Barrier(split);
    MPI_Comm_free(&split);
    MPI_Comm_free(&dup);
}

enum { THREADS = 3 };

static struct talk {
    MPI_Comm comm;
    char to[LONGEST];
} talks[THREADS];

static void *talk(void *arg)
{
    struct talk *own = arg;

    for (int i = 0; i < 20; i++)
        MPI_Sendrecv(from, lengths[i % KINDS], MPI_CHAR, (rank + 1) % size, 0, own->to, LONGEST, MPI_CHAR,
                     MPI_ANY_SOURCE, 0, own->comm, MPI_STATUS_IGNORE);
    return NULL;
}

static void threads(int round)
{
    pthread_t ids[THREADS];

    (void)round;
    for (int i = 0; i < THREADS; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &talks[i].comm);
        pthread_create(&ids[i], NULL, talk, &talks[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(ids[i], NULL);
        MPI_Comm_free(&talks[i].comm);
    }
}

static const struct {
    const char *name;
    void (*round)(int round);
} ways[] = { { "messages", messages },
             { "nonblocking", nonblocking },
             { "windows", windows },
             { "files", files },
             { "spawn", spawn },
             { "ports", ports },
             { "communicators", communicators },
             { "threads", threads } };

int main(int argc, char **argv)
{
    const double seconds = argc > 1 ? atof(argv[1]) / 1000 : 0;
    void (*one_round)(int round) = messages;
    int goes_on = 1, provided;
    double end;

    program = argv[0];
    file_name = argc > 3 ? argv[3] : NULL;
    for (size_t i = 0; argc > 2 && i < sizeof ways / sizeof *ways; i++)
        if (!strcmp(argv[2], ways[i].name))
            one_round = ways[i].round;
    if (argc > 3 && !strcmp(argv[2], "sleep") && !fork()) {
        execlp("sleep", "sleep", argv[3], (char *)NULL);
        _exit(127);
    }
    MPI_Init_thread(&argc, &argv, one_round == threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    if (argc > 2 && !strcmp(argv[2], "child"))
        return be_child();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    end = MPI_Wtime() + seconds;
    for (int round = 0; goes_on; round++) {
        one_round(round);
        goes_on = MPI_Wtime() < end;
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return write(STDOUT_FILENO, "done\n", 5) != 5;
}
