/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: comm. What processes are called between groups whose members number them differently, since they are of several
 * jobs or of several clients of IMPI. The protocol has names of 24 bytes for processes of the joint world (IMPI_Proc);
 * others, or all where there is no such world, have 16 zeros and the number of 8 bytes that sys/place.h gives them, the
 * highest byte first. Knows: sys (places, the joint table). */
#include <endian.h>
#include <string.h>

#include "base/err.h"
#include "comm/int_comm.h"
#include "p2p/p2p.h"

static void write_name(int proc, bool is_joint, unsigned char *to)
{
    const struct joint *joint = comm_world.joint;
    const uint64_t number = htobe64(place_name(proc));

    if (is_joint) {
        memcpy(to, joint_proc(joint, joint_rank(joint, proc))->name, JOINT_NAME_SIZE);
        return;
    }
    memset(to, 0, COMM_NAME_SIZE - sizeof number);
    memcpy(to + COMM_NAME_SIZE - sizeof number, &number, sizeof number);
}

void comm_list_names(const struct group *group, bool is_joint, void *names)
{
    for (int rank = 0; rank < group->size; rank++)
        write_name(group_proc(group, rank), is_joint, (unsigned char *)names + (size_t)rank * COMM_NAME_SIZE);
}

/* -1: this process does not know it. */
static int find_name(const void *name, bool is_joint)
{
    uint64_t number;
    int rank;

    if (!is_joint) {
        memcpy(&number, (const char *)name + COMM_NAME_SIZE - sizeof number, sizeof number);
        return place_find(be64toh(number));
    }
    rank = joint_find(comm_world.joint, name);
    return rank < 0 ? -1 : joint_number(comm_world.joint, rank);
}

void comm_break_named(const struct agreed *agreed, int rc)
{
    for (size_t at = 0; agreed->ctx && at < agreed->size; at += COMM_NAME_SIZE) {
        const int proc = find_name((const char *)agreed->data + at, agreed->is_joint);

        if (proc >= 0 && proc != comm_world.proc)
            p2p_break((uint32_t)agreed->ctx, proc, rc);
    }
}

int comm_group_named(const struct agreed *agreed, struct group **out)
{
    const int size = (int)(agreed->size / COMM_NAME_SIZE);
    int *procs = mem_alloc((size_t)size * sizeof *procs + 1), rc = 0;

    if (!procs)
        return err(MPI_ERR_NO_MEM, "no memory for a group of %d", size);
    for (int rank = 0; rank < size && !rc; rank++) {
        procs[rank] = find_name((const char *)agreed->data + (size_t)rank * COMM_NAME_SIZE, agreed->is_joint);
        if (procs[rank] < 0)
            rc = err(MPI_ERR_OTHER, "rank %d of the other group has ended, or is of a job that this one is not "
                     "connected with", rank);
    }
    if (!rc)
        rc = group_create_list(size, procs, comm_world.proc, out);
    mem_free(procs);
    return rc;
}

int comm_group_join(const struct group *first, const struct group *second, struct group **out)
{
    int *procs = mem_alloc((size_t)(first->size + second->size) * sizeof *procs + 1), rc;

    if (!procs)
        return err(MPI_ERR_NO_MEM, "no memory for a group of %d", first->size + second->size);
    for (int rank = 0; rank < first->size; rank++)
        procs[rank] = group_proc(first, rank);
    for (int rank = 0; rank < second->size; rank++)
        procs[first->size + rank] = group_proc(second, rank);
    rc = group_create_list(first->size + second->size, procs, comm_world.proc, out);
    mem_free(procs);
    return rc;
}

int comm_group_of_both(const struct group *group, const struct group *other, struct group **out)
{
    return comm_is_before(group_proc(group, 0), group_proc(other, 0)) ? comm_group_join(group, other, out)
                                                                      : comm_group_join(other, group, out);
}

bool comm_is_before(int proc, int other)
{
    const struct joint *joint = comm_world.joint;

    if (joint && joint_rank(joint, proc) >= 0 && joint_rank(joint, other) >= 0)
        return joint_rank(joint, proc) < joint_rank(joint, other);
    return place_name(proc) < place_name(other);
}
