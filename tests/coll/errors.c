/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §6, §9.4: what the collectives answer to wrong arguments; everybody makes the same mistake, and the
 * communicator stays usable. */
#include "mpitest.h"

static int in[64], out[64];

/* Combinations of operator and type that table 6.9.2 does not have. */
static void wrong_operators(void)
{
    const struct {
        MPI_Op op;
        MPI_Datatype type;
        const char *name;
    } pairs[] = {
        { MPI_BAND, MPI_DOUBLE, "BAND of MPI_DOUBLE" },
        { MPI_SUM, MPI_BYTE, "SUM of MPI_BYTE" },
        { MPI_MAX, MPI_C_DOUBLE_COMPLEX, "MAX of MPI_C_DOUBLE_COMPLEX" },
        { MPI_MINLOC, MPI_INT, "MINLOC of MPI_INT" },
        { MPI_SUM, MPI_DOUBLE_INT, "SUM of MPI_DOUBLE_INT" },
        { MPI_SUM, MPI_CHARACTER, "SUM of MPI_CHARACTER" },
        { MPI_MAX, MPI_WCHAR, "MAX of MPI_WCHAR" },
        { MPI_LAND, MPI_FLOAT, "LAND of MPI_FLOAT" },
        { MPI_REPLACE, MPI_INT, "REPLACE" },
        { MPI_NO_OP, MPI_INT, "NO_OP" },
    };
    size_t i;
    int rc;

    for (i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        rc = MPI_Allreduce(in, out, 1, pairs[i].type, pairs[i].op, MPI_COMM_WORLD);
        if (test_is_parley()) /* others allow some of them as an extension */
            CHECK(test_class(rc) == MPI_ERR_OP, "%s: expected MPI_ERR_OP, got class %d", pairs[i].name,
                  test_class(rc));
    }
}

static void wrong_arguments(void)
{
    CHECK_CLASS(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Bcast(in, 1, MPI_INT, test_size, MPI_COMM_WORLD), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Bcast(in, 1, MPI_INT, -1, MPI_COMM_WORLD), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Bcast(in, -1, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Bcast(in, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, test_size, MPI_COMM_WORLD), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Reduce(in, out, 1, MPI_INT, MPI_OP_NULL, 0, MPI_COMM_WORLD), MPI_ERR_OP);
    CHECK_CLASS(MPI_Allreduce(in, out, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD), MPI_ERR_OP);
    CHECK_CLASS(MPI_Allreduce(in, out, -1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, test_size, MPI_COMM_WORLD), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Gather(in, -1, MPI_INT, out, 1, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Allgather(in, 1, MPI_DATATYPE_NULL, out, 1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Alltoall(in, 1, MPI_INT, out, -1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_COUNT);
}

/* Buffers that may not be the same, and MPI_IN_PLACE where it is not allowed. */
static void wrong_buffers(void)
{
    if (!test_is_parley())
        return;
    CHECK_CLASS(MPI_Allreduce(in, in, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Allreduce(in, MPI_IN_PLACE, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Bcast(MPI_IN_PLACE, 4, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Bcast(NULL, 4, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
}

int main(int argc, char **argv)
{
    int value, sum = 0;

    test_begin(&argc, &argv);
    wrong_arguments();
    wrong_operators();
    wrong_buffers();
    value = test_rank + 1;
    CHECK_OK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_INT(sum, test_size * (test_size + 1) / 2);
    return test_end();
}
