/* SPDX-License-Identifier: BSD-3-Clause */
/* §2.8, §9.3: with MPI_ERRORS_RETURN the program goes on when the connections of one process break in the middle of a
 * collective call. No call hangs; one that succeeds has the right result, whoever makes it, and one that cannot has an
 * error that names a process. Several calls, each on a communicator whose last process it will be for: that one's
 * connections break when it has sent so many times, as the argument says, by the system's means.
 *
 *     broken_calls CALL TIMES [fatal]    the first call, of those in the table; the others follow. With `fatal` the
 *                                        first error ends the job */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cut.h"

enum { BLOCKING, NONBLOCKING, PERSISTENT, FORMS, FEWEST = 3, SHORT = 3, LONG = 20000 };

static int sends_left = -1; /* below 0: as many as may be */

static void count_send(void)
{
    if (!sends_left)
        shut_connections();
    if (sends_left >= 0)
        sends_left--;
}

/* What the library calls. */
ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    count_send();
    return syscall(SYS_sendmsg, fd, message, flags);
}

ssize_t send(int fd, const void *bytes, size_t length, int flags)
{
    count_send();
    return syscall(SYS_sendto, fd, bytes, length, flags, NULL, 0);
}

/* --- calls --- */

static MPI_Comm comm;
static int rank, size, root, form, count; /* items of a block */
static int *in, *out;
static MPI_Request request;

static int value(int from, int to, int i)
{
    return from * 1000 + to * 100000 + i % 997;
}

static void fill(int blocks)
{
    for (int to = 0; to < blocks; to++) {
        for (int i = 0; i < count; i++)
            in[to * count + i] = value(rank, to, i);
    }
}

/* Block `to` of `from` is block `at` of the result. */
static void expect(int at, int from, int to)
{
    for (int i = 0; i < count; i++)
        CHECK_INT(out[at * count + i], value(from, to, i));
}

/* Sums of the blocks `to` of the ranks [0, end). */
static void expect_sum(int end, int to)
{
    for (int i = 0; i < count; i++) {
        int sum = 0;

        for (int from = 0; from < end; from++)
            sum += value(from, to, i);
        CHECK_INT(out[i], sum);
    }
}

#define CALL(blocking, nonblocking, persistent, ...) \
    (form == BLOCKING ? blocking(__VA_ARGS__) : \
     form == NONBLOCKING ? nonblocking(__VA_ARGS__, &request) : \
     persistent(__VA_ARGS__, MPI_INFO_NULL, &request))

static int finish(int rc)
{
    if (rc || form == BLOCKING)
        return rc;
    if (form == PERSISTENT)
        rc = MPI_Start(&request);
    if (!rc)
        rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (form == PERSISTENT)
        CHECK_OK(MPI_Request_free(&request));
    return rc;
}

static int bcast(void)
{
    if (rank == root)
        for (int i = 0; i < count; i++)
            out[i] = value(root, 0, i);
    return CALL(MPI_Bcast, MPI_Ibcast, MPI_Bcast_init, out, count, MPI_INT, root, comm);
}

static void after_bcast(void)
{
    expect(0, root, 0);
}

static int gather(void)
{
    fill(1);
    return CALL(MPI_Gather, MPI_Igather, MPI_Gather_init, in, count, MPI_INT, out, count, MPI_INT, root, comm);
}

static void after_gather(void)
{
    for (int from = 0; from < size && rank == root; from++)
        expect(from, from, 0);
}

static int scatter(void)
{
    fill(size);
    return CALL(MPI_Scatter, MPI_Iscatter, MPI_Scatter_init, in, count, MPI_INT, out, count, MPI_INT, root, comm);
}

static void after_scatter(void)
{
    expect(0, root, rank);
}

static int counts[64], places[64];

static void same_counts(void)
{
    for (int i = 0; i < size; i++) {
        counts[i] = count;
        places[i] = i * count;
    }
}

static int gatherv(void)
{
    fill(1);
    same_counts();
    return CALL(MPI_Gatherv, MPI_Igatherv, MPI_Gatherv_init, in, count, MPI_INT, out, counts, places, MPI_INT, root,
                comm);
}

static int scatterv(void)
{
    fill(size);
    same_counts();
    return CALL(MPI_Scatterv, MPI_Iscatterv, MPI_Scatterv_init, in, counts, places, MPI_INT, out, count, MPI_INT, root,
                comm);
}

static int allgather(void)
{
    fill(1);
    return CALL(MPI_Allgather, MPI_Iallgather, MPI_Allgather_init, in, count, MPI_INT, out, count, MPI_INT, comm);
}

static void after_allgather(void)
{
    for (int from = 0; from < size; from++)
        expect(from, from, 0);
}

static int alltoall(void)
{
    fill(size);
    return CALL(MPI_Alltoall, MPI_Ialltoall, MPI_Alltoall_init, in, count, MPI_INT, out, count, MPI_INT, comm);
}

static int alltoallv(void)
{
    fill(size);
    same_counts();
    return CALL(MPI_Alltoallv, MPI_Ialltoallv, MPI_Alltoallv_init, in, counts, places, MPI_INT, out, counts, places,
                MPI_INT, comm);
}

static void after_alltoall(void)
{
    for (int from = 0; from < size; from++)
        expect(from, from, rank);
}

static int reduce(void)
{
    fill(1);
    return CALL(MPI_Reduce, MPI_Ireduce, MPI_Reduce_init, in, out, count, MPI_INT, MPI_SUM, root, comm);
}

static void after_reduce(void)
{
    if (rank == root)
        expect_sum(size, 0);
}

static int allreduce(void)
{
    fill(1);
    return CALL(MPI_Allreduce, MPI_Iallreduce, MPI_Allreduce_init, in, out, count, MPI_INT, MPI_SUM, comm);
}

static void after_allreduce(void)
{
    expect_sum(size, 0);
}

static int reduce_scatter(void)
{
    fill(size);
    return CALL(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, MPI_Reduce_scatter_block_init, in, out, count,
                MPI_INT, MPI_SUM, comm);
}

static void after_reduce_scatter(void)
{
    expect_sum(size, rank);
}

static int scan(void)
{
    fill(1);
    return CALL(MPI_Scan, MPI_Iscan, MPI_Scan_init, in, out, count, MPI_INT, MPI_SUM, comm);
}

static void after_scan(void)
{
    expect_sum(rank + 1, 0);
}

static int exscan(void)
{
    fill(1);
    return CALL(MPI_Exscan, MPI_Iexscan, MPI_Exscan_init, in, out, count, MPI_INT, MPI_SUM, comm);
}

static void after_exscan(void)
{
    if (rank)
        expect_sum(rank, 0);
}

/* A ring, that `ring_of` has made. */
static MPI_Comm ring;

static int neighbors(void)
{
    fill(1);
    return CALL(MPI_Neighbor_allgather, MPI_Ineighbor_allgather, MPI_Neighbor_allgather_init, in, count, MPI_INT, out,
                count, MPI_INT, ring);
}

static void after_neighbors(void)
{
    expect(0, (rank + size - 1) % size, 0);
    expect(1, (rank + 1) % size, 0);
}

/* Two groups, even and odd ranks. */
static MPI_Comm other;

static int between(void)
{
    fill(1);
    return CALL(MPI_Allgather, MPI_Iallgather, MPI_Allgather_init, in, count, MPI_INT, out, count, MPI_INT, other);
}

static void after_between(void)
{
    for (int from = 1 - rank % 2, at = 0; from < size; from += 2)
        expect(at++, from, 0);
}

static const struct {
    const char *name;
    int (*call)(void);
    void (*after)(void);
} calls[] = {
    { "MPI_Bcast", bcast, after_bcast },
    { "MPI_Gather", gather, after_gather },
    { "MPI_Scatter", scatter, after_scatter },
    { "MPI_Gatherv", gatherv, after_gather },
    { "MPI_Scatterv", scatterv, after_scatter },
    { "MPI_Allgather", allgather, after_allgather },
    { "MPI_Alltoall", alltoall, after_alltoall },
    { "MPI_Alltoallv", alltoallv, after_alltoall },
    { "MPI_Reduce", reduce, after_reduce },
    { "MPI_Allreduce", allreduce, after_allreduce },
    { "MPI_Reduce_scatter_block", reduce_scatter, after_reduce_scatter },
    { "MPI_Scan", scan, after_scan },
    { "MPI_Exscan", exscan, after_exscan },
    { "MPI_Neighbor_allgather", neighbors, after_neighbors },
    { "MPI_Allgather between groups", between, after_between },
};
enum { CALLS = sizeof calls / sizeof calls[0] };

/* --- communicators --- */

static MPI_Comm comms[64], rings[64], others[64];
static int is_fatal;

static void make_comms(int last)
{
    MPI_Comm half;
    int me;

    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, test_rank < last ? 1 : MPI_UNDEFINED, (test_rank * 5 + last) % 7,
                            &comms[last]));
    if (test_rank >= last)
        return;
    CHECK_OK(MPI_Comm_set_errhandler(comms[last], is_fatal ? MPI_ERRORS_ARE_FATAL : MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_rank(comms[last], &me));
    CHECK_OK(MPI_Cart_create(comms[last], 1, &last, (int[]){ 1 }, 0, &rings[last]));
    CHECK_OK(MPI_Comm_split(comms[last], me % 2, 0, &half));
    CHECK_OK(MPI_Intercomm_create(half, 0, comms[last], 1 - me % 2, 0, &others[last]));
    CHECK_OK(MPI_Comm_free(&half));
}

/* All connections are there before one breaks. */
static void meet(void)
{
    for (int distance = 1; distance < test_size; distance++)
        CHECK_OK(MPI_Sendrecv(NULL, 0, MPI_INT, (test_rank + distance) % test_size, 0, NULL, 0, MPI_INT,
                              (test_rank + test_size - distance) % test_size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* --- one break --- */

/* Of process `last` - 1 nobody hears any more, if it is alone on its machine. */
static void check_cause(int rc, const char *what, int last)
{
    const char *nodes = getenv("PARLEY_NODES");
    char text[MPI_MAX_ERROR_STRING], name[32];
    int length;

    check_lost(rc, what);
    if (!nodes || atoi(nodes) != test_size || test_rank == last - 1)
        return;
    CHECK_OK(MPI_Error_string(rc, text, &length));
    snprintf(name, sizeof name, "process %d ", last - 1);
    CHECK(strstr(text, name), "%s says \"%s\" without \"%s\"", what, text, name);
}

static void break_in(int which, int times, int last)
{
    int rc;

    comm = comms[last];
    ring = rings[last];
    other = others[last];
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_OK(MPI_Comm_size(comm, &size));
    root = times % size;
    memset(out, 0x77, sizeof *out * (size_t)(size * count));
    CHECK_OK(MPI_Barrier(comm));
    if (test_rank == last - 1)
        sends_left = times;
    rc = finish(calls[which].call());
    if (rc)
        check_cause(rc, calls[which].name, last);
    else
        calls[which].after();
}

int main(int argc, char **argv)
{
    int first, times, which;

    test_begin(&argc, &argv);
    if (!test_is_parley())
        test_skip("other libraries end the job");
    first = argc > 2 ? atoi(argv[1]) : 0;
    times = argc > 2 ? atoi(argv[2]) : 0;
    is_fatal = argc > 3;
    in = malloc(sizeof *in * LONG * (size_t)test_size);
    out = malloc(sizeof *out * LONG * (size_t)test_size);
    CHECK(in && out, "no memory");
    for (int last = FEWEST; last <= test_size; last++)
        make_comms(last);
    meet();
    for (int last = test_size; last >= FEWEST && test_rank < last; last--) {
        which = (first + test_size - last) % CALLS;
        form = (which + last + times) % FORMS;
        count = (which + last) % 2 ? SHORT : LONG;
        break_in(which, times, last);
    }
    free(in);
    free(out);
    return test_end();
}
