/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 2.2 §15.1: the functions of MPI 1 that later versions have replaced do what their successors do: addresses,
 * error handlers, attributes with callbacks, types with displacements in bytes.
 */
#include "mpitest.h"

static int handled, copied, deleted;

static void note(MPI_Comm *comm, int *code, ...)
{
    int result;

    MPI_Comm_compare(*comm, MPI_COMM_WORLD, &result);
    handled = result == MPI_IDENT || result == MPI_CONGRUENT ? *code : -1;
}

static void error_handlers(void)
{
    MPI_Handler_function *const function = note;
    MPI_Errhandler mine, before, now;
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    CHECK_OK(MPI_Errhandler_get(comm, &before));
    CHECK_OK(MPI_Errhandler_create(function, &mine));
    CHECK_OK(MPI_Errhandler_set(comm, mine));
    CHECK_OK(MPI_Errhandler_get(comm, &now));
    CHECK(now == mine, "another error handler");
    CHECK_CLASS(MPI_Send(NULL, 0, MPI_INT, 1 << 20, 0, comm), MPI_ERR_RANK);
    CHECK(handled > 0, "the error handler was called with %d", handled);
    CHECK_OK(MPI_Errhandler_set(comm, before));
    CHECK_OK(MPI_Errhandler_free(&now));
    CHECK_OK(MPI_Errhandler_free(&mine));
    CHECK_OK(MPI_Errhandler_free(&before));
    CHECK_OK(MPI_Comm_free(&comm));
}

static int copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm;
    (void)keyval;
    CHECK(extra == &copied, "extra state");
    copied++;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm;
    (void)keyval;
    CHECK(value == &handled && extra == &copied, "value and extra state");
    deleted++;
    return MPI_SUCCESS;
}

static void attributes(void)
{
    MPI_Copy_function *const copy_fn = copy;
    MPI_Delete_function *const delete_fn = delete;
    int key, plain, flag;
    MPI_Comm first, second;
    void *value;

    CHECK_OK(MPI_Keyval_create(copy_fn, delete_fn, &key, &copied));
    CHECK_OK(MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, &plain, NULL));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &first));
    CHECK_OK(MPI_Attr_put(first, key, &handled));
    CHECK_OK(MPI_Attr_put(first, plain, &flag));
    CHECK_OK(MPI_Comm_dup(first, &second));
    CHECK_INT(copied, 1);
    CHECK_OK(MPI_Attr_get(second, key, &value, &flag));
    CHECK(flag && value == &handled, "the attribute was copied");
    CHECK_OK(MPI_Attr_get(second, plain, &value, &flag));
    CHECK(!flag, "MPI_NULL_COPY_FN copies");
    CHECK_OK(MPI_Attr_delete(second, key));
    CHECK_INT(deleted, 1);
    CHECK_OK(MPI_Comm_free(&first));
    CHECK_INT(deleted, 2);
    CHECK_OK(MPI_Comm_free(&second));
    CHECK_OK(MPI_Keyval_free(&key));
    CHECK_OK(MPI_Keyval_free(&plain));
    CHECK(key == MPI_KEYVAL_INVALID && plain == MPI_KEYVAL_INVALID, "keys are still there");
    CHECK_OK(MPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag));
    CHECK(flag && *(int *)value >= 32767, "MPI_TAG_UB");
}

static void types(void)
{
    struct record {
        char kind;
        double place[3];
        int count;
    } records[4] = { { 0 } }, back[4];
    int lengths[3] = { 1, 3, 1 };
    MPI_Aint disps[3], base, extent;
    MPI_Datatype parts[3] = { MPI_CHAR, MPI_DOUBLE, MPI_INT }, type, some, strided;

    CHECK_OK(MPI_Address(&records[0], &base));
    CHECK_OK(MPI_Address(&records[0].kind, &disps[0]));
    CHECK_OK(MPI_Address(records[0].place, &disps[1]));
    CHECK_OK(MPI_Address(&records[0].count, &disps[2]));
    for (int i = 0; i < 3; i++)
        disps[i] -= base;
    CHECK_OK(MPI_Type_struct(3, lengths, disps, parts, &type));
    CHECK_OK(MPI_Type_extent(type, &extent));
    CHECK_INT(extent, sizeof(struct record));

    disps[0] = sizeof(struct record), disps[1] = 3 * sizeof(struct record);
    lengths[0] = lengths[1] = 1;
    CHECK_OK(MPI_Type_hindexed(2, lengths, disps, type, &some));
    CHECK_OK(MPI_Type_hvector(2, 1, 2 * sizeof(struct record), type, &strided));
    CHECK_OK(MPI_Type_commit(&some));
    CHECK_OK(MPI_Type_commit(&strided));
    for (int i = 0; i < 4; i++)
        records[i] = (struct record){ (char)('a' + i), { i, i + 0.5, -i }, 100 + i };
    memset(back, 0, sizeof back);
    CHECK_OK(MPI_Sendrecv(records, 1, some, 0, 3, back, 1, strided, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    for (int i = 0; i < 4; i += 2)
        CHECK(back[i].kind == records[i / 2 * 2 + 1].kind && back[i].place[1] == records[i / 2 * 2 + 1].place[1] &&
                  back[i].count == records[i / 2 * 2 + 1].count && !back[i + 1].count,
              "record %d is %c %g %d", i, back[i].kind, back[i].place[1], back[i].count);
    CHECK_OK(MPI_Type_free(&some));
    CHECK_OK(MPI_Type_free(&strided));
    CHECK_OK(MPI_Type_free(&type));
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    error_handlers();
    attributes();
    types();
    return test_end();
}
