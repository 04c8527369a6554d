/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: comm. Process sets (MPI 5.0 §11.3.2): mpi://WORLD, mpi://SELF, and one for each part of the command line
 * that started the job: by the name that the user has given it, which several parts may share, else mpix://app/N if
 * there are several parts. They never change. Nothing is kept: what is asked is read from what the launcher has
 * left. Over several clients of IMPI, if all are of this library, mpi://WORLD has the processes of all, and each client
 * is mpix://client/N; parts are those of the own client. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "comm/int_comm.h"

static const char world_name[] = "mpi://WORLD", self_name[] = "mpi://SELF", prefix[] = "mpix://";

/* Does mpi://WORLD have the processes of all clients? */
static bool is_joint(void)
{
    const struct joint *joint = comm_world.joint;
    uint32_t alike = 0;

    while (joint && alike < joint->clients &&
           joint_is_parley(joint, (int)joint_client(joint, (int)alike)->first_rank))
        alike++;
    return joint && alike == joint->clients;
}

static int joint_group(int first, int count, struct group **out)
{
    int *procs = mem_alloc((size_t)count * sizeof *procs), rc;

    if (!procs)
        return err(MPI_ERR_NO_MEM, "no memory for a process set of %d", count);
    for (int i = 0; i < count; i++)
        procs[i] = joint_number(comm_world.joint, first + i);
    rc = group_create_list(count, procs, comm_world.proc, out);
    mem_free(procs);
    return rc;
}

static void client_name(int client, char name[MPI_MAX_PSET_NAME_LEN])
{
    snprintf(name, MPI_MAX_PSET_NAME_LEN, "%sclient/%d", prefix, client);
}

/* -1: it is no name of a client. */
static int find_client(const char *name)
{
    const int clients = is_joint() ? (int)comm_world.joint->clients : 0;
    char full[MPI_MAX_PSET_NAME_LEN];

    for (int client = 0; client < clients; client++) {
        client_name(client, full);
        if (!strcmp(name, full) || !strcmp(name, full + sizeof prefix - 1))
            return client;
    }
    return -1;
}

/* What the user has called this part; "": nothing. */
static const char *given_name(int app)
{
    const char *at = comm_world.environment.psets, *const end = at + comm_world.environment.pset_bytes;

    for (; at && app > 0 && at < end; app--)
        at += strlen(at) + 1;
    return at && at < end ? at : "";
}

/* The name of its set; false: it has none. */
static bool app_name(int app, char name[MPI_MAX_PSET_NAME_LEN])
{
    const char *given = given_name(app);

    if (!*given && comm_world.environment.apps < 2)
        return false;
    if (*given)
        snprintf(name, MPI_MAX_PSET_NAME_LEN, "%s%s", strstr(given, "://") ? "" : prefix, given);
    else
        snprintf(name, MPI_MAX_PSET_NAME_LEN, "%sapp/%d", prefix, app);
    return true;
}

static int app_of(int proc)
{
    return comm_world.environment.apps < 2 ? 0 : comm_world.environment.app(proc);
}

int comm_pset_count(void)
{
    char name[MPI_MAX_PSET_NAME_LEN];

    return 2 + is_joint() + app_name(app_of(comm_world.proc), name);
}

void comm_pset_name(int n, char name[MPI_MAX_PSET_NAME_LEN])
{
    if (n < 2)
        strcpy(name, n ? self_name : world_name);
    else if (n == 2 && is_joint())
        client_name((int)comm_world.joint->client, name);
    else
        app_name(app_of(comm_world.proc), name);
}

/* Is that the name of the set of this part, in full or without the scheme? */
static bool is_name_of(const char *name, int app)
{
    const size_t length = sizeof prefix - 1;
    char full[MPI_MAX_PSET_NAME_LEN];

    return app_name(app, full) &&
           (!strcmp(name, full) || (!strncmp(full, prefix, length) && !strcmp(name, full + length)));
}

static int app_group(const bool *is_in, struct group **out)
{
    int *procs = mem_alloc((size_t)comm_world.size * sizeof *procs), count = 0, rc;

    if (!procs)
        return err(MPI_ERR_NO_MEM, "no memory for a process set of up to %d", comm_world.size);
    for (int proc = comm_world.first; proc < comm_world.first + comm_world.size; proc++)
        if (is_in[app_of(proc)])
            procs[count++] = proc;
    rc = comm_group_make(count, procs, out);
    mem_free(procs);
    return rc;
}

/* URIs: capitals make no difference in what the standard defines. */
int comm_pset_group(const char *name, struct group **out)
{
    const int apps = comm_world.environment.apps < 2 ? 1 : comm_world.environment.apps, client = find_client(name);
    bool *is_in, is_known = false;
    int rc = 0;

    *out = NULL;
    if (client >= 0)
        return joint_group((int)joint_client(comm_world.joint, client)->first_rank,
                           (int)joint_client(comm_world.joint, client)->procs, out);
    if (!strcasecmp(name, world_name) && is_joint())
        return joint_group(0, (int)comm_world.joint->procs, out);
    if (!strcasecmp(name, world_name))
        return group_create_stride(comm_world.size, comm_world.first, 1, comm_world.proc, out);
    if (!strcasecmp(name, self_name))
        return group_create_stride(1, comm_world.proc, 1, comm_world.proc, out);
    is_in = mem_alloc((size_t)apps * sizeof *is_in);
    if (!is_in)
        return err(MPI_ERR_NO_MEM, "no memory for %d parts of the command line", apps);
    for (int app = 0; app < apps; app++)
        is_known |= is_in[app] = is_name_of(name, app);
    if (is_known)
        rc = app_group(is_in, out);
    mem_free(is_in);
    return rc;
}
