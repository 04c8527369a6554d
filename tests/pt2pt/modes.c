/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.4, §3.7.2: every send mode, blocking and nonblocking, delivers any number of bytes unchanged to
 * any kind of receive; when the send is complete its buffer may be overwritten; nothing outside the received
 * part is touched. Arguments: the mode, and "c" for the large-count forms. Messages go round a ring, one link
 * at a time. */
#include "mpitest.h"

enum { GUARD = 64, TAG = 7, TAG_READY = 8, BIG = 1 << 20 };
enum receive { RECV, IRECV, IRECV_TEST, PROBE, MPROBE, IMPROBE, RECEIVES };

static const size_t sizes[] = {
    0,     1,     7,     8,     39,    40,    41,     63,     64,   65,      127,
    128,   129,   159,   160,   161,   1023,  1024,   4095,   4096, 4097,    8192,
    32767, 32768, 32769, 65535, 65536, 65537, 131072, 300001, BIG,  BIG + 1, 17 * BIG,
};

static const char *mode;
static int is_large_form;

static int is_mode(const char *name)
{
    return strcmp(mode, name) == 0;
}

static int start_small(const void *buf, int n, int dest, MPI_Request *req)
{
    *req = MPI_REQUEST_NULL;
    if (is_mode("send"))
        return MPI_Send(buf, n, MPI_BYTE, dest, TAG, MPI_COMM_WORLD);
    if (is_mode("ssend"))
        return MPI_Ssend(buf, n, MPI_BYTE, dest, TAG, MPI_COMM_WORLD);
    if (is_mode("rsend"))
        return MPI_Rsend(buf, n, MPI_BYTE, dest, TAG, MPI_COMM_WORLD);
    if (is_mode("isend"))
        return MPI_Isend(buf, n, MPI_BYTE, dest, TAG, MPI_COMM_WORLD, req);
    if (is_mode("issend"))
        return MPI_Issend(buf, n, MPI_BYTE, dest, TAG, MPI_COMM_WORLD, req);
    return MPI_Irsend(buf, n, MPI_BYTE, dest, TAG, MPI_COMM_WORLD, req);
}

#if MPI_VERSION >= 4
static int start_large(const void *buf, MPI_Count n, int dest, MPI_Request *req)
{
    *req = MPI_REQUEST_NULL;
    if (is_mode("send"))
        return MPI_Send_c(buf, n, MPI_BYTE, dest, TAG, MPI_COMM_WORLD);
    if (is_mode("ssend"))
        return MPI_Ssend_c(buf, n, MPI_BYTE, dest, TAG, MPI_COMM_WORLD);
    if (is_mode("rsend"))
        return MPI_Rsend_c(buf, n, MPI_BYTE, dest, TAG, MPI_COMM_WORLD);
    if (is_mode("isend"))
        return MPI_Isend_c(buf, n, MPI_BYTE, dest, TAG, MPI_COMM_WORLD, req);
    if (is_mode("issend"))
        return MPI_Issend_c(buf, n, MPI_BYTE, dest, TAG, MPI_COMM_WORLD, req);
    return MPI_Irsend_c(buf, n, MPI_BYTE, dest, TAG, MPI_COMM_WORLD, req);
}

static int recv_large(void *buf, size_t n, int src, MPI_Status *st)
{
    return MPI_Recv_c(buf, (MPI_Count)n, MPI_BYTE, src, TAG, MPI_COMM_WORLD, st);
}

static int irecv_large(void *buf, size_t n, int src, MPI_Request *req)
{
    return MPI_Irecv_c(buf, (MPI_Count)n, MPI_BYTE, src, TAG, MPI_COMM_WORLD, req);
}

static int mrecv_large(void *buf, size_t n, MPI_Message *msg, MPI_Status *st)
{
    return MPI_Mrecv_c(buf, (MPI_Count)n, MPI_BYTE, msg, st);
}

static int imrecv_large(void *buf, size_t n, MPI_Message *msg, MPI_Request *req)
{
    return MPI_Imrecv_c(buf, (MPI_Count)n, MPI_BYTE, msg, req);
}
#else
#define start_large  start_small
#define recv_large   recv_small
#define irecv_large  irecv_small
#define mrecv_large  mrecv_small
#define imrecv_large imrecv_small
#endif

static int recv_small(void *buf, size_t n, int src, MPI_Status *st)
{
    return MPI_Recv(buf, (int)n, MPI_BYTE, src, TAG, MPI_COMM_WORLD, st);
}

static int irecv_small(void *buf, size_t n, int src, MPI_Request *req)
{
    return MPI_Irecv(buf, (int)n, MPI_BYTE, src, TAG, MPI_COMM_WORLD, req);
}

static int mrecv_small(void *buf, size_t n, MPI_Message *msg, MPI_Status *st)
{
    return MPI_Mrecv(buf, (int)n, MPI_BYTE, msg, st);
}

static int imrecv_small(void *buf, size_t n, MPI_Message *msg, MPI_Request *req)
{
    return MPI_Imrecv(buf, (int)n, MPI_BYTE, msg, req);
}

static int is_ready_mode(void)
{
    return is_mode("rsend") || is_mode("irsend");
}

static void send_one(unsigned char *room, size_t len, size_t shift, enum receive how, int dest, uint64_t key)
{
    unsigned char *buf = room + shift;
    MPI_Request req;

    test_fill(buf, len, key);
    if (how == IRECV)
        CHECK_OK(MPI_Recv(NULL, 0, MPI_BYTE, dest, TAG_READY, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (is_large_form)
        CHECK_OK(start_large(buf, (int)len, dest, &req));
    else
        CHECK_OK(start_small(buf, (int)len, dest, &req));
    CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    memset(buf, 0xEE, len);
}

static void wait_by_test(MPI_Request *req, MPI_Status *st)
{
    int is_done = 0;

    while (!is_done)
        CHECK_OK(MPI_Test(req, &is_done, st));
}

static void receive_matched(unsigned char *buf, size_t cap, size_t len, enum receive how, int src,
                            MPI_Status *st)
{
    MPI_Message msg = MPI_MESSAGE_NULL;
    MPI_Request req = MPI_REQUEST_NULL;
    int is_there = 0;

    if (how == MPROBE) {
        CHECK_OK(MPI_Mprobe(src, TAG, MPI_COMM_WORLD, &msg, st));
        CHECK_STATUS(st, src, TAG, len);
        CHECK_OK(is_large_form ? mrecv_large(buf, cap, &msg, st) : mrecv_small(buf, cap, &msg, st));
    } else {
        while (!is_there)
            CHECK_OK(MPI_Improbe(src, TAG, MPI_COMM_WORLD, &is_there, &msg, st));
        CHECK_STATUS(st, src, TAG, len);
        CHECK_OK(is_large_form ? imrecv_large(buf, cap, &msg, &req) : imrecv_small(buf, cap, &msg, &req));
        CHECK_OK(MPI_Wait(&req, st));
    }
    CHECK(msg == MPI_MESSAGE_NULL, "the message handle is not null after the matched receive");
}

static void receive_plain(unsigned char *buf, size_t cap, size_t len, enum receive how, int src,
                          MPI_Status *st)
{
    MPI_Request req;

    if (how == RECV || how == PROBE) {
        if (how == PROBE) {
            CHECK_OK(MPI_Probe(src, TAG, MPI_COMM_WORLD, st));
            CHECK_STATUS(st, src, TAG, len);
        }
        CHECK_OK(is_large_form ? recv_large(buf, cap, src, st) : recv_small(buf, cap, src, st));
        return;
    }
    CHECK_OK(is_large_form ? irecv_large(buf, cap, src, &req) : irecv_small(buf, cap, src, &req));
    if (how == IRECV) {
        CHECK_OK(MPI_Send(NULL, 0, MPI_BYTE, src, TAG_READY, MPI_COMM_WORLD));
        CHECK_OK(MPI_Wait(&req, st));
    } else {
        wait_by_test(&req, st);
    }
    CHECK(req == MPI_REQUEST_NULL, "the request handle is not null after completion");
}

static void recv_one(unsigned char *room, size_t len, size_t shift, enum receive how, int src, uint64_t key)
{
    unsigned char *buf = room + GUARD + shift;
    const size_t cap = how % 2 ? len : len + GUARD / 2;
    MPI_Status st = test_dirty_status();

    memset(room, TEST_CANARY, len + 2 * GUARD + 16);
    if (how == MPROBE || how == IMPROBE)
        receive_matched(buf, cap, len, how, src, &st);
    else
        receive_plain(buf, cap, len, how, src, &st);
    CHECK_STATUS(&st, src, TAG, len);
    CHECK_BYTES(buf, len, key);
    CHECK_UNTOUCHED(room, GUARD + shift);
    CHECK_UNTOUCHED(buf + len, GUARD);
}

/* Neighbours send in different phases, so that blocking calls cannot wait for each other in a circle. */
static int phase_of(int rank)
{
    return test_size % 2 && rank == test_size - 1 ? 2 : rank % 2;
}

static void run_size(unsigned char *out, unsigned char *in, size_t index, enum receive how)
{
    const size_t len = sizes[index], shift = (index + how) % 8;
    const int right = (test_rank + 1) % test_size, left = (test_rank + test_size - 1) % test_size;
    int phase;

    for (phase = 0; phase < 3; phase++) {
        if (phase_of(test_rank) == phase)
            send_one(out, len, shift, how, right, test_key(test_rank, index, how));
        if (phase_of(left) == phase)
            recv_one(in, len, shift, how, left, test_key(left, index, how));
    }
}

int main(int argc, char **argv)
{
    const size_t n = sizeof sizes / sizeof sizes[0];
    const size_t most = sizes[n - 1] + 2 * GUARD + 16;
    unsigned char *out, *in;
    size_t i;
    int how;

    test_begin(&argc, &argv);
    CHECK(argc >= 2, "usage: modes send|ssend|rsend|isend|issend|irsend [c]");
    mode = argv[1];
    is_large_form = argc > 2;
#if MPI_VERSION < 4
    if (is_large_form)
        test_skip("no large-count forms before MPI 4.0");
#endif
    test_needs_ranks(2);
    out = test_alloc(most);
    in = test_alloc(most);
    for (i = 0; i < n; i++)
        for (how = 0; how < RECEIVES; how++) {
            if (is_ready_mode() && how != IRECV)
                continue;
            if (sizes[i] > BIG && !is_ready_mode() && how != (int)(i % RECEIVES))
                continue;
            run_size(out, in, i, (enum receive)how);
        }
    free(out);
    free(in);
    return test_end();
}
