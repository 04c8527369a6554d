/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of services (ports_test.py): rank 0 does what the arguments say, one after the other, and prints what comes.
 *
 *     publish NAME PORT, unpublish NAME PORT, lookup NAME: the class of the error, or ok and the port of lookup
 *     put FILE: makes it. get FILE: waits until it is there
 *     say: what rank 0 is told goes to stderr instead of being printed as a class; the next error ends the job */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void show(const char *what, int rc, const char *port)
{
    int class;

    MPI_Error_class(rc, &class);
    printf("%s %s%s\n", what, rc == MPI_SUCCESS ? "ok" : class == MPI_ERR_NAME ? "MPI_ERR_NAME" :
           class == MPI_ERR_SERVICE ? "MPI_ERR_SERVICE" : "another error", rc == MPI_SUCCESS ? port : "");
    fflush(stdout);
}

static void look_up(const char *name)
{
    char port[MPI_MAX_PORT_NAME + 1] = " ";
    const int rc = MPI_Lookup_name(name, MPI_INFO_NULL, port + 1);

    show("lookup", rc, port);
}

static void put(const char *path)
{
    FILE *file = fopen(path, "w");

    if (file)
        fclose(file);
}

static int do_next(char **word)
{
    if (!strcmp(*word, "publish")) {
        show(*word, MPI_Publish_name(word[1], MPI_INFO_NULL, word[2]), "");
    } else if (!strcmp(*word, "unpublish")) {
        show(*word, MPI_Unpublish_name(word[1], MPI_INFO_NULL, word[2]), "");
    } else if (!strcmp(*word, "lookup")) {
        look_up(word[1]);
        return 2;
    } else if (!strcmp(*word, "put")) {
        put(word[1]);
        return 2;
    } else if (!strcmp(*word, "get")) {
        while (access(word[1], F_OK))
            usleep(2000);
        return 2;
    } else {
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        return 1;
    }
    return 3;
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int at = 1; !rank && at < argc;)
        at += do_next(argv + at);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
