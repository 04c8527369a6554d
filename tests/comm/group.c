/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §7.3: groups: size, rank, translation, comparison, the set operations and the forms with lists and
 * ranges, and MPI_Comm_create over a subgroup. */
#include "mpitest.h"

enum { MOST_RANKS = 64 };

/* The world ranks of a group's members must be these. */
static void check_group(MPI_Group group, MPI_Group world, const int *members, int n)
{
    int size = -1, rank = -2, ranks[MOST_RANKS], back[MOST_RANKS], i, want = MPI_UNDEFINED;

    CHECK_OK(MPI_Group_size(group, &size));
    CHECK_INT(size, n);
    for (i = 0; i < n; i++) {
        ranks[i] = i;
        if (members[i] == test_rank)
            want = i;
    }
    CHECK_OK(MPI_Group_rank(group, &rank));
    CHECK_INT(rank, want);
    CHECK_OK(MPI_Group_translate_ranks(group, n, ranks, world, back));
    for (i = 0; i < n; i++)
        CHECK_INT(back[i], members[i]);
}

static int compare(MPI_Group a, MPI_Group b)
{
    int result = -1;

    CHECK_OK(MPI_Group_compare(a, b, &result));
    return result;
}

static void set_operations(MPI_Group world, MPI_Group even, MPI_Group backwards)
{
    int members[MOST_RANKS] = { 0 }, i, n;
    MPI_Group group;

    CHECK_OK(MPI_Group_intersection(backwards, even, &group));
    for (n = 0, i = test_size - 1; i >= 0; i--)
        if (i % 2 == 0)
            members[n++] = i;
    check_group(group, world, members, n);
    CHECK_INT(compare(group, even), n > 1 ? MPI_SIMILAR : MPI_IDENT);
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Group_difference(world, even, &group));
    for (n = 0, i = 1; i < test_size; i += 2)
        members[n++] = i;
    check_group(group, world, members, n);
    if (n == 0)
        CHECK_INT(compare(group, MPI_GROUP_EMPTY), MPI_IDENT);
    else
        CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Group_union(even, backwards, &group));
    for (n = 0, i = 0; i < test_size; i += 2)
        members[n++] = i;
    for (i = test_size - 1; i >= 0; i--)
        if (i % 2)
            members[n++] = i;
    check_group(group, world, members, n);
    CHECK_OK(MPI_Group_free(&group));
}

static void create(MPI_Group even)
{
    int rank = -1, size = -1;
    MPI_Comm comm;

    NEEDS(MPI_Comm_create(MPI_COMM_WORLD, even, &comm));
    if (test_rank % 2) {
        CHECK(comm == MPI_COMM_NULL, "a communicator for a process that is not in the group");
        return;
    }
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_OK(MPI_Comm_size(comm, &size));
    CHECK_INT(rank, test_rank / 2);
    CHECK_INT(size, (test_size + 1) / 2);
    CHECK_OK(MPI_Barrier(comm));
    CHECK_OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    int members[MOST_RANKS], range[1][3], i, n, bad[2] = { 0, 0 };
    MPI_Group world, even, backwards, same;

    test_begin(&argc, &argv);
    CHECK(test_size <= MOST_RANKS, "made for at most %d ranks", MOST_RANKS);
    NEEDS(MPI_Comm_group(MPI_COMM_WORLD, &world));
    for (n = 0; n < test_size; n++)
        members[n] = n;
    check_group(world, world, members, n);
    for (n = 0; 2 * n < test_size; n++)
        members[n] = 2 * n;
    CHECK_OK(MPI_Group_incl(world, n, members, &even));
    check_group(even, world, members, n);
    range[0][0] = test_size - 1;
    range[0][1] = 0;
    range[0][2] = -1;
    CHECK_OK(MPI_Group_range_incl(world, 1, range, &backwards));
    for (i = 0; i < test_size; i++)
        members[i] = test_size - 1 - i;
    check_group(backwards, world, members, test_size);
    CHECK_INT(compare(world, backwards), test_size > 1 ? MPI_SIMILAR : MPI_IDENT);
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &same));
    CHECK_INT(compare(world, same), MPI_IDENT);
    CHECK_INT(compare(world, MPI_GROUP_EMPTY), MPI_UNEQUAL);
    set_operations(world, even, backwards);
    create(even);
    i = MPI_PROC_NULL;
    CHECK_OK(MPI_Group_translate_ranks(world, 1, &i, even, &n));
    CHECK_INT(n, MPI_PROC_NULL);
    CHECK_OK(MPI_Group_free(&same));
    if (test_size > 1 && test_is_parley()) /* others do not look */
        CHECK_CLASS(MPI_Group_incl(world, 2, bad, &same), MPI_ERR_RANK);
    CHECK_OK(MPI_Group_free(&world));
    CHECK_OK(MPI_Group_free(&even));
    CHECK_OK(MPI_Group_free(&backwards));
    CHECK(world == MPI_GROUP_NULL, "MPI_Group_free did not null the handle");
    return test_end();
}
