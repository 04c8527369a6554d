/* SPDX-License-Identifier: BSD-3-Clause */
/* Who waits burns no processor: the CPU time (not the time on the wall, so that other load does not matter) of a rank
 * in one long wait stays below 10 ms, however long it is. The last rank comes late.
 * Arguments: recv, probe, wait, barrier, finalize, thread (each rank waits for another thread of its own) or start (no
 * wait at all); how late in milliseconds. With IDLE_SHOW
 * in the environment it prints what was used. */
#include <pthread.h>
#include <sys/resource.h>
#include <time.h>

#include "mpitest.h"

enum { MOST_US = 10000 };

static long long cpu_us(void)
{
    struct rusage used;

    getrusage(RUSAGE_SELF, &used);
    return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000LL + used.ru_utime.tv_usec + used.ru_stime.tv_usec;
}

static void be_late(int milliseconds)
{
    const struct timespec time = { milliseconds / 1000, milliseconds % 1000 * 1000000L };

    nanosleep(&time, NULL);
}

static void send_to_all(void)
{
    for (int i = 0; i < test_size - 1; i++)
        CHECK_OK(MPI_Send(&i, 1, MPI_INT, i, 5, MPI_COMM_WORLD));
}

static void wait_for_last(const char *what)
{
    int word = -1;
    MPI_Request request;

    if (!strcmp(what, "wait")) {
        CHECK_OK(MPI_Irecv(&word, 1, MPI_INT, test_size - 1, 5, MPI_COMM_WORLD, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else {
        if (!strcmp(what, "probe"))
            CHECK_OK(MPI_Probe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    CHECK_INT(word, test_rank);
}

/* A synchronous message that the last rank takes late: leaving MPI has to wait for it. */
static void leave_with_message(int late)
{
    static int word;
    MPI_Request request;

    if (test_rank < test_size - 1) {
        CHECK_OK(MPI_Issend(&word, 1, MPI_INT, test_size - 1, 6, MPI_COMM_WORLD, &request));
        CHECK_OK(MPI_Request_free(&request));
        return;
    }
    be_late(late);
    for (int i = 0; i < test_size - 1; i++)
        CHECK_OK(MPI_Recv(&word, 1, MPI_INT, i, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void *send_late(void *late)
{
    be_late(*(const int *)late);
    CHECK_OK(MPI_Send(&test_rank, 1, MPI_INT, test_rank, 7, MPI_COMM_WORLD));
    return NULL;
}

static void wait_for_thread(int late)
{
    pthread_t thread;
    int word = -1;

    CHECK(!pthread_create(&thread, NULL, send_late, &late), "no thread");
    CHECK_OK(MPI_Recv(&word, 1, MPI_INT, test_rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "recv";
    const int late = argc > 2 ? atoi(argv[2]) : 1000;
    long long before, used;
    int is_last;

    if (strcmp(what, "thread"))
        test_begin(&argc, &argv);
    else
        test_begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    is_last = test_rank == test_size - 1;
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (!strcmp(what, "start"))
        return test_end();
    before = cpu_us();
    if (!strcmp(what, "finalize")) {
        leave_with_message(late);
        CHECK_OK(MPI_Finalize());
    } else if (!strcmp(what, "thread")) {
        wait_for_thread(late);
    } else if (!strcmp(what, "barrier")) {
        if (is_last)
            be_late(late);
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    } else if (is_last) {
        be_late(late);
        send_to_all();
    } else {
        wait_for_last(what);
    }
    used = cpu_us() - before;
    if (getenv("IDLE_SHOW")) fprintf(stderr, "%s rank %d of %d: %lld us\n", what, test_rank, test_size, used);
    CHECK(used < MOST_US, "%lld us of CPU in one wait of %d ms, at most %d are fine", used, late, MOST_US);
    return strcmp(what, "finalize") ? test_end() : 0;
}
