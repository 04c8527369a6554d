/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §6.7, §6.8, §8.6: blocks of some hundred KB beside short and empty ones: allgatherv, alltoallv, alltoallw and
 * neighborhoods of grids, in place, with gaps on either side, with neighbours that are the same process or this one. */
#include "mpitest.h"

enum { LONGEST = 600040, MOST = 16, CHUNK = 8 /* bytes of data, and of each gap */ };

enum { LENGTHS = 8 };
static const int lengths[LENGTHS] = { 600040, 0, 70000, 40, 131072, 12000, 20008, 34000 };
static unsigned char *in, *out, *packed;
static int counts[MOST], displs[MOST], out_counts[MOST], out_displs[MOST];
static MPI_Datatype types[MOST], out_types[MOST];

/* Blocks have room for their gaps. */
static unsigned char *place(unsigned char *buf, int i)
{
    return buf + (size_t)i * 2 * LONGEST;
}

static int length_of(int from, int way)
{
    return lengths[(from * 3 + way) % LENGTHS];
}

/* Between packed bytes and a layout with gaps, or none. */
static void spread(unsigned char *buf, const unsigned char *from, int len, int has_gaps)
{
    for (int i = 0; i < len; i++)
        buf[has_gaps ? i / CHUNK * 2 * CHUNK + i % CHUNK : i] = from[i];
}

static void collect(unsigned char *to, const unsigned char *buf, int len, int has_gaps)
{
    for (int i = 0; i < len; i++)
        to[i] = buf[has_gaps ? i / CHUNK * 2 * CHUNK + i % CHUNK : i];
}

static uint64_t key_of(int from, int way)
{
    return test_key((uint64_t)from, (uint64_t)way, 7);
}

static void put(int i, int way, int len, int has_gaps)
{
    test_fill(packed, (size_t)len, key_of(test_rank, way));
    spread(place(out, i), packed, len, has_gaps);
}

static void check(int i, int from, int way, int len, int has_gaps)
{
    collect(packed, place(in, i), len, has_gaps);
    CHECK_BYTES(packed, (size_t)len, key_of(from, way));
    if (!has_gaps)
        CHECK_UNTOUCHED(place(in, i) + len, 16);
    else if (len)
        CHECK_UNTOUCHED(place(in, i) + CHUNK, CHUNK);
}

static void clear(int blocks)
{
    memset(in, TEST_CANARY, (size_t)blocks * 2 * LONGEST);
}

/* Of bytes, in a row or with gaps. */
static MPI_Datatype type_of(int len, int has_gaps)
{
    MPI_Datatype type;

    CHECK_OK(has_gaps ? MPI_Type_vector(len / CHUNK, CHUNK, 2 * CHUNK, MPI_BYTE, &type)
                      : MPI_Type_contiguous(len, MPI_BYTE, &type));
    CHECK_OK(MPI_Type_commit(&type));
    return type;
}

static void allgatherv(int is_in_place)
{
    const int own = length_of(test_rank, 0);

    clear(test_size);
    put(0, 0, own, 0);
    if (is_in_place)
        memcpy(place(in, test_rank), place(out, 0), (size_t)own);
    for (int rank = 0; rank < test_size; rank++) {
        counts[rank] = length_of(rank, 0);
        displs[rank] = (int)(place(in, rank) - in);
    }
    CHECK_OK(MPI_Allgatherv(is_in_place ? MPI_IN_PLACE : place(out, 0), own, MPI_BYTE, in, counts, displs, MPI_BYTE,
                            MPI_COMM_WORLD));
    for (int rank = 0; rank < test_size; rank++)
        check(rank, rank, 0, length_of(rank, 0), 0);
}

/* The blocks of pairs have gaps where `gaps` has the bit of the one who sends, or who receives. */
static int has_gaps(int gaps, int side, int rank)
{
    return gaps >> side & 1 && rank % 2 == 0;
}

static void alltoall(int gaps)
{
    clear(test_size);
    for (int rank = 0; rank < test_size; rank++) {
        const int sends = length_of(test_rank, rank), takes = length_of(rank, test_rank);

        put(rank, rank, sends, has_gaps(gaps, 0, rank));
        out_types[rank] = type_of(sends, has_gaps(gaps, 0, rank));
        types[rank] = type_of(takes, has_gaps(gaps, 1, rank));
        displs[rank] = out_displs[rank] = (int)(place(in, rank) - in);
        counts[rank] = out_counts[rank] = 1;
    }
    CHECK_OK(MPI_Alltoallw(out, out_counts, out_displs, out_types, in, counts, displs, types, MPI_COMM_WORLD));
    for (int rank = 0; rank < test_size; rank++) {
        check(rank, rank, test_rank, length_of(rank, test_rank), has_gaps(gaps, 1, rank));
        CHECK_OK(MPI_Type_free(&types[rank]));
        CHECK_OK(MPI_Type_free(&out_types[rank]));
    }
    if (gaps)
        return;
    clear(test_size);
    for (int rank = 0; rank < test_size; rank++) {
        out_counts[rank] = length_of(test_rank, rank);
        counts[rank] = length_of(rank, test_rank);
    }
    CHECK_OK(MPI_Alltoallv(out, out_counts, out_displs, MPI_BYTE, in, counts, displs, MPI_BYTE, MPI_COMM_WORLD));
    for (int rank = 0; rank < test_size; rank++)
        check(rank, rank, test_rank, counts[rank], 0);
}

/* One block for all neighbours, of the same length at all; the places are not in a row. */
static void neighbor_allgather(MPI_Comm grid, const int *sources, int n, int len)
{
    clear(n);
    put(0, 0, len, 0);
    for (int i = 0; i < n; i++) {
        counts[i] = len;
        displs[i] = (int)(place(in, i) - in);
    }
    CHECK_OK(MPI_Neighbor_allgatherv(place(out, 0), len, MPI_BYTE, in, counts, displs, MPI_BYTE, grid));
    for (int i = 0; i < n; i++)
        if (sources[i] != MPI_PROC_NULL)
            check(i, sources[i], 0, len, 0);
}

/* What is sent to the neighbour at `i` arrives as what comes from its neighbour at i ^ 1. */
static void neighbor_alltoall(MPI_Comm grid, const int *sources, int n, int gaps)
{
    MPI_Aint at[MOST];

    clear(n);
    for (int i = 0; i < n; i++) {
        const int source = sources[i] == MPI_PROC_NULL ? 0 : sources[i];

        put(i, i, length_of(test_rank, i), has_gaps(gaps, 0, i));
        out_types[i] = type_of(length_of(test_rank, i), has_gaps(gaps, 0, i));
        types[i] = type_of(length_of(source, i ^ 1), has_gaps(gaps, 1, source + i));
        at[i] = place(in, i) - in;
        counts[i] = 1;
    }
    CHECK_OK(MPI_Neighbor_alltoallw(out, counts, at, out_types, in, counts, at, types, grid));
    for (int i = 0; i < n; i++) {
        if (sources[i] != MPI_PROC_NULL)
            check(i, sources[i], i ^ 1, length_of(sources[i], i ^ 1), has_gaps(gaps, 1, sources[i] + i));
        CHECK_OK(MPI_Type_free(&types[i]));
        CHECK_OK(MPI_Type_free(&out_types[i]));
    }
}

static void neighbors(int dims, int is_periodic)
{
    int extents[3] = { 0, 0, 0 }, sources[6];
    const int periods[3] = { is_periodic, 1, is_periodic };
    MPI_Comm grid;

    CHECK_OK(MPI_Dims_create(test_size, dims, extents));
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, dims, extents, periods, 0, &grid));
    for (int i = 0; i < dims; i++)
        CHECK_OK(MPI_Cart_shift(grid, i, 1, &sources[2 * i], &sources[2 * i + 1]));
    for (int i = 0; i < LENGTHS; i++)
        neighbor_allgather(grid, sources, 2 * dims, lengths[i]);
    for (int gaps = 0; gaps < 4; gaps++)
        neighbor_alltoall(grid, sources, 2 * dims, gaps);
    CHECK_OK(MPI_Comm_free(&grid));
}

int main(int argc, char **argv)
{
    size_t room;

    test_begin(&argc, &argv);
    room = (size_t)(test_size > 6 ? test_size : 6) * 2 * LONGEST;
    in = test_alloc(room);
    out = test_alloc(room);
    packed = test_alloc(LONGEST);
    for (int i = 0; i < 2; i++)
        allgatherv(i);
    for (int gaps = 0; gaps < 4; gaps++)
        alltoall(gaps);
    for (int dims = 1; dims <= 3; dims++)
        for (int is_periodic = 0; is_periodic < 2; is_periodic++)
            neighbors(dims, is_periodic);
    free(in);
    free(out);
    free(packed);
    return test_end();
}
