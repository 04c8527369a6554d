/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators between two groups, and duplicates that come later, over several clients of IMPI; run by client_test.py
 * as jobs of unequal clients. Prints nothing if all is well.
 *
 *   sides all      clients against each other and across them, within one; what is made of those
 *   sides late     a group with a process that was started later, against one over several clients
 *   sides child    what that one does
 *   sides groups   communicators of groups alone
 *   sides gone     rank 0 is gone when all others wait for it to make one
 *   sides unfit    a number that does not fit is to go to others in a collective call: an error of all who would have
 *                  it, or something made of it, from there */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

static int size, client;

/* Between those with side 0 and with side 1, each led by its last rank. NULL: one is empty. */
static MPI_Comm between(MPI_Comm all, int side)
{
    MPI_Comm local, inter;
    int own, n[2] = { 0, 0 }, last[2] = { -1, -1 };

    MPI_Comm_rank(all, &own);
    n[side] = 1;
    last[side] = own;
    MPI_Allreduce(MPI_IN_PLACE, n, 2, MPI_INT, MPI_SUM, all);
    MPI_Allreduce(MPI_IN_PLACE, last, 2, MPI_INT, MPI_MAX, all);
    if (!n[0] || !n[1])
        return MPI_COMM_NULL;
    MPI_Comm_split(all, side, 0, &local);
    MPI_Intercomm_create(local, n[side] - 1, own == last[side] ? all : MPI_COMM_NULL, last[!side], 1 << 30, &inter);
    MPI_Comm_free(&local);
    return inter;
}

/* World ranks of the remote group, by messages and by the group itself. */
static void check_remote(MPI_Comm inter)
{
    MPI_Group world, remote;
    int n, ranks[64], places[64], sum = 0, got = -1;

    MPI_Comm_remote_size(inter, &n);
    MPI_Comm_remote_group(inter, &remote);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int i = 0; i < n; i++)
        places[i] = i;
    MPI_Group_translate_ranks(remote, n, places, world, ranks);
    MPI_Allgather(&rank, 1, MPI_INT, places, 1, MPI_INT, inter);
    for (int i = 0; i < n; i++) {
        expect("rank in the remote group", ranks[i], places[i]);
        sum += places[i];
    }
    MPI_Allreduce(&rank, &got, 1, MPI_INT, MPI_SUM, inter);
    expect("sum of the remote group", got, sum);
    MPI_Group_free(&world);
    MPI_Group_free(&remote);
}

/* All of both groups, in one client or not, and a copy that comes later, of which another one is made meanwhile. */
static void check_made(MPI_Comm inter, int side)
{
    MPI_Comm merged, later, copy, whole;
    MPI_Request request[2];
    int n, got, own[2] = { side, 1 };

    check_remote(inter);
    MPI_Comm_idup(inter, &later, &request[0]);
    MPI_Intercomm_merge(inter, side, &merged);
    MPI_Comm_idup(merged, &whole, &request[1]);
    MPI_Comm_dup(inter, &copy);
    MPI_Comm_size(merged, &n);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    MPI_Allreduce(MPI_IN_PLACE, own, 2, MPI_INT, MPI_SUM, whole);
    expect("size of both", own[1], n);
    MPI_Comm_rank(whole, &got);
    expect("is behind", got >= n - own[0], side);
    check_remote(later);
    check_remote(copy);
    MPI_Comm_free(&later);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&whole);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&inter);
}

/* Of one client only: what is made of it has all that there is within a client. */
static void check_within(int side)
{
    MPI_Comm here, inter, merged;
    MPI_Win win;
    void *base;

    MPI_Comm_split(MPI_COMM_WORLD, client, 0, &here);
    inter = between(here, side);
    if (inter != MPI_COMM_NULL) {
        MPI_Intercomm_merge(inter, 0, &merged);
        MPI_Win_allocate_shared(8, 8, MPI_INFO_NULL, merged, &base, &win);
        MPI_Win_free(&win);
        MPI_Comm_free(&merged);
        check_made(inter, side);
    }
    MPI_Comm_free(&here);
}

/* Those who share memory are in one client, if there are some of both groups. */
static void check_types(MPI_Comm inter)
{
    MPI_Comm shared;
    int theirs = -1;

    MPI_Comm_split_type(inter, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared);
    if (shared == MPI_COMM_NULL)
        return;
    MPI_Allreduce(&client, &theirs, 1, MPI_INT, MPI_MAX, shared);
    expect("client of the others", theirs, client);
    MPI_Comm_free(&shared);
}

static void all(void)
{
    MPI_Comm inter = between(MPI_COMM_WORLD, client > 0); /* the local group of one side, or of both, is a client */

    check_types(inter);
    check_made(inter, client > 0);
    inter = between(MPI_COMM_WORLD, rank % 2);
    check_types(inter);
    check_made(inter, rank % 2);
    check_within(rank % 2);
}

/* What the first one of the first side has is a number that IMPI has no room for. */
static void check_late(MPI_Comm inter, int side)
{
    MPI_Comm merged;
    long value = side + (1L << 40);
    int own, n, got;

    MPI_Comm_rank(inter, &own);
    MPI_Bcast(&value, 1, MPI_LONG, side ? 0 : own ? MPI_PROC_NULL : MPI_ROOT, inter);
    expect("value of the first", !side || value == 1L << 40, 1);
    MPI_Intercomm_merge(inter, side, &merged);
    MPI_Comm_size(merged, &n);
    expect("size of both", n, size + 1);
    MPI_Allreduce(&side, &got, 1, MPI_INT, MPI_SUM, merged);
    expect("of the second side", got, size - 1);
    MPI_Comm_free(&merged);
    MPI_Comm_disconnect(&inter);
}

/* Rank 0 and a process that it starts, against all others, who know nothing of that one. */
static void late(char *program)
{
    char *args[] = { "child", NULL };
    MPI_Comm children, family = MPI_COMM_NULL, others, inter;

    MPI_Comm_split(MPI_COMM_WORLD, rank > 0, 0, &others);
    if (!rank) {
        MPI_Comm_spawn(program, args, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children, MPI_ERRCODES_IGNORE);
        MPI_Intercomm_merge(children, 0, &family);
        MPI_Send(&size, 1, MPI_INT, 1, 3, family);
        MPI_Comm_disconnect(&children);
    }
    for (int round = 0; round < 2; round++) {
        MPI_Intercomm_create(rank ? others : family, 0, MPI_COMM_WORLD, !rank, 3, &inter);
        check_late(inter, rank > 0);
    }
    MPI_Comm_free(rank ? &others : &family);
}

static void child(void)
{
    MPI_Comm parents, family, inter;

    MPI_Comm_get_parent(&parents);
    MPI_Intercomm_merge(parents, 1, &family);
    MPI_Recv(&size, 1, MPI_INT, 0, 3, family, MPI_STATUS_IGNORE);
    MPI_Comm_disconnect(&parents);
    for (int round = 0; round < 2; round++) {
        MPI_Intercomm_create(family, 0, MPI_COMM_NULL, 1, 3, &inter);
        check_late(inter, 0);
    }
    MPI_Comm_free(&family);
}

static void unfit_between(void)
{
    MPI_Comm inter = between(MPI_COMM_WORLD, client > 0);
    const int root = client ? 0 : rank ? MPI_PROC_NULL : MPI_ROOT;
    long value = 1L << 40, other = 1L << 40;

    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    expect("class of MPI_Bcast to others", class_of(MPI_Bcast(&value, 1, MPI_LONG, root, inter)),
           client || !rank ? MPI_ERR_CONVERSION : MPI_SUCCESS);
    expect("class of MPI_Allreduce between", class_of(MPI_Allreduce(&other, &value, 1, MPI_LONG, MPI_MAX, inter)),
           MPI_ERR_CONVERSION);
    MPI_Comm_free(&inter);
}

static int last_of(int which)
{
    int last = client == which ? rank : -1;

    MPI_Allreduce(MPI_IN_PLACE, &last, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return last;
}

/* Rank `bad` has the number. What is made of it in the first client, where the root is, is right there. */
static void unfit_from(int bad, MPI_Comm comm)
{
    enum { COUNT = 3000 };
    const int is_near = bad <= last_of(0), yes = MPI_ERR_CONVERSION;
    const int has_it = is_near && !client && rank ? MPI_SUCCESS : yes;
    long *own = calloc(COUNT, sizeof *own), *all = calloc((size_t)(COUNT * size), sizeof *all);
    MPI_Request request;

    own[COUNT - 1] = rank == bad ? 1L << 40 : rank;
    expect("class of MPI_Allreduce", class_of(MPI_Allreduce(own, all, COUNT, MPI_LONG, MPI_SUM, comm)), has_it);
    MPI_Iallreduce(own, all, COUNT, MPI_LONG, MPI_SUM, comm, &request);
    expect("class of MPI_Iallreduce", class_of(MPI_Wait(&request, MPI_STATUS_IGNORE)), has_it);
    expect("class of MPI_Allgather", class_of(MPI_Allgather(own, COUNT, MPI_LONG, all, COUNT, MPI_LONG, comm)), has_it);
    own[size - 1] = own[COUNT - 1]; /* goes to the last rank */
    expect("class of MPI_Reduce_scatter_block",
           class_of(MPI_Reduce_scatter_block(own, all, 1, MPI_LONG, MPI_SUM, comm)),
           is_near && rank && rank < size - 1 ? MPI_SUCCESS : yes);
    own[0] = own[COUNT - 1]; /* of a rank to all that follow; the last one of a client gives it to another one */
    expect("class of MPI_Scan", class_of(MPI_Scan(own, all, 1, MPI_LONG, MPI_MAX, comm)),
           is_near && rank >= bad ? yes : MPI_SUCCESS);
    free(own);
    free(all);
}

static void unfit(void)
{
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    unfit_from(size - 1, comm);
    unfit_from(last_of(0), comm);
    MPI_Comm_free(&comm);
    unfit_between();
}

static MPI_Group group_of(int color)
{
    MPI_Group world, group;
    int range[1][3] = { { color, size - 1, 2 } };

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, range, &group);
    MPI_Group_free(&world);
    return group;
}

/* Of the first client or rank; what is called at once is of the same number, in the local group, as the making. */
static void first_against_others(int is_other)
{
    MPI_Group world, own, other;
    MPI_Comm part, inter;
    int one = 1, n;

    MPI_Comm_split(MPI_COMM_WORLD, is_other, 0, &part);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Comm_group(part, &own);
    MPI_Group_difference(world, own, &other);
    for (int round = 0; round < 10; round++) {
        MPI_Intercomm_create_from_groups(own, 0, other, 0, "first", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &inter);
        MPI_Allreduce(&one, &n, 1, MPI_INT, MPI_SUM, inter);
        MPI_Group_size(other, &one);
        expect("size of the others", n, one);
        one = 1;
        check_remote(inter);
        MPI_Comm_free(&inter);
    }
    MPI_Comm_free(&part);
    MPI_Group_free(&world);
    MPI_Group_free(&own);
    MPI_Group_free(&other);
}

/* Of groups alone: the even ranks and the odd ones, by themselves and against each other, with strings that all use and
 * of their own. And the first client against the others. */
static void groups(void)
{
    const int mine = rank % 2;
    MPI_Group both[2] = { group_of(0), group_of(1) };
    MPI_Comm comm, inter;
    char name[32];
    int sum, got;

    for (int round = 0; round < 3; round++) {
        snprintf(name, sizeof name, round ? "sides %d" : "sides", round * mine);
        MPI_Comm_create_from_group(both[mine], name, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
        MPI_Comm_size(comm, &got);
        expect("size of half", got, (size + 1 - mine) / 2);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
        expect("sum of half", sum, got * mine + got * (got - 1));
        MPI_Comm_free(&comm);
        MPI_Intercomm_create_from_groups(both[mine], 0, both[!mine], 0, "both sides", MPI_INFO_NULL,
                                         MPI_ERRORS_ARE_FATAL, &inter);
        check_remote(inter);
        MPI_Comm_free(&inter);
    }
    MPI_Group_free(&both[0]);
    MPI_Group_free(&both[1]);
    first_against_others(client > 0);
    first_against_others(rank > 0);
}

static void gone(void)
{
    MPI_Group world;
    MPI_Comm comm;

    if (!rank)
        MPI_Abort(MPI_COMM_WORLD, 5);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Comm_create_from_group(world, "gone", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "all";

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    client = own_client();
    if (!strcmp(what, "all"))
        all();
    else if (!strcmp(what, "late"))
        late(argv[0]);
    else if (!strcmp(what, "child"))
        child();
    else if (!strcmp(what, "groups"))
        groups();
    else if (!strcmp(what, "gone"))
        gone();
    else if (!strcmp(what, "unfit"))
        unfit();
    MPI_Finalize();
    return 0;
}
