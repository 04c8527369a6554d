/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §6.5 to §6.8: the forms with a count and displacement for each rank: parts of different lengths
 * (also 0) in any order, gaps are not written. Argument: gatherv|scatterv|allgatherv|alltoallv|alltoallw. */
#include "mpitest.h"

enum { MOST_RANKS = 64, UNIT = 300, GAP = 3 };

static int counts[MOST_RANKS], displs[MOST_RANKS], own_counts[MOST_RANKS], own_displs[MOST_RANKS];
static int bytes_displs[MOST_RANKS], own_bytes_displs[MOST_RANKS];
static MPI_Datatype types[MOST_RANKS];
static int *in, *out;

/* Elements that travel from one rank to another (for rooted and "all" forms: of one rank). */
static int length_of(int from, int to)
{
    return (from * 7 + to * 3) % 5 * (UNIT / 5);
}

static int value_of(int from, int to, int i)
{
    return from * 1000000 + to * 10000 + i;
}

/* Places the parts backwards with gaps between them; returns the room they take. */
static int lay_out(int *n, int *at, int *at_bytes, int is_incoming, int is_pairwise)
{
    int rank, end = GAP;

    for (rank = test_size - 1; rank >= 0; rank--) {
        n[rank] = !is_pairwise  ? length_of(rank, 0)
                  : is_incoming ? length_of(rank, test_rank)
                                : length_of(test_rank, rank);
        at[rank] = end;
        at_bytes[rank] = end * (int)sizeof(int);
        types[rank] = MPI_INT;
        end += n[rank] + GAP;
    }
    return end;
}

static void fill(int *buf, int n, int from, int to)
{
    int i;

    for (i = 0; i < n; i++)
        buf[i] = value_of(from, to, i);
}

static void check(const int *buf, int n, int from, int to)
{
    int i;

    for (i = 0; i < n; i++)
        CHECK(buf[i] == value_of(from, to, i), "from %d to %d, element %d of %d: expected %d, got %d", from,
              to, i, n, value_of(from, to, i), buf[i]);
    CHECK_UNTOUCHED(buf - GAP, GAP * sizeof(int));
    CHECK_UNTOUCHED(buf + n, GAP * sizeof(int));
}

static void clear(void)
{
    memset(in, TEST_CANARY, sizeof(int) * (UNIT + GAP) * ((size_t)test_size + 1));
}

static void gatherv(int root)
{
    int rank;

    clear();
    lay_out(counts, displs, bytes_displs, 1, 0);
    fill(out, counts[test_rank], test_rank, 0);
    if (test_rank != root) {
        NEEDS(MPI_Gatherv(out, counts[test_rank], MPI_INT, NULL, NULL, NULL, MPI_DATATYPE_NULL, root,
                          MPI_COMM_WORLD));
        return;
    }
    NEEDS(MPI_Gatherv(out, counts[test_rank], MPI_INT, in, counts, displs, MPI_INT, root, MPI_COMM_WORLD));
    for (rank = 0; rank < test_size; rank++)
        check(in + displs[rank], counts[rank], rank, 0);
}

static void scatterv(int root)
{
    int rank;

    clear();
    lay_out(counts, displs, bytes_displs, 1, 0);
    for (rank = 0; rank < test_size; rank++)
        fill(out + displs[rank], counts[rank], rank, 0);
    if (test_rank == root)
        NEEDS(MPI_Scatterv(out, counts, displs, MPI_INT, in + GAP, counts[test_rank], MPI_INT, root,
                           MPI_COMM_WORLD));
    else
        NEEDS(MPI_Scatterv(NULL, NULL, NULL, MPI_DATATYPE_NULL, in + GAP, counts[test_rank], MPI_INT, root,
                           MPI_COMM_WORLD));
    check(in + GAP, counts[test_rank], test_rank, 0);
}

static void allgatherv(int is_in_place)
{
    int rank;

    clear();
    lay_out(counts, displs, bytes_displs, 1, 0);
    fill(out, counts[test_rank], test_rank, 0);
    if (is_in_place) {
        fill(in + displs[test_rank], counts[test_rank], test_rank, 0);
        NEEDS(MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_INT, in, counts, displs, MPI_INT, MPI_COMM_WORLD));
    } else {
        NEEDS(MPI_Allgatherv(out, counts[test_rank], MPI_INT, in, counts, displs, MPI_INT, MPI_COMM_WORLD));
    }
    for (rank = 0; rank < test_size; rank++)
        check(in + displs[rank], counts[rank], rank, 0);
}

static void alltoallv(int has_types)
{
    int rank;

    clear();
    lay_out(counts, displs, bytes_displs, 1, 1);
    lay_out(own_counts, own_displs, own_bytes_displs, 0, 1);
    for (rank = 0; rank < test_size; rank++)
        fill(out + own_displs[rank], own_counts[rank], test_rank, rank);
    if (has_types)
        NEEDS(MPI_Alltoallw(out, own_counts, own_bytes_displs, types, in, counts, bytes_displs, types,
                            MPI_COMM_WORLD));
    else
        NEEDS(
            MPI_Alltoallv(out, own_counts, own_displs, MPI_INT, in, counts, displs, MPI_INT, MPI_COMM_WORLD));
    for (rank = 0; rank < test_size; rank++)
        check(in + displs[rank], counts[rank], rank, test_rank);
}

/* Into the place where they are sent from; nothing that describes the send buffer matters. */
static void alltoall_in_place(int has_types)
{
    int rank;

    clear();
    for (rank = 0; rank < test_size; rank++) {
        counts[rank] = length_of(rank < test_rank ? rank : test_rank, rank < test_rank ? test_rank : rank);
        displs[rank] = rank * (UNIT + GAP) + GAP;
        bytes_displs[rank] = displs[rank] * (int)sizeof(int);
        types[rank] = MPI_INT;
        fill(in + displs[rank], counts[rank], test_rank, rank);
    }
    if (has_types)
        NEEDS(MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, in, counts, bytes_displs, types, MPI_COMM_WORLD));
    else
        NEEDS(MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, in, counts, displs, MPI_INT,
                            MPI_COMM_WORLD));
    for (rank = 0; rank < test_size; rank++)
        check(in + displs[rank], counts[rank], rank, test_rank);
}

int main(int argc, char **argv)
{
    int turn;

    test_begin(&argc, &argv);
    CHECK(argc == 2, "usage: vectors gatherv|scatterv|allgatherv|alltoallv|alltoallw");
    CHECK(test_size <= MOST_RANKS, "made for at most %d ranks", MOST_RANKS);
    in = test_alloc(sizeof(int) * (UNIT + GAP) * ((size_t)test_size + 1));
    out = test_alloc(sizeof(int) * (UNIT + GAP) * ((size_t)test_size + 1));
    for (turn = 0; turn < 2 * test_size; turn++) {
        if (strcmp(argv[1], "gatherv") == 0)
            gatherv(turn % test_size);
        else if (strcmp(argv[1], "scatterv") == 0)
            scatterv(turn % test_size);
        else if (strcmp(argv[1], "allgatherv") == 0)
            allgatherv(turn % 2);
        else if (turn % 2 == 0)
            alltoallv(strcmp(argv[1], "alltoallw") == 0);
        else
            alltoall_in_place(strcmp(argv[1], "alltoallw") == 0);
    }
    free(in);
    free(out);
    return test_end();
}
