/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of room p2p in a process alone, which floods itself: requests and messages beyond the pools, memory that
 * runs out for requests and for what arrives, sends that are cancelled while they are held back, and nothing left. */
#include <stdlib.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "p2p/int_p2p.h"

enum { MESSAGES = 6000, LEN = 100, CONTEXT = 10 };

static struct group group = { .size = 1, .step = 1 };
static struct comm comm = {
    .obj = { .kind = OBJ_COMM, .refs = 1 }, .size = 1, .ctx = CONTEXT, .group = &group, .remote_group = &group,
};
static unsigned char out[MESSAGES], in[LEN];
static struct req *sends[MESSAGES];
static int floods;

_Static_assert(MESSAGES > (int)P2P_REQUESTS_POOLED && MESSAGES % LEN == 0, "more than the pools hold");

static void on_flood(const struct p2p_flood *flood)
{
    CHECK(flood->proc == 0 && flood->comm == &comm && flood->len == LEN);
    floods++;
}

static struct type *byte_type(void)
{
    return obj_type(MPI_BYTE);
}

static void flood(void)
{
    struct p2p_counters c;

    for (int i = 0; i < MESSAGES; i++) {
        out[i] = (unsigned char)i;
        CHECK_INT(p2p_isend(&comm, &out[i / LEN * LEN], LEN, byte_type(), 0, i, P2P_STANDARD, &sends[i]), 0);
    }
    p2p_counters(&c);
    CHECK(c.unexpected_now < MESSAGES / 2 && c.bytes_now < 65536 / 4 * 5);
    CHECK(c.throttles == 1 && c.holds == 1 && !c.hungers);
    CHECK_INT(floods, 1);
}

/* No request to be had: said so, and nothing else changes. */
static void test_no_requests(void)
{
    struct req *req;

    mem_fail_after(0);
    CHECK_INT(err_class(p2p_isend(&comm, out, LEN, byte_type(), 0, 1, P2P_STANDARD, &req)), MPI_ERR_NO_MEM);
    CHECK_INT(err_class(p2p_irecv(&comm, in, LEN, byte_type(), 0, 1, P2P_STANDARD, &req)), MPI_ERR_NO_MEM);
    mem_fail_after(-1);
}

/* A receive of the last message lets the others come; while there is no memory for them they stay where they are. */
static void test_no_messages(void)
{
    struct p2p_counters before, after;
    struct req *req;

    CHECK_INT(p2p_irecv(&comm, in, LEN, byte_type(), 0, MESSAGES - 1, P2P_STANDARD, &req), 0);
    p2p_counters(&before);
    mem_fail_after(0);
    for (int i = 0; i < 10; i++)
        progress_poll();
    mem_fail_after(-1);
    p2p_counters(&after);
    CHECK(!req_is_done(req) && after.hungers > 0 && after.unexpected <= before.unexpected + P2P_MESSAGES_POOLED);
    progress_wait(&req->done, req->hint);
    CHECK(req->bytes == LEN && in[0] == (unsigned char)((MESSAGES - 1) / LEN * LEN));
    req->ops->release(req);
}

static void drain(void)
{
    MPI_Status status;

    for (int i = 0; i < MESSAGES - 1; i++) {
        if (sends[i]->is_cancelled)
            continue;
        CHECK_INT(p2p_recv(&comm, in, LEN, byte_type(), MPI_ANY_SOURCE, MPI_ANY_TAG, P2P_STANDARD, &status), 0);
        CHECK_INT(status.MPI_TAG, i);
        CHECK_INT(in[0], (unsigned char)(i / LEN * LEN));
    }
    for (int i = 0; i < MESSAGES; i++) {
        progress_wait(&sends[i]->done, sends[i]->hint);
        sends[i]->ops->release(sends[i]);
    }
}

/* From the queue of those that are held back: at once, and the order of the others stays. */
static void cancel_some(void)
{
    int cancelled = 0;

    for (int i = MESSAGES - 2; i > 0; i -= 5) {
        sends[i]->ops->cancel(sends[i]);
        cancelled += sends[i]->is_cancelled;
    }
    CHECK(cancelled > MESSAGES / 10);
}

int main(void)
{
    const struct p2p_config alone = { .procs = 1, .flooded = on_flood };
    struct p2p_counters c;

    setenv("PARLEY_UNEXPECTED_MAX", "64k", 1);
    progress_init(&(struct progress_config){ .local_ranks = 1 });
    type_init();
    CHECK_INT(p2p_init(&alone), 0);
    CHECK_INT(p2p_comm_open(&comm), 0);
    flood();
    test_no_requests();
    cancel_some();
    test_no_messages();
    drain();
    p2p_counters(&c);
    CHECK(!c.unexpected_now && !c.bytes_now && c.unexpected_high > P2P_MESSAGES_POOLED);
    CHECK_INT(comm.obj.refs, 1);
    p2p_flush();
    p2p_comm_close(&comm);
    p2p_fini();
    progress_fini();
    obj_fini();
    CHECK_INT(mem_live(), 0);
    return 0;
}
