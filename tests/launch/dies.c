/* SPDX-License-Identifier: BSD-3-Clause */
/* For the tests of dying: rank 1 leaves in the way that the argument says, the others wait for it in MPI.
 *   dies exit|_exit|exec|abort|thread|thread_exit|handler|malloc|comm|finalised|late|late_many|root */
#include <mpi.h>

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void abort_in_handler(int number)
{
    (void)number;
    MPI_Abort(MPI_COMM_WORLD, 41);
}

static void *abort_in_thread(void *unused)
{
    MPI_Abort(MPI_COMM_WORLD, 42);
    return unused;
}

static void *exit_in_thread(void *unused)
{
    exit(0);
    return unused;
}

static void in_thread(void *(*function)(void *))
{
    pthread_t thread;

    pthread_create(&thread, NULL, function, NULL);
    MPI_Recv(NULL, 0, MPI_INT, 0, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* The signal comes in the middle of malloc, again and again until it does. */
static void in_malloc(void)
{
    for (;;)
        free(malloc(100));
}

static void leave(const char *how)
{
    MPI_Comm pair;

    if (!strcmp(how, "exit"))
        exit(0);
    if (!strcmp(how, "_exit"))
        _exit(7);
    if (!strcmp(how, "exec"))
        execlp("true", "true", (char *)NULL);
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "thread"))
        in_thread(abort_in_thread);
    if (!strcmp(how, "thread_exit"))
        in_thread(exit_in_thread);
    if (!strcmp(how, "handler")) {
        signal(SIGALRM, abort_in_handler);
        alarm(1);
        MPI_Recv(NULL, 0, MPI_INT, 0, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (!strcmp(how, "malloc")) {
        signal(SIGALRM, abort_in_handler);
        alarm(1);
        in_malloc();
    }
    if (!strcmp(how, "comm")) {
        MPI_Comm_dup(MPI_COMM_SELF, &pair);
        MPI_Comm_set_name(pair, "a pair");
        MPI_Abort(pair, 43);
    }
    if (!strcmp(how, "finalised")) {
        MPI_Finalize();
        raise(SIGKILL);
    }
    if (!strncmp(how, "late", 4)) { /* the others see it sooner than mpiexec, as when a large core is written */
        MPI_Barrier(MPI_COMM_WORLD);
        for (int fd = STDERR_FILENO + 1; fd < 90; fd++)
            close(fd);
        usleep(200000);
        raise(SIGSEGV);
    }
}

/* One finds that a call of all cannot be made, and the others are told that it has failed. */
static void call_together(void)
{
    MPI_Comm inter;

    MPI_Comm_spawn("/there/is/no/such/program", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 1, MPI_COMM_WORLD, &inter,
                   MPI_ERRCODES_IGNORE);
}

/* The error is that of one of several requests, and fatal. */
static void wait_for_many(void)
{
    MPI_Request requests[2];

    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++)
        MPI_Irecv(NULL, 0, MPI_INT, 1, 97 + i, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!strcmp(argv[1], "root"))
        call_together();
    if (rank == 1)
        leave(argv[1]);
    if (!strcmp(argv[1], "finalised")) {
        MPI_Finalize();
        return 0;
    }
    if (!strcmp(argv[1], "late_many"))
        wait_for_many();
    if (!strcmp(argv[1], "late")) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (MPI_Recv(NULL, 0, MPI_INT, 1, 98, MPI_COMM_WORLD, MPI_STATUS_IGNORE)) {
        if (rank == 0)
            abort();
        exit(7);
    }
    return 0;
}
