/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §5.2: packing appends at the position; what was packed can be sent as MPI_PACKED and received as data,
 * and the other way round; a message may be packed in parts of several types. Both forms. */
#include "layouts.h"

enum { TAG = 6, ROOM = 60000 };

static unsigned char packed[ROOM], want[ROOM];

static void check_layout(const struct layout *l, int count)
{
    const int len = l->size * count;
    struct buffer b = buffer_make(l->low, l->high, l->extent, count), back = b;
    MPI_Count wide_at = 3, wide_size = -1;
    int at = 3, size = -1;

    test_fill(b.memory, b.len, test_key((uint64_t)count, 1, 2));
    layout_stream(l, b.buf, count, want);
    CHECK_OK(MPI_Pack_size(count, l->type, MPI_COMM_WORLD, &size));
    CHECK(size >= len, "%s: %d bytes do not hold %d", l->name, size, len);
    CHECK_OK(MPI_Pack_size_c(count, l->type, MPI_COMM_WORLD, &wide_size));
    CHECK_INT(wide_size, size);
    memset(packed, TEST_CANARY, sizeof packed);
    CHECK_OK(MPI_Pack(b.buf, count, l->type, packed, 3 + len, &at, MPI_COMM_WORLD));
    CHECK_INT(at, 3 + len);
    CHECK_UNTOUCHED(packed, 3);
    CHECK_SAME(packed + 3, want, (size_t)len, l);
    CHECK_UNTOUCHED(packed + 3 + len, sizeof packed - 3 - (size_t)len);
    CHECK_OK(MPI_Pack_c(b.buf, count, l->type, packed, 3 + len, &wide_at, MPI_COMM_WORLD));
    CHECK_INT(wide_at, 3 + len);

    back.memory = test_alloc(back.len);
    back.buf = back.memory + (b.buf - b.memory);
    memset(b.memory, TEST_CANARY, b.len);
    layout_place(l, b.buf, (size_t)len, want);
    at = 3;
    CHECK_OK(MPI_Unpack(packed, 3 + len, &at, back.buf, count, l->type, MPI_COMM_WORLD));
    CHECK_INT(at, 3 + len);
    CHECK_SAME(back.memory, b.memory, b.len, l);
    wide_at = 3;
    CHECK_OK(MPI_Unpack_c(packed, 3 + len, &wide_at, back.buf, count, l->type, MPI_COMM_WORLD));
    CHECK_INT(wide_at, 3 + len);
    free(b.memory);
    free(back.memory);
}

/* To the right neighbour as MPI_PACKED, received as data; then the other way round. */
static void check_message(const struct layout *l, int count)
{
    const int left = (test_rank + test_size - 1) % test_size, right = (test_rank + 1) % test_size;
    struct buffer b = buffer_make(l->low, l->high, l->extent, count);
    MPI_Request req;
    MPI_Status st;
    int at = 0, len = l->size * count, n = -1;

    test_fill(b.memory, b.len, test_key((uint64_t)test_rank, 7, 7));
    layout_stream(l, b.buf, count, want);
    CHECK_OK(MPI_Pack(b.buf, count, l->type, packed, ROOM, &at, MPI_COMM_WORLD));
    CHECK_OK(MPI_Isend(packed, at, MPI_PACKED, right, TAG, MPI_COMM_WORLD, &req));
    CHECK_OK(MPI_Recv(b.buf, count, l->type, left, TAG, MPI_COMM_WORLD, &st));
    CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Isend(b.buf, count, l->type, right, TAG, MPI_COMM_WORLD, &req));
    CHECK_OK(MPI_Recv(packed, ROOM, MPI_PACKED, left, TAG, MPI_COMM_WORLD, &st));
    CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Get_count(&st, MPI_PACKED, &n));
    CHECK_INT(n, len);
    if (test_size == 1)
        CHECK_SAME(packed, want, (size_t)len, l);
    free(b.memory);
}

/* An int that says how many doubles follow: the usual use. */
static void check_parts(void)
{
    const double values[] = { 1.5, -2.5, 3.5 };
    double got[3] = { 0 };
    int n = 3, at = 0;

    CHECK_OK(MPI_Pack(&n, 1, MPI_INT, packed, ROOM, &at, MPI_COMM_SELF));
    CHECK_OK(MPI_Pack(values, n, MPI_DOUBLE, packed, ROOM, &at, MPI_COMM_SELF));
    CHECK_OK(MPI_Sendrecv_replace(packed, at, MPI_PACKED, 0, TAG, 0, TAG, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    n = at = 0;
    CHECK_OK(MPI_Unpack(packed, ROOM, &at, &n, 1, MPI_INT, MPI_COMM_SELF));
    CHECK_OK(MPI_Unpack(packed, ROOM, &at, got, n, MPI_DOUBLE, MPI_COMM_SELF));
    CHECK(got[0] == 1.5 && got[1] == -2.5 && got[2] == 3.5, "other values came out");
}

static void check_errors(void)
{
    MPI_Datatype raw;
    int value = 1, at = 2, size;

    CHECK_CLASS(MPI_Pack(&value, 1, MPI_INT, packed, 5, &at, MPI_COMM_WORLD), MPI_ERR_TRUNCATE);
    CHECK_INT(at, 2);
    CHECK_CLASS(MPI_Unpack(packed, 5, &at, &value, 1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_TRUNCATE);
    at = -1;
    CHECK_CLASS(MPI_Pack(&value, 1, MPI_INT, packed, 5, &at, MPI_COMM_WORLD), MPI_ERR_ARG);
    at = 6;
    CHECK_CLASS(MPI_Unpack(packed, 5, &at, &value, 1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_ARG);
    at = 0;
    CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &raw));
    CHECK_CLASS(MPI_Pack(&value, 1, raw, packed, 50, &at, MPI_COMM_WORLD), MPI_ERR_TYPE);
    CHECK_OK(MPI_Pack_size(2000000000, raw, MPI_COMM_WORLD, &size));
    CHECK_INT(size, MPI_UNDEFINED);
    CHECK_OK(MPI_Type_free(&raw));
}

int main(int argc, char **argv)
{
    int i;

    test_begin(&argc, &argv);
    for (i = 0; i < LAYOUTS; i++) {
        struct layout l = layout_make(i);
        check_layout(&l, 0);
        check_layout(&l, 1);
        check_layout(&l, 37);
        check_message(&l, 3);
        check_message(&l, 250);
        CHECK_OK(MPI_Type_free(&l.type));
    }
    check_parts();
    check_errors();
    return test_end();
}
