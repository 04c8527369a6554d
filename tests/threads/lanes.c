/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §11.2.1, §11.6.2: every thread has a communicator of its own and everything goes on at the same time in all
 * of them: messages of all lengths and modes, wildcards, probes, cancelled receives, freed requests, collectives, and
 * making and freeing further communicators.
 *
 * The processes need not have the same thread level. Argument: multiple, all have MPI_THREAD_MULTIPLE; mixed, only even
 * ranks have it, and the others take the threads' parts one after the other. The first process of the communicators
 * changes from thread to thread, so that processes of both kinds come first. */
#include "mpithread.h"

enum { ROUNDS = 12, BATCH = 8, LONGEST = 150000, COMMS = 2 * THREADS };

static MPI_Comm comms[THREADS];

struct ring {
    MPI_Comm comm;
    int thread, rank, size, right, left;
};

static uint64_t key_of(const struct ring *r, int from, int round, int i)
{
    return test_key((uint64_t)(from * 100 + r->thread), (uint64_t)round, (uint64_t)i);
}

static int length_of(int thread, int round, int i)
{
    static const int lengths[] = { 0, 1, 8, 40, 41, 160, 161, 3000, 32768, 32769, LONGEST };
    uint64_t state = test_key((uint64_t)thread, (uint64_t)round, (uint64_t)(i + 1000));

    return lengths[test_below(&state, sizeof lengths / sizeof lengths[0])];
}

/* Windows of nonblocking messages around the ring; every second one is synchronous, receives take any tag or source. */
static void windows(const struct ring *r, int round, unsigned char *out, unsigned char *in)
{
    MPI_Request reqs[2 * BATCH];
    MPI_Status sts[2 * BATCH];
    int i, len;

    for (i = 0; i < BATCH; i++)
        CHECK_OK(MPI_Irecv(in + i * LONGEST, LONGEST, MPI_BYTE, round % 3 ? r->left : MPI_ANY_SOURCE,
                           round % 2 ? i : MPI_ANY_TAG, r->comm, &reqs[i]));
    for (i = 0; i < BATCH; i++) {
        len = length_of(r->thread, round, i);
        test_fill(out + i * LONGEST, (size_t)len, key_of(r, r->rank, round, i));
        if (i % 2)
            CHECK_OK(MPI_Issend(out + i * LONGEST, len, MPI_BYTE, r->right, i, r->comm, &reqs[BATCH + i]));
        else
            CHECK_OK(MPI_Isend(out + i * LONGEST, len, MPI_BYTE, r->right, i, r->comm, &reqs[BATCH + i]));
    }
    CHECK_OK(MPI_Waitall(2 * BATCH, reqs, sts));
    for (i = 0; i < BATCH; i++) {
        len = length_of(r->thread, round, i);
        CHECK_STATUS(&sts[i], r->left, i, (size_t)len);
        CHECK_BYTES(in + i * LONGEST, (size_t)len, key_of(r, r->left, round, i));
    }
}

/* A message of unknown length, found by a matched probe; a receive that nobody will answer; a send that is let go. */
static void oddities(const struct ring *r, int round, unsigned char *out, unsigned char *in)
{
    const int len = length_of(r->thread, round, 77), is_even = round % 2 == 0;
    MPI_Request req, lost;
    MPI_Message message;
    MPI_Status st;
    int count, flag;

    CHECK_OK(MPI_Irecv(in, 1, MPI_INT, r->left, 9999, r->comm, &lost));
    test_fill(out, (size_t)len, key_of(r, r->rank, round, 77));
    CHECK_OK(MPI_Isend(out, len, MPI_BYTE, r->right, 77, r->comm, &req));
    if (is_even) {
        CHECK_OK(MPI_Mprobe(MPI_ANY_SOURCE, 77, r->comm, &message, &st));
        CHECK_OK(MPI_Get_count(&st, MPI_BYTE, &count));
        CHECK_INT(count, len);
        CHECK_OK(MPI_Mrecv(in + LONGEST, count, MPI_BYTE, &message, &st));
    } else {
        CHECK_OK(MPI_Probe(r->left, MPI_ANY_TAG, r->comm, &st));
        CHECK_OK(MPI_Recv(in + LONGEST, LONGEST, MPI_BYTE, r->left, 77, r->comm, &st));
    }
    CHECK_STATUS(&st, r->left, 77, (size_t)len);
    CHECK_BYTES(in + LONGEST, (size_t)len, key_of(r, r->left, round, 77));
    CHECK_OK(MPI_Cancel(&lost));
    CHECK_OK(MPI_Wait(&lost, &st));
    CHECK_OK(MPI_Test_cancelled(&st, &flag));
    CHECK_INT(flag, 1);
    CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
}

/* A send that the user lets go of. The barrier after it says that it has arrived, so the buffer may be used again. */
static void let_go(const struct ring *r, int round, unsigned char *out, unsigned char *in)
{
    const int len = length_of(r->thread, round, 78);
    MPI_Request req;

    test_fill(out, (size_t)len, key_of(r, r->rank, round, 78));
    CHECK_OK(MPI_Isend(out, len, MPI_BYTE, r->right, 78, r->comm, &req));
    CHECK_OK(MPI_Request_free(&req));
    CHECK_OK(MPI_Recv(in, LONGEST, MPI_BYTE, r->left, 78, r->comm, MPI_STATUS_IGNORE));
    CHECK_BYTES(in, (size_t)len, key_of(r, r->left, round, 78));
    CHECK_OK(MPI_Barrier(r->comm));
}

/* A communicator for a moment; the message in it is received after it has been freed. */
static void family(const struct ring *r, int round)
{
    MPI_Comm child;
    MPI_Request req;
    int in = -1, sum, rank;

    if (round % 2)
        CHECK_OK(MPI_Comm_dup(r->comm, &child));
    else
        CHECK_OK(MPI_Comm_split(r->comm, 0, (r->rank + round) % r->size, &child));
    CHECK_OK(MPI_Comm_rank(child, &rank));
    CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, (rank + r->size - 1) % r->size, 5, child, &req));
    CHECK_OK(MPI_Allreduce(&r->thread, &sum, 1, MPI_INT, MPI_SUM, child));
    CHECK_INT(sum, r->thread * r->size);
    CHECK_OK(MPI_Send(&rank, 1, MPI_INT, (rank + 1) % r->size, 5, child));
    CHECK_OK(MPI_Comm_free(&child));
    CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    CHECK_INT(in, (rank + r->size - 1) % r->size);
}

static void body(int thread)
{
    unsigned char *out = test_alloc(BATCH * LONGEST), *in = test_alloc(BATCH * LONGEST);
    struct ring r = { .comm = comms[thread], .thread = thread };
    int round;

    CHECK_OK(MPI_Comm_rank(r.comm, &r.rank));
    CHECK_OK(MPI_Comm_size(r.comm, &r.size));
    r.right = (r.rank + 1) % r.size;
    r.left = (r.rank + r.size - 1) % r.size;
    for (round = 0; round < ROUNDS; round++) {
        windows(&r, round, out, in);
        oddities(&r, round, out, in);
        let_go(&r, round, out, in);
        if (round % 3 == 0)
            family(&r, round);
    }
    free(out);
    free(in);
}

/* Many communicators at once, with a message from each thread's part to itself in every one, received backwards. */
static void many(void)
{
    MPI_Comm all[COMMS];
    MPI_Request reqs[2 * COMMS];
    int out[COMMS], in[COMMS], i;

    for (i = 0; i < COMMS; i++)
        CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, (test_rank + i) % test_size, &all[i]));
    for (i = 0; i < COMMS; i++) {
        out[i] = 1000 * test_rank + i;
        CHECK_OK(MPI_Isend(&out[i], 1, MPI_INT, 0, 3, all[i], &reqs[i]));
    }
    for (i = COMMS - 1; i >= 0; i--) {
        int rank, from;
        reqs[COMMS + i] = MPI_REQUEST_NULL;
        CHECK_OK(MPI_Comm_rank(all[i], &rank));
        for (from = 0; rank == 0 && from < test_size; from++) {
            CHECK_OK(MPI_Irecv(&in[i], 1, MPI_INT, from, MPI_ANY_TAG, all[i], &reqs[COMMS + i]));
            CHECK_OK(MPI_Wait(&reqs[COMMS + i], MPI_STATUS_IGNORE));
            CHECK_INT(in[i] % 1000, i);
        }
    }
    CHECK_OK(MPI_Waitall(2 * COMMS, reqs, MPI_STATUSES_IGNORE));
    for (i = 0; i < COMMS; i++)
        CHECK_OK(MPI_Comm_free(&all[i]));
}

/* Before MPI_Init_thread the rank is not known; the launcher's environment may tell, else all are alike. */
static int own_rank(void)
{
    static const char *const names[] = { "PARLEY_RANK", "PMI_RANK", "OMPI_COMM_WORLD_RANK" };
    unsigned i;

    for (i = 0; i < sizeof names / sizeof names[0]; i++)
        if (getenv(names[i]))
            return atoi(getenv(names[i]));
    return 0;
}

int main(int argc, char **argv)
{
    const int is_mixed = argc == 2 && strcmp(argv[1], "mixed") == 0;
    const int is_single = is_mixed && own_rank() % 2;
    int i;

    test_begin_threads(&argc, &argv, is_single ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE);
    for (i = 0; i < THREADS; i++)
        CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, (test_rank + i) % test_size, &comms[i]));
    if (!is_single)
        run_threads(THREADS, body);
    for (i = 0; is_single && i < THREADS; i++)
        body(i);
    many();
    for (i = 0; i < THREADS; i++)
        CHECK_OK(MPI_Comm_free(&comms[i]));
    return test_end();
}
