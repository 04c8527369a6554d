/* SPDX-License-Identifier: BSD-3-Clause */
/* What can go wrong with processes that are started later: `spawner CASE`. Children are the same program. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *program, *what, service[40]; /* a name that no other job has */
static int rank;
static MPI_Comm other;

static int is(const char *name)
{
    return !strcmp(what, name);
}

static void start(const char *command, int count, const char *key, const char *value)
{
    char *words[] = { what, NULL };
    MPI_Info info = MPI_INFO_NULL;

    if (key) {
        MPI_Info_create(&info);
        MPI_Info_set(info, key, value);
    }
    MPI_Comm_spawn(command, words, count, info, 0, MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE);
    if (key)
        MPI_Info_free(&info);
}

static void refused(void)
{
    char port[MPI_MAX_PORT_NAME];
    MPI_Info info;

    if (is("missing"))
        start("./there is no such program", 1, NULL, NULL);
    else if (is("room"))
        start(program, 2000, NULL, NULL);
    else if (is("nothing"))
        start("/bin/true", 2, NULL, NULL);
    else if (is("key"))
        start(program, 1, "soft", "nonsense");
    MPI_Open_port(MPI_INFO_NULL, port);
    if (is("twice"))
        for (int i = 0; i < 2; i++)
            MPI_Publish_name(service, MPI_INFO_NULL, port);
    else if (is("unknown"))
        MPI_Lookup_name(service, MPI_INFO_NULL, port);
    else if (is("no_port"))
        MPI_Comm_connect("nonsense", MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
    else if (is("nobody"))
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
    else if (is("others_port")) {
        MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
        if (rank == 1)
            MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (is("far_late") || is("far_closed") || is("far_closes")) {
        MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
        MPI_Info_create(&info);
        if (is("far_late"))
            MPI_Info_set(info, "timeout", "0.05");
        if (rank == 0 && is("far_closed"))
            MPI_Close_port(port);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1)
            MPI_Comm_connect(port, info, 0, MPI_COMM_SELF, &other);
        usleep(100000);
        if (rank == 0 && is("far_closes"))
            MPI_Close_port(port);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (is("closed")) {
        MPI_Close_port(port);
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
    } else if (is("ports")) {
        for (int i = 0; i < 1000; i++)
            MPI_Open_port(MPI_INFO_NULL, port);
    } else if (is("late")) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "timeout", "0.05");
        MPI_Comm_connect(port, info, 0, MPI_COMM_SELF, &other);
    } else if (is("socket")) {
        MPI_Comm_join(STDIN_FILENO, &other);
    }
}

/* All call one at the same time; some of them give up and call again. */
static void many_callers(void)
{
    char port[MPI_MAX_PORT_NAME];
    MPI_Info info;
    int size, sum = 0;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Info_create(&info);
    if (rank % 2)
        MPI_Info_set(info, "timeout", "0.01");
    if (rank == 0)
        MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank != 0)
        while (MPI_Comm_connect(port, info, 0, MPI_COMM_SELF, &other))
            usleep(1000);
    for (int i = rank == 0 ? 1 : size - 1; i < size; i++) {
        int theirs = 0;

        if (rank == 0)
            MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
        MPI_Sendrecv(&rank, 1, MPI_INT, 0, 0, &theirs, 1, MPI_INT, 0, 0, other, MPI_STATUS_IGNORE);
        MPI_Comm_disconnect(&other);
        sum += theirs;
    }
    if (rank == 0)
        printf("sum %d\n", sum);
    MPI_Info_free(&info);
}

static void tell_variable(const char *name)
{
    const char *value = getenv(name);

    printf(" %s=%s", name, value ? value : "-");
}

/* What the next generation inherits, on the host of SPAWN_HOST. */
static void variables(void)
{
    const char *generation = getenv("GENERATION"), *host = getenv("SPAWN_HOST");
    MPI_Info info;

    if (rank != 0)
        return;
    printf("%s:", generation ? generation : "0");
    tell_variable("OF_PROGRAM");
    tell_variable("OF_ALL");
    tell_variable("OF_CALL");
    tell_variable("OF_MPIEXEC");
    printf(" %s\n", getenv("FAR_HOST") ? "far" : "near");
    fflush(stdout);
    if (generation && *generation == '2')
        return;
    MPI_Info_create(&info);
    MPI_Info_set(info, "env", generation ? "GENERATION=2\nOF_ALL=changed" : "GENERATION=1\nOF_CALL=yes");
    if (host)
        MPI_Info_set(info, "host", host);
    MPI_Comm_spawn(program, (char *[]){ what, NULL }, 1, info, 0, MPI_COMM_SELF, &other, MPI_ERRCODES_IGNORE);
    MPI_Info_free(&info);
}

static void be_parent(void)
{
    const char *host = getenv("SPAWN_HOST"), *count = getenv("SPAWN_COUNT");
    int got;

    if (is("many_callers")) {
        many_callers();
        return;
    }
    if (is("again")) { /* places are used again, on other machines, too */
        for (int i = 0; i < 150; i++) {
            start(program, 1 + i % 3, "host", i % 4 < 2 ? "b" : "a");
            MPI_Barrier(other);
            MPI_Comm_disconnect(&other);
        }
        return;
    }
    start(is("no_program") ? "./there is no such program" : program, count ? atoi(count) : 2, host ? "host" : NULL,
          host);
    if (is("child_free"))
        MPI_Bcast(service, sizeof service, MPI_CHAR, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, other);
    if (is("child_free") || is("both_free"))
        MPI_Comm_disconnect(&other);
    if (is("child_free")) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            MPI_Publish_name(service, MPI_INFO_NULL, "");
    }
    if (is("parent_dies") && rank == 0)
        raise(SIGKILL);
    if (is("hang") && rank == 0)
        MPI_Recv(&got, 1, MPI_INT, 1, 7, other, MPI_STATUS_IGNORE);
    if (is("child_dies") || is("child_exits") || is("parent_dies"))
        MPI_Barrier(other);
    if (is("child_free"))
        usleep(300000);
    if (rank == 0) {
        printf("parent is done\n");
        fflush(stdout);
    }
}

static void be_child(void)
{
    const char *name = getenv("FAR_HOST"); /* of rsh.sh */
    char port[MPI_MAX_PORT_NAME];
    int got;

    if (is("again")) {
        MPI_Barrier(other);
        MPI_Comm_disconnect(&other);
        return;
    }
    if (is("where")) {
        printf("child %d on %s\n", rank, name ? name : "mpiexec's own");
        fflush(stdout);
        return;
    }
    if (is("child_free")) {
        MPI_Bcast(service, sizeof service, MPI_CHAR, 0, other);
        MPI_Comm_disconnect(&other);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        while (MPI_Lookup_name(service, MPI_INFO_NULL, port)) /* until parents are free */
            usleep(1000);
    }
    if (is("both_free")) {
        MPI_Comm_disconnect(&other);
        usleep(300000);
    }
    if ((is("child_dies") || is("child_free")) && rank == 1)
        raise(SIGKILL);
    if (is("child_exits") && rank == 1)
        exit(5);
    if (is("hang"))
        MPI_Recv(&got, 1, MPI_INT, 0, 8, other, MPI_STATUS_IGNORE);
    if (is("child_dies") || is("child_exits") || is("parent_dies"))
        MPI_Barrier(other);
    if (is("child_free"))
        pause(); /* the rest of its world ends it */
    printf("child %d is done\n", rank);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    program = argv[0];
    what = argc > 1 ? argv[1] : (char *)"";
    snprintf(service, sizeof service, "spawner of %d", (int)getpid());
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&other);
    if (is("variables")) {
        variables();
    } else if (other != MPI_COMM_NULL) {
        be_child();
    } else {
        refused();
        be_parent();
    }
    MPI_Finalize();
    return 0;
}
