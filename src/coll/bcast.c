/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. MPI_Bcast (MPI 5.0 §6.4): binomial tree; each process receives once and sends at most
 * ceil(log2(size)) times. The same tree over a group serves communicator creation. */
#include "base/err.h"
#include "coll/int_coll.h"

/* Places in the tree are counted from the root; the process at a place is found through the group, if there
 * is one, else by turning the ranks of the communicator. */
struct tree {
    struct comm *comm;
    const struct group *group;
    int root;  /* without a group */
    int place; /* of this process */
    int size;
};

static int rank_at(const struct tree *tree, int place, int *rank)
{
    if (!tree->group) {
        *rank = (place + tree->root) % tree->size;
        return 0;
    }
    *rank = group_rank_of(tree->comm->group, group_proc(tree->group, place));
    if (*rank == MPI_UNDEFINED)
        return err(MPI_ERR_GROUP, "rank %d of the group is not in the communicator", place);
    return 0;
}

static int tree_bcast(const struct tree *tree, int tag, const struct coll_block *block)
{
    int rank, rc, distance = 1;

    while (distance < tree->size && !(tree->place & distance))
        distance += distance;
    if (tree->place) {
        rc = rank_at(tree, tree->place - distance, &rank);
        if (!rc)
            rc = coll_recv(tree->comm, tag, block, rank);
        if (rc)
            return rc;
    }
    for (distance /= 2; distance > 0; distance /= 2) {
        if (tree->place + distance >= tree->size)
            continue;
        rc = rank_at(tree, tree->place + distance, &rank);
        if (!rc)
            rc = coll_send(tree->comm, tag, block, rank);
        if (rc)
            return rc;
    }
    return 0;
}

int coll_bcast(struct comm *comm, void *buf, MPI_Count count, struct type *type, int root)
{
    const struct coll_block block = { buf, count, type };
    const int size = comm->size;
    int tag, rc = coll_begin(comm, &tag, "MPI_Bcast");

    if (rc)
        return rc;
    return tree_bcast(&(struct tree){ comm, NULL, root, (comm->rank - root + size) % size, size }, tag,
                      &block);
}

int coll_group_bcast(struct comm *comm, const struct group *group, void *buf, size_t size, int tag)
{
    const struct coll_block block = { buf, (MPI_Count)size, obj_type(MPI_BYTE) };

    if (tag == COLL_NEXT_TAG) {
        const int rc = coll_begin(comm, &tag, "MPI_Bcast");
        if (rc)
            return rc;
    }
    if (group->rank == MPI_UNDEFINED)
        return 0;
    return tree_bcast(&(struct tree){ comm, group, 0, group->rank, group->size }, tag, &block);
}
