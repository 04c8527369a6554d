/* SPDX-License-Identifier: BSD-3-Clause */
/* For launch_test.py: prints the memory kinds that a session has, one that asks for nothing known, one that asks for
 * some, and MPI_COMM_WORLD. */
#include <mpi.h>
#include <stdio.h>

static const char key[] = "mpi_memory_alloc_kinds";

static void show(MPI_Info info)
{
    char value[MPI_MAX_INFO_VAL + 1] = "(none)";
    int len = sizeof value, flag;

    MPI_Info_get_string(info, key, &len, value, &flag);
    puts(value);
    MPI_Info_free(&info);
}

/* NULL: it asks for nothing. */
static void show_session(const char *wanted)
{
    MPI_Info info;
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;

    MPI_Info_create(&info);
    if (wanted)
        MPI_Info_set(info, key, wanted);
    MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Info_free(&info);
    MPI_Group_from_session_pset(session, "mpi://SELF", &group);
    MPI_Comm_create_from_group(group, "kinds", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Comm_get_info(comm, &info);
    show(info);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
}

int main(void)
{
    MPI_Info info;

    MPI_Init(NULL, NULL);
    show_session(NULL);
    show_session("rocm:device,");
    show_session("system,mpi:alloc_mem,mpi:alloc_mem,mpix");
    MPI_Comm_get_info(MPI_COMM_WORLD, &info);
    show(info);
    fflush(stdout);
    return MPI_Finalize();
}
