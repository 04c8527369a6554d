/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §6.9.5: a user's operator that does not commute is applied in rank order, on any pieces of the
 * vector. The elements are maps x -> a x + b modulo a prime, and the operator is: the one after the other. */
#include "mpitest.h"

enum { N = 500, PRIME = 10007 };

struct map {
    int a, b;
};

static void chain(void *in, void *inout, int *len, MPI_Datatype *type)
{
    const struct map *first = in;
    struct map *then = inout;
    int i;

    CHECK(*type == MPI_2INT && *len > 0, "the operator got %d elements", *len);
    for (i = 0; i < *len; i++) {
        then[i].b = (then[i].a * first[i].b + then[i].b) % PRIME;
        then[i].a = then[i].a * first[i].a % PRIME;
    }
}

#if MPI_VERSION >= 4
static void chain_large(void *in, void *inout, MPI_Count *len, MPI_Datatype *type)
{
    int n = (int)*len;

    chain(in, inout, &n, type);
}
#endif

static void fill(struct map *m, int rank)
{
    uint64_t state = test_key((uint64_t)rank, 0, 31);
    int i;

    for (i = 0; i < N; i++) {
        m[i].a = 1 + (int)test_below(&state, PRIME - 1);
        m[i].b = (int)test_below(&state, PRIME);
    }
}

static void check(const struct map *got)
{
    static struct map want[N], next[N];
    MPI_Datatype type = MPI_2INT;
    int rank, n = N, i;

    fill(want, 0);
    for (rank = 1; rank < test_size; rank++) {
        fill(next, rank);
        chain(want, next, &n, &type);
        memcpy(want, next, sizeof want);
    }
    for (i = 0; i < N; i++)
        CHECK(got[i].a == want[i].a && got[i].b == want[i].b, "element %d: expected (%d, %d), got (%d, %d)",
              i, want[i].a, want[i].b, got[i].a, got[i].b);
}

static void run(MPI_Op op)
{
    static struct map in[N], out[N];
    int root, commutes = -1;

    CHECK_OK(MPI_Op_commutative(op, &commutes));
    CHECK_INT(commutes, 0);
    fill(in, test_rank);
    for (root = 0; root < test_size; root++) {
        memset(out, 0, sizeof out);
        CHECK_OK(MPI_Reduce(in, out, N, MPI_2INT, op, root, MPI_COMM_WORLD));
        if (test_rank == root)
            check(out);
    }
    memcpy(out, in, sizeof out);
    CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, out, N, MPI_2INT, op, MPI_COMM_WORLD));
    check(out);
}

int main(int argc, char **argv)
{
    MPI_Op op;

    test_begin(&argc, &argv);
    NEEDS(MPI_Op_create(chain, 0, &op));
    run(op);
    CHECK_OK(MPI_Op_free(&op));
    CHECK(op == MPI_OP_NULL, "MPI_Op_free did not null the handle");
#if MPI_VERSION >= 4
    NEEDS(MPI_Op_create_c(chain_large, 0, &op));
    run(op);
    CHECK_OK(MPI_Op_free(&op));
#endif
    op = MPI_SUM;
    CHECK(MPI_Op_free(&op) != MPI_SUCCESS, "MPI_Op_free of MPI_SUM succeeded");
    return test_end();
}
