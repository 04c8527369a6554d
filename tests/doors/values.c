/* SPDX-License-Identifier: BSD-3-Clause */
/* Constants, statuses and strings are those of the program's ABI, both ways. */
#include "mpitest.h"

static void check_statuses(void)
{
    MPI_Status status[2], untouched;
    MPI_Request requests[2];
    int in = 5, out = 0, flag, count;
    MPI_Count many;

    memset(status, 0x5a, sizeof status);
    memset(&untouched, 0x5a, sizeof untouched);
    CHECK_OK(MPI_Irecv(&out, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &requests[0]));
    CHECK_OK(MPI_Test(&requests[0], &flag, &status[0]));
    CHECK(!flag && !memcmp(status, &untouched, sizeof untouched), "the status has changed");
    CHECK_OK(MPI_Send(&in, 1, MPI_INT, 0, 3, MPI_COMM_SELF));
    CHECK_OK(MPI_Wait(&requests[0], &status[0]));
    CHECK_INT(status[0].MPI_SOURCE, 0);
    CHECK_INT(status[0].MPI_TAG, 3);
    CHECK_INT(status[0].MPI_ERROR, untouched.MPI_ERROR);
    CHECK_OK(MPI_Get_count(&status[0], MPI_INT, &count));
    CHECK_INT(count, 1);
    CHECK_OK(MPI_Wait(&requests[0], &status[0]));
    CHECK_INT(status[0].MPI_SOURCE, MPI_ANY_SOURCE);
    CHECK_INT(status[0].MPI_TAG, MPI_ANY_TAG);
    CHECK_OK(MPI_Irecv(&out, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_SELF, &requests[0]));
    CHECK_OK(MPI_Irecv(&out, 1, MPI_INT, 0, 4, MPI_COMM_SELF, &requests[1]));
    CHECK_OK(MPI_Cancel(&requests[1]));
    CHECK_OK(MPI_Waitall(2, requests, status));
    CHECK_INT(status[0].MPI_SOURCE, MPI_PROC_NULL);
    CHECK_OK(MPI_Test_cancelled(&status[1], &flag));
    CHECK_INT(flag, 1);
    CHECK(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL, "not null");
    memset(status, 0x85, sizeof status);
    CHECK_OK(MPI_Status_set_cancelled(&status[1], 0));
    CHECK_INT(status[1].MPI_SOURCE, status[0].MPI_SOURCE);
    CHECK_OK(MPI_Status_set_elements_x(&status[1], MPI_BYTE, INT64_C(5) << 33));
    CHECK_OK(MPI_Test_cancelled(&status[1], &flag));
    CHECK_INT(flag, 0);
    CHECK_OK(MPI_Get_elements_x(&status[1], MPI_BYTE, &many));
    CHECK_INT(many, INT64_C(5) << 33);
    CHECK_OK(MPI_Get_count(&status[1], MPI_BYTE, &count));
    CHECK_INT(count, MPI_UNDEFINED);
    CHECK_OK(MPI_Recv(&out, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void check_many(void)
{
    enum { N = 300 }; /* more than fit on the stack of the door */
    MPI_Request requests[2 * N];
    MPI_Status statuses[2 * N];
    int out[N], in[N];

    for (int i = 0; i < N; i++) {
        in[i] = i;
        CHECK_OK(MPI_Irecv(&out[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[i]));
        CHECK_OK(MPI_Isend(&in[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[N + i]));
    }
    CHECK_OK(MPI_Waitall(2 * N, requests, statuses));
    for (int i = 0; i < N; i++) {
        CHECK_INT(out[i], i);
        CHECK_INT(statuses[i].MPI_TAG, i);
        CHECK(requests[i] == MPI_REQUEST_NULL, "not null");
    }
}

static void check_comms(void)
{
    int result, flag, from, to, ranks[2] = { 0, MPI_PROC_NULL }, found[2], *number;
    MPI_Comm comm, grid;
    MPI_Group group;

    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_compare(comm, MPI_COMM_WORLD, &result));
    CHECK_INT(result, MPI_CONGRUENT);
    CHECK_OK(MPI_Topo_test(comm, &result));
    CHECK_INT(result, MPI_UNDEFINED);
    CHECK_OK(MPI_Cart_create(comm, 1, &test_size, (int[]){ 0 }, 0, &grid));
    CHECK_OK(MPI_Topo_test(grid, &result));
    CHECK_INT(result, MPI_CART);
    CHECK_OK(MPI_Cart_shift(grid, 0, 1, &from, &to));
    CHECK_INT(from, test_rank ? test_rank - 1 : MPI_PROC_NULL);
    CHECK_INT(to, test_rank < test_size - 1 ? test_rank + 1 : MPI_PROC_NULL);
    CHECK_OK(MPI_Comm_group(comm, &group));
    CHECK_OK(MPI_Group_translate_ranks(group, 2, ranks, MPI_GROUP_EMPTY, found));
    CHECK_INT(found[0], MPI_UNDEFINED);
    CHECK_INT(found[1], MPI_PROC_NULL);
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Comm_free(&grid));
    CHECK_OK(MPI_Comm_split(comm, MPI_UNDEFINED, 0, &grid));
    CHECK(grid == MPI_COMM_NULL, "not null");
    CHECK_OK(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &grid));
    CHECK_OK(MPI_Comm_free(&grid));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &number, &flag));
    CHECK(flag && *number >= 32767, "MPI_TAG_UB");
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, &number, &flag));
    CHECK_INT(flag ? *number : -99, MPI_ANY_SOURCE);
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &number, &flag));
    CHECK(flag && *number >= MPI_ERR_LASTCODE, "MPI_LASTUSEDCODE");
    CHECK_OK(MPI_Query_thread(&result));
    CHECK(result >= MPI_THREAD_SINGLE && result <= MPI_THREAD_MULTIPLE, "level %d", result);
}

static void check_types(void)
{
    int sizes[2] = { 8, 4 }, subsizes[2] = { 2, 2 }, starts[2] = { 1, 1 }, n[4], integers[16], combiner;
    int distribs[2] = { MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE };
    int dargs[2] = { MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG }, grid[2] = { 1, 1 };
    MPI_Datatype type, inner;
    MPI_Aint addresses[1];

    CHECK_OK(MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_FORTRAN, MPI_DOUBLE, &type));
    CHECK_OK(MPI_Type_get_envelope(type, &n[0], &n[1], &n[2], &combiner));
    CHECK_INT(combiner, MPI_COMBINER_SUBARRAY);
    CHECK_OK(MPI_Type_get_contents(type, n[0], 1, 1, integers, addresses, &inner));
    CHECK_INT(integers[n[0] - 1], MPI_ORDER_FORTRAN);
    CHECK(inner == MPI_DOUBLE, "another datatype");
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Type_create_darray(1, 0, 2, sizes, distribs, dargs, grid, MPI_ORDER_C, MPI_INT, &type));
    CHECK_OK(MPI_Type_get_envelope(type, &n[0], &n[1], &n[2], &combiner));
    CHECK_INT(combiner, MPI_COMBINER_DARRAY);
    CHECK_OK(MPI_Type_get_contents(type, 16, 1, 1, integers, addresses, &inner));
    CHECK_INT(integers[5], MPI_DISTRIBUTE_BLOCK);
    CHECK_INT(integers[6], MPI_DISTRIBUTE_NONE);
    CHECK_INT(integers[7], MPI_DISTRIBUTE_DFLT_DARG);
    CHECK_INT(integers[11], MPI_ORDER_C);
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &type));
    CHECK_OK(MPI_Type_size(type, &n[0]));
    CHECK_INT(n[0], 8);
}

static void check_windows(void)
{
    MPI_Win win;
    int *number, flag, value = -1;

    CHECK_OK(MPI_Win_create(&value, sizeof value, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &number, &flag));
    CHECK_INT(flag ? *number : -1, MPI_WIN_FLAVOR_CREATE);
    CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_MODEL, &number, &flag));
    CHECK_INT(flag ? *number : -1, MPI_WIN_UNIFIED);
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
    CHECK_OK(MPI_Put(&test_rank, 1, MPI_INT, (test_rank + 1) % test_size, 0, 1, MPI_INT, win));
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOSUCCEED, win));
    CHECK_INT(value, (test_rank + test_size - 1) % test_size);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, test_rank, MPI_MODE_NOCHECK, win));
    CHECK_OK(MPI_Win_unlock(test_rank, win));
    CHECK_OK(MPI_Win_free(&win));
    CHECK(win == MPI_WIN_NULL, "not null");
}

static void check_collectives(void)
{
    int *all = calloc((size_t)test_size, sizeof *all), sum = 1;
    MPI_Datatype *types = malloc((size_t)test_size * sizeof *types);
    int *ones = malloc((size_t)test_size * sizeof *ones), *places = malloc((size_t)test_size * sizeof *places);
    int *from = malloc((size_t)test_size * sizeof *from);
    MPI_Request request;

    all[test_rank] = test_rank;
    CHECK_OK(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, MPI_COMM_WORLD));
    for (int i = 0; i < test_size; i++)
        CHECK_INT(all[i], i);
    CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_INT(sum, test_size);
    for (int i = 0; i < test_size; i++) {
        types[i] = MPI_INT;
        ones[i] = 1;
        places[i] = 4 * i;
        from[i] = 100 * test_rank + i;
    }
    CHECK_OK(MPI_Ialltoallw(from, ones, places, types, all, ones, places, types, MPI_COMM_WORLD, &request));
    memset(types, 0, (size_t)test_size * sizeof *types);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; i < test_size; i++)
        CHECK_INT(all[i], 100 * i + test_rank);
    free(all), free(types), free(ones), free(places), free(from);
}

static void check_texts(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING + 1], long_name[256];
    int len;

    memset(text, 'x', sizeof text);
    memset(long_name, 'n', sizeof long_name);
    long_name[MPI_MAX_OBJECT_NAME - 1] = 0;
    CHECK_OK(MPI_Comm_set_name(MPI_COMM_SELF, long_name));
    CHECK_OK(MPI_Comm_get_name(MPI_COMM_SELF, text, &len));
    CHECK_INT(len, MPI_MAX_OBJECT_NAME - 1);
    CHECK_INT(text[MPI_MAX_OBJECT_NAME], 'x');
    memset(text, 'x', sizeof text);
    CHECK_OK(MPI_Get_processor_name(text, &len));
    CHECK(len < MPI_MAX_PROCESSOR_NAME && text[MPI_MAX_PROCESSOR_NAME] == 'x', "%d characters", len);
    CHECK_CLASS(MPI_Send(NULL, 0, MPI_INT, 99999, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    CHECK_OK(MPI_Error_string(MPI_Send(NULL, 0, MPI_INT, 99999, 0, MPI_COMM_WORLD), text, &len));
    CHECK(strstr(text, "99999"), "no value in \"%.*s\"", len, text);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    check_statuses();
    check_many();
    check_comms();
    check_types();
    check_windows();
    check_collectives();
    check_texts();
    return test_end();
}
