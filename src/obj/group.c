/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: obj. Making and reading groups. Knows: base. */
#include "obj/group.h"

#include <string.h>

#include "base/err.h"

static struct group empty;

static int rank_in_stride(const struct group *group, int proc)
{
    const int distance = proc - group->first;

    if (group->size == 0 || (group->step == 0 && distance))
        return MPI_UNDEFINED;
    if (group->step == 0)
        return 0;
    if (distance % group->step || distance / group->step < 0 || distance / group->step >= group->size)
        return MPI_UNDEFINED;
    return distance / group->step;
}

int group_rank_of(const struct group *group, int proc)
{
    if (!group->list)
        return rank_in_stride(group, proc);
    for (int rank = 0; rank < group->size; rank++) {
        if (group->list[rank] == proc)
            return rank;
    }
    return MPI_UNDEFINED;
}

int group_create_stride(int size, int first, int step, int self, struct group **out)
{
    struct group *group = obj_create(OBJ_GROUP, sizeof *group);

    if (!group)
        return err(MPI_ERR_NO_MEM, "no memory for a group of %d", size);
    group->size = size;
    group->first = first;
    group->step = step;
    group->rank = group_rank_of(group, self);
    *out = group;
    return 0;
}

static bool is_stride(int size, const int *procs)
{
    for (int i = 2; i < size; i++) {
        if (procs[i] - procs[i - 1] != procs[1] - procs[0])
            return false;
    }
    return true;
}

int group_create_list(int size, const int *procs, int self, struct group **out)
{
    struct group *group = NULL;
    int rc;

    if (is_stride(size, procs))
        return group_create_stride(size, size ? procs[0] : 0, size > 1 ? procs[1] - procs[0] : 1, self, out);
    rc = group_create_stride(size, 0, 1, self, &group);
    if (rc)
        return rc;
    group->list = mem_alloc((size_t)size * sizeof *procs);
    if (!group->list) {
        group_unref(group);
        return err(MPI_ERR_NO_MEM, "no memory for a group of %d", size);
    }
    memcpy(group->list, procs, (size_t)size * sizeof *procs);
    group->rank = group_rank_of(group, self);
    *out = group;
    return 0;
}

void group_unref(struct group *group)
{
    if (!group || !obj_unref(&group->obj))
        return;
    mem_free(group->list);
    obj_destroy(&group->obj);
}

void group_init(void)
{
    empty = (struct group){ .rank = MPI_UNDEFINED, .step = 1 };
    obj_predefine(&empty.obj, OBJ_GROUP, (uintptr_t)MPI_GROUP_EMPTY);
}
