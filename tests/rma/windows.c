/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §12.2, §7.8, §9.3.2: making windows with sizes and units that differ between ranks, their attributes,
 * groups, names, hints and error handlers, MPI_Win_shared_query on all flavors. */
#include "machines.h"

static void attribute(MPI_Win win, int key, void *value)
{
    int flag = 0;

    CHECK_OK(MPI_Win_get_attr(win, key, value, &flag));
    CHECK_INT(flag, 1);
}

static void check_attributes(MPI_Win win, void *base, MPI_Aint size, int unit, int flavor)
{
    void *found;
    MPI_Aint *size_found;
    int *unit_found, *flavor_found, *model;

    attribute(win, MPI_WIN_BASE, &found);
    attribute(win, MPI_WIN_SIZE, &size_found);
    attribute(win, MPI_WIN_DISP_UNIT, &unit_found);
    attribute(win, MPI_WIN_CREATE_FLAVOR, &flavor_found);
    attribute(win, MPI_WIN_MODEL, &model);
    CHECK(found == base, "MPI_WIN_BASE: expected %p, got %p", base, found);
    CHECK_INT(*size_found, size);
    CHECK_INT(*unit_found, unit);
    CHECK_INT(*flavor_found, flavor);
    CHECK(*model == MPI_WIN_UNIFIED || *model == MPI_WIN_SEPARATE, "expected a model, got %d", *model);
}

static void check_group(MPI_Win win)
{
    MPI_Group group, world;
    int result;

    CHECK_OK(MPI_Win_get_group(win, &group));
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    CHECK_OK(MPI_Group_compare(group, world, &result));
    CHECK_INT(result, MPI_IDENT);
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Group_free(&world));
}

static void check_name(MPI_Win win)
{
    char name[MPI_MAX_OBJECT_NAME], wide[2 * MPI_MAX_OBJECT_NAME];
    int len = -1;

    CHECK_OK(MPI_Win_get_name(win, name, &len));
    CHECK_INT(len, 0);
    CHECK_OK(MPI_Win_set_name(win, "halo"));
    CHECK_OK(MPI_Win_get_name(win, name, &len));
    CHECK(len == 4 && !strcmp(name, "halo"), "expected halo, got %s", name);
    memset(wide, 'x', sizeof wide - 1);
    wide[sizeof wide - 1] = 0;
    CHECK_OK(MPI_Win_set_name(win, wide));
    CHECK_OK(MPI_Win_get_name(win, name, &len));
    CHECK_INT(len, MPI_MAX_OBJECT_NAME - 1);
    CHECK_OK(MPI_Win_get_name(MPI_WIN_NULL, name, &len));
    CHECK(!strcmp(name, "MPI_WIN_NULL"), "expected MPI_WIN_NULL, got %s", name);
}

static void expect_hint(MPI_Info info, const char *key, const char *want)
{
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int flag = 0, len = sizeof value;

    CHECK_OK(MPI_Info_get_string(info, key, &len, value, &flag));
    CHECK(flag && !strcmp(value, want), "%s: expected %s, got %s", key, want, flag ? value : "nothing");
}

static void check_info(MPI_Win win)
{
    MPI_Info info;

    CHECK_OK(MPI_Win_get_info(win, &info));
    expect_hint(info, "no_locks", "false");
    expect_hint(info, "accumulate_ordering", "rar,raw,war,waw");
    expect_hint(info, "accumulate_ops", "same_op_no_op");
    expect_hint(info, "same_size", "false");
    expect_hint(info, "same_disp_unit", "false");
    CHECK_OK(MPI_Info_set(info, "accumulate_ordering", "waw,rar"));
    CHECK_OK(MPI_Info_set(info, "accumulate_ops", "same_op"));
    CHECK_OK(MPI_Info_set(info, "no_locks", "perhaps"));
    CHECK_OK(MPI_Win_set_info(win, info));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Win_get_info(win, &info));
    expect_hint(info, "no_locks", "false");
    if (test_is_parley())
        expect_hint(info, "accumulate_ordering", "rar,waw");
    expect_hint(info, "accumulate_ops", "same_op");
    CHECK_OK(MPI_Info_free(&info));
}

static int called;
static MPI_Win called_on;

static void on_error(MPI_Win *win, int *code, ...)
{
    int class = -1;

    MPI_Error_class(*code, &class);
    called = class;
    called_on = *win;
}

static void check_errhandler(MPI_Win win)
{
    MPI_Errhandler handler, found;

    CHECK_OK(MPI_Win_get_errhandler(win, &found));
    CHECK(found == MPI_ERRORS_ARE_FATAL, "a new window has MPI_ERRORS_ARE_FATAL");
    CHECK_OK(MPI_Errhandler_free(&found));
    CHECK_OK(MPI_Win_create_errhandler(on_error, &handler));
    CHECK_OK(MPI_Win_set_errhandler(win, handler));
    CHECK_OK(MPI_Errhandler_free(&handler));
    called = 0;
    CHECK_CLASS(MPI_Win_lock(12345, 0, 0, win), MPI_ERR_LOCKTYPE);
    CHECK_INT(called, MPI_ERR_LOCKTYPE);
    CHECK(called_on == win, "the handler gets the window");
    CHECK_OK(MPI_Win_call_errhandler(win, MPI_ERR_DISP));
    CHECK_INT(called, MPI_ERR_DISP);
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
}

static void check_all(MPI_Win win, void *base, MPI_Aint size, int unit, int flavor)
{
    check_errhandler(win);
    check_attributes(win, base, size, unit, flavor);
    check_group(win);
    check_name(win);
    check_info(win);
}

/* Sizes that differ; some have none. */
static MPI_Aint size_of(int rank)
{
    return rank % 3 == 1 ? 0 : 100 + 4 * rank;
}

static void own_memory(void)
{
    const MPI_Aint size = size_of(test_rank);
    char *mem = test_alloc((size_t)size);
    MPI_Aint found = -1;
    int unit = -1;
    char *base = mem;
    MPI_Win win;

    CHECK_OK(MPI_Win_create(mem, size, test_rank + 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    check_all(win, mem, size, test_rank + 1, MPI_WIN_FLAVOR_CREATE);
    CHECK_OK(MPI_Win_shared_query(win, test_rank, &found, &unit, &base));
    CHECK(found == 0 || (base == mem && found == size), "our own memory, or none: got %ld bytes",
          (long)found);
    CHECK_OK(MPI_Win_free(&win));
    free(mem);
    CHECK_OK(MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK_OK(MPI_Win_free(&win));
}

static void allocated(void)
{
    const MPI_Aint size = size_of(test_rank);
    char *base = NULL;
    MPI_Win win;

    CHECK_OK(MPI_Win_allocate_c(size, test_rank + 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    memset(base, test_rank, (size_t)size);
    check_all(win, base, size, test_rank + 1, MPI_WIN_FLAVOR_ALLOCATE);
    for (int rank = 0; rank < test_size; rank++) {
        MPI_Aint found = -1, unit = -1;
        char *there = NULL;

        CHECK_OK(MPI_Win_shared_query_c(win, rank, &found, &unit, &there));
        CHECK(found == 0 || found == size_of(rank), "rank %d has %ld bytes, got %ld", rank,
              (long)size_of(rank), (long)found);
        CHECK_INT(unit, rank + 1);
    }
    CHECK_OK(MPI_Win_free(&win));
}

/* Segments of shared memory, one after the other if nothing else is asked for. */
static void shared(int is_apart)
{
    const MPI_Aint size = size_of(test_rank);
    char *base = NULL, *before = NULL, *there;
    MPI_Aint found;
    MPI_Info info;
    MPI_Win win;
    int unit;

    if (!can_share(MPI_COMM_WORLD))
        return;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "alloc_shared_noncontig", is_apart ? "true" : "false"));
    CHECK_OK(MPI_Win_allocate_shared(size, 4, info, MPI_COMM_WORLD, &base, &win));
    CHECK_OK(MPI_Info_free(&info));
    check_all(win, base, size, 4, MPI_WIN_FLAVOR_SHARED);
    memset(base, test_rank + 1, (size_t)size);
    CHECK_OK(MPI_Win_fence(0, win));
    for (int rank = 0; rank < test_size; rank++) {
        CHECK_OK(MPI_Win_shared_query(win, rank, &found, &unit, &there));
        CHECK_INT(found, size_of(rank));
        CHECK_INT(unit, 4);
        if (!is_apart && before && found)
            CHECK(there == before, "the segment of rank %d follows that of %d", rank, rank - 1);
        for (MPI_Aint i = 0; i < found; i++)
            CHECK_INT(there[i], rank + 1);
        if (found)
            before = there + found;
    }
    CHECK_OK(MPI_Win_shared_query(win, MPI_PROC_NULL, &found, &unit, &there));
    CHECK_INT(found, 100);
    CHECK_INT(there[0], 1);
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Win_free(&win));
}

/* Nobody has any memory. */
static void none(void)
{
    char *base = NULL, *there = NULL;
    MPI_Aint found = -1;
    MPI_Win win;
    int unit;

    if (!can_share(MPI_COMM_WORLD))
        return;
    CHECK_OK(MPI_Win_allocate_shared(0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Win_shared_query(win, MPI_PROC_NULL, &found, &unit, &there));
    CHECK_INT(found, 0);
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Put(NULL, 0, MPI_INT, 0, 0, 0, MPI_INT, win));
    CHECK_CLASS(MPI_Put(&unit, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Win_free(&win));
}

/* Alignment that is asked for; more memory than a page; many windows one after the other and at once. */
static void many(void)
{
    enum { AT_ONCE = 20 };
    MPI_Win win[AT_ONCE];
    char *base[AT_ONCE];
    MPI_Info info;

    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "mpi_minimum_memory_alignment", "8192"));
    for (int i = 0; i < AT_ONCE; i++) {
        CHECK_OK(
            MPI_Win_allocate(10000 + i, 1, i % 2 ? info : MPI_INFO_NULL, MPI_COMM_WORLD, &base[i], &win[i]));
        if (i % 2)
            CHECK((uintptr_t)base[i] % 8192 == 0, "alignment 8192 is asked for, got %p", (void *)base[i]);
        memset(base[i], i, 10000);
    }
    for (int i = 0; i < AT_ONCE; i++)
        for (int at = 0; at < 10000; at += 999)
            CHECK_INT(base[i][at], i);
    for (int i = 0; i < AT_ONCE; i++)
        CHECK_OK(MPI_Win_free(&win[(i * 7) % AT_ONCE]));
    for (int i = 0; i < 100; i++) {
        CHECK_OK(MPI_Win_allocate(1 << 20, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base[0], &win[0]));
        base[0][i] = 1;
        CHECK_OK(MPI_Win_free(&win[0]));
    }
    CHECK_OK(MPI_Info_free(&info));
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    own_memory();
    allocated();
    shared(0);
    shared(1);
    none();
    many();
    return test_end();
}
