/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §4.2.1: count and datatype describe one partition; partitions follow each other in the buffer by the extent
 * of the type. Types with gaps, to the same and to other numbers of partitions; short and long. */
#include "mpipart.h"

#include <stddef.h>

enum { TAG = 2, ROUNDS = 2 };

struct item {
    double value;
    int index;
};

static void one(int send_parts, int recv_parts, int items)
{
    const size_t bytes = (size_t)items * sizeof(struct item);
    struct item *out = test_alloc(bytes), *in = test_alloc(bytes);
    MPI_Request reqs[2];
    MPI_Status st;
    int count = -1;

    NEEDS(MPI_Psend_init(out, send_parts, items / send_parts, MPI_DOUBLE_INT, ring_right(), TAG, MPI_COMM_WORLD,
                         MPI_INFO_NULL, &reqs[0]));
    CHECK_OK(MPI_Precv_init(in, recv_parts, items / recv_parts, MPI_DOUBLE_INT, ring_left(), TAG, MPI_COMM_WORLD,
                            MPI_INFO_NULL, &reqs[1]));
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < items; i++) {
            out[i].value = test_rank + i * 0.5 + round;
            out[i].index = i ^ test_rank ^ round << 20;
        }
        memset(in, TEST_CANARY, bytes);
        CHECK_OK(MPI_Startall(2, reqs));
        for (int i = send_parts - 1; i >= 0; i--)
            CHECK_OK(MPI_Pready(i, reqs[0]));
        CHECK_OK(MPI_Wait(&reqs[1], &st));
        CHECK_OK(MPI_Wait(&reqs[0], MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Get_count(&st, MPI_DOUBLE_INT, &count));
        CHECK_INT(count, items);
        for (int i = 0; i < items; i++) {
            const size_t gap = offsetof(struct item, index) + sizeof(int);
            CHECK(in[i].value == ring_left() + i * 0.5 + round, "item %d of %d: value %g", i, items, in[i].value);
            CHECK_INT(in[i].index, i ^ ring_left() ^ round << 20);
            CHECK_UNTOUCHED((char *)&in[i] + gap, sizeof(struct item) - gap);
        }
    }
    CHECK_OK(MPI_Request_free(&reqs[0]));
    CHECK_OK(MPI_Request_free(&reqs[1]));
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    one(1, 1, 1);
    one(4, 4, 20);
    one(3, 4, 1200);
    one(50, 1, 1000);
    one(3, 5, 15 * 2000);
    one(1, 1, 60000);
    return test_end();
}
