/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.7.3, §3.8: calls that look whether something has come, again and again in vain. With more ranks than
 * processors each of them must let others run, or who has work to do waits for time slices to end. */
#include <sched.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mpitest.h"

enum { TRIES = 200, TAG = 3 };

static _Atomic long yields;
static MPI_Request request;
static int value;

/* In place of the C library's: the library's calls come here, too. */
int sched_yield(void)
{
    yields++;
    return (int)syscall(SYS_sched_yield);
}

static int test(void)
{
    int flag;

    CHECK_OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
    return flag;
}

static int testany(void)
{
    int index, flag;

    CHECK_OK(MPI_Testany(1, &request, &index, &flag, MPI_STATUS_IGNORE));
    return flag;
}

static int testall(void)
{
    int flag;

    CHECK_OK(MPI_Testall(1, &request, &flag, MPI_STATUSES_IGNORE));
    return flag;
}

static int testsome(void)
{
    int count, index;

    CHECK_OK(MPI_Testsome(1, &request, &count, &index, MPI_STATUSES_IGNORE));
    return count;
}

static int get_status(void)
{
    int flag;

    CHECK_OK(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE));
    return flag;
}

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
#define HAS_MANY
static int get_status_any(void)
{
    int index, flag;

    CHECK_OK(MPI_Request_get_status_any(1, &request, &index, &flag, MPI_STATUS_IGNORE));
    return flag;
}

static int get_status_all(void)
{
    int flag;

    CHECK_OK(MPI_Request_get_status_all(1, &request, &flag, MPI_STATUSES_IGNORE));
    return flag;
}

static int get_status_some(void)
{
    int count, index;

    CHECK_OK(MPI_Request_get_status_some(1, &request, &count, &index, MPI_STATUSES_IGNORE));
    return count;
}
#endif

static int iprobe(void)
{
    int flag;

    CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    return flag;
}

static int improbe(void)
{
    MPI_Message message;
    int flag;

    CHECK_OK(MPI_Improbe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE));
    if (flag)
        CHECK_OK(MPI_Imrecv(&value, 1, MPI_INT, &message, &request));
    return flag;
}

static int parrived(void)
{
    int flag;

    CHECK_OK(MPI_Parrived(request, 0, &flag));
    return flag;
}

static const struct way {
    const char *name;
    int (*look)(void);
    int posts, is_partitioned;
} ways[] = {
    { "MPI_Test", test, 1, 0 },
    { "MPI_Testany", testany, 1, 0 },
    { "MPI_Testall", testall, 1, 0 },
    { "MPI_Testsome", testsome, 1, 0 },
    { "MPI_Request_get_status", get_status, 1, 0 },
#ifdef HAS_MANY
    { "MPI_Request_get_status_any", get_status_any, 1, 0 },
    { "MPI_Request_get_status_all", get_status_all, 1, 0 },
    { "MPI_Request_get_status_some", get_status_some, 1, 0 },
#endif
    { "MPI_Iprobe", iprobe, 0, 0 },
    { "MPI_Improbe", improbe, 0, 0 },
    { "MPI_Parrived", parrived, 0, 1 },
};

/* How often this process has let others run. */
static long breaks(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return yields + usage.ru_nvcsw;
}

static int is_crowded(void)
{
    MPI_Comm here;
    int ranks;

    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here));
    CHECK_OK(MPI_Comm_size(here, &ranks));
    CHECK_OK(MPI_Comm_free(&here));
    return ranks > sysconf(_SC_NPROCESSORS_ONLN);
}

static void try_way(const struct way *way, int wants_breaks)
{
    const int right = (test_rank + 1) % test_size, left = (test_rank + test_size - 1) % test_size;
    MPI_Request sent;
    int out = test_rank;
    long before;

    value = -1;
    if (way->is_partitioned) {
        CHECK_OK(MPI_Psend_init(&out, 1, 1, MPI_INT, right, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &sent));
        CHECK_OK(MPI_Precv_init(&value, 1, 1, MPI_INT, left, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
        CHECK_OK(MPI_Start(&sent));
        CHECK_OK(MPI_Start(&request));
    } else if (way->posts) {
        CHECK_OK(MPI_Irecv(&value, 1, MPI_INT, left, TAG, MPI_COMM_WORLD, &request));
    }
    before = breaks();
    for (int i = 0; i < TRIES; i++)
        CHECK(!way->look(), "%s has found what nobody has sent", way->name);
    CHECK(!wants_breaks || breaks() > before, "%s does not let others run", way->name);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (way->is_partitioned)
        CHECK_OK(MPI_Pready(0, sent));
    else
        CHECK_OK(MPI_Isend(&out, 1, MPI_INT, right, TAG, MPI_COMM_WORLD, &sent));
    while (!way->look())
        continue;
    if (!way->posts && !way->is_partitioned && request == MPI_REQUEST_NULL)
        CHECK_OK(MPI_Irecv(&value, 1, MPI_INT, left, TAG, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
    CHECK_INT(value, left);
    if (way->is_partitioned) {
        CHECK_OK(MPI_Request_free(&sent));
        CHECK_OK(MPI_Request_free(&request));
    }
    request = MPI_REQUEST_NULL;
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD)); /* what comes next is not this way's */
}

int main(int argc, char **argv)
{
    int wants_breaks;

    test_begin(&argc, &argv);
    request = MPI_REQUEST_NULL;
    wants_breaks = test_is_parley() && is_crowded();
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        try_way(&ways[i], wants_breaks);
    return test_end();
}
