/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §7.4.4: with mpi_assert_allow_overtaking a program does not rely on the order of messages; each message is
 * received once all the same, whatever else is posted: receives of others, of wildcards, probes, messages that come
 * long before they are asked for. Collective calls on the communicator keep their order. */
#include "mpitest.h"

enum { ROUNDS = 200, POSTED = 5, FIRST = 10 };

static MPI_Comm comm;

static MPI_Comm hinted(const char *value)
{
    MPI_Comm new;
    MPI_Info info;

    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "mpi_assert_allow_overtaking", value));
    CHECK_OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &new));
    CHECK_OK(MPI_Info_free(&info));
    return new;
}

/* Receives stay posted while blocking ones with other tags come and go; lengths on all ways. */
static void beside_posted(int right, int left)
{
    static const int lens[] = { 0, 8, 100, 5000, 40000 };
    MPI_Request reqs[POSTED];
    int late[POSTED], value;

    for (int i = 0; i < POSTED; i++)
        CHECK_OK(MPI_Irecv(&late[i], 1, MPI_INT, i % 2 ? left : MPI_ANY_SOURCE, 1 + i, comm, &reqs[i]));
    for (int round = 0; round < ROUNDS; round++) {
        const int len = lens[round % 5], tag = FIRST + round % 3;
        unsigned char *out = test_alloc((size_t)len), *in = test_alloc((size_t)len);
        MPI_Status status = test_dirty_status();
        MPI_Request send;
        test_fill(out, (size_t)len, test_key((uint64_t)test_rank, (uint64_t)round, 0));
        CHECK_OK(MPI_Isend(out, len, MPI_BYTE, right, tag, comm, &send));
        if (round % 7 == 3)
            CHECK_OK(MPI_Probe(left, tag, comm, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Recv(in, len, MPI_BYTE, left, tag, comm, &status));
        CHECK_STATUS(&status, left, tag, (size_t)len);
        CHECK_BYTES(in, (size_t)len, test_key((uint64_t)left, (uint64_t)round, 0));
        CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
        free(out);
        free(in);
        if (round % 10 == 9) {
            CHECK_OK(MPI_Allreduce(&(int){ 1 }, &value, 1, MPI_INT, MPI_SUM, comm));
            CHECK_INT(value, test_size);
        }
    }
    for (int i = POSTED - 1; i >= 0; i--)
        CHECK_OK(MPI_Send(&i, 1, MPI_INT, right, 1 + i, comm));
    CHECK_OK(MPI_Waitall(POSTED, reqs, MPI_STATUSES_IGNORE));
    for (int i = 0; i < POSTED; i++)
        CHECK_INT(late[i], i);
}

/* Many with one tag, of which some are posted and some are not: all come, in some order. */
static void all_come(int right, int left)
{
    enum { MANY = 40 };
    MPI_Request sends[MANY], recvs[MANY];
    int out[MANY], in[MANY], seen[MANY] = { 0 }, posted = 0;

    for (int i = 0; i < MANY; i += 3)
        CHECK_OK(MPI_Irecv(&in[i], 1, MPI_INT, left, FIRST, comm, &recvs[posted++]));
    for (int i = 0; i < MANY; i++) {
        out[i] = i;
        CHECK_OK(MPI_Isend(&out[i], 1, MPI_INT, right, FIRST, comm, &sends[i]));
    }
    for (int i = 0; i < MANY; i++) {
        if (i % 3)
            CHECK_OK(MPI_Recv(&in[i], 1, MPI_INT, left, FIRST, comm, MPI_STATUS_IGNORE));
    }
    CHECK_OK(MPI_Waitall(posted, recvs, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Waitall(MANY, sends, MPI_STATUSES_IGNORE));
    for (int i = 0; i < MANY; i++) {
        CHECK(in[i] >= 0 && in[i] < MANY && !seen[in[i]], "message %d came twice", in[i]);
        seen[in[i]] = 1;
    }
}

int main(int argc, char **argv)
{
    int right, left;

    if (argc > 1)
        test_begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    else
        test_begin(&argc, &argv);
    right = (test_rank + 1) % test_size;
    left = (test_rank + test_size - 1) % test_size;
    for (int i = 0; i < 2; i++) {
        comm = hinted(i ? "false" : "true");
        beside_posted(right, left);
        all_come(right, left);
        CHECK_OK(MPI_Comm_free(&comm));
    }
    return test_end();
}
