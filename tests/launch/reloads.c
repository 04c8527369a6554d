/* SPDX-License-Identifier: BSD-3-Clause */
/* For the tests of mpiexec: a program that is not linked with the library opens it, uses a session, closes it, and
 * begins anew. What other processes know of this one goes on.
 *   reloads LIBRARY */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { TIMES = 3 };

static int (*begin)(MPI_Info, MPI_Errhandler, MPI_Session *), (*end)(MPI_Session *);
static int (*take_group)(MPI_Session, const char *, MPI_Group *), (*drop_group)(MPI_Group *);
static int (*make)(MPI_Group, const char *, MPI_Info, MPI_Errhandler, MPI_Comm *), (*drop)(MPI_Comm *);
static int (*sum_up)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);

static void *find(void *library, const char *name, void *place)
{
    void *const function = dlsym(library, name);

    memcpy(place, &function, sizeof function);
    return function;
}

static int use_session(int *sum)
{
    const int one = 1;
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;

    return begin(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session) || take_group(session, "mpi://WORLD", &group) ||
           make(group, "reloads", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm) || drop_group(&group) ||
           sum_up(&one, sum, 1, MPI_INT, MPI_SUM, comm) || drop(&comm) || end(&session);
}

int main(int argc, char **argv)
{
    int sum = 0;

    for (int i = 0; argc > 1 && i < TIMES; i++) {
        void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);

        if (!library || !find(library, "MPI_Session_init", &begin) || !find(library, "MPI_Session_finalize", &end) ||
            !find(library, "MPI_Group_from_session_pset", &take_group) ||
            !find(library, "MPI_Comm_create_from_group", &make) || !find(library, "MPI_Group_free", &drop_group) ||
            !find(library, "MPI_Comm_free", &drop) || !find(library, "MPI_Allreduce", &sum_up) || use_session(&sum))
            return 1;
        dlclose(library);
        printf("%d\n", sum);
        fflush(stdout);
    }
    return 0;
}
