/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §7.6, §7.4.2: intercommunicators of random halves, made, duplicated, split, cut down and merged, against a
 * plain model; ranks of point-to-point calls are those of the remote group. */
#include "mpitest.h"

enum { ROUNDS = 12, MOST_RANKS = 64, COLOURS = 3 };

/* The ranks of the world on each side, in the order of the side. */
struct sides {
    int n[2];
    int list[2][MOST_RANKS];
    int mine; /* this rank's side */
};

static int side_of(int round, int rank)
{
    uint64_t state = test_key((uint64_t)round, (uint64_t)rank, 7);

    return rank < 2 ? rank : (int)test_below(&state, 2);
}

static int key_of(int round, int rank)
{
    uint64_t state = test_key((uint64_t)round, (uint64_t)rank, 8);

    return (int)test_below(&state, 5);
}

static int colour_of(int round, int rank)
{
    uint64_t state = test_key((uint64_t)round, (uint64_t)rank, 9);
    const int colour = (int)test_below(&state, COLOURS + 1);

    return colour == COLOURS ? MPI_UNDEFINED : colour;
}

/* Put a rank where its key demands, behind equal ones. */
static void insert(int round, int *list, int *n, int rank)
{
    int at;

    for (at = (*n)++; at > 0 && key_of(round, list[at - 1]) > key_of(round, rank); at--)
        list[at] = list[at - 1];
    list[at] = rank;
}

static struct sides model(int round)
{
    struct sides s = { { 0, 0 }, { { 0 } }, side_of(round, test_rank) };
    int rank;

    for (rank = 0; rank < test_size; rank++)
        insert(round, s.list[side_of(round, rank)], &s.n[side_of(round, rank)], rank);
    return s;
}

static void check_group(MPI_Group group, const int *list, int n)
{
    int ranks[MOST_RANKS], size = -1, i;
    MPI_Group world;

    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    CHECK_OK(MPI_Group_size(group, &size));
    CHECK_INT(size, n);
    for (i = 0; i < n; i++)
        ranks[i] = i;
    CHECK_OK(MPI_Group_translate_ranks(group, n, ranks, world, ranks));
    for (i = 0; i < n; i++)
        CHECK_INT(ranks[i], list[i]);
    CHECK_OK(MPI_Group_free(&world));
    CHECK_OK(MPI_Group_free(&group));
}

/* Everybody sends its world rank to all of the other side, and receives from them in turn, or from any. */
static void exchange(MPI_Comm inter, const struct sides *s, int is_any)
{
    const int *other = s->list[!s->mine], n = s->n[!s->mine];
    int got, i;
    MPI_Request requests[MOST_RANKS];
    MPI_Status status;

    for (i = 0; i < n; i++)
        CHECK_OK(MPI_Isend(&test_rank, 1, MPI_INT, i, is_any, inter, &requests[i]));
    for (i = 0; i < n; i++) {
        CHECK_OK(MPI_Recv(&got, 1, MPI_INT, is_any ? MPI_ANY_SOURCE : i, is_any, inter, &status));
        CHECK(status.MPI_SOURCE >= 0 && status.MPI_SOURCE < n, "source %d of %d", status.MPI_SOURCE, n);
        CHECK_INT(got, other[status.MPI_SOURCE]);
        CHECK(is_any || status.MPI_SOURCE == i, "source %d, expected %d", status.MPI_SOURCE, i);
    }
    CHECK_OK(MPI_Waitall(n, requests, MPI_STATUSES_IGNORE));
    /* a rank of the other group, not of the own one */
    CHECK_CLASS(MPI_Send(&test_rank, 1, MPI_INT, n, 3, inter), MPI_ERR_RANK);
}

static void check_inter(MPI_Comm inter, const struct sides *s)
{
    int flag = -1, size = -1, rank = -1;
    MPI_Group group;

    CHECK_OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_test_inter(inter, &flag));
    CHECK_INT(flag, 1);
    CHECK_OK(MPI_Comm_size(inter, &size));
    CHECK_INT(size, s->n[s->mine]);
    CHECK_OK(MPI_Comm_rank(inter, &rank));
    CHECK_INT(s->list[s->mine][rank], test_rank);
    CHECK_OK(MPI_Comm_remote_size(inter, &size));
    CHECK_INT(size, s->n[!s->mine]);
    CHECK_OK(MPI_Comm_group(inter, &group));
    check_group(group, s->list[s->mine], s->n[s->mine]);
    CHECK_OK(MPI_Comm_remote_group(inter, &group));
    check_group(group, s->list[!s->mine], s->n[!s->mine]);
    exchange(inter, s, 0);
    exchange(inter, s, 1);
}

static void check_merge(MPI_Comm inter, const struct sides *s, int round)
{
    const int high[2] = { round % 2, round / 2 % 2 };
    int seen[MOST_RANKS], first, i, size = -1;
    MPI_Comm all;

    CHECK_OK(MPI_Intercomm_merge(inter, high[s->mine], &all));
    CHECK_OK(MPI_Comm_size(all, &size));
    CHECK_INT(size, s->n[0] + s->n[1]);
    CHECK_OK(MPI_Allgather(&test_rank, 1, MPI_INT, seen, 1, MPI_INT, all));
    first = high[0] == high[1] ? seen[0] != s->list[0][0] : high[0];
    for (i = 0; i < s->n[first]; i++)
        CHECK_INT(seen[i], s->list[first][i]);
    for (i = 0; i < s->n[!first]; i++)
        CHECK_INT(seen[s->n[first] + i], s->list[!first][i]);
    CHECK_OK(MPI_Comm_free(&all));
}

static void check_dup(MPI_Comm inter, const struct sides *s)
{
    int result = -1;
    MPI_Comm copy;

    CHECK_OK(MPI_Comm_dup(inter, &copy));
    CHECK_OK(MPI_Comm_compare(inter, copy, &result));
    CHECK_INT(result, MPI_CONGRUENT);
    CHECK_OK(MPI_Comm_compare(inter, MPI_COMM_WORLD, &result));
    CHECK_INT(result, MPI_UNEQUAL);
    check_inter(copy, s);
    CHECK_OK(MPI_Comm_free(&copy));
}

static void check_split(MPI_Comm inter, const struct sides *s, int round)
{
    const int colour = colour_of(round, test_rank);
    struct sides part = { { 0, 0 }, { { 0 } }, s->mine };
    int side, i;
    MPI_Comm new;

    CHECK_OK(MPI_Comm_split(inter, colour, key_of(round + 100, test_rank), &new));
    for (side = 0; side < 2; side++) {
        for (i = 0; i < s->n[side]; i++) {
            if (colour_of(round, s->list[side][i]) == colour)
                insert(round + 100, part.list[side], &part.n[side], s->list[side][i]);
        }
    }
    if (colour == MPI_UNDEFINED || part.n[0] == 0 || part.n[1] == 0) {
        CHECK(new == MPI_COMM_NULL, "a communicator of a colour that is not on both sides");
        return;
    }
    CHECK(new != MPI_COMM_NULL, "no communicator");
    check_inter(new, &part);
    CHECK_OK(MPI_Comm_free(&new));
}

/* Each side keeps its members of colour 0 and those of colour 1. */
static void check_create(MPI_Comm inter, const struct sides *s, int round)
{
    struct sides part = { { 0, 0 }, { { 0 } }, s->mine };
    int side, i, ranks[MOST_RANKS], is_in = 0;
    MPI_Group all, some;
    MPI_Comm new;

    for (side = 0; side < 2; side++) {
        for (i = 0; i < s->n[side]; i++) {
            const int colour = colour_of(round + 50, s->list[side][i]);
            if (colour > 1 || colour < 0)
                continue;
            is_in |= s->list[side][i] == test_rank;
            if (side == s->mine)
                ranks[part.n[side]] = i;
            part.list[side][part.n[side]++] = s->list[side][i];
        }
    }
    CHECK_OK(MPI_Comm_group(inter, &all));
    CHECK_OK(MPI_Group_incl(all, part.n[s->mine], ranks, &some));
    CHECK_OK(MPI_Comm_create(inter, some, &new));
    CHECK_OK(MPI_Group_free(&some));
    CHECK_OK(MPI_Group_free(&all));
    if (!is_in || part.n[0] == 0 || part.n[1] == 0) {
        CHECK(new == MPI_COMM_NULL, "a communicator of none");
        return;
    }
    check_inter(new, &part);
    CHECK_OK(MPI_Comm_free(&new));
}

static void check_all(MPI_Comm inter, const struct sides *s, int round)
{
    check_inter(inter, s);
    check_merge(inter, s, round);
    check_dup(inter, s);
    check_split(inter, s, round);
    check_create(inter, s, round);
}

static void by_communicators(int round, const struct sides *s)
{
    const int leader[2] = { round % s->n[0], round % s->n[1] };
    MPI_Comm local, inter;

    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, s->mine, key_of(round, test_rank), &local));
    CHECK_OK(MPI_Intercomm_create(local, leader[s->mine],
                                  test_rank == s->list[s->mine][leader[s->mine]] ? MPI_COMM_WORLD : MPI_COMM_NULL,
                                  s->list[!s->mine][leader[!s->mine]], round, &inter));
    CHECK_OK(MPI_Comm_free(&local)); /* not needed any more */
    check_all(inter, s, round);
    CHECK_OK(MPI_Comm_free(&inter));
}

/* Without a communicator before it, where that works. */
static void by_groups(int round, const struct sides *s)
{
    MPI_Group world, groups[2];
    MPI_Comm inter;
    int side, rc;

    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    for (side = 0; side < 2; side++)
        CHECK_OK(MPI_Group_incl(world, s->n[side], s->list[side], &groups[side]));
    rc = MPI_Intercomm_create_from_groups(groups[s->mine], round % s->n[s->mine], groups[!s->mine],
                                          round % s->n[!s->mine], "tests:inter", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                          &inter);
    if (test_class(rc) == MPI_ERR_UNSUPPORTED_OPERATION) {
        by_communicators(round, s);
    } else {
        CHECK_OK(rc);
        check_all(inter, s, round);
        CHECK_OK(MPI_Comm_free(&inter));
    }
    for (side = 0; side < 2; side++)
        CHECK_OK(MPI_Group_free(&groups[side]));
    CHECK_OK(MPI_Group_free(&world));
}

int main(int argc, char **argv)
{
    int round;

    test_begin(&argc, &argv);
    CHECK(test_size <= MOST_RANKS, "made for at most %d ranks", MOST_RANKS);
    for (round = 0; round < ROUNDS && test_size > 1; round++) {
        const struct sides s = model(round);
        if (round % 2)
            by_communicators(round, &s);
        else
            by_groups(round, &s);
    }
    return test_end();
}
