/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: comm. Processes of other clients of IMPI as what they are besides: processes of other jobs of this library
 * (struct job_abroad). Behind the places of the segment they have numbers as members of the joint world, to which
 * packets of the protocol go. That world is closed. For a communicator with anybody who is not in it, one who was
 * started later or has come through a port, the jobs of all members are connected, as jobs are that meet at a port, and
 * each member has a place here. The communicator is then one over several jobs as any other: nothing in it goes by
 * IMPI.
 *
 * So such a process may have two numbers. Groups take them for one: what they compare is the number in the joint world.
 * Knows: p2p, sys (places, the joint table). */
#include <inttypes.h>
#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"
#include "comm/joint_ids.h"
#include "p2p/lane.h"
#include "p2p/p2p.h"

int comm_number_in_world(int proc)
{
    const struct job_abroad *abroad = place_abroad(proc);
    const int rank = abroad && !abroad->tenant ? joint_find_home(comm_world.joint, abroad->job, abroad->home) : -1;

    return rank < 0 ? proc : joint_number(comm_world.joint, rank);
}

/* By their numbers in the joint world: where they have places; -1 for the others. The caller's. */
static int *list_places(void)
{
    const struct joint *joint = comm_world.joint;
    const int count = joint_numbers(joint);
    int *places = mem_alloc((size_t)count * sizeof *places);

    for (int number = 0; places && number < count; number++)
        places[number] = -1;
    for (int proc = 0; places && proc < (int)joint->slots; proc++)
        places[comm_number_of(proc)] = proc;
    return places;
}

static int group_at_places(const struct group *group, struct group **out)
{
    int *procs = mem_alloc((size_t)group->size * sizeof *procs + 1), *places = list_places(), rc = 0;

    if (!procs || !places)
        rc = err(MPI_ERR_NO_MEM, "no memory for a group of %d", group->size);
    for (int rank = 0; rank < group->size && !rc; rank++) {
        procs[rank] = places[comm_number_of(group_proc(group, rank))];
        if (procs[rank] < 0)
            rc = err(MPI_ERR_UNSUPPORTED_OPERATION, "E1213: the group has processes that were started later, and its "
                     "rank %d is in another client of IMPI, whose job this one is not connected with", rank);
    }
    if (!rc)
        rc = group_create_list(group->size, procs, comm_world.proc, out);
    mem_free(places);
    mem_free(procs);
    if (!rc)
        (*out)->session = group->session;
    return rc;
}

static int group_in_world(const struct group *group, struct group **out)
{
    int *procs = mem_alloc((size_t)group->size * sizeof *procs), rc;

    if (!procs)
        return err(MPI_ERR_NO_MEM, "no memory for a group of %d", group->size);
    for (int rank = 0; rank < group->size; rank++)
        procs[rank] = comm_number_of(group_proc(group, rank));
    rc = group_create_list(group->size, procs, comm_world.proc, out);
    mem_free(procs);
    if (!rc)
        (*out)->session = group->session;
    return rc;
}

bool comm_is_in_world(const struct group *group)
{
    for (int rank = 0; comm_world.joint && rank < group->size; rank++)
        if (joint_rank(comm_world.joint, comm_number_of(group_proc(group, rank))) < 0)
            return false;
    return true;
}

int comm_group_known(struct group *group, bool is_in_world, struct group **out)
{
    if (unlikely(comm_world.joint) && place_has_abroad() && group->size)
        return is_in_world ? group_in_world(group, out) : group_at_places(group, out);
    obj_ref(&group->obj);
    *out = group;
    return 0;
}

int comm_rank_of(const struct comm *comm, int proc)
{
    int rank = group_rank_of(comm->group, proc);

    if (likely(rank != MPI_UNDEFINED || !comm_world.joint))
        return rank;
    for (rank = 0; rank < comm->size; rank++)
        if (comm_number_of(group_proc(comm->group, rank)) == comm_number_of(proc))
            return rank;
    return MPI_UNDEFINED;
}

/* The members have places here, and can be sent to. */
static int make_known(struct comm *comm, struct group *group, struct comm **out)
{
    char name[32];
    int rc = 0;

    for (int rank = 0; rank < group->size && !rc; rank++)
        rc = p2p_renew(group_proc(group, rank));
    snprintf(name, sizeof name, "clients %" PRIx32, comm->ctx);
    return rc ? rc : comm_create_by_numbers(group, name, comm->errhandler, out);
}

int comm_as_jobs(struct comm *comm, const char *call, struct comm **out)
{
    struct group *group = NULL;
    int rc;

    if (likely(!comm_clients_spans(comm))) {
        obj_ref(&comm->obj);
        *out = comm;
        return 0;
    }
    rc = p2p_check_kin(comm, call);
    if (!rc)
        rc = comm_acquaint(comm, call);
    if (!rc)
        rc = group_at_places(comm->group, &group);
    if (!rc) {
        group->session = comm->session;
        rc = make_known(comm, group, out);
    }
    group_unref(group);
    return rc;
}
