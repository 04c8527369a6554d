/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net. What the tests of transports between machines share: a segment, and ends that only count. */
#ifndef NET_NET_ENDS_H
#define NET_NET_ENDS_H

#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "net/net_suite.h"
#include "sys/job.h"
#include "sys/ready.h"

enum { PATIENCE_MS = 20000 };

static int segment_fd;

static inline struct job_head *segment_create(int procs)
{
    const size_t size = job_transport_offset(procs);
    struct job_head *head;

    segment_fd = memfd_create("net_test", MFD_CLOEXEC);
    CHECK(segment_fd >= 0 && !ftruncate(segment_fd, (off_t)size));
    head = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, segment_fd, 0);
    CHECK(head != MAP_FAILED);
    head->slots = (uint32_t)procs;
    head->token[0] = 12345;
    head->token[1] = 67890;
    return head;
}

static inline void segment_destroy(struct job_head *segment)
{
    munmap(segment, job_transport_offset((int)segment->slots));
    close(segment_fd);
}

static inline struct net_config config_of(struct job_head *segment, int proc, int lane)
{
    return (struct net_config){
        .proc = proc, .procs = (int)segment->slots, .lane = lane, .segment = segment, .segment_fd = segment_fd,
    };
}

/* --- ends that only count --- */

struct end {
    const struct net_ops *ops;
    struct net *net;
    struct net_ep *ep;
    int got;                    /* records */
    uint64_t sum;               /* of their first words */
    int lost, lost_rc;          /* process */
    bool is_landing;
    uint32_t room;              /* for what has to be kept */
    unsigned char *landed;      /* where long payloads are wanted */
};

static int end_arrive(void *arg, int proc, struct net_head head, const void *payload, uint32_t len)
{
    struct end *end = arg;

    (void)proc;
    end->got++;
    end->sum += head.word[0];
    if (end->landed && end->is_landing)
        CHECK(payload == end->landed);
    end->is_landing = false;
    if (end->landed && payload != end->landed)
        memcpy(end->landed, payload, len);
    return 0;
}

static void *end_land(void *arg, int proc, struct net_head head, uint32_t len)
{
    struct end *end = arg;

    (void)proc, (void)head, (void)len;
    end->is_landing = true;
    return end->landed;
}

static void end_lose(void *arg, int proc, int rc)
{
    struct end *end = arg;
    char text[400] = "";

    if (end->lost != -1)
        err_text(rc, text, sizeof text);
    CHECK_TEXT(text, ""); /* told once */
    end->lost = proc;
    end->lost_rc = rc;
}

static uint32_t end_room(void *arg, int proc)
{
    (void)proc;
    return ((const struct end *)arg)->room;
}

static inline void end_open_by(struct end *end, const struct net_ops *ops, struct net_config config, int other)
{
    *end = (struct end){ .ops = ops, .lost = -1, .room = 1 << 20 };
    config.sink = (struct net_sink){ .arrive = end_arrive, .arg = end, .land = end_land, .lost = end_lose,
                                     .room = end_room };
    CHECK_INT(ops->open(&config, &end->net), 0);
    CHECK_INT(ops->connect(end->net, other, &end->ep), 0);
}

/* Poll both (`b` may be NULL) until `*word` is `value`, with time for others. */
static inline void poll_until(struct end *a, struct end *b, const int *word, int value)
{
    for (int i = 0; *(const volatile int *)word != value; i++) {
        CHECK(i < PATIENCE_MS);
        for (int n = 0; n < 3; n++) {
            a->ops->poll(a->net);
            if (b)
                b->ops->poll(b->net);
        }
        ready_wait(a->ops->wait_fd(a->net), 1);
    }
}

/* The first record of a pair: nothing is taken before there is a connection. `b` may be NULL. */
static inline void send_first(struct end *a, struct end *b, uint64_t word)
{
    for (int i = 0; a->ops->send(a->ep, (struct net_head){ { word, 0 } }, "", 0); i++) {
        CHECK(i < PATIENCE_MS);
        a->ops->poll(a->net);
        if (b)
            b->ops->poll(b->net);
        ready_wait(a->ops->wait_fd(a->net), 1);
    }
}

/* What is told of process 1, as the sink of process 0 has it. */
static inline void check_lost(const struct end *end, int id)
{
    CHECK_INT(end->lost, 1);
    CHECK_INT(err_id(end->lost_rc), id);
}

#endif
