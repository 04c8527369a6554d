/* SPDX-License-Identifier: BSD-3-Clause */
/* Run as several clients of IMPI by client_test.py. What it prints is looked at there.
 *
 *   joint world [LEVEL]  rank, size, attributes, and what MPI-1 offers over all clients
 *   joint refused        what does not work is an error of all, and the job goes on
 *   joint differ WHAT    calls of MPI_COMM_WORLD that do not belong together: 0 other roots, 1 other operations, 2
 *                        other lengths, 3 one that sends and one that does not, 4 nonblocking, 5 nobody sends
 *   joint ahead          rank 0 has made 12000 calls when the others make the first of them
 *   joint wait           ranks 0 and 2 wait for each other, rank 3 for anybody, and rank 1 for all of them in a barrier
 *   joint stuck          the last two ranks wait for each other, and the rest for the last one
 *   joint abort RANK     that rank calls MPI_Abort while the others wait for it
 *   joint exit RANK      that rank ends without MPI_Finalize
 *   joint alone RANK     that rank calls MPI_Abort while each of the others waits for itself, errors to be returned */
#include <mpi.h>
#include <mpix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

static void fail(const char *what, int got, int expected)
{
    printf("rank %d: %s is %d, not %d\n", rank, what, got, expected);
    MPI_Abort(MPI_COMM_WORLD, 9);
}

static void expect(const char *what, int got, int expected)
{
    if (got != expected)
        fail(what, got, expected);
}

static int attribute(int keyval)
{
    int *value, flag;

    MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, &value, &flag);
    expect("flag", flag, 1);
    return *value;
}

static void test_messages(void)
{
    const int next = (rank + 1) % size, last = (rank + size - 1) % size;
    static double out[50000], in[50000];
    MPI_Status status;
    int got;

    for (int i = 0; i < 50000; i++)
        out[i] = rank + i * 0.5;
    MPI_Sendrecv(out, 50000, MPI_DOUBLE, next, 7, in, 50000, MPI_DOUBLE, last, 7, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_DOUBLE, &got);
    expect("count", got, 50000);
    for (int i = 0; i < 50000; i++)
        if (in[i] != last + i * 0.5)
            fail("element", i, -1);
}

static void test_communicators(void)
{
    MPI_Comm parts, here, pair;
    int color = attribute(IMPI_CLIENT_COLOR), number, sum, all[64];

    MPI_Comm_split(MPI_COMM_WORLD, color, -rank, &here);
    MPI_Comm_size(here, &number);
    MPI_Allreduce(MPI_IN_PLACE, &color, 1, MPI_INT, MPI_SUM, here);
    expect("sum of colors", color, number * attribute(IMPI_CLIENT_COLOR));
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &parts);
    MPI_Comm_rank(parts, &number);
    expect("rank in the part", number, rank / 2);
    MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, parts);
    expect("last of the part", all[(size - 1 - rank % 2) / 2], rank % 2 + (size - 1 - rank % 2) / 2 * 2);
    MPI_Comm_dup(parts, &pair);
    MPI_Scan(&rank, &sum, 1, MPI_INT, MPI_SUM, pair);
    expect("sum", sum, (rank / 2 + 1) * (rank % 2 + rank) / 2);
    MPI_Comm_free(&pair);
    MPI_Comm_free(&parts);
    MPI_Comm_free(&here);
}

/* Groups that overlap, one after the other: all but the first rank; the even ones backwards. */
static void test_groups(void)
{
    MPI_Group world, group;
    MPI_Comm comm;
    int range[3] = { 1, size - 1, 1 }, sum = rank, got = 0;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, size > 1, &range, &group);
    if (rank) {
        MPI_Comm_create_group(MPI_COMM_WORLD, group, 110, &comm);
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comm);
        expect("sum without the first", sum, size * (size - 1) / 2);
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&group);
    range[0] = (size - 1) / 2 * 2;
    range[1] = 0;
    range[2] = -2;
    MPI_Group_range_incl(world, 1, &range, &group);
    if (rank % 2 == 0) {
        MPI_Comm_create_group(MPI_COMM_WORLD, group, 0, &comm);
        MPI_Exscan(&rank, &got, 1, MPI_INT, MPI_MAX, comm);
        expect("rank before", got, rank == range[0] ? 0 : range[0]);
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&group);
    MPI_Group_free(&world);
}

static void world(void)
{
    test_messages();
    test_communicators();
    test_groups();
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%d/%d client %d/%d host %d/%d tag %d\n", rank, size, attribute(IMPI_CLIENT_COLOR),
           attribute(IMPI_CLIENT_SIZE), attribute(IMPI_HOST_COLOR), attribute(IMPI_HOST_SIZE), attribute(MPI_TAG_UB));
}

static void tell(const char *what, int rc, int expected)
{
    int class;

    MPI_Error_class(rc, &class);
    expect(what, class, expected);
}

/* A long that external32 has no room for goes nowhere; the next one does. */
static void test_unfit(void)
{
    const int across = (rank + size / 2) % size;
    long value = 1L << 40, other = 0;
    char room[64];
    int position = 0, class;

    MPI_Error_class(MPI_Send(&value, 1, MPI_LONG, across, 3, MPI_COMM_WORLD), &class);
    expect("class of MPI_Send", class, MPI_ERR_CONVERSION);
    MPI_Error_class(MPI_Pack(&value, 1, MPI_LONG, room, sizeof room, &position, MPI_COMM_WORLD), &class);
    expect("class of MPI_Pack", class, MPI_ERR_CONVERSION);
    expect("position", position, 0);
    value = -5 - rank;
    MPI_Sendrecv(&value, 1, MPI_LONG, across, 3, &other, 1, MPI_LONG, across, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect("value", (int)other, -5 - across);
}

static void refused(void)
{
    MPI_Comm comm;
    MPI_Win win;
    void *base;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    tell("class of MPI_Win_allocate_shared", MPI_Win_allocate_shared(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win),
         MPI_ERR_RMA_SHARED);
    tell("class of MPI_Comm_accept", MPI_Comm_accept("port", MPI_INFO_NULL, 0, MPI_COMM_WORLD, &comm), MPI_ERR_PORT);
    tell("class of MPI_Comm_connect", MPI_Comm_connect("port", MPI_INFO_NULL, 0, MPI_COMM_WORLD, &comm), MPI_ERR_PORT);
    test_unfit();
    MPI_Barrier(MPI_COMM_WORLD);
    if (!rank)
        printf("all refused\n");
}

/* As one process of the first half, or of the second. */
static void differ(int what, int half)
{
    const MPI_Comm world = MPI_COMM_WORLD;
    int data[64] = { 0 };
    MPI_Request request;

    switch (what) {
    case 0: MPI_Bcast(data, 4, MPI_INT, half * (size / 2), world); break;
    case 1:
        half ? MPI_Bcast(data, 4, MPI_INT, 0, world)
             : MPI_Scatter(data, 4, MPI_INT, data + 32, 4, MPI_INT, 0, world);
        break;
    case 2: MPI_Allreduce(MPI_IN_PLACE, data, 4 + half, MPI_INT, MPI_SUM, world); break;
    case 3: half ? MPI_Barrier(world) : MPI_Bcast(data, 4, MPI_INT, 0, world); break;
    case 4:
        half ? MPI_Ibarrier(world, &request) : MPI_Ibcast(data, 4, MPI_INT, 0, world, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        break;
    default: MPI_Bcast(data, 4, MPI_INT, half ? 0 : size / 2, world);
    }
    MPI_Barrier(world);
}

/* Rank 1 waits for the last one in a call that rank 0 has done with long ago, since nothing holds up that one. */
static void ahead(void)
{
    int value = 1, all[64];

    if (rank > 1)
        usleep(500000);
    MPI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, 1, MPI_COMM_WORLD);
    for (int i = 0; i < 12000; i++) {
        value = rank ? 0 : i;
        MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
        expect("value", value, i);
    }
}

/* A message with a tag that nobody sends. */
static void wait_for(int source, int tag)
{
    double number[3];

    MPI_Recv(number, 3, MPI_DOUBLE, source, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "world";
    const int who = argc > 2 ? atoi(argv[2]) : -1;
    int level;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    expect("level", level, MPI_THREAD_SERIALIZED);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!strcmp(what, "world"))
        world();
    else if (!strcmp(what, "refused"))
        refused();
    else if (!strcmp(what, "differ"))
        differ(who, rank >= size / 2);
    else if (!strcmp(what, "ahead"))
        ahead();
    else if (!strcmp(what, "wait") && rank != 1)
        wait_for(rank == 3 ? MPI_ANY_SOURCE : 2 - rank, 7);
    else if (!strcmp(what, "wait"))
        MPI_Barrier(MPI_COMM_WORLD);
    else if (!strcmp(what, "stuck"))
        wait_for(rank == size - 1 ? size - 2 : size - 1, 8);
    else if ((!strcmp(what, "abort") || !strcmp(what, "alone")) && rank == who)
        MPI_Abort(MPI_COMM_WORLD, 5);
    else if (!strcmp(what, "exit") && rank == who)
        _exit(6);
    else if (!strcmp(what, "alone") && !MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN))
        wait_for(rank, 1);
    else
        MPI_Recv(&level, 1, MPI_INT, who, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
