/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.5, progress: a pair of matching calls completes whatever other processes do. Rank 0 has sent many messages
 * to ranks that are not in MPI, and sends to the last rank, which receives: short, long, with gaps, partitioned. That
 * one says outside of MPI that it has them, by removing a file, and only then the others receive theirs. Then the other
 * way round: rank 0 has asked for many long messages of ranks that have begun to send them and left, and gets some of
 * the last rank. */
#include <unistd.h>

#include "mpitest.h"

enum {
    FLOOD = 60, FLOOD_LEN = 700,
    LONGS = 60, LONGEST = 200000, LOOKS = 2000,
    BLOCK = 40000, BLOCKS = 4, STRIDE = 50000,
    STEP_US = 1000, NAME = 200, TAG = 3,
};

static const int lengths[] = { 8, 200, 5000, 30000, 33000, 65000, 70000, LONGEST };

static char name[NAME];
static unsigned char *buf;

static void await_removal(void)
{
    while (!access(name, F_OK))
        usleep(STEP_US);
}

static void make_file(void)
{
    const char *dir = getenv("TMPDIR");

    if (test_rank == 0) {
        snprintf(name, NAME, "%s/away-XXXXXX", dir ? dir : "/tmp");
        CHECK(mkstemp(name) >= 0, "no file %s", name);
    }
    CHECK_OK(MPI_Bcast(name, NAME, MPI_CHAR, 0, MPI_COMM_WORLD));
}

static MPI_Datatype every_other(int len)
{
    MPI_Datatype type;

    CHECK_OK(MPI_Type_vector(len, 1, 2, MPI_BYTE, &type));
    CHECK_OK(MPI_Type_commit(&type));
    return type;
}

static void partitioned(int other)
{
    MPI_Request req;

    if (test_rank == 0)
        CHECK_OK(MPI_Psend_init(buf, 3, 5000, MPI_BYTE, other, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &req));
    else
        CHECK_OK(MPI_Precv_init(buf, 3, 5000, MPI_BYTE, other, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &req));
    CHECK_OK(MPI_Start(&req));
    for (int i = 0; i < 3 && test_rank == 0; i++)
        CHECK_OK(MPI_Pready(i, req));
    CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Request_free(&req));
}

static void send_all(int last)
{
    MPI_Request *reqs = test_alloc((size_t)(FLOOD * test_size) * sizeof *reqs);
    MPI_Datatype gaps = every_other(20000);
    int n = 0;

    for (int i = 0; i < FLOOD; i++)
        for (int away = 1; away < last; away++)
            CHECK_OK(MPI_Isend(buf, FLOOD_LEN, MPI_BYTE, away, TAG, MPI_COMM_WORLD, &reqs[n++]));
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        CHECK_OK(MPI_Send(buf, lengths[i], MPI_BYTE, last, TAG, MPI_COMM_WORLD));
        CHECK_OK(MPI_Ssend(buf, lengths[i], MPI_BYTE, last, TAG, MPI_COMM_WORLD));
    }
    CHECK_OK(MPI_Send(buf, 1, gaps, last, TAG, MPI_COMM_WORLD));
    partitioned(last);
    CHECK_OK(MPI_Waitall(n, reqs, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Type_free(&gaps));
    free(reqs);
}

static void receive_now(void)
{
    unsigned char *all = test_alloc(2 * LONGEST);
    MPI_Datatype gaps = every_other(20000);

    test_fill(all, LONGEST, test_key(0, 0, TAG));
    for (size_t i = 0; i < 2 * (sizeof lengths / sizeof *lengths); i++) {
        memset(buf, TEST_CANARY, LONGEST);
        CHECK_OK(MPI_Recv(buf, LONGEST, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_BYTES(buf, (size_t)lengths[i / 2], test_key(0, 0, TAG));
    }
    memset(buf, TEST_CANARY, LONGEST);
    CHECK_OK(MPI_Recv(buf, 1, gaps, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < 40000 - 1; i++)
        CHECK_INT(buf[i], i % 2 ? TEST_CANARY : all[i]);
    partitioned(0);
    CHECK_BYTES(buf, 3 * 5000, test_key(0, 0, TAG));
    CHECK(!unlink(name), "%s is gone", name);
    CHECK_OK(MPI_Type_free(&gaps));
    free(all);
}

static void receive_later(void)
{
    await_removal();
    for (int i = 0; i < FLOOD; i++) {
        memset(buf, TEST_CANARY, FLOOD_LEN);
        CHECK_OK(MPI_Recv(buf, FLOOD_LEN, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_BYTES(buf, FLOOD_LEN, test_key(0, 0, TAG));
    }
}

/* --- the other way round --- */

static void wait_all(MPI_Request *reqs, int n)
{
    CHECK_OK(MPI_Waitall(n, reqs, MPI_STATUSES_IGNORE));
    free(reqs);
}

static void receive_in_blocks(int from)
{
    MPI_Datatype blocks;

    CHECK_OK(MPI_Type_vector(BLOCKS, BLOCK, STRIDE, MPI_BYTE, &blocks));
    CHECK_OK(MPI_Type_commit(&blocks));
    memset(buf, TEST_CANARY, LONGEST);
    CHECK_OK(MPI_Recv(buf, 1, blocks, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 1; i < BLOCKS; i++) {
        CHECK_UNTOUCHED(buf + i * STRIDE - (STRIDE - BLOCK), STRIDE - BLOCK);
        memmove(buf + i * BLOCK, buf + i * STRIDE, BLOCK);
    }
    CHECK_BYTES(buf, BLOCKS * BLOCK, test_key(0, 0, TAG));
    CHECK_OK(MPI_Type_free(&blocks));
}

static MPI_Request *requests(void)
{
    return test_alloc((size_t)(LONGS * test_size) * sizeof(MPI_Request));
}

static void receive_from_all(int last)
{
    unsigned char *dump = test_alloc(LONGEST);
    MPI_Request *reqs = requests();
    int n = 0, flag;

    for (int i = 0; i < LONGS; i++)
        for (int away = 1; away < last; away++) /* nobody looks what is in there */
            CHECK_OK(MPI_Irecv(dump, LONGEST, MPI_BYTE, away, TAG, MPI_COMM_WORLD, &reqs[n++]));
    for (int i = 0; i < LOOKS; i++)
        CHECK_OK(MPI_Iprobe(last, TAG + 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Send(NULL, 0, MPI_BYTE, last, TAG, MPI_COMM_WORLD));
    memset(buf, TEST_CANARY, LONGEST);
    CHECK_OK(MPI_Recv(buf, LONGEST, MPI_BYTE, last, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_BYTES(buf, LONGEST, test_key(0, 0, TAG));
    receive_in_blocks(last);
    CHECK(!unlink(name), "%s is gone", name);
    wait_all(reqs, n);
    free(dump);
}

static void send_and_leave(void)
{
    MPI_Request *reqs = requests();

    for (int i = 0; i < LONGS; i++)
        CHECK_OK(MPI_Isend(buf, LONGEST, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &reqs[i]));
    await_removal();
    wait_all(reqs, LONGS);
}

static void send_last(void)
{
    test_fill(buf, LONGEST, test_key(0, 0, TAG));
    CHECK_OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Send(buf, LONGEST, MPI_BYTE, 0, TAG, MPI_COMM_WORLD));
    CHECK_OK(MPI_Send(buf, BLOCKS * BLOCK, MPI_BYTE, 0, TAG, MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    test_needs_ranks(3);
    buf = test_alloc(LONGEST);
    test_fill(buf, LONGEST, test_key(0, 0, TAG));
    make_file();
    if (test_rank == 0)
        send_all(test_size - 1);
    else if (test_rank == test_size - 1)
        receive_now();
    else
        receive_later();
    make_file();
    if (test_rank == 0)
        receive_from_all(test_size - 1);
    else if (test_rank == test_size - 1)
        send_last();
    else
        send_and_leave();
    free(buf);
    return test_end();
}
