/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §6.9.2, §6.9.6: MPI_Allreduce with every predefined operator and every type it is defined for gives
 * on all ranks what the plain model gives; also in place, for several lengths, and with the large-count form.
 */
#include "model.h"

enum { MOST = 600 };

static void run(const struct model_type *t, enum model_op op, int n, int way)
{
    static _Alignas(16) unsigned char in[MOST * 32], out[MOST * 32], want[MOST * 32], spare[MOST * 32];
    const size_t len = (size_t)n * t->size;

    model_reduce(t, want, spare, n, op, 0, test_size - 1);
    model_fill(t, in, n, op, test_rank);
    memset(out, TEST_CANARY, sizeof out);
    if (way == 0) {
        CHECK_OK(MPI_Allreduce(in, out, n, t->type, model_handle(op), MPI_COMM_WORLD));
    } else if (way == 1) {
        memcpy(out, in, len);
        CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, out, n, t->type, model_handle(op), MPI_COMM_WORLD));
    } else {
#if MPI_VERSION >= 4
        CHECK_OK(MPI_Allreduce_c(in, out, n, t->type, model_handle(op), MPI_COMM_WORLD));
#else
        return;
#endif
    }
    CHECK_MODEL(t, op, n, out, want);
    CHECK_UNTOUCHED(out + len, sizeof out - len);
    model_fill(t, spare, n, op, test_rank);
    CHECK(memcmp(in, spare, len) == 0, "%s, %s: the send buffer was changed", t->name, model_name(op));
}

int main(int argc, char **argv)
{
    static const int lengths[] = { 0, 1, 2, 5, 33, MOST };
    struct model_type types[80];
    int n_types, i, op, k;

    test_begin(&argc, &argv);
    n_types = model_types(types, 80);
    for (i = 0; i < n_types; i++)
        for (op = 0; op < OPS; op++)
            if (types[i].ops & 1 << op)
                for (k = 0; k < 6; k++)
                    run(&types[i], (enum model_op)op, lengths[k], (i + op + k) % 3);
    return test_end();
}
