/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: comm. Communicators with members in several clients of IMPI (IMPI 0.0, 4.3 and 4.12 to 4.14). Their id is
 * agreed on by all members of the old one: each process counts the highest id it knows of, the maximum over all is
 * taken by MPI_Allreduce, and the next two numbers are the new one's, for point-to-point and for collectives. A new
 * communicator whose members are all in this client has a context as any other, which its first process takes.
 *
 * MPI_Comm_create_group does the same among its group, whose members have no id above the new one then; what others
 * use, they use among themselves.
 *
 * MPI_Comm_idup and intercommunicators are made as within one client (idup.c, inter.c): one process takes the id and
 * tells it. For that the upper half of all ids is dealt out, a range to each process of the joint world; so an id that
 * is told late cannot be one that others have agreed on meanwhile. The last id is that of the library's own
 * communicator of all clients (world.c). Other implementations know nothing of this.
 *
 * In such a job only one thread at a time may call (MPI_THREAD_SERIALIZED at most): two agreements that overlap in a
 * process could end with the same id. */
#include "comm/joint_ids.h"

#include <limits.h>

#include "base/err.h"
#include "base/mem.h"
#include "coll/coll.h"
#include "p2p/lane.h"
#include "p2p/p2p.h"

enum { FIRST_HIGHEST = 1 }; /* that of MPI_COMM_WORLD */

/* From here on ids are those of ranges. */
#define OWN_IDS (P2P_CTX_FOREIGN / 2)

static uint64_t highest_id = FIRST_HIGHEST;
static uint32_t own_taken; /* ids of this process's range */

void comm_clients_start(void)
{
    highest_id = FIRST_HIGHEST;
    own_taken = 0;
}

uint64_t comm_clients_highest(void)
{
    return highest_id;
}

int comm_clients_take(uint64_t highest, int pairs, uint32_t *ctx)
{
    if (highest > OWN_IDS - 2 * (uint64_t)pairs - 2)
        return err(MPI_ERR_OTHER, "E1212: the ids of communicators over several clients are used up: %llu are",
                   (unsigned long long)highest);
    highest_id = highest + 2 * (uint64_t)pairs;
    *ctx = P2P_CTX_FOREIGN + (uint32_t)highest + 1;
    return 0;
}

int comm_clients_take_own(uint32_t *ctx)
{
    const struct joint *joint = comm_world.joint;
    const uint32_t pairs = (OWN_IDS / 2 - 1) / joint->procs, rank = (uint32_t)joint_rank(joint, comm_world.proc);

    *ctx = 0;
    if (own_taken == pairs)
        return err(MPI_ERR_OTHER, "E1212: the ids that this process has for communicators over several clients are "
                   "used up: %u are", own_taken);
    *ctx = P2P_CTX_FOREIGN + OWN_IDS + 2 * (rank * pairs + own_taken++);
    return 0;
}

int comm_clients_find_highest(struct comm *comm, const char *call, uint64_t *highest)
{
    struct type *type = obj_type(MPI_UINT64_T);
    const char *outer = comm->coll_outer;
    int rc;

    *highest = highest_id;
    comm->coll_outer = call;
    rc = coll_run(comm, COLL_ARGS(COLL_ALLREDUCE, COLL_SAME(MPI_IN_PLACE, 1, type), COLL_SAME(highest, 1, type),
                                  obj_op(MPI_MAX), 0));
    comm->coll_outer = outer;
    return rc;
}

bool comm_clients_has_foreign(const struct group *group)
{
    for (int rank = 0; rank < group->size; rank++)
        if (comm_is_foreign(group_proc(group, rank)))
            return true;
    return false;
}

bool comm_clients_spans(const struct comm *comm)
{
    return p2p_is_foreign_ctx(comm->ctx);
}

bool comm_clients_are_named(const struct group *group)
{
    for (int rank = 0; rank < group->size; rank++)
        if (!comm_world.joint || joint_rank(comm_world.joint, group_proc(group, rank)) < 0)
            return false;
    return true;
}

int comm_clients_find_place(const struct group *group, const struct group *other, const char *call,
                            struct comm **place)
{
    int rc;

    if (!comm_clients_has_foreign(group) && (!other || !comm_clients_has_foreign(other)))
        return 0;
    if (comm_clients_own.obj.kind != OBJ_COMM)
        return err(MPI_ERR_UNSUPPORTED_OPERATION, "E1213: %s does not work over several clients of IMPI once "
                   "MPI_Finalize has been called without a session, and there are processes of others than this one "
                   "in its groups", call);
    if (!comm_clients_are_named(group) || (other && !comm_clients_are_named(other)))
        return err(MPI_ERR_UNSUPPORTED_OPERATION, "E1213: %s does not work over several clients of IMPI with processes "
                   "that were started later, and there are such in one of its groups", call);
    rc = comm_clients_check_alike(group, call);
    if (!rc && other)
        rc = comm_clients_check_alike(other, call);
    if (!rc)
        rc = p2p_foreign_reach(group);
    if (!rc && other)
        rc = p2p_foreign_reach(other);
    *place = &comm_clients_own;
    return rc;
}

/* A context for a group within this client, which its first process takes. */
static int agree_here(struct comm *comm, struct group *group, int tag, uint32_t *ctx)
{
    int taken = 0, rc;

    *ctx = 0;
    if (group->rank == 0)
        taken = comm_ctx_take(ctx);
    rc = coll_group_bcast(comm, group, ctx, sizeof *ctx, tag, taken);
    if (taken || rc)
        return taken ? taken : rc;
    return *ctx ? 0 : comm_ctx_missing();
}

/* The ids are agreed on; `tag` is that of messages within this client. Takes over the group. */
static int make(struct comm *comm, struct group *group, uint32_t ctx, int tag, struct comm **out)
{
    int rc = 0;

    if (group->rank != MPI_UNDEFINED && !comm_clients_has_foreign(group))
        rc = agree_here(comm, group, tag, &ctx);
    if (!rc && group->rank != MPI_UNDEFINED)
        return comm_make(comm, group, ctx, out);
    group_unref(group);
    return rc;
}

/* Collective over `comm`: ids for what it makes, and a tag. */
static int agree(struct comm *comm, const char *call, uint32_t *ctx, int *tag)
{
    uint64_t highest;
    int rc = comm_clients_find_highest(comm, call, &highest);

    *ctx = 0;
    *tag = coll_begin(comm, COLL_INTERNAL, call);
    return rc ? rc : comm_clients_take(highest, 1, ctx);
}

int comm_clients_make_of_group(struct comm *comm, struct group *group, const char *call, struct comm **out)
{
    uint32_t ctx;
    int tag, rc = agree(comm, call, &ctx, &tag);

    if (rc)
        return rc;
    obj_ref(&group->obj);
    return make(comm, group, ctx, tag, out);
}

/* --- by a group alone --- */

/* The first one of another implementation; as many as there are: none is. */
static int find_other(const struct group *group)
{
    const struct joint *joint = comm_world.joint;
    int rank = 0;

    for (; rank < group->size; rank++) {
        const int proc = group_proc(group, rank);

        if (comm_is_foreign(proc) && !joint_is_parley(joint, joint_rank(joint, proc)))
            break;
    }
    return rank;
}

bool comm_clients_are_alike(const struct group *group)
{
    return find_other(group) == group->size;
}

int comm_clients_check_alike(const struct group *group, const char *call)
{
    const int other = find_other(group);

    if (other == group->size)
        return 0;
    return err(MPI_ERR_UNSUPPORTED_OPERATION,
               "E1211: %s is not part of IMPI, and rank %d of the group is of another MPI implementation", call, other);
}

/* Messages in the context of collective calls, above all their tags: of MPI_Comm_create_group, of leaders, of trees. */
enum {
    GROUP_TAGS = (1 << 30) + (1 << 12), GROUP_TAG_MASK = (1 << 29) - 1,
    LEADER_TAGS = GROUP_TAGS + GROUP_TAG_MASK + 1, LEADER_TAG_MASK = (1 << 28) - 1,
    TREE_TAGS = LEADER_TAGS + LEADER_TAG_MASK + 1, TREE_TAG_MASK = (1 << 27) - 1,
};

int comm_clients_leader_tag(const struct comm *comm, int tag)
{
    return comm_clients_spans(comm) ? LEADER_TAGS + (tag & LEADER_TAG_MASK) : tag;
}

int comm_clients_tree_tag(const struct comm *comm, int tag)
{
    return comm_clients_spans(comm) ? TREE_TAGS + (int)(comm->coll_sequence & TREE_TAG_MASK) : tag;
}

struct circle {
    struct comm *comm;
    const struct group *group;
    int tag;
};

/* With the member at this place. */
static int give(const struct circle *c, uint64_t highest, int place)
{
    const int rank = group_rank_of(c->comm->group, group_proc(c->group, place));

    c->comm->notes.sent = 0;
    return p2p_send_mode(c->comm, &highest, 1, obj_type(MPI_UINT64_T), rank, c->tag, P2P_STANDARD | P2P_COLL);
}

static int get(const struct circle *c, uint64_t *highest, int place)
{
    const int rank = group_rank_of(c->comm->group, group_proc(c->group, place));

    return p2p_recv(c->comm, highest, 1, obj_type(MPI_UINT64_T), rank, c->tag, P2P_COLL, NULL);
}

/* The highest id of all: up a binomial tree, and down again. */
static int find_highest_in(const struct circle *c, uint64_t *highest)
{
    const int place = c->group->rank, size = c->group->size;
    uint64_t other;
    int bit = 1, rc = 0;

    for (; bit < size && !(place & bit) && !rc; bit += bit) {
        if (place + bit >= size)
            continue;
        rc = get(c, &other, place + bit);
        if (!rc && other > *highest)
            *highest = other;
    }
    if (!rc && place)
        rc = give(c, *highest, place - bit);
    if (!rc && place)
        rc = get(c, highest, place - bit);
    for (bit /= 2; bit > 0 && !rc; bit /= 2)
        if (place + bit < size)
            rc = give(c, *highest, place + bit);
    return rc;
}

int comm_clients_create_group(struct comm *comm, struct group *group, int tag, struct comm **out)
{
    const struct circle circle = { comm, group, GROUP_TAGS + (tag & GROUP_TAG_MASK) };
    uint64_t highest = highest_id;
    uint32_t ctx = 0;
    int rc = comm_clients_check_alike(group, "MPI_Comm_create_group");

    if (!rc)
        rc = find_highest_in(&circle, &highest);
    if (!rc)
        rc = comm_clients_take(highest, 1, &ctx);
    if (rc)
        return rc;
    obj_ref(&group->obj);
    return comm_make(comm, group, ctx, out);
}

/* --- splitting --- */

/* What each process tells the others: color and key, an undefined color as -1. */
static int exchange(struct comm *comm, struct split_entry own, struct split_entry *entries)
{
    int *all = mem_alloc((size_t)comm->size * 2 * sizeof *all), rc;
    struct type *type = obj_type(MPI_INT);

    if (!all)
        return err(MPI_ERR_NO_MEM, "no memory for the colors of %d processes", comm->size);
    all[2 * comm->rank] = own.color == MPI_UNDEFINED ? -1 : own.color;
    all[2 * comm->rank + 1] = own.key;
    comm->coll_outer = "MPI_Comm_split";
    rc = coll_run(comm, COLL_ARGS(COLL_ALLGATHER, COLL_SAME(MPI_IN_PLACE, 0, type), COLL_SAME(all, 2, type), NULL, 0));
    comm->coll_outer = NULL;
    for (int rank = 0; rank < comm->size; rank++)
        entries[rank] = (struct split_entry){ .color = all[2 * rank] < 0 ? MPI_UNDEFINED : all[2 * rank],
                                              .key = all[2 * rank + 1] };
    mem_free(all);
    return rc;
}

/* The group of this process's color, NULL without one. */
static int group_of_color(const struct comm *comm, const struct split_entry *entries, struct group **out)
{
    struct split_member *members;
    int count, rc;

    *out = NULL;
    if (entries[comm->rank].color == MPI_UNDEFINED)
        return 0;
    members = mem_alloc((size_t)comm->size * sizeof *members);
    if (!members)
        return err(MPI_ERR_NO_MEM, "no memory for a group of %d", comm->size);
    count = comm_split_order(entries, comm->size, entries[comm->rank].color, members);
    rc = comm_split_group(comm, comm->group, members, count, out);
    mem_free(members);
    return rc;
}

int comm_clients_split(struct comm *comm, struct split_entry own, struct comm **out)
{
    struct split_entry *entries = mem_alloc((size_t)comm->size * sizeof *entries);
    struct group *group;
    uint32_t ctx;
    int tag, rc, failed;

    if (!entries)
        return err(MPI_ERR_NO_MEM, "no memory for the colors of %d processes", comm->size);
    rc = exchange(comm, own, entries);
    if (!rc)
        rc = agree(comm, "MPI_Comm_split", &ctx, &tag);
    failed = rc ? rc : group_of_color(comm, entries, &group);
    mem_free(entries);
    return failed || !group ? failed : make(comm, group, ctx, tag, out);
}

int comm_clients_home(struct comm *comm, struct comm **out)
{
    const struct split_entry own = { .color = (int)comm_world.joint->client };

    *out = NULL;
    return comm->is_inter ? comm_inter_split(comm, own, NULL, out) : comm_clients_split(comm, own, out);
}
