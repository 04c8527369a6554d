/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §4.2.3, §3.7.4: a partitioned receive may have more room than the message takes, as other receives: the
 * status tells how much came, the rest stays untouched, and partitions that get nothing count as arrived. */
#include "mpipart.h"

enum { TAG = 5 };

struct sizes {
    int send_parts, recv_parts;
    size_t send_len, recv_len;  /* of one partition, in bytes */
};

static void check_round(const struct sizes *sizes, unsigned char *out, unsigned char *in, MPI_Request *reqs, int round)
{
    const size_t len = (size_t)sizes->send_parts * sizes->send_len, room = (size_t)sizes->recv_parts * sizes->recv_len;
    MPI_Status sts[2] = { test_dirty_status(), test_dirty_status() };
    int flag;

    test_fill(out, len, test_key((uint64_t)test_rank, (uint64_t)round, TAG));
    memset(in, TEST_CANARY, room);
    CHECK_OK(MPI_Startall(2, reqs));
    for (int i = sizes->send_parts - 1; i >= 0; i--)
        CHECK_OK(MPI_Pready(i, reqs[1]));
    for (int i = 0; i < sizes->recv_parts; i++) { /* those that get nothing, too: in the end all have arrived */
        do {
            CHECK_OK(MPI_Parrived(reqs[0], i, &flag));
        } while (!flag);
    }
    CHECK_OK(MPI_Waitall(2, reqs, sts));
    CHECK_STATUS(&sts[0], ring_left(), TAG, len);
    CHECK_BYTES(in, len, test_key((uint64_t)ring_left(), (uint64_t)round, TAG));
    CHECK_UNTOUCHED(in + len, room - len);
}

static void check_sizes(const struct sizes *sizes)
{
    unsigned char *out = test_alloc((size_t)sizes->send_parts * sizes->send_len);
    unsigned char *in = test_alloc((size_t)sizes->recv_parts * sizes->recv_len);
    MPI_Request reqs[2];

    CHECK_OK(MPI_Precv_init(in, sizes->recv_parts, (MPI_Count)sizes->recv_len, MPI_BYTE, ring_left(), TAG,
                            MPI_COMM_WORLD, MPI_INFO_NULL, &reqs[0]));
    CHECK_OK(MPI_Psend_init(out, sizes->send_parts, (MPI_Count)sizes->send_len, MPI_BYTE, ring_right(), TAG,
                            MPI_COMM_WORLD, MPI_INFO_NULL, &reqs[1]));
    for (int round = 0; round < 3; round++)
        check_round(sizes, out, in, reqs, round);
    CHECK_OK(MPI_Request_free(&reqs[0]));
    CHECK_OK(MPI_Request_free(&reqs[1]));
    free(out);
    free(in);
}

/* Part of an item at the end: the count is undefined, the bytes are there. Items with gaps. */
static void part_of_item(void)
{
    char out[2] = { 'a', 'b' }, in[6 * 2 * sizeof(int)];
    MPI_Datatype four, with_gap;
    MPI_Request reqs[2];
    MPI_Status sts[2];
    int count = 0;

    memset(in, 0, sizeof in);
    CHECK_OK(MPI_Type_contiguous(sizeof(int), MPI_CHAR, &four));
    CHECK_OK(MPI_Type_create_resized(four, 0, 2 * sizeof(int), &with_gap));
    CHECK_OK(MPI_Type_free(&four));
    CHECK_OK(MPI_Type_commit(&with_gap));
    CHECK_OK(MPI_Precv_init(in, 3, 2, with_gap, ring_left(), TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &reqs[0]));
    CHECK_OK(MPI_Psend_init(out, 2, 1, MPI_CHAR, ring_right(), TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &reqs[1]));
    CHECK_OK(MPI_Startall(2, reqs));
    CHECK_OK(MPI_Pready_range(0, 1, reqs[1]));
    CHECK_OK(MPI_Waitall(2, reqs, sts));
    CHECK_OK(MPI_Get_count(&sts[0], with_gap, &count));
    CHECK_INT(count, MPI_UNDEFINED);
    CHECK_OK(MPI_Get_count(&sts[0], MPI_CHAR, &count));
    CHECK_INT(count, 2);
    CHECK(!memcmp(in, "ab\0", 4), "got %.4s", in);
    CHECK_OK(MPI_Request_free(&reqs[0]));
    CHECK_OK(MPI_Request_free(&reqs[1]));
    CHECK_OK(MPI_Type_free(&with_gap));
}

int main(int argc, char **argv)
{
    static const struct sizes all[] = {
        { 1, 1, 4, 8 }, { 5, 2, 10, 30 }, { 5, 2, 0, 30 }, { 0, 3, 0, 30 }, { 2, 1, 3, 7 }, { 3, 65, 1000, 50 },
        { 3, 65, 1000, 5000 }, { 7, 4, 40000, 100000 }, { 2, 3, 2000000, 2000000 },
    };

    test_begin(&argc, &argv);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        check_sizes(&all[i]);
    if (test_is_parley()) /* others take the types as they are declared */
        part_of_item();
    return test_end();
}
