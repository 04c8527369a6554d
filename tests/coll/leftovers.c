/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §6.14, §7.4.3: collective calls that some processes never make before they free the communicator are an error
 * of the program. Their messages are not taken by calls on later communicators, and do not stay for ever; this library
 * names them where they have come in time. */
#include "mpitest.h"

#include <time.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { MOST_KB = 4000 }; /* what is freed is kept for a while */
#else
enum { MOST_KB = 1000 }; /* 250 bytes of each communicator; how far rank 0 is ahead differs */
#endif

enum { ROUNDS = 4300, WARM = 300 };

static long used_kb(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long all, used = 0;

    if (file && fscanf(file, "%ld %ld", &all, &used) != 2)
        used = 0;
    if (file)
        fclose(file);
    return used * 4;
}

/* So that the message comes when the others have freed the communicator. */
static void be_late(void)
{
    const struct timespec while_others_free = { 0, 300000 };

    nanosleep(&while_others_free, NULL);
}

/* Only rank 0 calls it; its messages go out at once. */
static void call_alone(MPI_Comm comm, int round)
{
    int value = -round;
    MPI_Request request;

    if (test_rank != 0)
        return;
    if (round % 4 == 0)
        be_late();
    CHECK_OK(MPI_Ibcast(&value, 1, MPI_INT, 0, comm, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void call_together(MPI_Comm comm, int round)
{
    int value = test_rank == 0 ? round : 0;
    MPI_Request request;

    CHECK_OK(MPI_Ibcast(&value, 1, MPI_INT, 0, comm, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_INT(value, round);
}

/* An error, if there is one, comes once. */
static void end(MPI_Comm *comm, int round)
{
    int (*const ways[])(MPI_Comm *) = { MPI_Comm_free, MPI_Comm_disconnect };
    int (*const way)(MPI_Comm *) = ways[round / 2 % 2];

    if (way(comm) != MPI_SUCCESS)
        CHECK_OK(way(comm));
}

int main(int argc, char **argv)
{
    long before = 0, after;
    MPI_Comm comm;
    int round;

    test_begin(&argc, &argv);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    for (round = 1; round <= ROUNDS; round++) {
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        if (round % 2)
            call_together(comm, round);
        else
            call_alone(comm, round);
        end(&comm, round);
        if (round == WARM)
            before = used_kb();
    }
    after = used_kb();
    CHECK(after - before < MOST_KB, "%ld KB more after %d communicators", after - before, ROUNDS - WARM);
    return test_end();
}
