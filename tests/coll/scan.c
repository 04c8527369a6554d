/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §6.10, §6.11: MPI_Scan gives rank i the result over ranks 0 to i, MPI_Exscan over 0 to i - 1
 * (nothing at rank 0); MPI_Reduce_scatter_block hands out the result in equal parts, MPI_Reduce_scatter in
 * parts of any length. Every operator on every type that it takes, in place or not. Argument:
 * scan|exscan|block|scatter. */
#include "model.h"

enum { N = 40, MOST_RANKS = 64, MOST_BYTES = 32 };

static unsigned char *in, *out, *want, *spare;
static struct model_type type;

static void prefix(enum model_op op, int is_exclusive, int is_in_place)
{
    const int last = test_rank - is_exclusive;

    model_fill(&type, in, N, op, test_rank);
    memset(out, TEST_CANARY, N * type.size);
    if (is_in_place)
        memcpy(out, in, N * type.size);
    if (is_exclusive)
        NEEDS(
            MPI_Exscan(is_in_place ? MPI_IN_PLACE : in, out, N, type.type, model_handle(op), MPI_COMM_WORLD));
    else
        NEEDS(MPI_Scan(is_in_place ? MPI_IN_PLACE : in, out, N, type.type, model_handle(op), MPI_COMM_WORLD));
    if (last < 0) {
        if (!is_in_place)
            CHECK_UNTOUCHED(out, N * type.size);
        return;
    }
    model_reduce(&type, want, spare, N, op, 0, last);
    CHECK_MODEL(&type, op, N, out, want);
}

static void parts(enum model_op op, int is_equal, int is_in_place)
{
    int counts[MOST_RANKS], rank, total = 0, mine = 0;

    for (rank = 0; rank < test_size; rank++) {
        counts[rank] = is_equal ? N : rank * 5 % 4 * 10;
        mine = rank == test_rank ? total : mine;
        total += counts[rank];
    }
    model_fill(&type, in, total, op, test_rank);
    memcpy(out, in, (size_t)total * type.size);
    if (is_equal)
        NEEDS(MPI_Reduce_scatter_block(is_in_place ? MPI_IN_PLACE : in, out, N, type.type, model_handle(op),
                                       MPI_COMM_WORLD));
    else
        NEEDS(MPI_Reduce_scatter(is_in_place ? MPI_IN_PLACE : in, out, counts, type.type, model_handle(op),
                                 MPI_COMM_WORLD));
    model_reduce(&type, want, spare, total, op, 0, test_size - 1);
    CHECK_MODEL(&type, op, counts[test_rank], out, want + (size_t)mine * type.size);
}

static void run(const char *what, enum model_op op, int is_in_place)
{
    if (strcmp(what, "scan") == 0 || strcmp(what, "exscan") == 0)
        prefix(op, what[0] == 'e', is_in_place);
    else
        parts(op, strcmp(what, "block") == 0, is_in_place);
}

int main(int argc, char **argv)
{
    struct model_type types[80];
    int op, is_in_place, i, n;

    test_begin(&argc, &argv);
    CHECK(argc == 2, "usage: scan scan|exscan|block|scatter");
    CHECK(test_size <= MOST_RANKS, "made for at most %d ranks", MOST_RANKS);
    in = test_alloc((size_t)N * MOST_BYTES * (size_t)test_size);
    out = test_alloc((size_t)N * MOST_BYTES * (size_t)test_size);
    want = test_alloc((size_t)N * MOST_BYTES * (size_t)test_size);
    spare = test_alloc((size_t)N * MOST_BYTES * (size_t)test_size);
    n = model_types(types, 80);
    for (i = 0; i < n; i++) {
        type = types[i];
        for (op = 0; op < OPS; op++)
            for (is_in_place = 0; is_in_place < 2; is_in_place++)
                if (type.ops & 1 << op && (is_in_place == (i + op) % 2 || type.type == MPI_LONG_LONG))
                    run(argv[1], (enum model_op)op, is_in_place);
    }
    free(in);
    free(out);
    free(want);
    free(spare);
    return test_end();
}
