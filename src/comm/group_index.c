/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: comm. Comparing groups and finding processes in them (MPI 5.0 §7.3.1). A list is sorted once for many
 * searches; a stride needs nothing. */
#include <stdlib.h>

#include "base/err.h"
#include "comm/int_comm.h"

static int by_proc(const void *a, const void *b, void *arg)
{
    const int *list = arg;
    const int p = list[*(const int *)a], q = list[*(const int *)b];

    return (p > q) - (p < q);
}

int group_index_open(struct group_index *index, const struct group *group)
{
    *index = (struct group_index){ group, NULL };
    if (!group->list)
        return 0;
    index->sorted = mem_alloc((size_t)group->size * sizeof *index->sorted);
    if (!index->sorted)
        return err(MPI_ERR_NO_MEM, "no memory to sort a group of %d", group->size);
    for (int rank = 0; rank < group->size; rank++)
        index->sorted[rank] = rank;
    qsort_r(index->sorted, (size_t)group->size, sizeof *index->sorted, by_proc, group->list);
    return 0;
}

void group_index_close(struct group_index *index)
{
    mem_free(index->sorted);
}

int group_index_find(const struct group_index *index, int proc)
{
    int low = 0, high = index->group->size;

    if (!index->sorted)
        return group_rank_of(index->group, proc);
    while (low < high) {
        const int middle = low + (high - low) / 2, rank = index->sorted[middle];

        if (index->group->list[rank] == proc)
            return rank;
        if (index->group->list[rank] < proc)
            low = middle + 1;
        else
            high = middle;
    }
    return MPI_UNDEFINED;
}

int comm_group_translate(const struct group *from, int n, const int *ranks, const struct group *to, int *out)
{
    struct group_index index;
    int rc = group_index_open(&index, to);

    for (int i = 0; i < n && !rc; i++) {
        if (ranks[i] == MPI_PROC_NULL)
            out[i] = MPI_PROC_NULL;
        else if (ranks[i] < 0 || ranks[i] >= from->size)
            rc = err(MPI_ERR_RANK, "ranks1[%d] is %d in a group of %d", i, ranks[i], from->size);
        else
            out[i] = group_index_find(&index, group_proc(from, ranks[i]));
    }
    group_index_close(&index);
    return rc;
}

static bool is_identical(const struct group *group1, const struct group *group2)
{
    for (int rank = 0; rank < group1->size; rank++) {
        if (group_proc(group1, rank) != group_proc(group2, rank))
            return false;
    }
    return true;
}

int comm_group_compare(const struct group *group1, const struct group *group2, int *result)
{
    struct group_index index;
    int rc;

    *result = MPI_UNEQUAL;
    if (group1->size != group2->size)
        return 0;
    if (group1 == group2 || is_identical(group1, group2)) {
        *result = MPI_IDENT;
        return 0;
    }
    rc = group_index_open(&index, group2);
    if (rc)
        return rc;
    *result = MPI_SIMILAR;
    for (int rank = 0; rank < group1->size && *result == MPI_SIMILAR; rank++) {
        if (group_index_find(&index, group_proc(group1, rank)) == MPI_UNDEFINED)
            *result = MPI_UNEQUAL;
    }
    group_index_close(&index);
    return 0;
}
