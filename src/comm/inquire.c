/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: comm. What can be asked of a communicator without communication (MPI 5.0 §7.4.1, §7.8, §9.1.2). */
#include <limits.h>
#include <mpix.h>
#include <stdio.h>
#include <string.h>

#include "comm/int_comm.h"
#include "obj/session.h"
#include "obj/attr.h"
#include "p2p/p2p.h"

int comm_compare(const struct comm *comm1, const struct comm *comm2, int *result)
{
    int remote = MPI_IDENT, rc;

    if (comm1 == comm2 || comm1->is_inter != comm2->is_inter) {
        *result = comm1 == comm2 ? MPI_IDENT : MPI_UNEQUAL;
        return 0;
    }
    rc = comm_group_compare(comm1->group, comm2->group, result);
    if (!rc && comm1->is_inter)
        rc = comm_group_compare(comm1->remote_group, comm2->remote_group, &remote);
    if (rc)
        return rc;
    if (*result == MPI_UNEQUAL || remote == MPI_UNEQUAL)
        *result = MPI_UNEQUAL;
    else
        *result = *result == MPI_IDENT && remote == MPI_IDENT ? MPI_CONGRUENT : MPI_SIMILAR;
    return 0;
}

int comm_machine_of(const struct comm *comm, int rank)
{
    const int proc = group_proc(comm->group, rank);

    if (likely(!p2p_is_foreign_ctx(comm->ctx)))
        return place_node(proc);
    return (int)joint_proc(comm_world.joint, joint_rank(comm_world.joint, proc))->client;
}

void comm_set_name(struct comm *comm, const char *name)
{
    const size_t len = obj_name_len(name);

    obj_names_lock();
    memmove(comm->name, name, len);
    comm->name[len] = 0;
    obj_names_unlock();
}

void comm_get_name(const struct comm *comm, char *name, int *len)
{
    obj_names_lock();
    *len = snprintf(name, MPI_MAX_OBJECT_NAME, "%s", comm ? comm->name : "MPI_COMM_NULL");
    obj_names_unlock();
}

struct group *comm_group(struct comm *comm)
{
    obj_ref(&comm->group->obj);
    return comm->group;
}

struct group *comm_remote_group(struct comm *comm)
{
    obj_ref(&comm->remote_group->obj);
    return comm->remote_group;
}

/* Users get the addresses, and must not write there. */
static int tag_ub = INT_MAX, host = MPI_PROC_NULL, io = MPI_ANY_SOURCE, wtime_is_global = 0;
static int lastusedcode = MPI_ERR_LASTCODE;

void comm_set_last_code(int code)
{
    lastusedcode = code;
}

/* Of IMPI (4.2): how many clients there are, and which this process is in; the same of hosts. */
static int *client_attribute(int keyval)
{
    static int values[4] = { 1, 0, 1, 0 };
    const struct joint *joint = comm_world.joint;

    if (joint) {
        values[0] = (int)joint->clients;
        values[1] = (int)joint->client;
        values[2] = (int)joint->hosts;
        values[3] = (int)joint_proc(joint, joint_rank(joint, comm_world.proc))->host;
    }
    return &values[keyval - IMPI_CLIENT_SIZE];
}

int comm_get_attr(const struct comm *comm, int keyval, void *value, int *flag)
{
    int *attribute;

    *flag = 1; /* the predefined ones are the same for all */
    switch (keyval) {
    case MPI_TAG_UB:
        tag_ub = comm_world.joint ? comm_world.joint->tag_ub : INT_MAX;
        attribute = &tag_ub;
        break;
    case IMPI_CLIENT_SIZE:
    case IMPI_CLIENT_COLOR:
    case IMPI_HOST_SIZE:
    case IMPI_HOST_COLOR: attribute = client_attribute(keyval); break;
    case MPI_HOST: attribute = &host; break;
    case MPI_IO: attribute = &io; break;
    case MPI_WTIME_IS_GLOBAL: attribute = &wtime_is_global; break;
    case MPI_LASTUSEDCODE: attribute = &lastusedcode; break;
    case MPI_APPNUM:
        attribute = &comm_world.environment.appnum;
        *flag = *attribute >= 0;
        break;
    case MPI_UNIVERSE_SIZE:
        attribute = &comm_world.environment.universe_size;
        *flag = *attribute >= 0;
        break;
    default: return attr_get(&comm->obj, &comm->attrs, keyval, value, flag);
    }
    if (*flag)
        memcpy(value, &attribute, sizeof attribute);
    return 0;
}

const char *comm_memory_kinds(const struct comm *comm)
{
    const char *const world = comm_world.environment.memory_kinds;
    const struct session *session = session_alive(comm->session);

    if (session)
        return session->memory_kinds;
    return world ? world : "mpi,system";
}
