/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that are not of the joint world: communicators with them and with members of several clients of IMPI; run
 * by client_test.py. Prints nothing if all is well.
 *
 *   later spawn        children of all, started by one client after the other; of some ranks of each client
 *   later ports        even ranks against odd ones, over all clients; ranks that are alone, of two clients
 *   later accept FILE  an ordinary job connects; its port is written to FILE
 *   later connect FILE that job
 *   later socket       two ranks of different clients have a socket
 *   later child_aborts, later parent_aborts   one ends while all others wait for it
 *   later child [HOW]  what a spawned process does */
#include <arpa/inet.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "expect.h"

enum { TAG = 7, LONG = 200000 };

static int size, client;

/* A number that IMPI would not take. */
static long value_of(int from, int to)
{
    return (from + 1L) << 40 | to;
}

/* Each of one side and each of the other one, short and long. */
static void check_messages(MPI_Comm inter)
{
    MPI_Request requests[64];
    MPI_Status status;
    int own, n;
    long *in = calloc(LONG, sizeof *in), *out = calloc(LONG, sizeof *out);

    MPI_Comm_rank(inter, &own);
    MPI_Comm_remote_size(inter, &n);
    for (int i = 0; i < LONG; i++)
        out[i] = value_of(own, i);
    for (int count = 1; count > 0; count = count < LONG ? LONG : 0) {
        for (int to = 0; to < n; to++)
            MPI_Isend(out, count, MPI_LONG, to, TAG, inter, &requests[to]);
        for (int left = n; left > 0; left--) {
            MPI_Recv(in, count, MPI_LONG, MPI_ANY_SOURCE, TAG, inter, &status);
            expect("first value", in[0] == value_of(status.MPI_SOURCE, 0), 1);
            expect("last value", in[count - 1] == value_of(status.MPI_SOURCE, count - 1), 1);
        }
        MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
        MPI_Barrier(inter);
    }
    free(in);
    free(out);
}

/* `id` of this process is of all of either side another one. */
static void check_collectives(MPI_Comm inter, int id)
{
    MPI_Comm merged, half;
    int n, theirs[64], sum = 0, got = -1, both, own, high = id >= 1000;
    long root_value = value_of(id, 1), all[64];

    MPI_Comm_remote_size(inter, &n);
    MPI_Comm_size(inter, &both);
    both += n;
    MPI_Allgather(&id, 1, MPI_INT, theirs, 1, MPI_INT, inter);
    for (int i = 0; i < n; i++)
        sum += theirs[i];
    MPI_Allreduce(&id, &got, 1, MPI_INT, MPI_SUM, inter);
    expect("sum of the other side", got, sum);
    MPI_Intercomm_merge(inter, high, &merged);
    MPI_Comm_size(merged, &n);
    expect("size of both", n, both);
    MPI_Allgather(&root_value, 1, MPI_LONG, all, 1, MPI_LONG, merged);
    MPI_Comm_rank(merged, &own);
    expect("own value", all[own] == root_value, 1);
    MPI_Bcast(&root_value, 1, MPI_LONG, n - 1, merged);
    expect("value of the last", root_value == all[n - 1], 1);
    MPI_Comm_split(merged, own % 2, -own, &half);
    MPI_Allreduce(MPI_IN_PLACE, &own, 1, MPI_INT, MPI_MIN, half);
    MPI_Comm_free(&half);
    MPI_Comm_free(&merged);
}

/* The own side of `inter` is `comm`. */
static void check_groups(MPI_Comm comm, MPI_Comm inter)
{
    MPI_Group own, local, both, remote, world;
    int result, n, at, zero = 0;

    MPI_Comm_group(comm, &own);
    MPI_Comm_group(inter, &local);
    MPI_Comm_remote_group(inter, &remote);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_compare(own, local, &result);
    expect("own groups are alike", result, MPI_IDENT);
    MPI_Group_union(local, own, &both);
    MPI_Group_size(both, &n);
    MPI_Comm_size(comm, &result);
    expect("size of the union", n, result);
    MPI_Group_free(&both);
    MPI_Group_difference(own, local, &both);
    expect("difference is empty", both == MPI_GROUP_EMPTY, 1);
    MPI_Group_translate_ranks(local, 1, &zero, own, &at);
    expect("first rank", at, 0);
    MPI_Group_union(world, remote, &both);
    MPI_Group_free(&both);
    MPI_Group_free(&own);
    MPI_Group_free(&local);
    MPI_Group_free(&remote);
    MPI_Group_free(&world);
}

static void check_size(MPI_Comm comm, int expected)
{
    int one = 1, n;

    MPI_Allreduce(&one, &n, 1, MPI_INT, MPI_SUM, comm);
    expect("size by a sum", n, expected);
    MPI_Comm_free(&comm);
}

/* Of the groups alone: of both, of each, of one with the other. Those of the joint world may have two numbers. */
static void check_of_groups(MPI_Comm inter, bool is_first)
{
    MPI_Group local, remote, both;
    MPI_Comm comm;
    int n, other;

    MPI_Comm_group(inter, &local);
    MPI_Comm_remote_group(inter, &remote);
    MPI_Group_union(is_first ? local : remote, is_first ? remote : local, &both);
    MPI_Comm_size(inter, &n);
    MPI_Comm_remote_size(inter, &other);
    MPI_Comm_create_from_group(both, "both", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    check_size(comm, n + other);
    MPI_Comm_create_from_group(local, "side", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    check_size(comm, n);
    MPI_Intercomm_create_from_groups(local, 0, remote, 0, "sides", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    check_size(comm, other);
    MPI_Group_free(&both);
    MPI_Group_free(&local);
    MPI_Group_free(&remote);
}

static void check(MPI_Comm comm, MPI_Comm inter, int id)
{
    check_messages(inter);
    check_collectives(inter, id);
    check_of_groups(inter, id < 1000);
    if (comm != MPI_COMM_NULL)
        check_groups(comm, inter);
    MPI_Comm_disconnect(&inter);
}

/* The last process of the side `is_it` ends, and all others wait for it. */
static void fail_in(MPI_Comm inter, int is_it)
{
    MPI_Comm merged;
    int last, own;

    MPI_Intercomm_merge(inter, is_it, &merged);
    MPI_Comm_rank(merged, &own);
    MPI_Comm_size(merged, &last);
    if (own == --last)
        MPI_Abort(MPI_COMM_SELF, 5);
    MPI_Recv(&own, 1, MPI_INT, last, TAG, merged, MPI_STATUS_IGNORE);
}

static void fail_later(const char *how, char *program)
{
    char *args[] = { "child", (char *)how, NULL };
    MPI_Comm inter;

    MPI_Comm_spawn(program, args, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    fail_in(inter, !strcmp(how, "parent_aborts"));
}

static void child(const char *how)
{
    MPI_Comm parents;

    MPI_Comm_get_parent(&parents);
    if (*how)
        fail_in(parents, !strcmp(how, "child_aborts"));
    check(MPI_COMM_NULL, parents, 1000 + rank);
}

static void spawn_from(MPI_Comm comm, int root, char *program)
{
    char *args[] = { "child", NULL }, *commands[] = { program, program }, **argvs[] = { args, args };
    MPI_Info infos[] = { MPI_INFO_NULL, MPI_INFO_NULL };
    int codes[3] = { -1, -1, -1 }, n, counts[] = { 1, 2 };
    MPI_Comm inter;

    MPI_Comm_spawn(program, args, 2, MPI_INFO_NULL, root, comm, &inter, codes);
    expect("second code", codes[1], MPI_SUCCESS);
    MPI_Comm_remote_size(inter, &n);
    expect("children", n, 2);
    check(comm, inter, rank);
    MPI_Comm_spawn_multiple(2, commands, argvs, counts, infos, root, comm, &inter, codes);
    expect("third code", codes[2], MPI_SUCCESS);
    check(comm, inter, rank);
}

static void spawn(char *program)
{
    MPI_Comm part, inter;
    int n;

    spawn_from(MPI_COMM_WORLD, 0, program);
    spawn_from(MPI_COMM_WORLD, size - 1, program);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part);
    MPI_Comm_size(part, &n);
    spawn_from(part, n - 1, program);
    MPI_Comm_set_errhandler(part, MPI_ERRORS_RETURN);
    expect("class of what cannot be started",
           class_of(MPI_Comm_spawn("/no/such/program", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, part, &inter,
                                   MPI_ERRCODES_IGNORE)), MPI_ERR_SPAWN);
    MPI_Comm_free(&part);
}

/* All of `comm` know the port that the root of the first color has; colors 0 and 1 meet. */
static void meet(MPI_Comm comm, int color)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm part, inter;
    int first = color ? size : rank, own, n;

    MPI_Comm_split(comm, color, 0, &part);
    MPI_Comm_rank(part, &own);
    MPI_Comm_size(part, &n);
    MPI_Comm_rank(comm, &first);
    first = color || own != n - 1 ? -1 : first;
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MAX, comm);
    if (!color && own == n - 1)
        MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, sizeof port, MPI_CHAR, first, comm);
    if (color)
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, part, &inter);
    else
        MPI_Comm_accept(port, MPI_INFO_NULL, n - 1, part, &inter);
    if (!color && own == n - 1)
        MPI_Close_port(port);
    check(part, inter, color * 1000 + rank);
    MPI_Comm_free(&part);
}

static void ports(void)
{
    MPI_Comm ends;

    meet(MPI_COMM_WORLD, rank % 2);
    meet(MPI_COMM_WORLD, client > 0); /* one or both of them are within a client */
    meet(MPI_COMM_WORLD, rank != 0);
    MPI_Comm_split(MPI_COMM_WORLD, rank && rank != size - 1, 0, &ends);
    if (!rank || rank == size - 1)
        meet(ends, !rank); /* each alone */
    MPI_Comm_free(&ends);
}

static void accept_at(const char *path)
{
    char port[MPI_MAX_PORT_NAME] = "", part[4096];
    MPI_Comm inter;
    FILE *file;

    for (int round = 0; round < 2; round++) {
        const int root = round * (size - 1);

        if (rank == root) {
            MPI_Open_port(MPI_INFO_NULL, port);
            snprintf(part, sizeof part, "%s.part", path);
            file = fopen(part, "w");
            fputs(port, file);
            fclose(file);
            rename(part, path);
        }
        MPI_Comm_accept(port, MPI_INFO_NULL, root, MPI_COMM_WORLD, &inter);
        if (rank == root)
            unlink(path);
        check(MPI_COMM_WORLD, inter, rank);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void connect_at(const char *path)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter;
    FILE *file = NULL;

    for (int round = 0; round < 2; round++) {
        if (!rank) {
            while (!(file = fopen(path, "r")))
                usleep(1000);
            if (!fgets(port, sizeof port, file))
                expect("port", 0, 1);
            fclose(file);
        }
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
        check(MPI_COMM_WORLD, inter, 1000 + rank);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static int listen_for_other(struct sockaddr_in *address)
{
    socklen_t length = sizeof *address;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);

    *address = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    expect("bind", bind(fd, (struct sockaddr *)address, length), 0);
    expect("listen", listen(fd, 1), 0);
    getsockname(fd, (struct sockaddr *)address, &length);
    return fd;
}

/* The first rank and the last one. */
static void join(void)
{
    struct sockaddr_in address;
    MPI_Comm inter;
    int fd = -1, listener;

    if (rank && rank < size - 1)
        return;
    if (!rank) {
        listener = listen_for_other(&address);
        MPI_Send(&address, sizeof address, MPI_BYTE, size - 1, TAG, MPI_COMM_WORLD);
        fd = accept(listener, NULL, NULL);
        close(listener);
    } else {
        MPI_Recv(&address, sizeof address, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        fd = socket(AF_INET, SOCK_STREAM, 0);
        expect("connect", connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    }
    MPI_Comm_join(fd, &inter);
    expect("joined", inter != MPI_COMM_NULL, 1);
    close(fd);
    check(MPI_COMM_SELF, inter, rank ? 1000 : 0);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "spawn", *path = argc > 2 ? argv[2] : "";

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    client = own_client();
    if (!strcmp(what, "spawn"))
        spawn(argv[0]);
    else if (!strcmp(what, "child"))
        child(path);
    else if (strstr(what, "_aborts"))
        fail_later(what, argv[0]);
    else if (!strcmp(what, "ports"))
        ports();
    else if (!strcmp(what, "accept"))
        accept_at(path);
    else if (!strcmp(what, "connect"))
        connect_at(path);
    else if (!strcmp(what, "socket"))
        join();
    MPI_Finalize();
    return 0;
}
