/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §6.9.1: MPI_Reduce with every predefined operator and type it is defined for gives the root what
 * the plain model gives; every root, in place at the root, receive arguments not looked at elsewhere. */
#include "model.h"

enum { MOST = 600 };

static void run(const struct model_type *t, enum model_op op, int n, int root, int is_in_place)
{
    static _Alignas(16) unsigned char in[MOST * 32], out[MOST * 32], want[MOST * 32], spare[MOST * 32];
    const size_t len = (size_t)n * t->size;

    model_fill(t, in, n, op, test_rank);
    memset(out, TEST_CANARY, sizeof out);
    if (test_rank != root) {
        CHECK_OK(MPI_Reduce(in, NULL, n, t->type, model_handle(op), root, MPI_COMM_WORLD));
        return;
    }
    model_reduce(t, want, spare, n, op, 0, test_size - 1);
    if (is_in_place) {
        memcpy(out, in, len);
        CHECK_OK(MPI_Reduce(MPI_IN_PLACE, out, n, t->type, model_handle(op), root, MPI_COMM_WORLD));
    } else {
        CHECK_OK(MPI_Reduce(in, out, n, t->type, model_handle(op), root, MPI_COMM_WORLD));
    }
    CHECK_MODEL(t, op, n, out, want);
    CHECK_UNTOUCHED(out + len, sizeof out - len);
}

int main(int argc, char **argv)
{
    static const int lengths[] = { 0, 1, 3, 40, MOST };
    struct model_type types[80];
    int n_types, i, op, k, turn = 0;

    test_begin(&argc, &argv);
    n_types = model_types(types, 80);
    for (i = 0; i < n_types; i++)
        for (op = 0; op < OPS; op++)
            if (types[i].ops & 1 << op)
                for (k = 0; k < 5; k++, turn++)
                    run(&types[i], (enum model_op)op, lengths[k], turn % test_size, turn / test_size % 2);
    return test_end();
}
