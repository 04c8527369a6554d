/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §5.1.5, §5.1.12: types of absolute addresses, used with MPI_BOTTOM, and types that are one run of bytes
 * which does not begin at the buffer's address. All lengths, so that each protocol meets them. */
#include "mpitest.h"

enum { TAG = 5, AHEAD = 24, GUARD = 16 };

static const int sizes[] = { 4, 40, 400, 20000, 50000, 70000, 300000, 1500000 };

/* `n` bytes that lie AHEAD bytes from the address. */
static MPI_Datatype make_ahead(int n)
{
    const MPI_Aint disp = AHEAD;
    MPI_Datatype type;

    CHECK_OK(MPI_Type_create_hindexed_block(1, n / 4, &disp, MPI_INT, &type));
    CHECK_OK(MPI_Type_commit(&type));
    return type;
}

/* The n bytes at `place`, by their address; in two parts if there are enough. */
static MPI_Datatype make_absolute(char *place, int n, int has_gap)
{
    MPI_Datatype type;
    MPI_Aint disps[2];
    int lengths[2];

    CHECK_OK(MPI_Get_address(place, &disps[0]));
    lengths[0] = n / 8;
    lengths[1] = n / 4 - n / 8;
    CHECK_OK(MPI_Get_address(place + 4 * lengths[0] + (has_gap ? GUARD : 0), &disps[1]));
    CHECK_OK(MPI_Type_create_hindexed(2, lengths, disps, MPI_INT, &type));
    CHECK_OK(MPI_Type_commit(&type));
    return type;
}

static void exchange(const void *out, MPI_Datatype out_type, int out_count, void *in, MPI_Datatype in_type)
{
    const int left = (test_rank + test_size - 1) % test_size, right = (test_rank + 1) % test_size;
    MPI_Request reqs[2];

    CHECK_OK(MPI_Irecv(in, 1, in_type, left, TAG, MPI_COMM_WORLD, &reqs[0]));
    CHECK_OK(MPI_Isend(out, out_count, out_type, right, TAG, MPI_COMM_WORLD, &reqs[1]));
    CHECK_OK(MPI_Waitall(2, reqs, MPI_STATUSES_IGNORE));
}

static void check_size(int n)
{
    const int left = (test_rank + test_size - 1) % test_size;
    char *out = test_alloc((size_t)n), *room = test_alloc((size_t)n + 2 * GUARD + AHEAD);
    MPI_Datatype ahead = make_ahead(n), absolute = make_absolute(room + GUARD, n, 0);
    MPI_Datatype parted = make_absolute(room, n, 1);

    test_fill(out, (size_t)n, test_key((uint64_t)test_rank, (uint64_t)n, 1));
    exchange(out, MPI_INT, n / 4, room + GUARD, ahead);
    CHECK_UNTOUCHED(room, GUARD + AHEAD);
    CHECK_BYTES(room + GUARD + AHEAD, (size_t)n, test_key((uint64_t)left, (uint64_t)n, 1));
    CHECK_UNTOUCHED(room + GUARD + AHEAD + n, GUARD);

    memset(room, TEST_CANARY, (size_t)n + 2 * GUARD + AHEAD);
    exchange(out - AHEAD, ahead, 1, MPI_BOTTOM, absolute);
    CHECK_UNTOUCHED(room, GUARD);
    CHECK_BYTES(room + GUARD, (size_t)n, test_key((uint64_t)left, (uint64_t)n, 1));
    CHECK_UNTOUCHED(room + GUARD + n, GUARD + AHEAD);

    memset(room, TEST_CANARY, (size_t)n + 2 * GUARD + AHEAD);
    exchange(out, MPI_INT, n / 4, MPI_BOTTOM, parted);
    CHECK_UNTOUCHED(room + 4 * (n / 8), GUARD);
    memmove(room + 4 * (n / 8), room + 4 * (n / 8) + GUARD, (size_t)(n - 4 * (n / 8)));
    CHECK_BYTES(room, (size_t)n, test_key((uint64_t)left, (uint64_t)n, 1));
    CHECK_OK(MPI_Type_free(&ahead));
    CHECK_OK(MPI_Type_free(&absolute));
    CHECK_OK(MPI_Type_free(&parted));
    free(out);
    free(room);
}

/* §5.1.5: addresses as numbers. */
static void check_addresses(void)
{
    double a[4];
    MPI_Aint first, second;

    CHECK_OK(MPI_Get_address(&a[1], &first));
    CHECK_OK(MPI_Get_address(&a[3], &second));
    CHECK_INT(MPI_Aint_diff(second, first), 16);
    CHECK_INT(MPI_Aint_diff(first, second), -16);
    CHECK_INT(MPI_Aint_add(first, 16), second);
    CHECK((char *)MPI_BOTTOM + first == (char *)&a[1], "the address is not relative to MPI_BOTTOM");
}

int main(int argc, char **argv)
{
    size_t i;

    test_begin(&argc, &argv);
    check_addresses();
    for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        check_size(sizes[i]);
    return test_end();
}
