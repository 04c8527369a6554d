/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3: messages of lengths around every limit, sent in every mode, some of them cancelled and sent again, and
 * received in every way: posted, probed, matched, truncated, cancelled and posted again, with gaps, by persistent
 * requests, completed one by one or many at once. Nothing may be lost, doubled, out of order, or longer than its room.
 * Argument: alone, or threads, which do this at the same time and race for messages from any source. */
#include "mpithread.h"

enum {
    ROUNDS = 6,
    PER_PAIR = 8,     /* messages from each rank to each thread of each, in a round */
    TAGS = 3,         /* of each thread: two for those in order, one for those that are cancelled first */
    LAST_TAG = 2,
    COMMON_TAG = 1000, /* of all threads, from any source */
    COMMON = 3,       /* such messages from each thread to each rank */
    LONGEST = 200000,
    GUARD = 64,
    OPEN = 5,         /* receives that are posted at a time */
    BUFFER = 4 << 20,
    BUFFERED_MAX = 700,
};

static const int lengths[] = {
    0, 1, 8, 39, 40, 41, 99, 100, 101, 159, 160, 161, 512, 513, 832, 833, 4095, 4863, 4864, 4865, 8191, 8192, 32760,
    32767, 32768, 32769, 65535, 65536, 65537, 131071, 131073, LONGEST,
};

static int threads = 1;
static pthread_barrier_t together;
static _Atomic unsigned *common_seen; /* [source][thread][which] */

struct plan {
    int len, tag, mode; /* tag: below TAGS */
};

enum mode { ISEND, ISSEND, IBSEND, PERSISTENT, SEND_GAPS, FREED, MODES };

static struct plan plan_of(int src, int dst, int thread, int round, int i)
{
    uint64_t state = test_key((uint64_t)(src * 100 + dst), (uint64_t)(round * 10 + thread), (uint64_t)i);
    struct plan plan;

    plan.mode = (int)test_below(&state, MODES);
    plan.len = lengths[test_below(&state, sizeof lengths / sizeof *lengths)];
    plan.tag = i % 4 == 3 ? LAST_TAG : (int)test_below(&state, LAST_TAG);
    if (plan.mode == IBSEND && plan.len > BUFFERED_MAX)
        plan.len %= BUFFERED_MAX;
    return plan;
}

static uint64_t key_of(int src, int dst, int thread, int round, int i)
{
    return test_key((uint64_t)(src * 64 + dst), (uint64_t)(round * 16 + thread), (uint64_t)i + 1000);
}

/* --- sending --- */

struct out {
    unsigned char *buf; /* what is sent; with gaps, each byte at an even place */
    MPI_Request req;
    MPI_Datatype type;
};

static MPI_Datatype gaps_of(int len)
{
    MPI_Datatype type;

    CHECK_OK(MPI_Type_vector(len, 1, 2, MPI_BYTE, &type));
    CHECK_OK(MPI_Type_commit(&type));
    return type;
}

static void begin_send(struct out *out, const struct plan *plan, int dst, int thread, uint64_t key)
{
    const int tag = thread * TAGS + plan->tag;

    out->buf = test_alloc(2 * (size_t)plan->len + 1);
    out->type = MPI_DATATYPE_NULL;
    test_fill(out->buf, (size_t)plan->len, key);
    if (plan->mode == SEND_GAPS && plan->len) {
        for (int at = plan->len - 1; at > 0; at--)
            out->buf[2 * at] = out->buf[at];
        out->type = gaps_of(plan->len);
        CHECK_OK(MPI_Isend(out->buf, 1, out->type, dst, tag, MPI_COMM_WORLD, &out->req));
    } else if (plan->mode == ISSEND) {
        CHECK_OK(MPI_Issend(out->buf, plan->len, MPI_BYTE, dst, tag, MPI_COMM_WORLD, &out->req));
    } else if (plan->mode == IBSEND) {
        CHECK_OK(MPI_Ibsend(out->buf, plan->len, MPI_BYTE, dst, tag, MPI_COMM_WORLD, &out->req));
    } else if (plan->mode == PERSISTENT) {
        CHECK_OK(MPI_Send_init(out->buf, plan->len, MPI_BYTE, dst, tag, MPI_COMM_WORLD, &out->req));
        CHECK_OK(MPI_Start(&out->req));
    } else {
        CHECK_OK(MPI_Isend(out->buf, plan->len, MPI_BYTE, dst, tag, MPI_COMM_WORLD, &out->req));
    }
    if (plan->mode == FREED) /* its buffer goes when all have been received */
        CHECK_OK(MPI_Request_free(&out->req));
}

/* Sent, taken back if that still goes, and sent again then. */
static void send_twice(struct out *out, const struct plan *plan, int dst, int thread, uint64_t key)
{
    struct plan again = *plan;
    MPI_Status st;
    int is_cancelled;

    if (plan->mode == ISEND || plan->mode == FREED)
        again.mode = ISSEND;
    begin_send(out, &again, dst, thread, key);
    CHECK_OK(MPI_Cancel(&out->req));
    CHECK_OK(MPI_Wait(&out->req, &st));
    CHECK_OK(MPI_Test_cancelled(&st, &is_cancelled));
    if (!is_cancelled)
        return;
    if (out->req != MPI_REQUEST_NULL)
        CHECK_OK(MPI_Request_free(&out->req));
    free(out->buf);
    if (out->type != MPI_DATATYPE_NULL)
        CHECK_OK(MPI_Type_free(&out->type));
    begin_send(out, plan, dst, thread, key);
}

static void end_send(struct out *out)
{
    const int is_there = out->req != MPI_REQUEST_NULL;

    CHECK_OK(MPI_Wait(&out->req, MPI_STATUS_IGNORE));
    if (is_there && out->req != MPI_REQUEST_NULL)
        CHECK_OK(MPI_Request_free(&out->req));
    if (out->type != MPI_DATATYPE_NULL)
        CHECK_OK(MPI_Type_free(&out->type));
}

/* --- receiving --- */

struct in {
    unsigned char *buf;
    MPI_Request req;
    MPI_Datatype type;  /* with gaps, else null */
    int src, tag, len, room;
    uint64_t key;
};

static void prepare(struct in *in, int room, int has_gaps)
{
    in->room = room;
    in->buf = test_alloc(2 * (size_t)room + GUARD);
    memset(in->buf, TEST_CANARY, 2 * (size_t)room + GUARD);
    in->type = has_gaps && room ? gaps_of(room) : MPI_DATATYPE_NULL;
}

static void check_in(struct in *in, const MPI_Status *st, int rc)
{
    const int got = in->len < in->room ? in->len : in->room;
    int count;

    CHECK_INT(test_class(rc), in->len > in->room ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    CHECK_INT(st->MPI_SOURCE, in->src);
    CHECK_INT(st->MPI_TAG, in->tag);
    if (in->type != MPI_DATATYPE_NULL) {
        for (int at = 0; at < got; at++) {
            CHECK(2 * at + 1 >= 2 * in->room - 1 || in->buf[2 * at + 1] == TEST_CANARY, "gap %d was written", at);
            in->buf[at] = in->buf[2 * at];
        }
        CHECK_OK(MPI_Type_free(&in->type));
    } else {
        CHECK_UNTOUCHED(in->buf + got, (size_t)GUARD);
    }
    if (in->len <= in->room) {
        CHECK_OK(MPI_Get_count(st, MPI_BYTE, &count));
        CHECK_INT(count, in->len);
    }
    CHECK_BYTES(in->buf, (size_t)got, in->key);
    free(in->buf);
}

#define INTO(in) (in)->buf, (in)->type == MPI_DATATYPE_NULL ? (in)->room : 1, \
                 (in)->type == MPI_DATATYPE_NULL ? MPI_BYTE : (in)->type

/* Posted, and cancelled until it has been too late for that. */
static void recv_cancelling(struct in *in, uint64_t *state)
{
    int is_cancelled = 1, is_done, rc, left = (int)test_below(state, 4);
    MPI_Status st;

    while (is_cancelled) {
        CHECK_OK(MPI_Irecv(INTO(in), in->src, in->tag, MPI_COMM_WORLD, &in->req));
        for (int i = (int)test_below(state, 3); i >= 0 && left; i--)
            CHECK_OK(MPI_Iprobe(in->src, COMMON_TAG + 1, MPI_COMM_WORLD, &is_done, MPI_STATUS_IGNORE));
        if (left-- > 0)
            CHECK_OK(MPI_Cancel(&in->req));
        rc = MPI_Wait(&in->req, &st);
        CHECK_OK(MPI_Test_cancelled(&st, &is_cancelled));
    }
    check_in(in, &st, rc);
}

static void recv_matched(struct in *in, uint64_t *state)
{
    const int how = (int)test_below(state, 3);
    MPI_Message message;
    MPI_Status st;
    int rc, flag = 0;

    if (how)
        CHECK_OK(MPI_Mprobe(in->src, in->tag, MPI_COMM_WORLD, &message, &st));
    while (!how && !flag)
        CHECK_OK(MPI_Improbe(in->src, in->tag, MPI_COMM_WORLD, &flag, &message, &st));
    CHECK_OK(MPI_Get_count(&st, MPI_BYTE, &flag));
    CHECK_INT(flag, in->len);
    if (how == 1) {
        rc = MPI_Mrecv(INTO(in), &message, &st);
    } else {
        CHECK_OK(MPI_Imrecv(INTO(in), &message, &in->req));
        CHECK_OK(MPI_Cancel(&in->req)); /* it has its message */
        rc = MPI_Wait(&in->req, &st);
        CHECK_OK(MPI_Test_cancelled(&st, &flag));
        CHECK_INT(flag, 0);
    }
    CHECK(message == MPI_MESSAGE_NULL, "a message is left");
    check_in(in, &st, rc);
}

static void recv_persistent(struct in *in)
{
    MPI_Status st;
    int rc;

    CHECK_OK(MPI_Recv_init(INTO(in), in->src, in->tag, MPI_COMM_WORLD, &in->req));
    CHECK_OK(MPI_Start(&in->req));
    rc = MPI_Wait(&in->req, &st);
    CHECK_OK(MPI_Request_free(&in->req));
    check_in(in, &st, rc);
}

/* All that are posted, at once; those that are truncated say so in their statuses. */
static void finish_open(struct in *open, int *count)
{
    MPI_Request reqs[OPEN];
    MPI_Status sts[OPEN];
    int rc, is_failing = 0;

    for (int i = 0; i < *count; i++) {
        reqs[i] = open[i].req;
        is_failing |= open[i].len > open[i].room;
    }
    rc = MPI_Waitall(*count, reqs, sts);
    CHECK_INT(test_class(rc), is_failing ? MPI_ERR_IN_STATUS : MPI_SUCCESS);
    for (int i = 0; i < *count; i++)
        check_in(&open[i], &sts[i], rc ? sts[i].MPI_ERROR : MPI_SUCCESS);
    *count = 0;
}

struct receiver {
    int thread, round;
    uint64_t state;
    int *next;            /* [source][tag]: the first message not asked for */
    struct in open[OPEN];
    int open_count;
};

/* The next message with this tag; PER_PAIR: there is none any more. */
static int seek(const struct receiver *r, int src, int tag)
{
    int i = r->next[src * TAGS + tag];

    while (i < PER_PAIR && plan_of(src, test_rank, r->thread, r->round, i).tag != tag)
        i++;
    return i;
}

static void receive_one(struct receiver *r, int src, int tag, int i)
{
    const struct plan plan = plan_of(src, test_rank, r->thread, r->round, i);
    const size_t way = test_below(&r->state, 8);
    struct in in = { .src = src, .tag = r->thread * TAGS + tag, .len = plan.len,
                     .key = key_of(src, test_rank, r->thread, r->round, i) };
    const int room = test_below(&r->state, 5) ? plan.len + (int)test_below(&r->state, 3)
                                              : (int)test_below(&r->state, (size_t)plan.len + 1);
    MPI_Status st;
    int rc;

    r->next[src * TAGS + tag] = i + 1;
    prepare(&in, room, test_below(&r->state, 3) == 0);
    if (way < 3) {
        CHECK_OK(MPI_Irecv(INTO(&in), src, in.tag, MPI_COMM_WORLD, &in.req));
        r->open[r->open_count++] = in;
        if (r->open_count == OPEN)
            finish_open(r->open, &r->open_count);
    } else if (way == 3) {
        finish_open(r->open, &r->open_count); /* none before it may be open */
        recv_cancelling(&in, &r->state);
    } else if (way == 4) {
        recv_matched(&in, &r->state);
    } else if (way == 5) {
        recv_persistent(&in);
    } else {
        if (way == 6)
            CHECK_OK(MPI_Probe(src, in.tag, MPI_COMM_WORLD, &st));
        rc = MPI_Recv(INTO(&in), src, in.tag, MPI_COMM_WORLD, &st);
        check_in(&in, &st, rc);
    }
}

static void receive_all(struct receiver *r)
{
    int left = test_size * TAGS;

    memset(r->next, 0, (size_t)test_size * TAGS * sizeof *r->next);
    while (left) {
        const int at = (int)test_below(&r->state, (size_t)test_size * TAGS), src = at / TAGS, tag = at % TAGS;
        const int i = r->next[at] < 0 ? PER_PAIR : seek(r, src, tag);

        if (i < PER_PAIR) {
            receive_one(r, src, tag, i);
        } else if (r->next[at] >= 0) {
            r->next[at] = -1;
            left--;
        }
    }
    finish_open(r->open, &r->open_count);
}

/* --- from any source, to whichever thread asks --- */

static void send_common(int thread, int *values, MPI_Request *reqs)
{
    for (int k = 0; k < COMMON * test_size; k++) {
        values[k] = (test_rank * threads + thread) * COMMON + k / test_size;
        CHECK_OK(MPI_Isend(&values[k], 1, MPI_INT, k % test_size, COMMON_TAG, MPI_COMM_WORLD, &reqs[k]));
    }
}

static void receive_common(uint64_t *state)
{
    MPI_Message message;
    MPI_Status st;
    int value;

    for (int k = 0; k < COMMON * test_size; k++) {
        value = -1;
        if (test_below(state, 2)) {
            CHECK_OK(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, COMMON_TAG, MPI_COMM_WORLD, &st));
        } else {
            CHECK_OK(MPI_Mprobe(MPI_ANY_SOURCE, COMMON_TAG, MPI_COMM_WORLD, &message, &st));
            CHECK_OK(MPI_Mrecv(&value, 1, MPI_INT, &message, &st));
        }
        CHECK_INT(st.MPI_SOURCE, value / COMMON / threads);
        common_seen[value]++;
    }
}

/* --- rounds --- */

static void play(int thread, int round)
{
    const int n = test_size * PER_PAIR;
    struct receiver r = { .thread = thread, .round = round, .state = test_key((uint64_t)test_rank, (uint64_t)thread,
                                                                              (uint64_t)round + 77) };
    struct out *outs = test_alloc((size_t)n * sizeof *outs);
    int *values = test_alloc((size_t)(COMMON * test_size) * sizeof *values);
    MPI_Request *reqs = test_alloc((size_t)(COMMON * test_size) * sizeof *reqs);

    r.next = test_alloc((size_t)test_size * TAGS * sizeof *r.next);
    send_common(thread, values, reqs);
    for (int k = 0; k < n; k++) {
        const int dst = (test_rank + k) % test_size, i = k / test_size;
        const struct plan plan = plan_of(test_rank, dst, thread, round, i);
        const uint64_t key = key_of(test_rank, dst, thread, round, i);

        if (plan.tag == LAST_TAG)
            send_twice(&outs[k], &plan, dst, thread, key);
        else
            begin_send(&outs[k], &plan, dst, thread, key);
    }
    receive_all(&r);
    receive_common(&r.state);
    for (int k = 0; k < n; k++)
        end_send(&outs[k]);
    CHECK_OK(MPI_Waitall(COMMON * test_size, reqs, MPI_STATUSES_IGNORE));
    pthread_barrier_wait(&together); /* now all have been received here … */
    if (!thread)
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD)); /* … and everywhere */
    pthread_barrier_wait(&together);
    for (int k = 0; k < n; k++)
        free(outs[k].buf);
    free(outs);
    free(values);
    free(reqs);
    free(r.next);
}

static void run(int thread)
{
    for (int round = 0; round < ROUNDS; round++)
        play(thread, round);
}

int main(int argc, char **argv)
{
    void *buffer = malloc(BUFFER);
    int size, total;

    if (argc == 2 && !strcmp(argv[1], "threads")) {
        threads = 3;
        test_begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    } else {
        test_begin(&argc, &argv);
    }
    total = test_size * threads * COMMON;
    common_seen = test_alloc((size_t)total * sizeof *common_seen);
    memset(common_seen, 0, (size_t)total * sizeof *common_seen);
    CHECK_OK(MPI_Buffer_attach(buffer, BUFFER));
    CHECK(!pthread_barrier_init(&together, NULL, (unsigned)threads), "pthread_barrier_init");
    if (threads > 1)
        run_threads(threads, run);
    else
        run(0);
    for (int k = 0; k < total; k++)
        CHECK_INT(common_seen[k], ROUNDS);
    CHECK_OK(MPI_Buffer_detach(&buffer, &size));
    free(buffer);
    free(common_seen);
    return test_end();
}
