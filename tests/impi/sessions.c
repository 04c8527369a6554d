/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions over several clients of IMPI; run by client_test.py. Prints nothing if all is well.
 *
 *   sessions alone     no MPI_Init: sessions one after the other and at the same time; their process sets
 *   sessions late      the last client comes late, and a communicator without its last rank is made first
 *   sessions beside    a session beside the world, which it outlives
 *   sessions after     one that begins when MPI_Finalize has been called: what goes to other clients is an error */
#include <mpi.h>
#include <mpix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"

static int size;

static MPI_Group set_of(MPI_Session session, const char *name)
{
    MPI_Group group;

    MPI_Group_from_session_pset(session, name, &group);
    return group;
}

static MPI_Comm make(MPI_Group group, const char *name)
{
    MPI_Comm comm;

    MPI_Comm_create_from_group(group, name, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    return comm;
}

static MPI_Group every_other(MPI_Group all, int from)
{
    MPI_Group group;
    int range[1][3] = { { from, size - 1, 2 } };

    MPI_Group_range_incl(all, 1, range, &group);
    return group;
}

/* The set of this client is in a row of the world. */
static void check_sets(MPI_Session session)
{
    char name[MPI_MAX_PSET_NAME_LEN], client[MPI_MAX_PSET_NAME_LEN] = "";
    MPI_Group world = set_of(session, "mpi://WORLD"), own, other, common;
    int count, length, first, n, zero = 0;

    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count);
    expect("process sets", count, 3);
    for (int i = 0; i < count; i++) {
        length = MPI_MAX_PSET_NAME_LEN;
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name);
        if (strstr(name, "client/"))
            strcpy(client, name);
    }
    own = set_of(session, client);
    MPI_Group_translate_ranks(own, 1, &zero, world, &first);
    MPI_Group_size(own, &n);
    expect("is of the own client", rank >= first && rank < first + n, 1);
    other = set_of(session, strcmp(client, "mpix://client/0") ? "client/0" : "client/1");
    MPI_Group_intersection(own, other, &common);
    expect("clients overlap", common != MPI_GROUP_EMPTY, 0);
    MPI_Group_free(&world);
    MPI_Group_free(&own);
    MPI_Group_free(&other);
}

static void check_window(MPI_Comm comm)
{
    MPI_Win win;
    int *base, got = -1;

    MPI_Win_allocate(sizeof *base, 1, MPI_INFO_NULL, comm, &base, &win);
    *base = rank;
    MPI_Win_fence(0, win);
    MPI_Get(&got, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    expect("value of the next", got, (rank + 1) % size);
    MPI_Win_free(&win);
}

static void check_comm(MPI_Comm comm)
{
    MPI_Comm half, copy;
    int own, n, sum;

    MPI_Comm_rank(comm, &own);
    MPI_Comm_size(comm, &n);
    MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm);
    expect("sum of ranks", sum, n * (n - 1) / 2);
    MPI_Comm_split(comm, own % 2, 0, &half);
    MPI_Comm_dup(half, &copy);
    MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_MIN, copy);
    expect("least rank of half", sum, own % 2);
    MPI_Comm_free(&half);
    MPI_Comm_free(&copy);
}

/* All, halves, and these against each other. */
static void check(MPI_Session session, const char *name)
{
    MPI_Group all = set_of(session, "mpi://WORLD"), halves[2];
    MPI_Comm comm = make(all, name), half, inter;
    int n;

    MPI_Comm_size(comm, &n);
    expect("size", n, size);
    MPI_Comm_rank(comm, &n);
    expect("rank", n, rank);
    check_comm(comm);
    check_window(comm);
    MPI_Comm_free(&comm);
    for (int i = 0; i < 2; i++)
        halves[i] = every_other(all, i);
    half = make(halves[rank % 2], "half");
    check_comm(half);
    MPI_Comm_free(&half);
    MPI_Intercomm_create_from_groups(halves[rank % 2], 0, halves[!(rank % 2)], 0, "both", MPI_INFO_NULL,
                                     MPI_ERRORS_ARE_FATAL, &inter);
    MPI_Intercomm_merge(inter, 0, &comm);
    check_comm(comm);
    MPI_Comm_free(&comm);
    MPI_Comm_free(&inter);
    MPI_Group_free(&halves[0]);
    MPI_Group_free(&halves[1]);
    MPI_Group_free(&all);
}

static MPI_Session begin(void)
{
    MPI_Session session;
    MPI_Group world;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    world = set_of(session, "mpi://WORLD");
    MPI_Group_rank(world, &rank);
    MPI_Group_size(world, &size);
    MPI_Group_free(&world);
    return session;
}

static void alone(void)
{
    for (int round = 0; round < 2; round++) {
        MPI_Session one = begin(), other = begin();

        check_sets(one);
        check(one, "one");
        check(other, "other");
        MPI_Session_finalize(&one);
        check(other, "again");
        MPI_Session_finalize(&other);
    }
}

static void late(void)
{
    MPI_Session session;
    MPI_Group world, others;
    MPI_Comm comm;

    if (getenv("COMES_LATE"))
        usleep(500000);
    session = begin();
    world = set_of(session, "mpi://WORLD");
    MPI_Group_excl(world, 1, (int[]){ size - 1 }, &others);
    if (rank < size - 1) {
        comm = make(others, "without the last");
        check_comm(comm);
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&others);
    MPI_Group_free(&world);
    check(session, "late");
    MPI_Session_finalize(&session);
}

static void beside(int *argc, char ***argv)
{
    MPI_Session session = begin();
    MPI_Comm comm;
    MPI_Group world;

    check(session, "before");
    MPI_Init(argc, argv);
    check_comm(MPI_COMM_WORLD);
    check(session, "beside");
    world = set_of(session, "mpi://WORLD");
    comm = make(world, "longer");
    MPI_Group_free(&world);
    MPI_Finalize();
    check_comm(comm);
    MPI_Comm_free(&comm);
    check(session, "after");
    MPI_Session_finalize(&session);
}

static void after(int *argc, char ***argv)
{
    MPI_Session session;
    MPI_Group world, self;
    MPI_Comm comm;

    MPI_Init(argc, argv);
    MPI_Finalize();
    session = begin();
    world = set_of(session, "mpi://WORLD");
    expect("class of a communicator afterwards",
           class_of(MPI_Comm_create_from_group(world, "late", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm)),
           MPI_ERR_UNSUPPORTED_OPERATION);
    self = set_of(session, "mpi://SELF");
    comm = make(self, "self");
    check_comm(comm);
    MPI_Comm_free(&comm);
    MPI_Group_free(&world);
    MPI_Group_free(&self);
    MPI_Session_finalize(&session);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "alone";

    if (!strcmp(what, "alone"))
        alone();
    else if (!strcmp(what, "late"))
        late();
    else if (!strcmp(what, "beside"))
        beside(&argc, &argv);
    else if (!strcmp(what, "after"))
        after(&argc, &argv);
    return 0;
}
