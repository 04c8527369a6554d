/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.2.7: MPI_Sendrecv_replace sends and receives with one buffer: the received message takes the
 * place of the sent one, all lengths, round rings of any distance. */
#include "mpitest.h"

enum { LONGEST = 300000, TAG = 1 };

/* A chain without a ring: an end that receives nothing keeps its buffer. */
static void chain(unsigned char *buf, int len)
{
    const int dest = test_rank + 1 < test_size ? test_rank + 1 : MPI_PROC_NULL;
    const int src = test_rank > 0 ? test_rank - 1 : MPI_PROC_NULL;
    MPI_Status st = test_dirty_status();

    test_fill(buf, (size_t)len, test_key(test_rank, 77, len));
    CHECK_OK(MPI_Sendrecv_replace(buf, len, MPI_BYTE, dest, TAG, src, TAG, MPI_COMM_WORLD, &st));
    if (src == MPI_PROC_NULL)
        CHECK_STATUS(&st, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    else
        CHECK_STATUS(&st, src, TAG, (size_t)len);
    CHECK_BYTES(buf, (size_t)len, test_key(src == MPI_PROC_NULL ? test_rank : src, 77, len));
}

/* The message may be shorter than the buffer; when it is longer, what fits has come, and the other one has gone out. */
static void lengths(void)
{
    int buf[4] = { 1, 2, 3, 4 }, two[2] = { 8, 9 }, got[4] = { 0 };
    MPI_Request reqs[2];
    MPI_Status st;

    CHECK_OK(MPI_Irecv(got, 4, MPI_INT, 0, TAG + 1, MPI_COMM_SELF, &reqs[0]));
    CHECK_OK(MPI_Isend(two, 2, MPI_INT, 0, TAG, MPI_COMM_SELF, &reqs[1]));
    CHECK_OK(MPI_Sendrecv_replace(buf, 4, MPI_INT, 0, TAG + 1, 0, TAG, MPI_COMM_SELF, &st));
    CHECK_STATUS(&st, 0, TAG, 2 * sizeof(int));
    CHECK(buf[0] == 8 && buf[1] == 9 && buf[2] == 3 && buf[3] == 4, "%d %d %d %d", buf[0], buf[1], buf[2], buf[3]);
    CHECK_OK(MPI_Waitall(2, reqs, MPI_STATUSES_IGNORE));
    CHECK(got[0] == 1 && got[3] == 4, "%d, %d", got[0], got[3]);
    if (!test_is_parley()) /* what an error leaves behind is open */
        return;
    CHECK_OK(MPI_Irecv(got, 4, MPI_INT, 0, TAG + 1, MPI_COMM_SELF, &reqs[0]));
    CHECK_OK(MPI_Isend(buf, 4, MPI_INT, 0, TAG, MPI_COMM_SELF, &reqs[1]));
    two[0] = 5;
    CHECK_CLASS(MPI_Sendrecv_replace(two, 2, MPI_INT, 0, TAG + 1, 0, TAG, MPI_COMM_SELF, &st), MPI_ERR_TRUNCATE);
    CHECK(two[0] == 8 && two[1] == 9, "%d %d", two[0], two[1]);
    CHECK_OK(MPI_Waitall(2, reqs, MPI_STATUSES_IGNORE));
    CHECK(got[0] == 5 && got[1] == 9, "%d %d", got[0], got[1]);
}

int main(int argc, char **argv)
{
    static const int sizes[] = { 0, 8, 41, 5000, 32769, LONGEST };
    unsigned char *buf;
    MPI_Status st;
    size_t i;
    int distance;

    test_begin(&argc, &argv);
    buf = test_alloc(LONGEST);
    NEEDS(MPI_Sendrecv_replace(buf, 1, MPI_BYTE, test_rank, TAG, test_rank, TAG, MPI_COMM_WORLD, &st));
    for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        chain(buf, sizes[i]);
    for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (distance = 0; distance < test_size; distance++) {
            const int dest = (test_rank + distance) % test_size;
            const int src = (test_rank + test_size - distance) % test_size;

            test_fill(buf, (size_t)sizes[i], test_key(test_rank, i, distance));
            CHECK_OK(MPI_Sendrecv_replace(buf, sizes[i], MPI_BYTE, dest, TAG, src, TAG, MPI_COMM_WORLD, &st));
            CHECK_STATUS(&st, src, TAG, (size_t)sizes[i]);
            CHECK_BYTES(buf, (size_t)sizes[i], test_key(src, i, distance));
        }
    lengths();
    free(buf);
    return test_end();
}
