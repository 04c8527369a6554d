/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: comm. Groups from groups (MPI 5.0 §7.3.2): a list of process numbers is put together and then made a
 * group, which stores it as a stride if it is one. */
#include "base/err.h"
#include "comm/int_comm.h"

int comm_group_make(int size, const int *procs, struct group **out)
{
    if (size == 0) {
        *out = obj_group(MPI_GROUP_EMPTY);
        return 0;
    }
    return group_create_list(size, procs, comm_world.proc, out);
}

/* The same, from another group of the same session. */
static int make_from(const struct group *from, int size, const int *procs, struct group **out)
{
    const int rc = comm_group_make(size, procs, out);

    if (!rc && size)
        (*out)->session = from->session;
    return rc;
}

static int alloc_procs(int size, int **procs)
{
    *procs = mem_alloc((size_t)size * sizeof **procs);
    return *procs ? 0 : err(MPI_ERR_NO_MEM, "no memory for a group of up to %d", size);
}

/* --- two groups --- */

/* Append the members of `group` that are in the other group, or that are not. */
static int append_if(const struct group *group, const struct group_index *other, bool is_member, int *procs,
                     int count)
{
    for (int rank = 0; rank < group->size; rank++) {
        const int proc = group_proc(group, rank);

        if ((group_index_find(other, proc) != MPI_UNDEFINED) == is_member)
            procs[count++] = proc;
    }
    return count;
}

/* The members of `group1` that are in `group2`, or that are not. */
static int filter(const struct group *group1, const struct group *group2, bool is_member, struct group **out)
{
    struct group_index index;
    int *procs, rc = alloc_procs(group1->size, &procs);

    if (rc)
        return rc;
    group_index_open(&index, group2);
    rc = make_from(group1, append_if(group1, &index, is_member, procs, 0), procs, out);
    group_index_close(&index);
    mem_free(procs);
    return rc;
}

int comm_group_intersection(const struct group *group1, const struct group *group2, struct group **out)
{
    return filter(group1, group2, true, out);
}

int comm_group_difference(const struct group *group1, const struct group *group2, struct group **out)
{
    return filter(group1, group2, false, out);
}

int comm_group_union(const struct group *group1, const struct group *group2, struct group **out)
{
    struct group_index index;
    int *procs, rc = alloc_procs(group1->size + group2->size, &procs);

    if (rc)
        return rc;
    group_index_open(&index, group1);
    for (int rank = 0; rank < group1->size; rank++)
        procs[rank] = group_proc(group1, rank);
    rc = make_from(group1->size ? group1 : group2, append_if(group2, &index, false, procs, group1->size), procs, out);
    group_index_close(&index);
    mem_free(procs);
    return rc;
}

/* --- ranks of one group --- */

/* Ranks picked from a group, each at most once, in the order of picking. */
struct pick {
    const struct group *group;
    int *procs;      /* room for all */
    bool *is_picked; /* by rank */
    int count;
};

static int pick_open(struct pick *pick, const struct group *group)
{
    int rc;

    *pick = (struct pick){ .group = group };
    rc = alloc_procs(group->size, &pick->procs);
    if (rc)
        return rc;
    pick->is_picked = mem_zalloc((size_t)group->size * sizeof *pick->is_picked);
    return pick->is_picked ? 0 : err(MPI_ERR_NO_MEM, "no memory for a group of up to %d", group->size);
}

static int pick_rank(struct pick *pick, long rank)
{
    if (rank < 0 || rank >= pick->group->size)
        return err(MPI_ERR_RANK, "rank %ld in a group of %d", rank, pick->group->size);
    if (pick->is_picked[rank])
        return err(MPI_ERR_RANK, "rank %ld comes twice", rank);
    pick->is_picked[rank] = true;
    pick->procs[pick->count++] = group_proc(pick->group, (int)rank);
    return 0;
}

static int pick_ranks(struct pick *pick, int n, const int *ranks)
{
    int rc = 0;

    for (int i = 0; i < n && !rc; i++)
        rc = pick_rank(pick, ranks[i]);
    return rc;
}

static int pick_range(struct pick *pick, const int range[3])
{
    const long first = range[0], last = range[1], step = range[2];
    int rc = 0;

    if (step == 0 || (step > 0 && first > last) || (step < 0 && first < last))
        return err(MPI_ERR_ARG, "the range from rank %ld to %ld in steps of %ld has no end", first, last,
                   step);
    for (long rank = first; (step > 0 ? rank <= last : rank >= last) && !rc; rank += step)
        rc = pick_rank(pick, rank);
    return rc;
}

static int pick_ranges(struct pick *pick, int n, const int (*ranges)[3])
{
    int rc = 0;

    for (int i = 0; i < n && !rc; i++)
        rc = pick_range(pick, ranges[i]);
    return rc;
}

/* All but what has been picked, in the old order. */
static void pick_others(struct pick *pick)
{
    pick->count = 0;
    for (int rank = 0; rank < pick->group->size; rank++) {
        if (!pick->is_picked[rank])
            pick->procs[pick->count++] = group_proc(pick->group, rank);
    }
}

/* The group of what was picked, unless that failed with `rc`. */
static int pick_close(struct pick *pick, int rc, struct group **out)
{
    if (!rc)
        rc = make_from(pick->group, pick->count, pick->procs, out);
    mem_free(pick->is_picked);
    mem_free(pick->procs);
    return rc;
}

int comm_group_incl(const struct group *group, int n, const int *ranks, struct group **out)
{
    struct pick pick;
    int rc = pick_open(&pick, group);

    if (!rc)
        rc = pick_ranks(&pick, n, ranks);
    return pick_close(&pick, rc, out);
}

int comm_group_excl(const struct group *group, int n, const int *ranks, struct group **out)
{
    struct pick pick;
    int rc = pick_open(&pick, group);

    if (!rc)
        rc = pick_ranks(&pick, n, ranks);
    if (!rc)
        pick_others(&pick);
    return pick_close(&pick, rc, out);
}

/* Is it one range of ranks? Then no rank can come twice, and nothing has to be listed. */
static bool is_part(const struct group *group, int n, const int (*ranges)[3])
{
    const int first = n == 1 ? ranges[0][0] : -1, last = n == 1 ? ranges[0][1] : -1;

    return first >= 0 && first < group->size && last >= 0 && last < group->size &&
           (ranges[0][2] > 0 ? first <= last : ranges[0][2] < 0 && first >= last);
}

static int make_part(const struct group *group, const int range[3], struct group **out)
{
    const int size = (range[1] - range[0]) / range[2] + 1;
    const int rc = group_create_part(group, size, range[0], range[2], comm_world.proc, out);

    if (!rc)
        (*out)->session = group->session;
    return rc;
}

int comm_group_range_incl(const struct group *group, int n, const int (*ranges)[3], struct group **out)
{
    struct pick pick;
    int rc;

    if (is_part(group, n, ranges))
        return make_part(group, ranges[0], out);
    rc = pick_open(&pick, group);
    if (!rc)
        rc = pick_ranges(&pick, n, ranges);
    return pick_close(&pick, rc, out);
}

int comm_group_range_excl(const struct group *group, int n, const int (*ranges)[3], struct group **out)
{
    struct pick pick;
    int rc = pick_open(&pick, group);

    if (!rc)
        rc = pick_ranges(&pick, n, ranges);
    if (!rc)
        pick_others(&pick);
    return pick_close(&pick, rc, out);
}
