/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §9.2: memory from MPI_Alloc_mem can be written, sent and received, is aligned as asked for, and is freed. */
#include "mpitest.h"

#include <stdint.h>
#include <string.h>

static void aligned(const char *value, int is_right)
{
    const uintptr_t want = is_right ? strtoul(value, NULL, 10) : 1;
    MPI_Info info;
    char *base = NULL;

    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "mpi_minimum_memory_alignment", value));
    if (is_right) {
        CHECK_OK(MPI_Alloc_mem(1000, info, &base));
        CHECK((uintptr_t)base % want == 0, "%p is not aligned to %s", (void *)base, value);
        memset(base, 1, 1000);
        CHECK_OK(MPI_Free_mem(base));
    } else if (test_is_parley()) {
        CHECK_CLASS(MPI_Alloc_mem(1000, info, &base), MPI_ERR_INFO_VALUE);
    }
    CHECK_OK(MPI_Info_free(&info));
}

int main(int argc, char **argv)
{
    enum { COUNT = 100000 };
    int *data = NULL, i;
    void *none = NULL;

    test_begin(&argc, &argv);
    CHECK_OK(MPI_Alloc_mem(COUNT * sizeof *data, MPI_INFO_NULL, &data));
    for (i = 0; i < COUNT; i++)
        data[i] = test_rank ? -1 : i;
    CHECK_OK(MPI_Bcast(data, COUNT, MPI_INT, 0, MPI_COMM_WORLD));
    for (i = 0; i < COUNT; i++)
        CHECK(data[i] == i, "element %d is %d", i, data[i]);
    CHECK_OK(MPI_Free_mem(data));
    CHECK_OK(MPI_Alloc_mem(0, MPI_INFO_NULL, &none));
    CHECK_OK(MPI_Free_mem(none));
    aligned("1", 1);
    aligned("4096", 1);
    aligned("24", 0);
    aligned("many", 0);
    if (test_is_parley())
        CHECK_CLASS(MPI_Alloc_mem(-1, MPI_INFO_NULL, &none), MPI_ERR_SIZE);
    return test_end();
}
