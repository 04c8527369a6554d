/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §6.9.1, §6.9.6: reductions of up to some megabytes, all roots, int and large-count forms. */
#include "mpitest.h"

enum { MOST = 400000 };

static double *in, *out;

static void fill(int n)
{
    int i;

    for (i = 0; i < n; i++) {
        in[i] = (test_rank + 1) * (i % 1000);
        out[i] = -1;
    }
}

static void check(int n)
{
    const double factor = test_size * (test_size + 1) / 2.0;
    int i;

    for (i = 0; i < n; i++)
        CHECK(out[i] == factor * (i % 1000), "element %d of %d: expected %g, got %g", i, n,
              factor * (i % 1000), out[i]);
}

static int reduce(int n, int root)
{
#if MPI_VERSION >= 4
    if (root % 2)
        return MPI_Reduce_c(in, out, n, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
#endif
    return MPI_Reduce(in, out, n, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    static const int lengths[] = { 1, 5000, 70000, MOST };
    int root;
    size_t k;

    test_begin(&argc, &argv);
    in = test_alloc(MOST * sizeof *in);
    out = test_alloc(MOST * sizeof *out);
    for (k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
        for (root = 0; root < test_size; root += k < 3 ? 1 : 3) {
            fill(lengths[k]);
            CHECK_OK(reduce(lengths[k], root));
            if (test_rank == root)
                check(lengths[k]);
        }
        fill(lengths[k]);
        CHECK_OK(MPI_Allreduce(in, out, lengths[k], MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
        check(lengths[k]);
    }
    free(in);
    free(out);
    return test_end();
}
