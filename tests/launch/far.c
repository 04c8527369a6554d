/* SPDX-License-Identifier: BSD-3-Clause */
/* For the tests of jobs on several machines: `far CASE`. All but `talk` work without messages between ranks. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

/* Rank 0 says a lot and aborts; the others wait for it. */
static void abort_here(void)
{
    if (rank == 0) {
        for (int i = 0; i < 300; i++)
            printf("line %d\n", i);
        fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, 7);
    }
    MPI_Recv(NULL, 0, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Rank 0 publishes a service, the last one looks it up until it is there; then rank 0 must not do so again. */
static void publish(void)
{
    char port[MPI_MAX_PORT_NAME] = "", text[MPI_MAX_ERROR_STRING];
    int length, error;

    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (rank == 0) {
        MPI_Publish_name("far", MPI_INFO_NULL, "a port");
        error = MPI_Publish_name("far", MPI_INFO_NULL, "another");
        MPI_Error_string(error, text, &length);
        printf("%s\n", text);
    } else if (rank == size - 1) {
        while (MPI_Lookup_name("far", MPI_INFO_NULL, port))
            usleep(1000);
        printf("found %s\n", port);
    }
    fflush(stdout);
    if (rank == size - 1)
        MPI_Abort(MPI_COMM_WORLD, 3);
    sleep(60);
}

/* Each asks for a process, and is told why not. */
static void spawn(void)
{
    char text[MPI_MAX_ERROR_STRING];
    int length, error;
    MPI_Comm child;

    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    error = MPI_Comm_spawn("true", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &child, MPI_ERRCODES_IGNORE);
    MPI_Error_string(error, text, &length);
    printf("%d: %s\n", rank, text);
    fflush(stdout);
    sleep(rank == 0 ? 1 : 60);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

/* Everybody sends his rank to everybody, and something long to the next one. */
static void talk(void)
{
    enum { LONG = 1 << 20 };
    static char out[LONG], in[LONG];
    int *ranks = malloc((size_t)size * sizeof *ranks);

    memset(out, rank, LONG);
    for (int i = 0; i < size; i++)
        MPI_Sendrecv(&rank, 1, MPI_INT, (rank + i) % size, 0, &ranks[(rank + size - i) % size], 1, MPI_INT,
                     (rank + size - i) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(out, LONG, MPI_CHAR, (rank + 1) % size, 1, in, LONG, MPI_CHAR, (rank + size - 1) % size, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < size; i++) {
        if (ranks[i] != i || in[i] != (rank + size - 1) % size)
            MPI_Abort(MPI_COMM_WORLD, 4);
    }
    if (rank == 0)
        printf("all have heard of all\n");
    free(ranks);
    MPI_Finalize();
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!strcmp(argv[1], "abort"))
        abort_here();
    else if (!strcmp(argv[1], "publish"))
        publish();
    else if (!strcmp(argv[1], "talk"))
        talk();
    else
        spawn();
    return 0;
}
