/* SPDX-License-Identifier: BSD-3-Clause */
/* Doors: what fits nowhere else: MPI_Pcontrol, MPI_Get_version, MPI_Comm_spawn_multiple, old names of functions for
 * error handlers. */
#include "door.h"

DOOR(int, Pcontrol, const int level, ...)
{
    return out_code(parley_calls_1.Pcontrol(level));
}

/* What the program's mpi.h says: the functions that it can know. */
DOOR(int, Get_version, int *version, int *subversion)
{
    *version = F_VERSION;
    *subversion = F_SUBVERSION;
    return MPI_SUCCESS;
}

static int sum_of(int n, const int values[])
{
    int sum = 0;

    for (int i = 0; values && i < n; i++)
        sum += values[i];
    return sum;
}

DOOR(int, Comm_spawn_multiple, int count, char *commands[], char **argvs[], const int maxprocs[], const F_Info infos[],
     int root, F_Comm comm, F_Comm *intercomm, int errcodes[])
{
    const int n = door_length(infos, count);
    MPI_Info near[DOOR_NEAR], *const our_infos = door_room(near, n, sizeof *our_infos);
    MPI_Comm made = MPI_COMM_NULL;

    for (int i = 0; i < n; i++)
        our_infos[i] = in_info(infos[i]);
    const int rc = parley_calls_1.Comm_spawn_multiple(count, commands, argvs, maxprocs, infos ? our_infos : NULL,
                                                      in_rank(root), in_comm(comm), intercomm ? &made : NULL, errcodes);
    if (!rc)
        *intercomm = out_comm(made);
    for (int i = door_length(errcodes, sum_of(count, maxprocs)) - 1; !rc && i >= 0; i--)
        errcodes[i] = out_code(errcodes[i]);
    door_room_done(our_infos, near);
    return out_code(rc);
}

/* --- names of MPI 1, removed since MPI 3.0 --- */

typedef void f_comm_handler(F_Comm *, int *, ...);

EXPORTED int PMPI_Comm_create_errhandler(f_comm_handler *, F_Errhandler *);
EXPORTED int PMPI_Comm_get_errhandler(F_Comm, F_Errhandler *);
EXPORTED int PMPI_Comm_set_errhandler(F_Comm, F_Errhandler);

DOOR(int, Errhandler_create, f_comm_handler *function, F_Errhandler *errhandler)
{
    return PMPI_Comm_create_errhandler(function, errhandler);
}

DOOR(int, Errhandler_get, F_Comm comm, F_Errhandler *errhandler)
{
    return PMPI_Comm_get_errhandler(comm, errhandler);
}

DOOR(int, Errhandler_set, F_Comm comm, F_Errhandler errhandler)
{
    return PMPI_Comm_set_errhandler(comm, errhandler);
}
