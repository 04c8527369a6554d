/* SPDX-License-Identifier: BSD-3-Clause */
/* A process of the job may fork while messages are under way: the child is no MPI process, its end harms nobody, and
 * the parent goes on. In Parley MPI is over in the child (MPI_Finalized says so), and a call that needs it is an error
 * that names the parent. Argument: return, or fatal for the handler that a program has by default. */
#include "mpitest.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 6, COUNT = 30000 };

extern char **environ;

/* In the child: exit codes say which check failed. */
static int live_as_child(pid_t parent, const char *way)
{
    char text[MPI_MAX_ERROR_STRING], part[32];
    int flag, length, value = 0, rc;

    if (!test_is_parley())
        return 0;
    if (MPI_Initialized(&flag) || !flag)
        return 2;
    if (MPI_Finalized(&flag) || !flag)
        return 3;
    rc = MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD); /* fatal: it does not come back */
    if (strcmp(way, "return") != 0 || !rc || MPI_Error_string(rc, text, &length))
        return 4;
    snprintf(part, sizeof part, "(process %d)", (int)parent);
    if (test_size == 1)
        snprintf(part, sizeof part, "process %d has forked", (int)parent);
    if (!strstr(text, part) || !strstr(text, "forked")) {
        fprintf(stderr, "'%s' is not in '%s'\n", part, text);
        return 5;
    }
    if (!MPI_Barrier(MPI_COMM_SELF) || !MPI_Finalize() || !MPI_Init(NULL, NULL))
        return 6;
    return 0;
}

static void end_child(pid_t child, const char *way)
{
    int status;

    CHECK(child > 0, "no child");
    CHECK(waitpid(child, &status, 0) == child, "its end is not told");
    if (strcmp(way, "return") == 0)
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with status 0x%x", (unsigned)status);
    else
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 4, "status 0x%x",
              (unsigned)status);
}

/* A child of this process in one of the ways that programs use. */
static pid_t make_child(int turn, const char *way)
{
    static char name[] = "true";
    char *const argv[] = { name, NULL };
    const pid_t parent = getpid();
    pid_t child;

    if (turn % 3 == 2) {
        CHECK(!posix_spawnp(&child, name, NULL, NULL, argv, environ), "posix_spawn of true");
        if (strcmp(way, "return") != 0) { /* its status would be 0 */
            end_child(child, "return");
            return 0;
        }
        return child;
    }
    fflush(NULL);
    child = fork();
    if (child)
        return child;
    if (turn % 3 == 0)
        _exit(live_as_child(parent, way));
    child = fork(); /* a grandchild says the same */
    if (child == 0)
        _exit(live_as_child(parent, way));
    if (waitpid(child, &turn, 0) != child)
        _exit(7);
    exit(WEXITSTATUS(turn)); /* what was registered to run at exit runs here, too */
}

static void fill(int *data, int who, int turn)
{
    for (int i = 0; i < COUNT; i++)
        data[i] = who * 1000003 + turn * 1009 + i;
}

int main(int argc, char **argv)
{
    static int out[COUNT], in[COUNT], expected[COUNT];
    int to, from, small = 0;
    const char *way;
    MPI_Errhandler handler;

    test_begin(&argc, &argv);
    CHECK(argc == 2, "usage: fork return|fatal");
    way = argv[1];
    if (strcmp(way, "return") != 0 && !test_is_parley())
        test_skip("what becomes of MPI in a child is not in the standard");
    to = (test_rank + 1) % test_size;
    from = (test_rank + test_size - 1) % test_size;
    handler = strcmp(way, "return") == 0 ? MPI_ERRORS_RETURN : MPI_ERRORS_ARE_FATAL;
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, handler));
    for (int turn = 0; turn < ROUNDS; turn++) {
        MPI_Request requests[4];
        pid_t child;

        fill(out, test_rank, turn);
        fill(expected, from, turn);
        memset(in, 0, sizeof in);
        CHECK_OK(MPI_Irecv(in, COUNT, MPI_INT, from, turn, MPI_COMM_WORLD, &requests[0]));
        CHECK_OK(MPI_Isend(out, COUNT, MPI_INT, to, turn, MPI_COMM_WORLD, &requests[1]));
        child = make_child(turn, way);
        CHECK_OK(MPI_Irecv(&small, 1, MPI_INT, from, 99, MPI_COMM_WORLD, &requests[2]));
        CHECK_OK(MPI_Isend(&turn, 1, MPI_INT, to, 99, MPI_COMM_WORLD, &requests[3]));
        CHECK_OK(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
        CHECK(memcmp(in, expected, sizeof in) == 0, "turn %d: the message of rank %d came wrong", turn, from);
        CHECK_INT(small, turn);
        if (child)
            end_child(child, way);
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    test_end();
    return 0;
}
