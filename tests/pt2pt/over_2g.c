/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.2.2, §2.5.8: one message of more than 2 GB: with an int count of a larger type, and with the
 * large-count form in bytes. MPI_Get_count says MPI_UNDEFINED where an int cannot hold the number,
 * MPI_Get_count_c says it. The buffers are one small piece of memory, mapped again and again, and a tail of
 * their own. */
#include "mpitest.h"

#include <sys/mman.h>
#include <unistd.h>

enum { PIECE = 1 << 24, PIECES = 128, TAIL = 1 << 16, TAG = 1 };

static const size_t total = (size_t)PIECE * PIECES + TAIL;

/* A view of `total` bytes: PIECES times the same memory, then the tail. */
static unsigned char *map_buffer(void)
{
    const int fd = memfd_create("over_2g", 0);
    unsigned char *base;
    int i;

    if (fd < 0 || ftruncate(fd, PIECE + TAIL) != 0)
        test_skip("no memory file");
    base = mmap(NULL, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(base != MAP_FAILED, "mmap of %zu bytes", total);
    for (i = 0; i <= PIECES; i++)
        CHECK(mmap(base + (size_t)i * PIECE, i < PIECES ? PIECE : TAIL, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_FIXED, fd, i < PIECES ? 0 : PIECE) != MAP_FAILED,
              "mmap of piece %d", i);
    close(fd);
    return base;
}

static void fill(unsigned char *buf, int what)
{
    test_fill(buf, PIECE, test_key(what, 0, 25));
    test_fill(buf + (size_t)PIECES * PIECE, TAIL, test_key(what, 1, 25));
}

static void check(const unsigned char *buf, int what)
{
    CHECK_BYTES(buf, PIECE, test_key(what, 0, 25));
    CHECK_BYTES(buf + (size_t)PIECES * PIECE, TAIL, test_key(what, 1, 25));
}

static void with_int_count(unsigned char *buf)
{
    const int n = (int)(total / sizeof(double));
    MPI_Status st;
    int count = -1;

    if (test_rank == 0) {
        fill(buf, 1);
        CHECK_OK(MPI_Send(buf, n, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD));
        return;
    }
    CHECK_OK(MPI_Recv(buf, n, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD, &st));
    CHECK_OK(MPI_Get_count(&st, MPI_DOUBLE, &count));
    CHECK_INT(count, n);
    CHECK_OK(MPI_Get_count(&st, MPI_BYTE, &count));
    CHECK_INT(count, MPI_UNDEFINED);
    check(buf, 1);
}

static void with_large_count(unsigned char *buf)
{
#if MPI_VERSION >= 4
    MPI_Count count = -1;
    MPI_Status st;

    if (test_rank == 0) {
        fill(buf, 2);
        CHECK_OK(MPI_Send_c(buf, (MPI_Count)total, MPI_BYTE, 1, TAG, MPI_COMM_WORLD));
        return;
    }
    CHECK_OK(MPI_Probe(0, TAG, MPI_COMM_WORLD, &st));
    CHECK_OK(MPI_Get_count_c(&st, MPI_BYTE, &count));
    CHECK_INT(count, total);
    CHECK_OK(MPI_Recv_c(buf, (MPI_Count)total, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &st));
    CHECK_OK(MPI_Get_count_c(&st, MPI_BYTE, &count));
    CHECK_INT(count, total);
    CHECK_OK(MPI_Get_count_c(&st, MPI_INT, &count));
    CHECK_INT(count, total / 4);
    check(buf, 2);
#else
    (void)buf;
#endif
}

/* Most of it does not fit: the error says so, and the sender gets away. */
static void truncated(unsigned char *buf)
{
    const int n = (int)(total / sizeof(double));
    int value = 0;

    if (test_rank == 0) {
        CHECK_OK(MPI_Send(buf, n, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD));
        CHECK_OK(MPI_Send(&n, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD));
        return;
    }
    CHECK_CLASS(MPI_Recv(buf, 1000, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    CHECK_OK(MPI_Recv(&value, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_INT(value, n);
}

int main(int argc, char **argv)
{
    unsigned char *buf;

    test_begin(&argc, &argv);
    test_needs_ranks(2);
    buf = map_buffer();
    if (test_rank < 2) {
        with_int_count(buf);
        with_large_count(buf);
        truncated(buf);
    }
    munmap(buf, total);
    return test_end();
}
