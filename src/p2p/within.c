/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. What does not go over several clients of IMPI: calls, and numbers. */
#include <stdio.h>

#include "base/err.h"
#include "p2p/int_abroad.h"
#include "sys/joint.h"

/* The first rank of a group with which parcels cannot be exchanged, which is the same for all with whom they can; -1:
 * there is none. */
static int find_stranger(const struct joint *joint, const struct group *group)
{
    for (int rank = 0; rank < group->size; rank++) {
        const int proc = group_proc(group, rank);

        if (proc >= (int)joint->slots && !joint_is_kin(joint, joint_rank(joint, proc)))
            return rank;
    }
    return -1;
}

int p2p_check_kin(const struct comm *comm, const char *call)
{
    const struct joint *joint = p2p_is_joint(comm) ? foreign_joint(comm) : NULL;
    const int rank = joint ? find_stranger(joint, comm->remote_group) : -1;
    char label[COMM_LABEL_SIZE];
    int other;

    if (likely(rank < 0))
        return 0;
    other = joint_rank(joint, group_proc(comm->remote_group, rank));
    return err(MPI_ERR_UNSUPPORTED_OPERATION,
               "E1213: %s does not work over several clients of IMPI unless all are of this library: rank %d of %s is "
               "in client %u, %s", call, rank, obj_comm_label(comm, label), joint_proc(joint, other)->client,
               joint_is_parley(joint, other) ? "of another version of it, or where data lie otherwise in memory"
                                             : "which is of another MPI implementation");
}

int foreign_check_fit(const struct channel *channel, const struct type *type, const void *buf, MPI_Count count,
                      int dest, int tag)
{
    char value[EXTERNAL_UNFIT_TEXT], label[COMM_LABEL_SIZE], where[32] = "in a collective call";
    struct external_unfit unfit;

    if (!external_find_unfit(type, buf, count, &unfit))
        return 0;
    if (!(channel->ctx & 1))
        snprintf(where, sizeof where, "with tag %d", tag);
    return err(MPI_ERR_CONVERSION,
               "E1242: %s does not fit the %d bytes that it has between clients of IMPI (external32): it was to go to "
               "rank %d %s, on %s", external_describe_unfit(&unfit, value), unfit.bytes, dest, where,
               obj_comm_label(channel->comm, label));
}
