/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §14.5.3: a representation of the user's converts all data on their way; its extent function tells how much
 * room they take; functions of both forms, or none. */
#include "mpifile.h"

enum { COUNT = 50 };

static int state = 42, converted;

/* Each int takes 6 bytes: its own turned over, and two that mark it. */
static int extent_of(MPI_Datatype type, MPI_Aint *extent, void *extra)
{
    int size;

    CHECK(extra == &state, "another state");
    CHECK_OK(MPI_Type_size(type, &size));
    *extent = size == 4 ? 6 : size;
    return MPI_SUCCESS;
}

static void check_type(MPI_Datatype type)
{
    int size = -1;

    CHECK_OK(MPI_Type_size(type, &size));
    CHECK(size % 4 == 0, "a type of %d bytes", size);
}

/* `position` counts elements; memory may be a vector of every second int. */
static int *place_of(void *user, MPI_Datatype type, MPI_Offset at)
{
    MPI_Aint lb, extent;

    CHECK_OK(MPI_Type_get_extent(type, &lb, &extent));
    return (int *)((char *)user + at * (extent == 4 ? 4 : 8));
}

static int write_out(void *user, MPI_Datatype type, MPI_Count count, unsigned char *file, MPI_Offset position)
{
    check_type(type);
    for (MPI_Count i = 0; i < count; i++) {
        const int value = ~*place_of(user, type, position + i);

        memcpy(file + 6 * i, &value, 4);
        memcpy(file + 6 * i + 4, "ok", 2);
    }
    converted += (int)count;
    return MPI_SUCCESS;
}

static int read_in(void *user, MPI_Datatype type, MPI_Count count, const unsigned char *file, MPI_Offset position)
{
    check_type(type);
    for (MPI_Count i = 0; i < count; i++) {
        int value;

        memcpy(&value, file + 6 * i, 4);
        CHECK(!memcmp(file + 6 * i + 4, "ok", 2), "no mark at element %lld", (long long)i);
        *place_of(user, type, position + i) = ~value;
    }
    converted += (int)count;
    return MPI_SUCCESS;
}

static int write_fn(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position, void *extra)
{
    CHECK(extra == &state, "another state");
    return write_out(user, type, count, file, position);
}

static int read_fn(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position, void *extra)
{
    CHECK(extra == &state, "another state");
    return read_in(user, type, count, file, position);
}

static int write_fn_c(void *user, MPI_Datatype type, MPI_Count count, void *file, MPI_Offset position, void *extra)
{
    CHECK(extra == &state, "another state");
    return write_out(user, type, count, file, position);
}

static int read_fn_c(void *user, MPI_Datatype type, MPI_Count count, void *file, MPI_Offset position, void *extra)
{
    CHECK(extra == &state, "another state");
    return read_in(user, type, count, file, position);
}

/* Ranks in turn, COUNT ints each; memory with gaps. */
static void test_rep(const char *name)
{
    int values[2 * COUNT], got[2 * COUNT];
    MPI_Datatype filetype, raw, memory;
    MPI_Request request;
    MPI_Status status;
    MPI_Aint extent = -1;
    MPI_File fh;

    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, file_path(name), MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &fh));
    CHECK_OK(MPI_Type_create_indexed_block(1, 1, &test_rank, MPI_INT, &raw));
    CHECK_OK(MPI_Type_create_resized(raw, 0, 6 * test_size, &filetype));
    CHECK_OK(MPI_Type_commit(&filetype));
    CHECK_OK(MPI_Type_vector(COUNT, 1, 2, MPI_INT, &memory));
    CHECK_OK(MPI_Type_commit(&memory));
    CHECK_OK(MPI_File_set_view(fh, 0, MPI_INT, filetype, name, MPI_INFO_NULL));
    CHECK_OK(MPI_File_get_type_extent(fh, MPI_INT, &extent));
    CHECK_INT(extent, 6);
    for (int i = 0; i < 2 * COUNT; i++)
        values[i] = test_rank * 10000 + i;
    converted = 0;
    CHECK_OK(MPI_File_write_all(fh, values, 1, memory, &status));
    CHECK_STATUS(&status, status.MPI_SOURCE, status.MPI_TAG, 4 * COUNT);
    CHECK_INT(converted, COUNT);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_INT(file_size(file_path(name)), 6 * COUNT * test_size);

    memset(got, 0x77, sizeof got);
    CHECK_OK(MPI_File_iread_at(fh, 0, got, COUNT, MPI_INT, &request));
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_STATUS(&status, status.MPI_SOURCE, status.MPI_TAG, 4 * COUNT);
    for (int i = 0; i < COUNT; i++)
        CHECK_INT(got[i], values[2 * i]);
    memset(got, 0x77, sizeof got);
    CHECK_OK(MPI_File_seek(fh, COUNT / 2, MPI_SEEK_SET));
    CHECK_OK(MPI_File_read_all(fh, got, COUNT, MPI_INT, &status)); /* the end comes first */
    CHECK_STATUS(&status, status.MPI_SOURCE, status.MPI_TAG, 4 * (COUNT - COUNT / 2));
    for (int i = 0; i < COUNT; i++)
        CHECK_INT(got[i], i < COUNT - COUNT / 2 ? values[2 * (COUNT / 2 + i)] : 0x77777777);
    CHECK_OK(MPI_File_close(&fh));
    CHECK_OK(MPI_Type_free(&filetype));
    CHECK_OK(MPI_Type_free(&raw));
    CHECK_OK(MPI_Type_free(&memory));
}

static int plain_extent(MPI_Datatype type, MPI_Aint *extent, void *extra)
{
    MPI_Aint lb;

    (void)extra;
    return MPI_Type_get_extent(type, &lb, extent);
}

/* Without functions data stay what they are. */
static void test_plain(void)
{
    int value = 4711, got = 0;
    MPI_File fh;
    char name[16];

    snprintf(name, sizeof name, "own%d", test_rank);
    CHECK_OK(MPI_Register_datarep("plain", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, plain_extent, NULL));
    CHECK_OK(MPI_File_open(MPI_COMM_SELF, file_path(name), MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &fh));
    CHECK_OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "plain", MPI_INFO_NULL));
    CHECK_OK(MPI_File_write_at(fh, 3, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_read_at(fh, 3, &got, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_INT(got, value);
    CHECK_INT(file_size(file_path(name)), 16);
    CHECK_OK(MPI_File_close(&fh));
}

struct mixed {
    double first;
    int second;
};

static int twice(MPI_Datatype type, MPI_Aint *extent, void *extra)
{
    int size;

    (void)extra;
    CHECK_OK(MPI_Type_size(type, &size));
    *extent = 2 * size;
    return MPI_SUCCESS;
}

/* Elements of struct mixed, each with as many bytes behind it as it has. */
static int move_mixed(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position, void *extra)
{
    struct mixed *const items = user;
    char *at = file;

    (void)type;
    for (MPI_Offset i = position; i < position + count; i++) {
        void *const value = i % 2 ? (void *)&items[i / 2].second : (void *)&items[i / 2].first;
        const size_t size = i % 2 ? sizeof(int) : sizeof(double);

        memcpy(extra ? at : value, extra ? value : at, size);
        at += 2 * size;
    }
    return MPI_SUCCESS;
}

static int write_mixed(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position, void *extra)
{
    (void)extra;
    return move_mixed(user, type, count, file, position, file);
}

/* Where the file ends within an item, nothing of that is taken for data. */
static void test_mixed(void)
{
    const MPI_Datatype parts[2] = { MPI_DOUBLE, MPI_INT };
    const MPI_Aint places[2] = { 0, sizeof(double) };
    struct mixed items[3] = { { 1.5, 1 }, { 2.5, 2 }, { 3.5, 3 } }, got[3];
    MPI_Datatype type;
    MPI_Status status;
    MPI_File fh;
    char name[16];
    int elements = -1;

    snprintf(name, sizeof name, "mixed%d", test_rank);
    CHECK_OK(MPI_Type_create_struct(2, (int[2]){ 1, 1 }, places, parts, &type));
    CHECK_OK(MPI_Type_commit(&type));
    CHECK_OK(MPI_Register_datarep("mixed", move_mixed, write_mixed, twice, NULL));
    CHECK_OK(MPI_File_open(MPI_COMM_SELF, file_path(name), MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &fh));
    CHECK_OK(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "mixed", MPI_INFO_NULL));
    CHECK_OK(MPI_File_write_at(fh, 0, items, 3, type, MPI_STATUS_IGNORE));
    CHECK_INT(file_size(file_path(name)), 72);
    for (int cut = 72; cut >= 0; cut--) {
        CHECK_OK(MPI_File_set_size(fh, cut));
        memset(got, 0x55, sizeof got);
        CHECK_OK(MPI_File_read_at(fh, 0, got, 3, type, &status));
        CHECK_OK(MPI_Get_elements(&status, type, &elements));
        CHECK(elements >= cut / 24 * 2 && elements <= cut / 24 * 2 + (cut % 24 >= 16), "%d elements in %d bytes",
              elements, cut);
        for (int i = 0; i < elements; i++)
            CHECK(i % 2 ? got[i / 2].second == items[i / 2].second : got[i / 2].first == items[i / 2].first,
                  "element %d, with %d bytes", i, cut);
    }
    CHECK_OK(MPI_File_close(&fh));
    CHECK_OK(MPI_Type_free(&type));
}

int main(int argc, char *argv[])
{
    static char name[MPI_MAX_DATAREP_STRING + 10];

    file_begin(&argc, &argv);
    CHECK_OK(MPI_Register_datarep("small", read_fn, write_fn, extent_of, &state));
    CHECK_OK(MPI_Register_datarep_c("large", read_fn_c, write_fn_c, extent_of, &state));
    CHECK_CLASS(MPI_Register_datarep("small", read_fn, write_fn, extent_of, &state), MPI_ERR_DUP_DATAREP);
    CHECK_CLASS(MPI_Register_datarep("native", read_fn, write_fn, extent_of, &state), MPI_ERR_DUP_DATAREP);
    memset(name, 'x', MPI_MAX_DATAREP_STRING + 5);
    CHECK_CLASS(MPI_Register_datarep(name, read_fn, write_fn, extent_of, &state), MPI_ERR_ARG);
    test_rep("small");
    test_rep("large");
    test_plain();
    test_mixed();
    return file_finish();
}
