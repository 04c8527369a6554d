/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §6.9.7: MPI_Reduce_local combines two buffers without communication, every predefined operator and
 * type, int and large-count form; MPI_Op_commutative says that predefined operators commute. */
#include "model.h"

enum { N = 70 };

static int reduce_local(const void *in, void *inout, MPI_Datatype type, MPI_Op op, int is_large_form)
{
#if MPI_VERSION >= 4
    if (is_large_form)
        return MPI_Reduce_local_c(in, inout, N, type, op);
#endif
    (void)is_large_form;
    return MPI_Reduce_local(in, inout, N, type, op);
}

int main(int argc, char **argv)
{
    static _Alignas(16) unsigned char in[N * 32], out[N * 32], want[N * 32], spare[N * 32];
    struct model_type types[80];
    int n_types, i, op, commutes;

    test_begin(&argc, &argv);
    NEEDS(MPI_Reduce_local(in, out, 0, MPI_INT, MPI_SUM));
    n_types = model_types(types, 80);
    for (i = 0; i < n_types; i++)
        for (op = 0; op < OPS; op++) {
            if (!(types[i].ops & 1 << op))
                continue;
            model_fill(&types[i], in, N, (enum model_op)op, 0);
            model_fill(&types[i], out, N, (enum model_op)op, 1);
            model_reduce(&types[i], want, spare, N, (enum model_op)op, 0, 1);
            CHECK_OK(reduce_local(in, out, types[i].type, model_handle((enum model_op)op), (i + op) % 2));
            CHECK_MODEL(&types[i], (enum model_op)op, N, out, want);
        }
    for (op = 0; op < OPS; op++) {
        commutes = -1;
        CHECK_OK(MPI_Op_commutative(model_handle((enum model_op)op), &commutes));
        CHECK_INT(commutes, 1);
    }
    return test_end();
}
