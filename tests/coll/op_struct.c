/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §6.9.5: a user's operator on a datatype that has one member of a large C struct, and the struct's extent. The
 * operator assigns whole structs, as such functions do: what the library lends it for results has room for that. */
#include <stddef.h>

#include "mpitest.h"

enum { REST = 1 << 18, MOST = 2, FIRST = 7 };

struct item {
    int before[FIRST], key, rest[REST];
};

static MPI_Datatype type;

/* The larger key, and all else of the struct is written. */
static void larger(void *in, void *inout, int *len, MPI_Datatype *datatype)
{
    const struct item *a = in;
    struct item *b = inout;
    int i;

    CHECK(*datatype == type, "the operator got another datatype");
    for (i = 0; i < *len; i++) {
        const int key = a[i].key > b[i].key ? a[i].key : b[i].key;
        memset(&b[i], i, sizeof b[i]);
        b[i].key = key;
    }
}

static void check(const struct item *items, int count, int expected, const char *call)
{
    int i;

    for (i = 0; i < count; i++)
        CHECK(items[i].key == expected + i, "%s: item %d of %d is %d instead of %d", call, i, count, items[i].key,
              expected + i);
}

static void reduce(struct item *own, struct item *result, int count, MPI_Op op)
{
    MPI_Request request;
    int rank, size, i;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (i = 0; i < count; i++)
        own[i].key = rank + i;
    MPI_Allreduce(own, result, count, type, op, MPI_COMM_WORLD);
    check(result, count, size - 1, "MPI_Allreduce");
    MPI_Reduce(own, result, count, type, op, size / 2, MPI_COMM_WORLD);
    if (rank == size / 2)
        check(result, count, size - 1, "MPI_Reduce");
    MPI_Scan(own, result, count, type, op, MPI_COMM_WORLD);
    check(result, count, rank, "MPI_Scan");
    MPI_Exscan(own, result, count, type, op, MPI_COMM_WORLD);
    if (rank)
        check(result, count, rank - 1, "MPI_Exscan");
    MPI_Iallreduce(own, result, count, type, op, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(result, count, size - 1, "MPI_Iallreduce");
    MPI_Ireduce(own, result, count, type, op, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 0)
        check(result, count, size - 1, "MPI_Ireduce");
    MPI_Iscan(own, result, count, type, op, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(result, count, rank, "MPI_Iscan");
}

int main(int argc, char **argv)
{
    struct item *const own = calloc(MOST, sizeof *own), *const result = calloc(MOST, sizeof *result);
    MPI_Datatype key;
    MPI_Aint disp = offsetof(struct item, key);
    int commutes, count;

    test_begin(&argc, &argv);
    MPI_Type_create_hindexed_block(1, 1, &disp, MPI_INT, &key);
    MPI_Type_create_resized(key, 0, sizeof(struct item), &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&key);
    for (commutes = 0; commutes < 2; commutes++)
        for (count = 1; count <= MOST; count++) {
            MPI_Op op;

            MPI_Op_create(larger, commutes, &op);
            reduce(own, result, count, op);
            MPI_Op_free(&op);
        }
    MPI_Type_free(&type);
    free(own);
    free(result);
    return test_end();
}
