/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §7.4.2: MPI_Comm_split: one communicator for each colour, ranks ordered by key, equal keys in the
 * old order; MPI_UNDEFINED gives MPI_COMM_NULL. Random colours and keys against a plain model. */
#include "mpitest.h"

enum { ROUNDS = 30, MOST_RANKS = 64 };

static int colour_of(int round, int rank)
{
    uint64_t state = test_key((uint64_t)round, (uint64_t)rank, 41);
    const int colour = (int)test_below(&state, 4);

    return colour == 3 ? MPI_UNDEFINED : round % 3 == 2 ? colour * 1000000000 : colour;
}

static int key_of(int round, int rank)
{
    uint64_t state = test_key((uint64_t)round, (uint64_t)rank, 42);

    return round % 2 ? (int)test_below(&state, 3) - 1 : (int)(test_random(&state) & 0x7fffffff) - 0x3fffffff;
}

/* The world ranks of my colour in the order that the keys demand; returns how many. */
static int model(int round, int *members)
{
    int rank, n = 0, at;

    for (rank = 0; rank < test_size; rank++) {
        if (colour_of(round, rank) != colour_of(round, test_rank))
            continue;
        for (at = n++; at > 0 && key_of(round, members[at - 1]) > key_of(round, rank); at--)
            members[at] = members[at - 1];
        members[at] = rank;
    }
    return n;
}

static void check(MPI_Comm comm, const int *members, int n)
{
    int rank = -1, size = -1, seen[MOST_RANKS], i;

    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_OK(MPI_Comm_size(comm, &size));
    CHECK_INT(size, n);
    CHECK_INT(members[rank], test_rank);
    CHECK_OK(MPI_Allgather(&test_rank, 1, MPI_INT, seen, 1, MPI_INT, comm));
    for (i = 0; i < n; i++)
        CHECK_INT(seen[i], members[i]);
}

int main(int argc, char **argv)
{
    int members[MOST_RANKS], round, n;
    MPI_Comm comm;

    test_begin(&argc, &argv);
    CHECK(test_size <= MOST_RANKS, "made for at most %d ranks", MOST_RANKS);
    for (round = 0; round < ROUNDS; round++) {
        CHECK_OK(
            MPI_Comm_split(MPI_COMM_WORLD, colour_of(round, test_rank), key_of(round, test_rank), &comm));
        if (colour_of(round, test_rank) == MPI_UNDEFINED) {
            CHECK(comm == MPI_COMM_NULL, "colour MPI_UNDEFINED gave a communicator");
            continue;
        }
        n = model(round, members);
        check(comm, members, n);
        CHECK_OK(MPI_Comm_free(&comm));
    }
    if (test_is_parley()) /* others do not look */
        CHECK_CLASS(MPI_Comm_split(MPI_COMM_WORLD, -5, 0, &comm), MPI_ERR_ARG);
    return test_end();
}
