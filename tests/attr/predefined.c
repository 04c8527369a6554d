/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §9.1.2, §9.5.1, §11.10.1: the predefined attributes of MPI_COMM_WORLD have the same values everywhere and
 * are not lost; MPI_LASTUSEDCODE follows the codes that are added and removed; MPI_APPNUM and MPI_UNIVERSE_SIZE are
 * there under a launcher. */
#include "mpiattr.h"

static int get(int key, int *is_set)
{
    int *value = NULL;

    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, is_set));
    return *is_set ? *value : -1;
}

static void same_everywhere(int key)
{
    int is_set, value = get(key, &is_set), all[2] = { value, -value }, most[2];

    CHECK_OK(MPI_Allreduce(all, most, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    CHECK_INT(most[0], -most[1]);
}

static void last_used_code(void)
{
    int flag, class, code, *value;
    const int first = get(MPI_LASTUSEDCODE, &flag);

    CHECK(flag && first >= MPI_ERR_LASTCODE, "MPI_LASTUSEDCODE is %d", first);
    CHECK_OK(MPI_Add_error_class(&class));
    CHECK(get(MPI_LASTUSEDCODE, &flag) >= class, "smaller than %d", class);
    CHECK_OK(MPI_Add_error_code(class, &code));
    CHECK(code > first, "code %d, last used code %d", code, first);
    CHECK(get(MPI_LASTUSEDCODE, &flag) >= code, "smaller than %d", code);
    if (!test_is_parley())
        return;
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_SELF, MPI_LASTUSEDCODE, &value, &flag));
    CHECK_INT(*value, code);
    CHECK_OK(MPI_Remove_error_code(code));
    CHECK_INT(get(MPI_LASTUSEDCODE, &flag), class);
    CHECK_OK(MPI_Remove_error_class(class));
    CHECK_INT(get(MPI_LASTUSEDCODE, &flag), first);
}

int main(int argc, char **argv)
{
    const int is_job = argc > 1;
    int flag, value;

    test_begin(&argc, &argv);
    value = get(MPI_UNIVERSE_SIZE, &flag);
    CHECK(!flag || value >= test_size, "MPI_UNIVERSE_SIZE is %d", value);
    value = get(MPI_APPNUM, &flag);
    if (is_job)
        CHECK(flag && value == 0, "MPI_APPNUM is %d", value);
    value = get(MPI_HOST, &flag);
    CHECK(!flag || value == MPI_PROC_NULL || (value >= 0 && value < test_size), "MPI_HOST is %d", value);
    same_everywhere(MPI_TAG_UB);
    same_everywhere(MPI_UNIVERSE_SIZE);
    last_used_code();
    return test_end();
}
