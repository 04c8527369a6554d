/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §6.9.5: a user's operator that does not commute on derived datatypes: with gaps, with members out of
 * order, with a lower bound that is not 0. It gets whole items, in rank order, in every reduction; the gaps of
 * results stay. The items are 2 by 2 matrices modulo a prime, the operator is their product. */
#include "mpitest.h"

enum { N = 23, PRIME = 10007, MOST_RANKS = 64, ROOM = 48 };

struct layout {
    const char *name;
    int disp[4];    /* of the members, bytes */
    int lb, extent; /* bytes */
};

static const struct layout layouts[] = {
    { "contiguous", { 0, 4, 8, 12 }, 0, 16 },
    { "gaps", { 0, 8, 16, 24 }, 0, 32 },
    { "out of order", { 16, 0, 24, 8 }, 0, 28 },
    { "resized", { 12, 8, 24, 4 }, 4, 40 },
};
static const struct layout *layout;
static MPI_Datatype type;
static long calls;

static void get(const char *item, int m[4])
{
    int k;

    for (k = 0; k < 4; k++)
        memcpy(&m[k], item + layout->disp[k], sizeof m[k]);
}

static void put(char *item, const int m[4])
{
    int k;

    for (k = 0; k < 4; k++)
        memcpy(item + layout->disp[k], &m[k], sizeof m[k]);
}

/* b = a b */
static void multiply(const int a[4], int b[4])
{
    const int c[4] = { b[0], b[1], b[2], b[3] };

    b[0] = (a[0] * c[0] + a[1] * c[2]) % PRIME;
    b[1] = (a[0] * c[1] + a[1] * c[3]) % PRIME;
    b[2] = (a[2] * c[0] + a[3] * c[2]) % PRIME;
    b[3] = (a[2] * c[1] + a[3] * c[3]) % PRIME;
}

static void product_large(void *in, void *inout, MPI_Count *len, MPI_Datatype *datatype)
{
    const char *a = in;
    char *b = inout;
    MPI_Count i;
    int x[4], y[4];

    CHECK(*datatype == type && *len > 0, "the operator got %lld items", (long long)*len);
    for (i = 0; i < *len; i++, a += layout->extent, b += layout->extent) {
        get(a, x);
        get(b, y);
        multiply(x, y);
        put(b, y);
    }
    calls++;
}

static void product(void *in, void *inout, int *len, MPI_Datatype *datatype)
{
    MPI_Count n = *len;

    product_large(in, inout, &n, datatype);
}

static void make_type(void)
{
    const int lengths[4] = { 1, 1, 1, 1 };
    MPI_Aint disps[4];
    MPI_Datatype members;
    int k;

    for (k = 0; k < 4; k++)
        disps[k] = layout->disp[k];
    CHECK_OK(MPI_Type_create_hindexed(4, lengths, disps, MPI_INT, &members));
    CHECK_OK(MPI_Type_create_resized(members, layout->lb, layout->extent, &type));
    CHECK_OK(MPI_Type_commit(&type));
    CHECK_OK(MPI_Type_free(&members));
}

static void matrix(int rank, int i, int m[4])
{
    uint64_t state = test_key((uint64_t)rank, (uint64_t)i, 77);
    int k;

    for (k = 0; k < 4; k++)
        m[k] = (int)test_below(&state, PRIME);
}

/* Items of this rank; the rest of the buffer is canary. */
static void fill(char *buf, int n)
{
    int i, m[4];

    memset(buf, TEST_CANARY, (size_t)(n + 1) * ROOM);
    for (i = 0; i < n; i++) {
        matrix(test_rank, i, m);
        put(buf + (size_t)i * (size_t)layout->extent, m);
    }
}

/* buf has n products, beginning with number `first`, over ranks 0 to last; nothing else was written. */
static void check(char *buf, int first, int n, int last, const char *what)
{
    int i, k, rank, got[4], want[4], m[4];
    char canary[4];

    memset(canary, TEST_CANARY, sizeof canary);
    for (i = 0; i < n; i++) {
        char *const item = buf + (size_t)i * (size_t)layout->extent;

        matrix(last, first + i, want);
        for (rank = last - 1; rank >= 0; rank--) {
            matrix(rank, first + i, m);
            multiply(m, want);
        }
        get(item, got);
        CHECK(memcmp(got, want, sizeof got) == 0, "%s, %s, item %d: expected %d %d %d %d, got %d %d %d %d", what,
              layout->name, i, want[0], want[1], want[2], want[3], got[0], got[1], got[2], got[3]);
        for (k = 0; k < 4; k++)
            memcpy(item + layout->disp[k], canary, sizeof canary);
    }
    CHECK_UNTOUCHED(buf, (size_t)(n + 1) * ROOM);
}

static void to_all(MPI_Op op, char *in, char *out)
{
    int root;

    for (root = 0; root < test_size; root++) {
        memset(out, TEST_CANARY, (N + 1) * ROOM);
        CHECK_OK(MPI_Reduce(in, out, N, type, op, root, MPI_COMM_WORLD));
        if (test_rank == root)
            check(out, 0, N, test_size - 1, "MPI_Reduce");
        else
            CHECK_UNTOUCHED(out, (N + 1) * ROOM);
    }
    memset(out, TEST_CANARY, (N + 1) * ROOM);
    CHECK_OK(MPI_Allreduce(in, out, N, type, op, MPI_COMM_WORLD));
    check(out, 0, N, test_size - 1, "MPI_Allreduce");
    fill(out, N);
    CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, out, N, type, op, MPI_COMM_WORLD));
    check(out, 0, N, test_size - 1, "MPI_Allreduce in place");
#if MPI_VERSION >= 4
    memset(out, TEST_CANARY, (N + 1) * ROOM);
    CHECK_OK(MPI_Allreduce_c(in, out, N, type, op, MPI_COMM_WORLD));
    check(out, 0, N, test_size - 1, "MPI_Allreduce_c");
#endif
}

static void to_some(MPI_Op op, char *in, char *out)
{
    memset(out, TEST_CANARY, (N + 1) * ROOM);
    CHECK_OK(MPI_Scan(in, out, N, type, op, MPI_COMM_WORLD));
    check(out, 0, N, test_rank, "MPI_Scan");
    memset(out, TEST_CANARY, (N + 1) * ROOM);
    CHECK_OK(MPI_Exscan(in, out, N, type, op, MPI_COMM_WORLD));
    if (test_rank > 0)
        check(out, 0, N, test_rank - 1, "MPI_Exscan");
    else
        CHECK_UNTOUCHED(out, (N + 1) * ROOM);
}

static void in_parts(MPI_Op op)
{
    char *const in = test_alloc((size_t)(N * test_size + 1) * ROOM), *const out = test_alloc((N + 1) * ROOM);
    int counts[MOST_RANKS], rank, total = 0, mine = 0;

    for (rank = 0; rank < test_size; rank++) {
        counts[rank] = rank * 5 % 4 * 3;
        mine = rank == test_rank ? total : mine;
        total += counts[rank];
    }
    fill(in, N * test_size);
    CHECK_OK(MPI_Reduce_scatter(in, out, counts, type, op, MPI_COMM_WORLD));
    check(out, mine, counts[test_rank], test_size - 1, "MPI_Reduce_scatter");
    memset(out, TEST_CANARY, (N + 1) * ROOM);
    CHECK_OK(MPI_Reduce_scatter_block(in, out, N, type, op, MPI_COMM_WORLD));
    check(out, N * test_rank, N, test_size - 1, "MPI_Reduce_scatter_block");
    free(in);
    free(out);
}

static void local(MPI_Op op, char *in, char *out)
{
    const long before = calls;
    int i, m[4];

    if (test_size < 2 || test_rank != 0)
        return;
    memset(out, TEST_CANARY, (N + 1) * ROOM);
    for (i = 0; i < N; i++) {
        matrix(1, i, m);
        put(out + (size_t)i * (size_t)layout->extent, m);
    }
    CHECK_OK(MPI_Reduce_local(in, out, N, type, op));
    check(out, 0, N, 1, "MPI_Reduce_local");
    CHECK(calls > before, "the operator was not called");
    CHECK_OK(MPI_Reduce_local(in, out, 0, type, op));
}

static void run(MPI_Op op)
{
    char *const in = test_alloc((N + 1) * ROOM), *const out = test_alloc((N + 1) * ROOM);

    fill(in, N);
    to_all(op, in, out);
    to_some(op, in, out);
    in_parts(op);
    local(op, in, out);
    free(in);
    free(out);
}

int main(int argc, char **argv)
{
    MPI_Op op;
    size_t i;

    test_begin(&argc, &argv);
    CHECK(test_size <= MOST_RANKS, "made for at most %d ranks", MOST_RANKS);
    for (i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        layout = &layouts[i];
        make_type();
        CHECK_OK(MPI_Op_create(product, 0, &op));
        run(op);
        CHECK_OK(MPI_Op_free(&op));
#if MPI_VERSION >= 4
        NEEDS(MPI_Op_create_c(product_large, 0, &op));
        run(op);
        CHECK_OK(MPI_Op_free(&op));
#endif
        CHECK_OK(MPI_Type_free(&type));
    }
    return test_end();
}
