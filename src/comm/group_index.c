/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: comm. Comparing groups and finding processes in them (MPI 5.0 §7.3.1). A list is hashed once for many
 * searches; a stride needs nothing. Where a process may have two numbers (clients_abroad.c), the one in the joint world
 * counts. */
#include <string.h>

#include "base/err.h"
#include "comm/int_comm.h"

static int number_at(const struct group *group, int rank)
{
    return comm_number_of(group_proc(group, rank));
}

/* Is a stride of numbers one of processes? */
static bool is_plain(const struct group *group)
{
    return !group->list && (likely(!comm_world.joint) || !place_has_abroad());
}

/* Where to look first. Fibonacci's multiplier lays strides of process numbers evenly. */
static uint32_t slot_of(const struct group_index *index, int proc)
{
    return (uint32_t)proc * UINT32_C(2654435769) >> index->shift;
}

void group_index_open(struct group_index *index, const struct group *group)
{
    size_t size = 2;

    *index = (struct group_index){ .group = group, .shift = 31 };
    if (is_plain(group))
        return;
    for (; size < 2 * (size_t)group->size; size *= 2)
        index->shift--;
    index->mask = (uint32_t)(size - 1);
    index->slots = mem_alloc(size * sizeof *index->slots);
    if (!index->slots)
        return;
    memset(index->slots, -1, size * sizeof *index->slots);
    for (int rank = 0; rank < group->size; rank++) {
        uint32_t slot = slot_of(index, number_at(group, rank));

        while (index->slots[slot] >= 0)
            slot = (slot + 1) & index->mask;
        index->slots[slot] = rank;
    }
}

void group_index_close(struct group_index *index)
{
    mem_free(index->slots);
}

/* For want of memory. */
static COLD int find_slowly(const struct group *group, int number)
{
    for (int rank = 0; rank < group->size; rank++)
        if (number_at(group, rank) == number)
            return rank;
    return MPI_UNDEFINED;
}

int group_index_find(const struct group_index *index, int proc)
{
    const int number = comm_number_of(proc);

    if (!index->slots)
        return likely(!index->mask) ? group_rank_of(index->group, number) : find_slowly(index->group, number);
    for (uint32_t slot = slot_of(index, number); index->slots[slot] >= 0; slot = (slot + 1) & index->mask) {
        if (number_at(index->group, index->slots[slot]) == number)
            return index->slots[slot];
    }
    return MPI_UNDEFINED;
}

int comm_group_translate(const struct group *from, int n, const int *ranks, const struct group *to, int *out)
{
    struct group_index index;
    int rc = 0;

    group_index_open(&index, to);
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
        if (number_at(group1, rank) != number_at(group2, rank))
            return false;
    }
    return true;
}

int comm_group_compare(const struct group *group1, const struct group *group2, int *result)
{
    struct group_index index;

    *result = MPI_UNEQUAL;
    if (group1->size != group2->size)
        return 0;
    if (group1 == group2 || is_identical(group1, group2)) {
        *result = MPI_IDENT;
        return 0;
    }
    group_index_open(&index, group2);
    *result = MPI_SIMILAR;
    for (int rank = 0; rank < group1->size && *result == MPI_SIMILAR; rank++) {
        if (group_index_find(&index, group_proc(group1, rank)) == MPI_UNDEFINED)
            *result = MPI_UNEQUAL;
    }
    group_index_close(&index);
    return 0;
}
