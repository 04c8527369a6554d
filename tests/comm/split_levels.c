/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §7.4.2, §9.1.2: the levels below the machine, on one that is not there (PARLEY_MACHINE): two packages of
 * two L3 caches of two cores, rank after rank. Guided by each of them; unguided until nothing is left; with
 * processes that do not take part; with different wishes; between two groups. */
#include "mpitest.h"

static const char resource[] = "mpi_hw_resource_type";

static MPI_Info info_with(const char *key, const char *value)
{
    MPI_Info info;

    CHECK_OK(MPI_Info_create(&info));
    if (key)
        CHECK_OK(MPI_Info_set(info, key, value));
    return info;
}

/* The ranks from `first` on, `count` of them as far as there are any, in order. */
static void check_range(MPI_Comm comm, int first, int count)
{
    int size, rank, lowest = test_rank;

    if (first + count > test_size)
        count = test_size - first;
    CHECK(comm != MPI_COMM_NULL, "no communicator");
    CHECK_OK(MPI_Comm_size(comm, &size));
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, &lowest, 1, MPI_INT, MPI_MIN, comm));
    CHECK(size == count && lowest == first && rank == test_rank - first,
          "%d from %d, here %d; not %d from %d, %d", size, lowest, rank, count, first, test_rank - first);
}

static void check_guided(const char *name, int width)
{
    const int types[] = { MPI_COMM_TYPE_HW_GUIDED, MPI_COMM_TYPE_RESOURCE_GUIDED };
    MPI_Info info = info_with(resource, name);

    for (int i = 0; i < 2; i++) {
        MPI_Comm comm;

        CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, types[i], 0, info, &comm));
        if (!width) {
            CHECK(comm == MPI_COMM_NULL, "%s gives a communicator", name);
            continue;
        }
        check_range(comm, test_rank / width * width, width);
        CHECK_OK(MPI_Comm_free(&comm));
    }
    CHECK_OK(MPI_Info_free(&info));
}

/* What is found at this level: smaller than what was there. */
static MPI_Comm step_down(MPI_Comm comm)
{
    static const char *const names[] = { "hwloc://Package", "hwloc://L3Cache", "hwloc://Core" };
    MPI_Info info = info_with(NULL, NULL);
    int size, part, width = 4, len, flag;
    char value[64];
    MPI_Comm next;

    CHECK_OK(MPI_Comm_size(comm, &size));
    CHECK_OK(MPI_Comm_split_type(comm, MPI_COMM_TYPE_HW_UNGUIDED, test_rank, info, &next));
    len = sizeof value;
    CHECK_OK(MPI_Info_get_string(info, resource, &len, value, &flag));
    CHECK_INT(flag, next != MPI_COMM_NULL);
    if (next != MPI_COMM_NULL) {
        CHECK_OK(MPI_Comm_size(next, &part));
        CHECK(part < size, "%d of %d", part, size);
        for (int i = 0; i < 3 && strcmp(value, names[i]); i++)
            width /= 2;
        CHECK(width, "named \"%s\"", value);
        check_range(next, test_rank / width * width, width);
    }
    CHECK_OK(MPI_Info_free(&info));
    return next;
}

static void check_unguided(void)
{
    MPI_Comm comm = MPI_COMM_WORLD, next;
    int steps = 0, size = 1;

    while ((next = step_down(comm)) != MPI_COMM_NULL) {
        if (comm != MPI_COMM_WORLD)
            CHECK_OK(MPI_Comm_free(&comm));
        comm = next;
        steps++;
    }
    CHECK_OK(MPI_Comm_size(comm, &size));
    CHECK_INT(size, 1);
    CHECK(steps <= 3, "%d steps", steps);
    if (comm != MPI_COMM_WORLD)
        CHECK_OK(MPI_Comm_free(&comm));
}

/* Rank 0 does not take part, so the machine already is less than all. */
static void check_undefined(void)
{
    MPI_Info info = info_with(NULL, NULL);
    MPI_Comm comm;

    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, test_rank ? MPI_COMM_TYPE_HW_UNGUIDED : MPI_UNDEFINED, 0, info,
                                 &comm));
    if (test_rank) {
        check_range(comm, 1, test_size - 1);
        CHECK_OK(MPI_Comm_free(&comm));
    } else {
        CHECK(comm == MPI_COMM_NULL, "rank 0 has a communicator");
    }
    CHECK_OK(MPI_Info_free(&info));
}

static void check_mistakes(void)
{
    MPI_Info both = info_with(resource, "Package"), odd = info_with(resource, test_rank ? "Package" : "Core");
    MPI_Comm comm = MPI_COMM_NULL;

    CHECK_OK(MPI_Info_set(both, "mpi_pset_name", "mpi://WORLD"));
    CHECK_CLASS(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, both, &comm), MPI_ERR_INFO);
    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, both, &comm));
    check_range(comm, test_rank / 4 * 4, 4);
    CHECK_OK(MPI_Comm_free(&comm));
    if (test_size > 1)
        CHECK_CLASS(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, odd, &comm), MPI_ERR_ARG);
    CHECK_OK(MPI_Info_free(&both));
    CHECK_OK(MPI_Info_free(&odd));
}

/* Even ranks and odd ones: every L3 cache has both. */
static void check_inter(int type, MPI_Info info, int width)
{
    const int is_odd = test_rank % 2, first = test_rank / width * width;
    const int end = first + width < test_size ? first + width : test_size;
    int mine, theirs;
    MPI_Comm half, inter, comm;

    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, is_odd, 0, &half));
    CHECK_OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !is_odd, 5, &inter));
    CHECK_OK(MPI_Comm_split_type(inter, type, 0, info, &comm));
    if (end - first > 1) {
        CHECK_OK(MPI_Comm_size(comm, &mine));
        CHECK_OK(MPI_Comm_remote_size(comm, &theirs));
        CHECK_INT(mine + theirs, end - first);
        CHECK_INT(mine, is_odd ? (end - first) / 2 : (end - first + 1) / 2);
        CHECK_OK(MPI_Comm_free(&comm));
    } else {
        CHECK(comm == MPI_COMM_NULL, "nobody on the other side");
    }
    CHECK_OK(MPI_Comm_free(&inter));
    CHECK_OK(MPI_Comm_free(&half));
}

static void check_info(void)
{
    static const char *const known[] = { "hwloc://Machine", "hwloc://Package", "hwloc://L3Cache", "hwloc://Core",
                                         "hwloc://PU" };
    MPI_Info info;
    char value[8];
    int keys;

    CHECK_OK(MPI_Get_hw_resource_info(&info));
    CHECK_OK(MPI_Info_get_nkeys(info, &keys));
    CHECK_INT(keys, 5);
    for (int i = 0; i < 5; i++) {
        int len = sizeof value, flag;

        CHECK_OK(MPI_Info_get_string(info, known[i], &len, value, &flag));
        CHECK(flag && !strcmp(value, "true"), "%s", known[i]);
    }
    CHECK_OK(MPI_Info_free(&info));
}

int main(int argc, char **argv)
{
    MPI_Info by_l3;

    test_begin(&argc, &argv);
    if (!test_is_parley())
        test_skip("others do not know this machine");
    check_guided("hwloc://Package", 4);
    check_guided("socket", 4);
    check_guided("L3Cache", 2);
    check_guided("HWLOC://core", 1);
    check_guided("hwloc://Machine", 8);
    check_guided("hwloc://NUMANode", 0);
    check_guided("hwloc://House", 0);
    check_unguided();
    check_undefined();
    check_mistakes();
    if (test_size > 1) {
        by_l3 = info_with(resource, "hwloc://L3Cache");
        check_inter(MPI_COMM_TYPE_HW_GUIDED, by_l3, 2);
        if (test_size > 4) /* else the largest part that is less than all is another */
            check_inter(MPI_COMM_TYPE_HW_UNGUIDED, MPI_INFO_NULL, 4);
        CHECK_OK(MPI_Info_free(&by_l3));
    }
    check_info();
    return test_end();
}
