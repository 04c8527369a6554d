/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.2.5, §5.1.11: a message may end within an item. MPI_Get_elements counts basic elements then,
 * MPI_Get_count is MPI_UNDEFINED; MPI_Status_set_elements is the way back. A message that is longer than the
 * receive is truncated. */
#include "layouts.h"

enum { TAG = 7, ITEMS = 3 };

/* Sends the first `n` elements of the items, one struct of single elements, receives into items. */
static void check_prefix(const struct layout *l, int n)
{
    struct buffer out = buffer_make(l->low, l->high, l->extent, ITEMS), in = out, expected = out;
    unsigned char *stream = test_alloc((size_t)(l->size * ITEMS));
    MPI_Count wide = -1;
    MPI_Status st;
    int bytes = 0, got = -1, whole = n % l->count == 0 ? n / l->count : MPI_UNDEFINED, i;

    test_fill(out.memory, out.len, test_key((uint64_t)n, 3, 1));
    layout_stream(l, out.buf, ITEMS, stream);
    for (i = 0; i < n; i++)
        bytes += l->pieces[i % l->count].size;
    in.memory = test_alloc(in.len);
    in.buf = in.memory + (out.buf - out.memory);
    expected.memory = test_alloc(in.len);
    layout_place(l, expected.memory + (out.buf - out.memory), (size_t)bytes, stream);
    CHECK_OK(MPI_Sendrecv(stream, bytes, MPI_PACKED, 0, TAG, in.buf, ITEMS, l->type, 0, TAG, MPI_COMM_SELF, &st));
    CHECK_SAME(in.memory, expected.memory, in.len, l);
    CHECK_OK(MPI_Get_elements(&st, l->type, &got));
    CHECK(got == n, "%s: expected %d elements, got %d", l->name, n, got);
    CHECK_OK(MPI_Get_elements_c(&st, l->type, &wide));
    CHECK_INT(wide, n);
    CHECK_OK(MPI_Get_elements_x(&st, l->type, &wide));
    CHECK_INT(wide, n);
    CHECK_OK(MPI_Get_count(&st, l->type, &got));
    CHECK(got == whole, "%s: expected count %d, got %d", l->name, whole, got);
    CHECK_OK(MPI_Get_count_c(&st, l->type, &wide));
    CHECK_INT(wide, whole);
    CHECK_OK(MPI_Status_set_elements(&st, l->type, n + 1));
    CHECK_OK(MPI_Get_elements(&st, l->type, &got));
    CHECK_INT(got, n + 1);
    CHECK_OK(MPI_Status_set_elements_c(&st, l->type, (MPI_Count)5000000000 * l->count + n));
    CHECK_OK(MPI_Get_elements_x(&st, l->type, &wide));
    CHECK_INT(wide, (MPI_Count)5000000000 * l->count + n);
    CHECK_OK(MPI_Get_elements(&st, l->type, &got));
    CHECK_INT(got, MPI_UNDEFINED);
    free(out.memory);
    free(in.memory);
    free(expected.memory);
    free(stream);
}

/* One element too many: the receiver says so, and what is not in the items is not touched. */
static void check_truncation(const struct layout *l, int count)
{
    struct buffer in = buffer_make(l->low, l->high, l->extent, count);
    const int len = l->size * count + 1;
    unsigned char *out = test_alloc((size_t)len), *seen = test_alloc(in.len);
    MPI_Request req;
    size_t i;
    int rc;

    test_fill(out, (size_t)len, 1);
    layout_place(l, seen + (in.buf - in.memory), (size_t)(len - 1), out);
    CHECK_OK(MPI_Isend(out, len, MPI_BYTE, (test_rank + 1) % test_size, TAG, MPI_COMM_WORLD, &req));
    rc = MPI_Recv(in.buf, count, l->type, (test_rank + test_size - 1) % test_size, TAG, MPI_COMM_WORLD,
                  MPI_STATUS_IGNORE);
    CHECK_CLASS(rc, MPI_ERR_TRUNCATE);
    CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    for (i = 0; i < in.len; i++) /* each byte is as before or as sent */
        CHECK(in.memory[i] == TEST_CANARY || in.memory[i] == seen[i], "%s: byte %zu was written", l->name, i);
    free(in.memory);
    free(out);
    free(seen);
}

int main(int argc, char **argv)
{
    int i, n;

    test_begin(&argc, &argv);
    for (i = 0; i < LAYOUTS; i++) {
        struct layout l = layout_make(i);
        for (n = 0; n < (l.count ? l.count * ITEMS : 0); n++)
            check_prefix(&l, n);
        check_truncation(&l, 1);
        check_truncation(&l, 60);
        if (l.size && l.extent != 4)
            check_truncation(&l, 100000 / l.size);
        CHECK_OK(MPI_Type_free(&l.type));
    }
    return test_end();
}
