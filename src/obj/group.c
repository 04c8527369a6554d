/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: obj. Making and reading groups. Knows: base. */
#include "obj/group.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "base/err.h"

enum { LIST_SHARE = 16 }; /* a part below this part of a group does not keep its list alive */

struct list_head {
    _Atomic unsigned refs; /* groups */
    int procs[];
};

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
        if (group_proc(group, rank) == proc)
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

/* Room for so many numbers, with one reference in front. */
static int *list_create(int size)
{
    struct list_head *head = mem_alloc(sizeof *head + (size_t)size * sizeof(int));

    if (!head)
        return NULL;
    atomic_init(&head->refs, 1);
    return head->procs;
}

static struct list_head *head_of(const int *list)
{
    return (struct list_head *)((uintptr_t)list - offsetof(struct list_head, procs));
}

int group_create_list(int size, const int *procs, int self, struct group **out)
{
    struct group *group = NULL;
    int *list, rc;

    if (is_stride(size, procs))
        return group_create_stride(size, size ? procs[0] : 0, size > 1 ? procs[1] - procs[0] : 1, self, out);
    rc = group_create_stride(size, 0, 1, self, &group);
    if (rc)
        return rc;
    group->list = list = list_create(size);
    if (!list) {
        group_unref(group);
        return err(MPI_ERR_NO_MEM, "no memory for a group of %d", size);
    }
    memcpy(list, procs, (size_t)size * sizeof *procs);
    group->rank = group_rank_of(group, self);
    *out = group;
    return 0;
}

/* The members as an array, for a new list. */
static int copy_part(const struct group *from, int size, int first, int step, int self, struct group **out)
{
    int *procs = mem_alloc((size_t)size * sizeof *procs), rc;

    if (!procs)
        return err(MPI_ERR_NO_MEM, "no memory for a group of %d", size);
    for (int i = 0; i < size; i++)
        procs[i] = group_proc(from, first + i * step);
    rc = group_create_list(size, procs, self, out);
    mem_free(procs);
    return rc;
}

/* Are these members a stride of process numbers? *distance becomes its step. */
static bool is_stride_of(const struct group *from, int size, int first, int step, int *distance)
{
    *distance = size > 1 ? group_proc(from, first + step) - group_proc(from, first) : 1;
    for (int i = 2; i < size; i++) {
        const int rank = first + i * step;

        if (group_proc(from, rank) - group_proc(from, rank - step) != *distance)
            return false;
    }
    return true;
}

int group_create_part(const struct group *from, int size, int first, int step, int self, struct group **out)
{
    struct group *group = NULL;
    int distance, rc;

    if (size < 2)
        step = 1;
    if (!from->list)
        return group_create_stride(size, group_proc(from, first), size > 1 ? from->step * step : 1, self, out);
    if (is_stride_of(from, size, first, step, &distance))
        return group_create_stride(size, group_proc(from, first), distance, self, out);
    if (size < from->size / LIST_SHARE)
        return copy_part(from, size, first, step, self, out);
    rc = group_create_stride(size, from->first + first * from->step, from->step * step, self, &group);
    if (rc)
        return rc;
    atomic_fetch_add_explicit(&head_of(from->list)->refs, 1, memory_order_relaxed);
    group->list = from->list;
    group->rank = group_rank_of(group, self);
    *out = group;
    return 0;
}

void group_unref(struct group *group)
{
    if (!group || !obj_unref(&group->obj))
        return;
    if (group->list) {
        struct list_head *head = head_of(group->list);

        /* acquire and release: whoever frees it does so after all others have read it */
        if (atomic_fetch_sub_explicit(&head->refs, 1, memory_order_acq_rel) == 1)
            mem_free(head);
    }
    obj_destroy(&group->obj);
}

void group_init(void)
{
    empty = (struct group){ .rank = MPI_UNDEFINED, .step = 1 };
    obj_predefine(&empty.obj, OBJ_GROUP, (uintptr_t)MPI_GROUP_EMPTY);
}
