/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs of different mpiexecs that meet (ports_test.py):
 *
 *     ports server FILE ROUNDS CASE     leaves the name of a port in FILE, and accepts
 *     ports client FILE ROUNDS CASE     connects
 *
 * In the case "named" FILE is the name of a service, too, and the client looks that up.
 * CASE is what they do with each other; see cases. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "meet.h"

enum { LONG = 300000 };

static int size, is_server;
static const char *which, *place;

static int is(const char *name)
{
    return !strcmp(which, name);
}

/* Each with each of the other side. */
static void talk(MPI_Comm inter)
{
    int others, in, out;

    MPI_Comm_remote_size(inter, &others);
    for (int i = 0; i < others; i++) {
        out = 1000 * rank + i;
        MPI_Sendrecv(&out, 1, MPI_INT, i, 5, &in, 1, MPI_INT, i, 5, inter, MPI_STATUS_IGNORE);
        MUST(in == 1000 * i + rank);
    }
    MPI_Barrier(inter);
}

/* Short and long, and those of one side know each other still by memory. */
static void reduce_and_gather(MPI_Comm all, int here, int count)
{
    char *own = malloc(LONG), *of_all = malloc((size_t)LONG * (size_t)count);
    int sum;

    MPI_Allreduce(&here, &sum, 1, MPI_INT, MPI_SUM, all);
    MUST(sum == count * (count - 1) / 2);
    memset(own, here, LONG);
    MPI_Allgather(own, LONG, MPI_CHAR, of_all, LONG, MPI_CHAR, all);
    for (int i = 0; i < count; i++)
        MUST(of_all[(size_t)i * LONG + LONG - 1] == i);
    free(own);
    free(of_all);
}

static void use_window(MPI_Comm all, int here, int count)
{
    int *memory;
    MPI_Win win;

    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, all, &memory, &win);
    *memory = 0;
    MPI_Win_fence(0, win);
    MPI_Accumulate(&here, 1, MPI_INT, (here + 1) % count, 0, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    MUST(*memory == (here + count - 1) % count);
    MPI_Win_free(&win);
}

static void split(MPI_Comm all, int here, int count)
{
    MPI_Comm half, home, some, machine;
    MPI_Group group;
    int members, mine;

    MPI_Comm_split(all, here % 2, -here, &half);
    MPI_Comm_size(half, &members);
    MUST(members == (count + 1 - here % 2) / 2);
    MPI_Barrier(half);
    MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &home);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_size(home, &members);
    MPI_Comm_size(machine, &mine);
    MUST(members == mine);
    MPI_Comm_group(half, &group);
    MPI_Comm_create_group(all, group, here % 2, &some);
    MPI_Barrier(some);
    MPI_Group_free(&group);
    MPI_Comm_free(&some);
    MPI_Comm_free(&half);
    MPI_Comm_free(&home);
    MPI_Comm_free(&machine);
}

static void do_all(MPI_Comm inter)
{
    MPI_Comm all, again, part;
    MPI_Request request;
    int here, count;

    MPI_Intercomm_merge(inter, is_server, &all);
    MPI_Comm_rank(all, &here);
    MPI_Comm_size(all, &count);
    reduce_and_gather(all, here, count);
    MPI_Comm_idup(inter, &again, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    talk(again);
    MPI_Comm_free(&again);
    MPI_Comm_split(inter, 0, rank, &part);
    talk(part);
    MPI_Comm_free(&part);
    MPI_Comm_dup(all, &again);
    MPI_Comm_free(&all);
    split(again, here, count);
    use_window(again, here, count);
    MPI_Comm_free(&again);
}

/* One side fails, by itself or by the test, and the other waits for it. */
static void fail(MPI_Comm inter)
{
    char met[4200];
    int word;

    talk(inter);
    snprintf(met, sizeof met, "%s.met", place);
    if ((is("waits") || is("computes")) && !rank && !is_server)
        leave(met, "x");
    if (is_server && rank == size - 1 && is("dies"))
        raise(9);
    if (is_server && rank == size - 1 && is("aborts"))
        MPI_Abort(MPI_COMM_WORLD, 7);
    if (is_server && is("killed"))
        kill(getppid(), 9);
    while (is("computes"))
        pause();
    MPI_Recv(&word, 1, MPI_INT, is_server ? MPI_ANY_SOURCE : 0, 9, inter, MPI_STATUS_IGNORE);
}

/* Both are connected, and wait for a word of the test. */
static void pause_between(MPI_Comm inter)
{
    char met[4200], word[16];

    talk(inter);
    snprintf(met, sizeof met, "%s.met", place);
    if (!rank && !is_server)
        leave(met, "x");
    snprintf(met, sizeof met, "%s.go", place);
    find(met, word, sizeof word);
    talk(inter);
}

/* For ever. */
static void talk_on(MPI_Comm inter)
{
    char met[4200];

    talk(inter);
    snprintf(met, sizeof met, "%s.met", place);
    if (!rank && !is_server)
        leave(met, "x");
    for (;;) {
        talk(inter);
        do_all(inter);
    }
}

static void meet(MPI_Comm inter)
{
    if (is("talks"))
        talk_on(inter);
    else if (is("pauses"))
        pause_between(inter);
    else if (is("all"))
        do_all(inter);
    else if (is("dies") || is("aborts") || is("killed") || is("waits") || is("computes"))
        fail(inter);
    else
        talk(inter);
}

static void serve(const char *path, int rounds)
{
    const int opener = is("far") ? size - 1 : 0;
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter;

    if (rank == opener) {
        MPI_Open_port(MPI_INFO_NULL, port);
        if (is("named"))
            MPI_Publish_name(path, MPI_INFO_NULL, port);
        leave(path, port);
    }
    while (rounds--) {
        MPI_Comm_accept(port, MPI_INFO_NULL, opener, MPI_COMM_WORLD, &inter);
        meet(inter);
        MPI_Comm_disconnect(&inter);
    }
    while (is("sleeps") && !rank && !access(path, F_OK))
        usleep(5000);
    if (rank == opener)
        MPI_Close_port(port);
}

static void call(const char *path, int rounds)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter;
    MPI_Info info;

    find(path, port, sizeof port);
    if (is("named")) {
        memset(port, 0, sizeof port);
        MPI_Lookup_name(path, MPI_INFO_NULL, port);
    }
    if (is("wrong"))
        port[strlen(port) - 1] = port[strlen(port) - 1] == '0' ? '1' : '0';
    MPI_Info_create(&info);
    if (is("late"))
        MPI_Info_set(info, "timeout", "0.2");
    while (rounds--) {
        MPI_Comm_connect(port, info, size - 1, MPI_COMM_WORLD, &inter);
        meet(inter);
        MPI_Comm_disconnect(&inter);
    }
    MPI_Info_free(&info);
}

enum { PLACES = 128 }; /* that mpiexec has for processes that are started later */

static void spawn_one(const char *program, char **words)
{
    MPI_Comm child;

    MPI_Comm_spawn(program, words, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &child, MPI_ERRCODES_IGNORE);
    MPI_Comm_disconnect(&child);
}

/* One process after the other connects, or accepts at PATH.ROUND, in places that others have had before. */
static void spawn(char **argv, int rounds)
{
    const int are_servers = is("servers");
    char path[4200], *words[] = { are_servers ? "server" : "client", path, "1", "talk", NULL };
    char *nothing[] = { "nobody", argv[2], "0", "nothing", NULL };

    for (int i = 0; i < PLACES; i++)
        spawn_one(argv[0], nothing);
    for (int round = 0; round < rounds; round++) {
        snprintf(path, sizeof path, are_servers ? "%s.%d" : "%s", argv[2], round);
        spawn_one(argv[0], words);
    }
}

static void call_each(const char *path, int rounds)
{
    char name[4200];

    for (int round = 0; round < rounds; round++) {
        snprintf(name, sizeof name, "%s.%d", path, round);
        call(name, 1);
    }
}

/* Rank 1 of each job connects to rank 0 of the other one, at the same time; then all of both are connected. */
static void cross(const char *path)
{
    char port[MPI_MAX_PORT_NAME] = "", theirs[MPI_MAX_PORT_NAME], own_path[4200], their_path[4200];
    MPI_Comm inter, bridge, all;

    snprintf(own_path, sizeof own_path, "%s.%d", path, is_server);
    snprintf(their_path, sizeof their_path, "%s.%d", path, !is_server);
    if (!rank) {
        MPI_Open_port(MPI_INFO_NULL, port);
        leave(own_path, port);
    }
    find(their_path, theirs, sizeof theirs);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!rank)
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
    else
        MPI_Comm_connect(theirs, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
    MPI_Intercomm_merge(inter, is_server, &bridge);
    MPI_Barrier(MPI_COMM_WORLD); /* all know all */
    MPI_Intercomm_create(MPI_COMM_WORLD, is_server, bridge, !is_server, 3, &all);
    talk(all);
    MPI_Comm_disconnect(&all);
    MPI_Comm_disconnect(&bridge);
    MPI_Comm_disconnect(&inter);
    if (!rank)
        MPI_Close_port(port);
}

int main(int argc, char **argv)
{
    MPI_Comm parent;

    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        MPI_Comm_disconnect(&parent);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    place = argv[2];
    which = argv[4];
    is_server = !strcmp(argv[1], "server");
    if (is("crossed"))
        cross(argv[2]);
    else if (is_server)
        serve(argv[2], atoi(argv[3]));
    else if (is("clients") || is("servers"))
        spawn(argv, atoi(argv[3]));
    else if (is("each"))
        call_each(argv[2], atoi(argv[3]));
    else if (!is("nothing"))
        call(argv[2], atoi(argv[3]));
    MPI_Finalize();
    if (!rank && !is("nothing"))
        printf("%s is done\n", argv[1]);
    return argc != 5;
}
