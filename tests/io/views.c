/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §14.3, §14.4.3, §14.5.1: what a view is can be asked; offsets become places in the file; types that make no
 * view, and views that differ where they must not, are errors at all processes. */
#include "mpifile.h"

static MPI_File fh;

static void check_view(MPI_Offset disp, int is_derived, const char *rep)
{
    MPI_Datatype etype = MPI_DATATYPE_NULL, filetype = MPI_DATATYPE_NULL;
    char got[MPI_MAX_DATAREP_STRING];
    MPI_Offset found = -1;
    int size = -1;

    CHECK_OK(MPI_File_get_view(fh, &found, &etype, &filetype, got));
    CHECK_INT(found, disp);
    CHECK(!strcmp(got, rep), "representation %s instead of %s", got, rep);
    if (is_derived) {
        CHECK_OK(MPI_Type_size(filetype, &size));
        CHECK_INT(size, 3 * (int)sizeof(int));
        CHECK_OK(MPI_Type_free(&filetype));
    } else {
        CHECK(etype == MPI_BYTE && filetype == MPI_BYTE, "not bytes");
    }
}

/* Of 3 ints in 5 from byte 12 on. */
static void test_places(void)
{
    const int displs[3] = { 0, 1, 4 };
    const MPI_Offset want[] = { 12, 16, 28, 32, 36, 48, 52 };
    MPI_Datatype type;
    MPI_Offset place = -1;

    check_view(0, 0, "native");
    CHECK_OK(MPI_Type_create_indexed_block(3, 1, displs, MPI_INT, &type));
    CHECK_OK(MPI_Type_commit(&type));
    CHECK_OK(MPI_File_set_view(fh, 12, MPI_INT, type, "native", MPI_INFO_NULL));
    CHECK_OK(MPI_Type_free(&type));
    check_view(12, 1, "native");
    check_view(12, 1, "native"); /* freeing what came first has changed nothing */
    for (int i = 0; i < 7; i++) {
        CHECK_OK(MPI_File_get_byte_offset(fh, i, &place));
        CHECK_INT(place, want[i]);
    }
    CHECK_CLASS(MPI_File_get_byte_offset(fh, -1, &place), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_seek(fh, -1, MPI_SEEK_SET), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_seek(fh, 0, 99), MPI_ERR_ARG);
}

static void check_extent(MPI_Datatype type, MPI_Aint want)
{
    MPI_Aint extent = -1;
    MPI_Count large = -1;

    CHECK_OK(MPI_File_get_type_extent(fh, type, &extent));
    CHECK_INT(extent, want);
    CHECK_OK(MPI_File_get_type_extent_c(fh, type, &large));
    CHECK_INT(large, want);
}

static void test_extents(void)
{
    MPI_Datatype vector, sub, bytes;
    const int sizes[2] = { 6, 4 }, subsizes[2] = { 2, 2 }, starts[2] = { 1, 1 };

    CHECK_OK(MPI_Type_vector(3, 1, 2, MPI_LONG, &vector));
    CHECK_OK(MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_LONG, &sub));
    CHECK_OK(MPI_Type_create_hvector(2, 1, 100, MPI_LONG, &bytes));
    CHECK_OK(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    check_extent(MPI_LONG, sizeof(long));
    check_extent(vector, 5 * sizeof(long));
    CHECK_OK(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "external32", MPI_INFO_NULL));
    check_extent(MPI_LONG, 4);
    check_extent(MPI_DOUBLE, 8);
    check_extent(MPI_LONG_DOUBLE, 16);
    check_extent(vector, 5 * 4);
    check_extent(sub, 24 * 4);
    check_extent(bytes, 104);
    CHECK_OK(MPI_Type_free(&vector));
    CHECK_OK(MPI_Type_free(&sub));
    CHECK_OK(MPI_Type_free(&bytes));
}

static MPI_Datatype indexed(int count, const int *lengths, const int *displs)
{
    MPI_Datatype type;

    CHECK_OK(MPI_Type_indexed(count, lengths, displs, MPI_INT, &type));
    CHECK_OK(MPI_Type_commit(&type));
    return type;
}

static void test_wrong(void)
{
    const int ones[2] = { 1, 1 }, back[2] = { 4, 0 }, below[2] = { -1, 3 }, twice[2] = { 0, 1 }, lengths[2] = { 2, 1 };
    MPI_Datatype types[3] = { indexed(2, ones, back), indexed(2, ones, below), indexed(2, lengths, twice) };
    MPI_Datatype pair, three;
    MPI_Offset position = -1;

    for (int i = 0; i < 3; i++) {
        CHECK_CLASS(MPI_File_set_view(fh, 0, MPI_INT, types[i], "native", MPI_INFO_NULL), MPI_ERR_IO);
        CHECK_CLASS(MPI_File_set_view(fh, 0, types[i], types[i], "native", MPI_INFO_NULL), MPI_ERR_IO);
        CHECK_OK(MPI_Type_free(&types[i]));
    }
    CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    CHECK_OK(MPI_Type_contiguous(3, MPI_INT, &three));
    CHECK_CLASS(MPI_File_set_view(fh, 0, MPI_INT, three, "native", MPI_INFO_NULL), MPI_ERR_TYPE); /* not committed */
    CHECK_OK(MPI_Type_commit(&pair));
    CHECK_OK(MPI_Type_commit(&three));
    CHECK_CLASS(MPI_File_set_view(fh, 0, pair, three, "native", MPI_INFO_NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_set_view(fh, -7, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_set_view(fh, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL),
                MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "no such thing", MPI_INFO_NULL),
                MPI_ERR_UNSUPPORTED_DATAREP);
    if (test_size > 1) {
        CHECK_CLASS(MPI_File_set_view(fh, 0, test_rank ? MPI_INT : MPI_CHAR, test_rank ? MPI_INT : MPI_CHAR, "native",
                                      MPI_INFO_NULL), MPI_ERR_NOT_SAME);
        CHECK_CLASS(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, test_rank ? "internal" : "native", MPI_INFO_NULL),
                    MPI_ERR_NOT_SAME);
        CHECK_CLASS(MPI_File_set_view(fh, test_rank == 1 ? -1 : 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL),
                    MPI_ERR_ARG);
    }
    CHECK_OK(MPI_File_set_view(fh, 0, pair, pair, "native", MPI_INFO_NULL));
    CHECK_OK(MPI_File_seek(fh, INT64_MAX - 1, MPI_SEEK_SET));
    CHECK_CLASS(MPI_File_read(fh, (int[4]){ 0 }, 4, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    CHECK_OK(MPI_File_get_position(fh, &position));
    CHECK(position == INT64_MAX - 1, "the pointer is at %lld", (long long)position);
    CHECK_OK(MPI_File_seek(fh, 0, MPI_SEEK_SET));
    CHECK_CLASS(MPI_File_read(fh, (int[3]){ 0 }, 3, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
    CHECK_OK(MPI_Type_free(&pair));
    CHECK_OK(MPI_Type_free(&three));
}

/* A view that shows nothing, one that shows bytes twice, one beyond 4 GB. */
static void test_odd(const char *path)
{
    const int ones[2] = { 1, 1 }, same[2] = { 1, 1 };
    MPI_Datatype nothing, twice;
    MPI_Status status;
    int values[4] = { 7, 8, 9, 10 }, got[4] = { 0 };
    MPI_Offset size = -1;

    CHECK_OK(MPI_Type_contiguous(0, MPI_INT, &nothing));
    CHECK_OK(MPI_Type_commit(&nothing));
    CHECK_OK(MPI_File_set_view(fh, 0, MPI_INT, nothing, "native", MPI_INFO_NULL));
    CHECK_OK(MPI_File_write(fh, values, 0, MPI_INT, &status));
    CHECK_CLASS(MPI_File_write(fh, values, 1, MPI_INT, &status), MPI_ERR_ARG);
    CHECK_OK(MPI_File_read_all(fh, values, 0, MPI_INT, &status));
    CHECK_OK(MPI_Type_free(&nothing));
    CHECK_OK(MPI_File_set_view(fh, (MPI_Offset)5 << 30, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    CHECK_OK(MPI_File_write_at(fh, test_rank, values, 1, MPI_INT, &status));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_File_get_size(fh, &size));
    CHECK_INT(size, ((MPI_Offset)5 << 30) + 4 * test_size);
    CHECK_OK(MPI_File_seek(fh, -1, MPI_SEEK_END));
    CHECK_OK(MPI_File_read(fh, got, 2, MPI_INT, &status));
    CHECK_STATUS(&status, status.MPI_SOURCE, status.MPI_TAG, 4);
    CHECK_INT(got[0], 7);
    CHECK_CLASS(MPI_File_write_at(fh, (MPI_Offset)1 << 62, values, 1, MPI_INT, &status), MPI_ERR_ARG);
    CHECK_OK(MPI_File_set_size(fh, 0));
    CHECK_OK(MPI_File_close(&fh));

    file_make(path, 64, 3);
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &fh));
    twice = indexed(2, ones, same);
    CHECK_OK(MPI_File_set_view(fh, 0, MPI_INT, twice, "native", MPI_INFO_NULL));
    CHECK_OK(MPI_File_read(fh, got, 4, MPI_INT, &status));
    CHECK(got[0] == got[1] && got[2] == got[3] && got[0] != got[2], "the same bytes come twice");
    CHECK_OK(MPI_File_seek(fh, 0, MPI_SEEK_END));
    CHECK_OK(MPI_Type_free(&twice));
}

/* Places that no number can say are nowhere, not at the beginning. */
static void test_beyond(void)
{
    MPI_Datatype far;
    MPI_Offset place = -1;
    char bytes[8] = "abcdefg", got[8] = "";

    CHECK_OK(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    CHECK_OK(MPI_File_write_at(fh, 0, bytes, sizeof bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Type_create_resized(MPI_BYTE, 0, (MPI_Aint)1 << 61, &far)); /* eight of them are 2^64 */
    CHECK_OK(MPI_Type_commit(&far));
    CHECK_OK(MPI_File_set_view(fh, 0, MPI_BYTE, far, "native", MPI_INFO_NULL));
    CHECK_OK(MPI_File_get_byte_offset(fh, 3, &place));
    CHECK(place == (MPI_Offset)3 << 61, "a place is %lld", (long long)place);
    for (int at = 4; at <= 8; at += 4) {
        CHECK_CLASS(MPI_File_get_byte_offset(fh, at, &place), MPI_ERR_ARG);
        CHECK_CLASS(MPI_File_write_at(fh, at, "x", 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ARG);
        CHECK_CLASS(MPI_File_read_at_all(fh, 0, got, at + 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    }
    CHECK_OK(MPI_File_seek(fh, 7, MPI_SEEK_SET));
    CHECK_CLASS(MPI_File_read(fh, got, 2, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    CHECK_OK(MPI_File_get_position(fh, &place));
    CHECK_INT(place, 7);
    CHECK_OK(MPI_Type_free(&far));
    CHECK_OK(MPI_File_set_view(fh, (MPI_Offset)3 << 61, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    CHECK_CLASS(MPI_File_get_byte_offset(fh, (MPI_Offset)5 << 60, &place), MPI_ERR_ARG);
    CHECK_OK(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    CHECK_OK(MPI_File_read_at(fh, 0, got, sizeof got, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(!memcmp(got, bytes, sizeof got), "\"%s\" is at the beginning", got);
}

/* Tiles that lie in each other: the end is behind all bytes, of which some come before others that lie in front. */
static void test_tiles(const char *path)
{
    const int ones[2] = { 1, 1 }, places[2] = { 0, 3 };
    MPI_Datatype type = indexed(2, ones, places), filetype;
    MPI_Offset end = -1;

    CHECK_OK(MPI_Type_create_resized(type, 0, 2 * sizeof(int), &filetype));
    CHECK_OK(MPI_Type_commit(&filetype));
    CHECK_OK(MPI_File_set_size(fh, 4 * sizeof(int)));
    CHECK_INT(file_size(path), 4 * sizeof(int));
    CHECK_OK(MPI_File_set_view(fh, 0, MPI_INT, filetype, "native", MPI_INFO_NULL)); /* shows 0, 3, 2, 5, 4, ... */
    CHECK_OK(MPI_File_seek(fh, 0, MPI_SEEK_END));
    CHECK_OK(MPI_File_get_position(fh, &end));
    if (test_is_parley())
        CHECK_INT(end, 3);
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Type_free(&filetype));
}

int main(int argc, char *argv[])
{
    const char *path;

    file_begin(&argc, &argv);
    path = file_path("views");
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &fh));
    test_places();
    test_extents();
    test_wrong();
    test_beyond();
    test_tiles(path);
    test_odd(path);
    CHECK_OK(MPI_File_close(&fh));
    return file_finish();
}
