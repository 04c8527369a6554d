/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs of several mpiexecs with processes of all in one communicator (mixed_test.py):
 *
 *     mixed JOB CASE PATH
 *
 * JOB is a letter from A on. The name of port X is left in PATH.X; see cases for what they do. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONG = 200000, ROUNDS = 10, NAME = 4200 };

static int rank, size;
static char job;
static const char *which, *path;
static char *program;

static void must(int holds, const char *what, int line)
{
    if (holds)
        return;
    printf("job %c, rank %d: %s does not hold (line %d)\n", job, rank, what, line);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 3);
}
#define MUST(what) must(what, #what, __LINE__)

static int is(const char *name)
{
    return !strcmp(which, name);
}

/* --- ways together --- */

static void tell_port(char *port, char letter)
{
    char begun[NAME + 8], name[NAME];
    FILE *file;

    MPI_Open_port(MPI_INFO_NULL, port);
    snprintf(name, sizeof name, "%s.%c", path, letter);
    snprintf(begun, sizeof begun, "%s.new", name);
    file = fopen(begun, "w");
    fputs(port, file);
    fclose(file);
    rename(begun, name);
}

/* Rank `root` of the communicator accepts, at a port of that letter. */
static MPI_Comm accept_one(MPI_Comm comm, int root, char letter)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter;
    int here;

    MPI_Comm_rank(comm, &here);
    if (here == root)
        tell_port(port, letter);
    MPI_Comm_accept(port, MPI_INFO_NULL, root, comm, &inter);
    if (here == root)
        MPI_Close_port(port);
    return inter;
}

static MPI_Comm call(MPI_Comm comm, int root, char other)
{
    char port[MPI_MAX_PORT_NAME] = "", name[NAME];
    FILE *file = NULL;
    MPI_Comm inter;
    int here;

    MPI_Comm_rank(comm, &here);
    snprintf(name, sizeof name, "%s.%c", path, other);
    while (here == root && !(file = fopen(name, "r")))
        usleep(2000);
    if (file) {
        MUST(fgets(port, sizeof port, file) != NULL);
        fclose(file);
    }
    MPI_Comm_connect(port, MPI_INFO_NULL, root, comm, &inter);
    return inter;
}

static MPI_Comm merge(MPI_Comm inter, int is_high)
{
    MPI_Comm all;

    MPI_Intercomm_merge(inter, is_high, &all);
    MPI_Comm_disconnect(&inter);
    return all;
}

/* --- what all do with each other --- */

static int rank_in(MPI_Comm comm)
{
    int here;

    MPI_Comm_rank(comm, &here);
    return here;
}

static int size_of(MPI_Comm comm)
{
    int count;

    MPI_Comm_size(comm, &count);
    return count;
}

static void reduce(MPI_Comm comm)
{
    const int here = rank_in(comm), count = size_of(comm);
    int sum;

    MPI_Allreduce(&here, &sum, 1, MPI_INT, MPI_SUM, comm);
    MUST(sum == count * (count - 1) / 2);
}

static void each_with_each(MPI_Comm comm)
{
    const int here = rank_in(comm), count = size_of(comm);
    char *own = malloc(LONG), *of_all = malloc((size_t)LONG * (size_t)count);
    int in = -1, out;

    for (int i = 0; i < count; i++) {
        const int to = (here + i) % count, from = (here + count - i) % count;
        out = 1000 * here + to;
        MPI_Sendrecv(&out, 1, MPI_INT, to, i, &in, 1, MPI_INT, from, i, comm, MPI_STATUS_IGNORE);
        MUST(in == 1000 * from + here);
    }
    memset(own, here, LONG);
    MPI_Allgather(own, LONG, MPI_CHAR, of_all, LONG, MPI_CHAR, comm);
    for (int i = 0; i < count; i++)
        MUST(of_all[(size_t)i * LONG] == i && of_all[(size_t)i * LONG + LONG - 1] == i);
    free(own);
    free(of_all);
}

/* Those of the other side hear from each of this one. */
static void talk(MPI_Comm inter)
{
    int others, sum, own = rank_in(inter) + 1;

    MPI_Comm_remote_size(inter, &others);
    MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, inter);
    MUST(sum == others * (others + 1) / 2);
    for (int i = 0; i < others; i++) {
        int in = -1, out = 100 * rank_in(inter) + i;
        MPI_Sendrecv(&out, 1, MPI_INT, i, 5, &in, 1, MPI_INT, i, 5, inter, MPI_STATUS_IGNORE);
        MUST(in == 100 * i + rank_in(inter));
    }
}

static void make_some(MPI_Comm all)
{
    const int here = rank_in(all), count = size_of(all);
    MPI_Comm dup, again, half, home, some, machine;
    MPI_Request request;
    MPI_Group group;
    int result;

    MPI_Comm_dup(all, &dup);
    MPI_Comm_compare(all, dup, &result);
    MUST(result == MPI_CONGRUENT);
    MPI_Comm_idup(dup, &again, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&dup);
    reduce(again);
    MPI_Comm_split(again, here % 2, -here, &half);
    MUST(size_of(half) == (count + 1 - here % 2) / 2);
    reduce(half);
    MPI_Comm_group(half, &group);
    MPI_Comm_create_group(again, group, here % 2, &some);
    reduce(some);
    MPI_Comm_free(&some);
    MPI_Comm_create(again, group, &some);
    reduce(some);
    MPI_Comm_free(&some);
    MPI_Comm_split_type(again, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &home);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MUST(size_of(home) == size_of(machine));
    reduce(home);
    MPI_Comm_compare(home, machine, &result);
    MUST(result == MPI_CONGRUENT || result == MPI_SIMILAR);
    MPI_Group_free(&group);
    MPI_Comm_free(&machine);
    MPI_Comm_free(&home);
    MPI_Comm_free(&half);
    MPI_Comm_free(&again);
}

static void halves(MPI_Comm all)
{
    const int here = rank_in(all);
    MPI_Comm half, inter, part, dup;

    MPI_Comm_split(all, here % 2, here, &half);
    MPI_Intercomm_create(half, 0, all, !(here % 2), 7, &inter);
    talk(inter);
    MPI_Comm_dup(inter, &dup);
    MPI_Comm_split(dup, 0, -here, &part);
    talk(part);
    MPI_Comm_free(&part);
    MPI_Comm_free(&half);
    MPI_Comm_free(&inter);
    MPI_Intercomm_merge(dup, here % 2, &half);
    reduce(half);
    MPI_Comm_free(&half);
    MPI_Comm_free(&dup);
}

static void from_groups(MPI_Comm all)
{
    const int here = rank_in(all), count = size_of(all);
    MPI_Group group, even, odd;
    MPI_Comm again, inter;
    int evens[] = { 0, (count - 1) / 2 * 2, 2 }, odds[] = { 1, (count - 2) / 2 * 2 + 1, 2 }, result;

    MPI_Comm_group(all, &group);
    MPI_Group_range_incl(group, 1, &evens, &even);
    MPI_Group_range_incl(group, 1, &odds, &odd);
    MPI_Comm_create_from_group(group, "all", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &again);
    MPI_Comm_compare(all, again, &result);
    MUST(result == MPI_CONGRUENT);
    reduce(again);
    MPI_Comm_free(&again);
    MPI_Intercomm_create_from_groups(here % 2 ? odd : even, 0, here % 2 ? even : odd, 0, "both", MPI_INFO_NULL,
                                     MPI_ERRORS_ARE_FATAL, &inter);
    talk(inter);
    MPI_Comm_free(&inter);
    MPI_Group_free(&group);
    MPI_Group_free(&even);
    MPI_Group_free(&odd);
}

static void topologies(MPI_Comm all)
{
    const int here = rank_in(all), count = size_of(all), is_round = 1;
    const int from = (here + count - 1) % count, to = (here + 1) % count;
    MPI_Comm ring, graph;
    int both[2] = { -1, -1 }, in = -1;

    MPI_Cart_create(all, 1, &count, &is_round, 0, &ring);
    MPI_Neighbor_allgather(&here, 1, MPI_INT, both, 1, MPI_INT, ring);
    MUST(both[0] == from && both[1] == to);
    MPI_Comm_free(&ring);
    MPI_Dist_graph_create_adjacent(all, 1, &from, MPI_UNWEIGHTED, 1, &to, MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &graph);
    reduce(graph);
    MPI_Neighbor_alltoall(&here, 1, MPI_INT, &in, 1, MPI_INT, graph);
    MPI_Comm_free(&graph);
}

static void windows(MPI_Comm all)
{
    const int here = rank_in(all), count = size_of(all);
    int *memory, zero = 0, old = -1, one = 1;
    MPI_Win win;

    MPI_Win_allocate(2 * sizeof *memory, sizeof *memory, MPI_INFO_NULL, all, &memory, &win);
    memory[0] = memory[1] = 0;
    MPI_Win_fence(0, win);
    MPI_Accumulate(&here, 1, MPI_INT, (here + 1) % count, 0, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    MUST(memory[0] == (here + count - 1) % count);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Fetch_and_op(&one, &old, MPI_INT, 0, 1, MPI_SUM, win);
    MPI_Win_unlock(0, win);
    MUST(old >= 0 && old < count);
    MPI_Barrier(all);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Get_accumulate(&zero, 1, MPI_INT, &old, 1, MPI_INT, 0, 1, 1, MPI_INT, MPI_NO_OP, win);
    MPI_Win_unlock(0, win);
    MUST(old == count);
    MPI_Win_free(&win);
}

static void files(MPI_Comm all)
{
    const int here = rank_in(all), count = size_of(all);
    char name[NAME];
    MPI_File file;
    int in = -1;

    snprintf(name, sizeof name, "%s.data", path);
    MPI_File_open(all, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_write_at_all(file, here * (int)sizeof here, &here, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(all);
    MPI_File_sync(file);
    MPI_File_read_at_all(file, (here + 1) % count * (int)sizeof in, &in, 1, MPI_INT, MPI_STATUS_IGNORE);
    MUST(in == (here + 1) % count);
    MPI_File_close(&file);
}

/* Epochs of other kinds, memory that is attached, memory that the members of one job share. */
static void more_windows(MPI_Comm all)
{
    const int here = rank_in(all), count = size_of(all), next = (here + 1) % count, before = (here + count - 1) % count;
    int memory[2] = { -1, here }, in = -1;
    MPI_Group group, to, from;
    MPI_Aint address, theirs;
    int *shared;
    MPI_Comm home;
    MPI_Win win;

    MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, all, &win);
    MPI_Win_get_group(win, &group);
    MPI_Group_incl(group, 1, &next, &to);
    MPI_Group_incl(group, 1, &before, &from);
    MPI_Win_post(from, 0, win);
    MPI_Win_start(to, 0, win);
    MPI_Put(&here, 1, MPI_INT, next, 0, 1, MPI_INT, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    MUST(memory[0] == before);
    MPI_Win_lock_all(0, win);
    MPI_Get(&in, 1, MPI_INT, next, 1, 1, MPI_INT, win);
    MPI_Win_flush(next, win);
    MUST(in == next);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Win_create_dynamic(MPI_INFO_NULL, all, &win);
    MPI_Win_attach(win, memory, sizeof memory);
    MPI_Get_address(memory, &address);
    MPI_Sendrecv(&address, 1, MPI_AINT, before, 3, &theirs, 1, MPI_AINT, next, 3, all, MPI_STATUS_IGNORE);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win);
    MPI_Put(&here, 1, MPI_INT, next, theirs, 1, MPI_INT, win);
    MPI_Win_unlock(next, win);
    MPI_Barrier(all);
    MUST(memory[0] == before);
    MPI_Win_detach(win, memory);
    MPI_Win_free(&win);
    MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &home);
    MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, home, &shared, &win);
    *shared = here;
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    MPI_Comm_free(&home);
    MPI_Group_free(&group);
    MPI_Group_free(&to);
    MPI_Group_free(&from);
}

/* By the shared file pointer. */
static void more_files(MPI_Comm all)
{
    const int here = rank_in(all), count = size_of(all);
    int in = -1, sum = 0, total;
    char name[NAME];
    MPI_Offset size_now;
    MPI_File file;

    snprintf(name, sizeof name, "%s.data2", path);
    MPI_File_open(all, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_write_ordered(file, &here, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_write_shared(file, &here, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(all);
    MPI_File_sync(file);
    MPI_File_get_size(file, &size_now);
    MUST(size_now == 2 * count * (int)sizeof(int));
    MPI_File_read_at(file, here * (int)sizeof in, &in, 1, MPI_INT, MPI_STATUS_IGNORE);
    MUST(in == here);
    MPI_File_read_at(file, (count + here) * (int)sizeof in, &in, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_Allreduce(&in, &sum, 1, MPI_INT, MPI_SUM, all);
    total = count * (count - 1) / 2;
    MUST(sum == total);
    MPI_File_close(&file);
}

/* Nonblocking, persistent and partitioned ones. */
static void more_calls(MPI_Comm all)
{
    const int here = rank_in(all), count = size_of(all), to = (here + 1) % count, from = (here + count - 1) % count;
    int *of_all = malloc((size_t)count * sizeof *of_all), *out = malloc((size_t)count * sizeof *out), sum = 0;
    char *kept = malloc(2 * LONG);
    MPI_Request request[3];
    MPI_Comm part;

    for (int i = 0; i < count; i++)
        out[i] = 100 * here + i;
    MPI_Ialltoall(out, 1, MPI_INT, of_all, 1, MPI_INT, all, &request[0]);
    MPI_Iallreduce(&here, &sum, 1, MPI_INT, MPI_SUM, all, &request[1]);
    MPI_Ibarrier(all, &request[2]);
    MPI_Waitall(3, request, MPI_STATUSES_IGNORE);
    for (int i = 0; i < count; i++)
        MUST(of_all[i] == 100 * i + here);
    MUST(sum == count * (count - 1) / 2);
    MPI_Allreduce_init(&here, &sum, 1, MPI_INT, MPI_SUM, all, MPI_INFO_NULL, &request[0]);
    for (int i = 0; i < 3; i++) {
        MPI_Start(&request[0]);
        MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request[0]);
    MPI_Scan(&here, &sum, 1, MPI_INT, MPI_SUM, all);
    MUST(sum == here * (here + 1) / 2);
    MPI_Psend_init(kept, 4, LONG / 4, MPI_CHAR, to, 6, all, MPI_INFO_NULL, &request[0]);
    MPI_Precv_init(kept + LONG, 4, LONG / 4, MPI_CHAR, from, 6, all, MPI_INFO_NULL, &request[1]);
    for (int round = 0; round < 2; round++) {
        memset(kept, here + round, LONG);
        MPI_Startall(2, request);
        MPI_Pready_range(0, 3, request[0]);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        MUST(kept[LONG] == from + round && kept[2 * LONG - 1] == from + round);
    }
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
    MPI_Comm_split_type(all, MPI_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL, &part);
    if (part != MPI_COMM_NULL) {
        MUST(size_of(part) < count);
        reduce(part);
        MPI_Comm_free(&part);
    }
    free(of_all);
    free(out);
    free(kept);
}

static void do_all(MPI_Comm all)
{
    each_with_each(all);
    make_some(all);
    halves(all);
    from_groups(all);
    topologies(all);
    windows(all);
    more_windows(all);
    files(all);
    more_files(all);
    more_calls(all);
}

/* Children of a communicator of several jobs: they know all parents, and these them. */
static void spawn(MPI_Comm all, int root)
{
    char letter[] = { job, 0 }, *words[] = { letter, "child", (char *)path, NULL };
    MPI_Comm inter, family;

    MPI_Comm_spawn(program, words, 2, MPI_INFO_NULL, root, all, &inter, MPI_ERRCODES_IGNORE);
    talk(inter);
    family = merge(inter, 0);
    each_with_each(family);
    from_groups(family);
    MPI_Comm_disconnect(&family);
}

static void be_child(MPI_Comm parents)
{
    MPI_Comm family;

    talk(parents);
    family = merge(parents, 1);
    each_with_each(family);
    from_groups(family);
    MPI_Comm_disconnect(&family);
}

/* --- how three jobs come together --- */

/* A and B, then these and C. */
static MPI_Comm one_by_one(void)
{
    MPI_Comm two;

    if (job == 'C')
        return merge(is("connect") ? accept_one(MPI_COMM_WORLD, size - 1, 'C') : call(MPI_COMM_WORLD, 0, 'C'), 1);
    two = job == 'A' ? merge(accept_one(MPI_COMM_WORLD, 0, 'B'), 0) : merge(call(MPI_COMM_WORLD, size - 1, 'B'), 1);
    spawn(two, 0);
    spawn(two, size_of(two) - 1);
    return merge(is("connect") ? call(two, size_of(two) - 1, 'C') : accept_one(two, 0, 'C'), 0);
}

/* A with B and A with C, each by its rank 0 alone; then all, over these. B and C know nothing of each other. */
static MPI_Comm by_bridges(void)
{
    MPI_Comm bridge, other, two, all;

    if (job != 'A') {
        bridge = rank ? MPI_COMM_NULL : merge(call(MPI_COMM_SELF, 0, job), 1);
        MPI_Intercomm_create(MPI_COMM_WORLD, 0, bridge, 0, job, &two);
        if (!rank)
            MPI_Comm_disconnect(&bridge);
        if (job == 'C')
            return merge(two, 1);
        two = merge(two, 1);
        MPI_Intercomm_create(two, 0, MPI_COMM_NULL, 0, 'C', &all);
        MPI_Comm_disconnect(&two);
        return merge(all, 0);
    }
    bridge = rank ? MPI_COMM_NULL : merge(accept_one(MPI_COMM_SELF, 0, 'B'), 0);
    other = rank ? MPI_COMM_NULL : merge(accept_one(MPI_COMM_SELF, 0, 'C'), 0);
    MPI_Intercomm_create(MPI_COMM_WORLD, 0, bridge, 1, 'B', &two);
    two = merge(two, 0);
    MPI_Intercomm_create(two, 0, other, 1, 'C', &all);
    MPI_Comm_disconnect(&two);
    if (!rank) {
        MPI_Comm_disconnect(&bridge);
        MPI_Comm_disconnect(&other);
    }
    return merge(all, 0);
}

/* A and B, and C and D; then all of these. */
static MPI_Comm by_twos(void)
{
    const int is_low = job == 'A' || job == 'B', is_first = job == 'A' || job == 'C';
    const char letter = is_low ? 'B' : 'D';
    MPI_Comm two = merge(is_first ? accept_one(MPI_COMM_WORLD, 0, letter) : call(MPI_COMM_WORLD, 0, letter), !is_first);
    MPI_Comm four = is_low ? accept_one(two, 0, 'A') : call(two, size_of(two) - 1, 'A');

    MPI_Comm_disconnect(&two);
    return merge(four, !is_low);
}

static MPI_Comm come_together(void)
{
    if (is("accept") || is("connect"))
        return one_by_one();
    return is("four") ? by_twos() : by_bridges();
}

/* --- ends --- */

/* Wait for the end of all. */
static void wait_for_ever(MPI_Comm comm)
{
    int word;

    MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 9, comm, MPI_STATUS_IGNORE);
}

/* One of C fails, and all are connected with it. */
static void die(MPI_Comm all)
{
    reduce(all);
    if (job == 'C' && rank == size - 1)
        raise(9);
    wait_for_ever(all);
}

/* B and C have nothing in common but A. */
static void die_at_the_end_of_a_chain(void)
{
    MPI_Comm one, other;

    if (job == 'A') {
        one = accept_one(MPI_COMM_WORLD, 0, 'B');
        other = accept_one(MPI_COMM_WORLD, 0, 'C');
        talk(other);
    } else {
        one = other = call(MPI_COMM_WORLD, 0, job);
    }
    if (job == 'C') {
        talk(other);
        if (rank == size - 1)
            raise(9);
    }
    wait_for_ever(one);
}

static void abort_all(MPI_Comm all)
{
    reduce(all);
    if (job == 'B' && !rank)
        MPI_Abort(all, 7);
    wait_for_ever(all);
}

/* A goes; B and C are connected, by nothing but themselves, and one of them fails then. */
static void leave(MPI_Comm all)
{
    MPI_Comm some;

    MPI_Comm_split(all, job == 'A', 0, &some);
    MPI_Comm_disconnect(&all);
    if (job != 'A') {
        for (int i = 0; i < ROUNDS; i++) {
            do_all(some);
            usleep(20000);
        }
        while (!access(path, F_OK)) /* until A is over */
            usleep(2000);
        die(some);
    }
    MPI_Comm_disconnect(&some);
}

/* They are on their own, and one fails. */
static void part(MPI_Comm all)
{
    MPI_Comm_disconnect(&all);
    if (job == 'C' && !rank)
        raise(9);
    if (job == 'C')
        pause();
    while (!access(path, F_OK)) /* until C is over */
        usleep(2000);
    reduce(MPI_COMM_WORLD);
}

/* Until somebody is killed. PATH goes when all are connected. */
static void go_on(MPI_Comm all)
{
    reduce(all);
    if (job == 'A' && !rank)
        unlink(path);
    for (;;)
        do_all(all);
}

/* Somebody is waited for who never comes: A0 for C0, and all others for A0. */
static void hang(MPI_Comm all)
{
    if (job == 'C' && !rank)
        wait_for_ever(MPI_COMM_SELF);
    MPI_Barrier(all);
}

static void *in_thread(void *arg)
{
    MPI_Comm *own = arg, again;
    MPI_Group group;

    MPI_Comm_group(*own, &group);
    for (int i = 0; i < 3 * ROUNDS; i++) {
        MPI_Comm_create_from_group(group, "thread", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &again);
        reduce(again);
        MPI_Comm_free(&again);
    }
    MPI_Group_free(&group);
    return NULL;
}

/* Threads agree at the same time, each on a communicator of its own, with other members. */
static void threads(MPI_Comm all)
{
    enum { THREADS = 3 };
    const int here = rank_in(all), count = size_of(all);
    MPI_Comm own[THREADS];
    pthread_t thread[THREADS];

    for (int i = 0; i < THREADS; i++)
        MPI_Comm_split(all, 0, (here + i) % count, &own[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, in_thread, &own[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        MPI_Comm_free(&own[i]);
    }
}

/* More often than there are circles of contexts; a message in each. */
static void often(MPI_Comm all)
{
    MPI_Comm dup, again;
    MPI_Group group;

    MPI_Comm_group(all, &group);
    for (int i = 0; i < 1100; i++) {
        MPI_Comm_create_from_group(group, "often", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &again);
        MPI_Comm_dup(again, &dup);
        MPI_Comm_free(&again);
        reduce(dup);
        MPI_Comm_free(&dup);
    }
    MPI_Group_free(&group);
}

/* More children than there are places: these are had again in all jobs. */
static void spawn_many(MPI_Comm all)
{
    for (int i = 0; i < 70; i++)
        spawn(all, i % size_of(all));
}

static void meet(MPI_Comm all)
{
    static const struct {
        const char *name;
        void (*what)(MPI_Comm all);
        int is_last; /* what it does ends the communicator */
    } cases[] = { { "dies", die, 0 }, { "aborts", abort_all, 0 }, { "goes on", go_on, 0 },
                  { "leaves", leave, 1 }, { "parts", part, 1 },
                  { "hangs", hang, 0 }, { "threads", threads, 0 }, { "often", often, 0 },
                  { "spawns", spawn_many, 0 } };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (!is(cases[i].name))
            continue;
        cases[i].what(all);
        if (!cases[i].is_last)
            MPI_Comm_disconnect(&all);
        return;
    }
    do_all(all);
    MPI_Comm_disconnect(&all);
}

int main(int argc, char **argv)
{
    MPI_Comm parent;
    int provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    program = argv[0];
    job = *argv[1];
    which = argv[2];
    path = argv[3];
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        be_child(parent);
        MPI_Finalize();
        return argc != 4;
    }
    if (is("chain"))
        die_at_the_end_of_a_chain();
    meet(come_together());
    MPI_Finalize();
    if (!rank)
        printf("%c is done\n", job);
    return argc != 4;
}
