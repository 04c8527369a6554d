/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.4, §3.5: programs that are legal if a standard send may wait for its receive, and that flood somebody
 * before they receive. They must end whatever the library does to bound its memory: whoever receives, probes or calls a
 * collective operation gets to the message behind all others. Run with the smallest PARLEY_UNEXPECTED_MAX, where a
 * dozen messages are a flood. Argument: the case, see the table below. */
#include "mpitest.h"

enum { MESSAGES = 400, LONGEST = 1500, LONG = 70000, CASES_TAG = MESSAGES + 1 };

static MPI_Comm other;          /* a copy of MPI_COMM_WORLD */
static unsigned char *out, *in; /* LONG bytes */

/* Most are short, some travel in a cell, some are long. */
static int length_of(int sender, int tag)
{
    uint64_t state = test_key(sender, tag, 40);
    const size_t kind = test_below(&state, 50);

    return (int)(kind == 0 ? LONG : kind < 10 ? test_below(&state, LONGEST) : test_below(&state, 100));
}

static void check_message(const MPI_Status *st)
{
    CHECK_STATUS(st, st->MPI_SOURCE, st->MPI_TAG, (size_t)length_of(st->MPI_SOURCE, st->MPI_TAG));
    CHECK_BYTES(in, (size_t)length_of(st->MPI_SOURCE, st->MPI_TAG), test_key(0, 0, 41));
}

static void receive(int src, int tag, MPI_Comm comm)
{
    MPI_Status st;

    CHECK_OK(MPI_Recv(in, LONG, MPI_BYTE, src, tag, comm, &st));
    CHECK(src == MPI_ANY_SOURCE || st.MPI_SOURCE == src, "from %d, wanted %d", st.MPI_SOURCE, src);
    CHECK(tag == MPI_ANY_TAG || st.MPI_TAG == tag, "tag %d, wanted %d", st.MPI_TAG, tag);
    check_message(&st);
}

/* Tags 0 to MESSAGES - 1. */
static void flood(int dest, MPI_Comm comm, MPI_Request *reqs)
{
    int tag;

    for (tag = 0; tag < MESSAGES; tag++)
        CHECK_OK(MPI_Isend(out, length_of(test_rank, tag), MPI_BYTE, dest, tag, comm, &reqs[tag]));
}

static MPI_Request *requests(int n)
{
    return test_alloc((size_t)n * sizeof(MPI_Request));
}

static void wait_all(MPI_Request *reqs, int n)
{
    CHECK_OK(MPI_Waitall(n, reqs, MPI_STATUSES_IGNORE));
    free(reqs);
}

/* All ranks but 0 flood rank 0, which does `receive_all`. */
static void flood_root(void (*receive_all)(void))
{
    if (test_rank) {
        MPI_Request *reqs = requests(MESSAGES);
        flood(0, MPI_COMM_WORLD, reqs);
        wait_all(reqs, MESSAGES);
    } else {
        receive_all();
    }
}

/* --- orders of receiving --- */

static void receive_reverse(void)
{
    int src, tag;

    for (src = test_size - 1; src > 0; src--)
        for (tag = MESSAGES - 1; tag >= 0; tag--)
            receive(src, tag, MPI_COMM_WORLD);
}

static void receive_any_source(void)
{
    int i, tag;

    for (tag = MESSAGES - 1; tag >= 0; tag--)
        for (i = 1; i < test_size; i++)
            receive(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD);
}

static void receive_any_tag(void)
{
    int src, i;

    for (src = test_size - 1; src > 0; src--)
        for (i = 0; i < MESSAGES; i++)
            receive(src, MPI_ANY_TAG, MPI_COMM_WORLD);
}

static void receive_anything(void)
{
    int i;

    for (i = 0; i < MESSAGES * (test_size - 1); i++)
        receive(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD);
}

/* While more and more receives are posted that nobody answers, until they outnumber what a short list holds. */
static void receive_posted(void)
{
    const int n = MESSAGES * (test_size - 1);
    MPI_Request *reqs = requests(n);
    unsigned char *bufs = test_alloc((size_t)n);
    int i, src;

    for (i = 0; i < MESSAGES; i++)
        for (src = 1; src < test_size; src++) {
            const int tag = MESSAGES - 1 - i, at = i * (test_size - 1) + src - 1;
            unsigned char *buf = length_of(src, tag) ? malloc((size_t)length_of(src, tag)) : bufs;
            CHECK_OK(MPI_Recv(buf, length_of(src, tag), MPI_BYTE, src, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            if (length_of(src, tag))
                free(buf);
            CHECK_OK(MPI_Irecv(bufs + at, 0, MPI_BYTE, src, CASES_TAG, MPI_COMM_WORLD, &reqs[at]));
        }
    for (i = 0; i < n; i++)
        CHECK_OK(MPI_Cancel(&reqs[i]));
    wait_all(reqs, n);
    free(bufs);
}

/* --- probing --- */

static void probe_last(void)
{
    int src, flag;

    for (src = 1; src < test_size; src++)
        for (flag = 0; !flag;)
            CHECK_OK(MPI_Iprobe(src, MESSAGES - 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    receive_reverse();
}

static void probe_any(void)
{
    MPI_Status st;
    int i, tag;

    for (tag = MESSAGES - 1; tag >= 0; tag--)
        for (i = 1; i < test_size; i++) {
            CHECK_OK(MPI_Probe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &st));
            receive(st.MPI_SOURCE, tag, MPI_COMM_WORLD);
        }
}

static void mprobe_any(void)
{
    MPI_Message message;
    MPI_Status st;
    int i, flag = 0;

    for (i = 0; i < MESSAGES * (test_size - 1); i++) {
        if (i % 2)
            CHECK_OK(MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &st));
        else
            for (flag = 0; !flag;)
                CHECK_OK(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, &st));
        CHECK_OK(MPI_Mrecv(in, LONG, MPI_BYTE, &message, &st));
        check_message(&st);
    }
}

/* A receive that is only tested must get there as well. */
static void test_only(void)
{
    MPI_Request req;
    MPI_Status st;
    int src, tag, flag;

    for (src = 1; src < test_size; src++)
        for (tag = MESSAGES - 1; tag >= 0; tag--) {
            CHECK_OK(MPI_Irecv(in, LONG, MPI_BYTE, src, tag, MPI_COMM_WORLD, &req));
            for (flag = 0; !flag;)
                CHECK_OK(MPI_Test(&req, &flag, &st));
            check_message(&st);
        }
}

static void run_reverse(void) { flood_root(receive_reverse); }
static void run_any_source(void) { flood_root(receive_any_source); }
static void run_any_tag(void) { flood_root(receive_any_tag); }
static void run_anything(void) { flood_root(receive_anything); }
static void run_posted(void) { flood_root(receive_posted); }
static void run_iprobe(void) { flood_root(probe_last); }
static void run_probe(void) { flood_root(probe_any); }
static void run_mprobe(void) { flood_root(mprobe_any); }
static void run_test(void) { flood_root(test_only); }

/* --- the flood on one communicator, what is waited for on another --- */

static void run_other_comm(void)
{
    MPI_Request *reqs = requests(MESSAGES);
    int sum = 0, src, one = 1;

    if (test_rank)
        flood(0, MPI_COMM_WORLD, reqs);
    CHECK_OK(MPI_Barrier(other));
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_INT(sum, test_size);
    if (test_rank) {
        CHECK_OK(MPI_Send(out, length_of(test_rank, 5), MPI_BYTE, 0, 5, other));
        wait_all(reqs, MESSAGES);
        return;
    }
    for (src = 1; src < test_size; src++)
        receive(src, 5, other);
    receive_reverse();
    free(reqs);
}

/* Messages may come before their communicator is known at the receiver. */
static void run_new_comm(void)
{
    MPI_Request *reqs;
    MPI_Comm comm;
    int round, src, tag;

    for (round = 0; round < 3; round++) {
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        if (test_rank) {
            reqs = requests(MESSAGES);
            flood(0, comm, reqs);
            wait_all(reqs, MESSAGES);
        } else {
            for (tag = MESSAGES - 1; tag >= 0; tag--)
                for (src = 1; src < test_size; src++)
                    receive(src, tag, comm);
        }
        CHECK_OK(MPI_Comm_free(&comm));
    }
}

/* --- everybody --- */

static void run_mutual(void)
{
    MPI_Request *reqs = requests(MESSAGES * test_size);
    int i, tag;

    for (i = 0; i < test_size; i++)
        flood((test_rank + i) % test_size, MPI_COMM_WORLD, reqs + i * MESSAGES);
    for (tag = MESSAGES - 1; tag >= 0; tag--)
        for (i = 0; i < test_size; i++)
            receive(i, tag, MPI_COMM_WORLD);
    wait_all(reqs, MESSAGES * test_size);
}

/* Each asks for one in the middle: the others are held back on both sides while the answers must pass. */
static void run_middle(void)
{
    MPI_Request *reqs = requests(MESSAGES * test_size);
    int i, k, tag;

    for (i = 0; i < test_size; i++)
        flood((test_rank + i) % test_size, MPI_COMM_WORLD, reqs + i * MESSAGES);
    for (k = 0; k < MESSAGES; k++) {
        tag = (k * 7 + MESSAGES / 2) % MESSAGES; /* 7 and MESSAGES have no common factor */
        for (i = 0; i < test_size; i++)
            receive((test_rank + test_size - i) % test_size, tag, MPI_COMM_WORLD);
    }
    wait_all(reqs, MESSAGES * test_size);
}

static void run_self(void)
{
    MPI_Request *reqs = requests(MESSAGES), sync;
    int tag;

    flood(test_rank, MPI_COMM_WORLD, reqs);
    CHECK_OK(MPI_Issend(out, length_of(test_rank, 3), MPI_BYTE, test_rank, 3, other, &sync));
    for (tag = MESSAGES - 1; tag >= MESSAGES / 2; tag--)
        receive(test_rank, tag, MPI_COMM_WORLD);
    receive(test_rank, 3, other);
    for (tag = 0; tag < MESSAGES / 2; tag++)
        receive(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD);
    CHECK_OK(MPI_Wait(&sync, MPI_STATUS_IGNORE));
    wait_all(reqs, MESSAGES);
}

/* Each receives before its own sends are complete. */
static void run_ring(void)
{
    const int right = (test_rank + 1) % test_size, left = (test_rank + test_size - 1) % test_size;
    MPI_Request *reqs = requests(MESSAGES), recv;
    int tag;

    for (tag = 0; tag < MESSAGES; tag++) {
        CHECK_OK(MPI_Isend(out, length_of(test_rank, tag), MPI_BYTE, right, tag, MPI_COMM_WORLD, &reqs[tag]));
        if (tag % 40 == 39) /* falls behind, so that the ring is flooded */
            receive(left, tag, MPI_COMM_WORLD);
    }
    for (tag = 0; tag < MESSAGES; tag++)
        if (tag % 40 != 39)
            receive(left, tag, MPI_COMM_WORLD);
    wait_all(reqs, MESSAGES);
    for (tag = 0; tag < 40; tag++) {
        CHECK_OK(MPI_Irecv(in, LONG, MPI_BYTE, left, tag, MPI_COMM_WORLD, &recv));
        CHECK_OK(MPI_Ssend(out, length_of(test_rank, tag), MPI_BYTE, right, tag, MPI_COMM_WORLD));
        CHECK_OK(MPI_Wait(&recv, MPI_STATUS_IGNORE));
    }
}

/* Collective calls with messages of the user held back, in both directions. */
static void run_collectives(void)
{
    MPI_Request *reqs = requests(MESSAGES);
    int *all = test_alloc((size_t)test_size * sizeof *all), round, i, tag, value;

    flood((test_rank + 1) % test_size, MPI_COMM_WORLD, reqs);
    for (round = 0; round < 10; round++) {
        value = test_rank == round % test_size ? round : -1;
        CHECK_OK(MPI_Bcast(&value, 1, MPI_INT, round % test_size, MPI_COMM_WORLD));
        CHECK_INT(value, round);
        value = test_rank * 10 + round;
        CHECK_OK(MPI_Allgather(&value, 1, MPI_INT, all, 1, MPI_INT, other));
        for (i = 0; i < test_size; i++)
            CHECK_INT(all[i], i * 10 + round);
        CHECK_OK(MPI_Alltoall(MPI_IN_PLACE, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD));
        for (i = 0; i < test_size; i++)
            CHECK_INT(all[i], test_rank * 10 + round);
        CHECK_OK(MPI_Gather(&value, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD));
    }
    for (tag = 0; tag < MESSAGES; tag++)
        receive((test_rank + test_size - 1) % test_size, tag, MPI_COMM_WORLD);
    wait_all(reqs, MESSAGES);
    free(all);
}

/* --- sends that are given up or let go --- */

/* All that can be cancelled is: the receiver gets the others, in order, and then a message that says so. */
static void run_cancel(void)
{
    MPI_Request *reqs;
    MPI_Status st;
    int tag, left, got, flag, src;

    if (test_rank) {
        reqs = requests(MESSAGES);
        for (tag = left = 0; tag < MESSAGES; tag++)
            CHECK_OK(MPI_Issend(out, length_of(test_rank, tag), MPI_BYTE, 0, tag, MPI_COMM_WORLD, &reqs[tag]));
        for (tag = MESSAGES - 1; tag >= 0; tag--)
            if (tag % 3)
                CHECK_OK(MPI_Cancel(&reqs[tag]));
        for (tag = 0; tag < MESSAGES; tag++) {
            CHECK_OK(MPI_Wait(&reqs[tag], &st));
            CHECK_OK(MPI_Test_cancelled(&st, &flag));
            left += !flag;
        }
        CHECK_OK(MPI_Send(&left, 1, MPI_INT, 0, 1, other));
        free(reqs);
        return;
    }
    for (src = 1; src < test_size; src++) {
        for (tag = got = 0; tag < MESSAGES; tag++) {
            if (tag % 3)
                continue;
            receive(src, tag, MPI_COMM_WORLD);
            got++;
        }
        for (flag = 0; !flag;) {
            CHECK_OK(MPI_Iprobe(src, 1, other, &flag, MPI_STATUS_IGNORE));
            CHECK_OK(MPI_Iprobe(src, MPI_ANY_TAG, MPI_COMM_WORLD, &left, &st));
            if (left) {
                receive(src, st.MPI_TAG, MPI_COMM_WORLD);
                got++;
            }
        }
        CHECK_OK(MPI_Recv(&left, 1, MPI_INT, src, 1, other, MPI_STATUS_IGNORE));
        for (; got < left; got++)
            receive(src, MPI_ANY_TAG, MPI_COMM_WORLD);
        CHECK_INT(got, left);
    }
}

/* Freed while active: MPI_Finalize serves them. */
static void run_freed(void)
{
    MPI_Request *reqs;
    int tag;

    if (!test_rank) {
        receive_reverse();
        return;
    }
    reqs = requests(MESSAGES);
    flood(0, MPI_COMM_WORLD, reqs);
    for (tag = 0; tag < MESSAGES; tag++)
        CHECK_OK(MPI_Request_free(&reqs[tag]));
    free(reqs);
}

/* Blocking sends that wait until they are received. */
static void run_blocking(void)
{
    int tag;

    if (!test_rank)
        receive_anything();
    else
        for (tag = 0; tag < MESSAGES; tag++)
            CHECK_OK(MPI_Send(out, length_of(test_rank, tag), MPI_BYTE, 0, tag, MPI_COMM_WORLD));
}

/* --- partitioned messages behind the flood: their envelopes are matched, too --- */

static void run_partitioned(void)
{
    MPI_Request *reqs = requests(test_rank ? MESSAGES : test_size), part;
    unsigned char *parts;
    int src;

    if (test_rank) {
        flood(0, MPI_COMM_WORLD, reqs);
        CHECK_OK(MPI_Psend_init(out, 2, LONG / 2, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &part));
        CHECK_OK(MPI_Start(&part));
        CHECK_OK(MPI_Pready_range(0, 1, part));
        CHECK_OK(MPI_Wait(&part, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Request_free(&part));
        wait_all(reqs, MESSAGES);
        return;
    }
    parts = test_alloc((size_t)test_size * LONG);
    for (src = 1; src < test_size; src++)
        CHECK_OK(MPI_Precv_init(parts + (size_t)src * LONG, 2, LONG / 2, MPI_BYTE, src, 3, MPI_COMM_WORLD,
                                MPI_INFO_NULL, &reqs[src]));
    for (src = test_size - 1; src > 0; src--) {
        receive(src, MESSAGES / 2, MPI_COMM_WORLD); /* by now that rank is held back */
        CHECK_OK(MPI_Start(&reqs[src]));
        CHECK_OK(MPI_Wait(&reqs[src], MPI_STATUS_IGNORE));
        CHECK_BYTES(parts + (size_t)src * LONG, LONG, test_key(0, 0, 41));
        CHECK_OK(MPI_Request_free(&reqs[src]));
    }
    for (src = 1; src < test_size; src++)
        for (int tag = MESSAGES - 1; tag >= 0; tag--)
            if (tag != MESSAGES / 2)
                receive(src, tag, MPI_COMM_WORLD);
    free(parts);
    free(reqs);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    { "reverse", run_reverse },       { "any_source", run_any_source }, { "any_tag", run_any_tag },
    { "anything", run_anything },     { "posted", run_posted },         { "iprobe", run_iprobe },
    { "probe", run_probe },           { "mprobe", run_mprobe },         { "test", run_test },
    { "other_comm", run_other_comm }, { "new_comm", run_new_comm },     { "mutual", run_mutual },
    { "self", run_self },             { "ring", run_ring },             { "collectives", run_collectives },
    { "cancel", run_cancel },         { "freed", run_freed },           { "blocking", run_blocking },
    { "middle", run_middle },         { "partitioned", run_partitioned },
};

int main(int argc, char **argv)
{
    size_t i, n = sizeof cases / sizeof *cases;

    test_begin(&argc, &argv);
    CHECK(argc == 2, "usage: flood_legal CASE");
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    CHECK_OK(MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN));
    out = test_alloc(LONG);
    in = test_alloc(LONG);
    test_fill(out, LONG, test_key(0, 0, 41));
    for (i = 0; i < n && strcmp(cases[i].name, argv[1]); i++) {
    }
    CHECK(i < n, "no case %s", argv[1]);
    cases[i].run();
    CHECK_OK(MPI_Comm_free(&other));
    free(in);
    return test_end(); /* `out` may still be sent from */
}
