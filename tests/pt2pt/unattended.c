/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.7.4: a message that has been sent arrives though its sender makes no further call: short ones of
 * MPI_Isend, and what MPI_Send has returned from. The receiver says outside of MPI that it has them, by removing a
 * file, and the sender computes until then. */
#include <unistd.h>

#include "mpitest.h"

enum { SHORTS = 3, LONGS = 6, LONG = 2000, STEP_US = 1000, NAME = 200 };

static char names[2][NAME];

/* Until another process has removed it. */
static void await_removal(const char *name)
{
    while (!access(name, F_OK))
        usleep(STEP_US);
}

/* Two files, known to both. */
static void make_files(void)
{
    const char *dir = getenv("TMPDIR");
    int i;

    for (i = 0; i < 2 && test_rank == 0; i++) {
        snprintf(names[i], NAME, "%s/unattended-XXXXXX", dir ? dir : "/tmp");
        CHECK(mkstemp(names[i]) >= 0, "no file %s", names[i]);
    }
    CHECK_OK(MPI_Bcast(names, (int)sizeof names, MPI_CHAR, 0, MPI_COMM_WORLD));
}

static void isend_and_leave(void)
{
    unsigned char out[SHORTS] = { 1, 2, 3 }, in;
    MPI_Request reqs[SHORTS];
    int i;

    make_files();
    if (test_rank == 0) {
        for (i = 0; i < SHORTS; i++)
            CHECK_OK(MPI_Isend(&out[i], 1, MPI_BYTE, 1, i, MPI_COMM_WORLD, &reqs[i]));
        await_removal(names[0]);
        CHECK_OK(MPI_Waitall(SHORTS, reqs, MPI_STATUSES_IGNORE));
        unlink(names[1]);
    } else if (test_rank == 1) {
        for (i = 0; i < SHORTS; i++) {
            CHECK_OK(MPI_Recv(&in, 1, MPI_BYTE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_INT(in, out[i]);
        }
        unlink(names[0]);
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* The receiver takes nothing before all are sent, so the system may not have taken all. */
static void send_and_leave(void)
{
    static unsigned char buf[LONG];
    int i;

    make_files();
    if (test_rank == 0) {
        test_fill(buf, LONG, test_key(0, 1, 60));
        for (i = 0; i < LONGS; i++)
            CHECK_OK(MPI_Send(buf, LONG, MPI_BYTE, 1, i, MPI_COMM_WORLD));
        unlink(names[1]);
        await_removal(names[0]);
    } else if (test_rank == 1) {
        await_removal(names[1]);
        for (i = 0; i < LONGS; i++) {
            CHECK_OK(MPI_Recv(buf, LONG, MPI_BYTE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_BYTES(buf, LONG, test_key(0, 1, 60));
        }
        unlink(names[0]);
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    int round;

    test_begin(&argc, &argv);
    test_needs_ranks(2);
    if (getenv("PARLEY_NET"))
        test_skip("a transport that refuses at random leaves messages with their senders");
    if (!test_is_parley())
        test_skip("others need not hold as much of what MPI_Send has returned from");
    for (round = 0; round < 3; round++) {
        isend_and_leave();
        send_and_leave();
    }
    return test_end();
}
