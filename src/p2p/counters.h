/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. What happened to messages that nobody had asked for, and how deep the queues were. Kept on slow paths
 * only; whoever wants to know takes a copy. */
#ifndef P2P_COUNTERS_H
#define P2P_COUNTERS_H

#include <stdint.h>

#include "base/base.h"

struct p2p_counters {
    uint64_t unexpected;       /* messages that came before their receive */
    uint64_t unexpected_now;   /* of these, kept now; the memory they take, in bytes */
    uint64_t unexpected_high;
    uint64_t bytes_now;
    uint64_t bytes_high;
    uint64_t throttles;        /* times a sender was told to offer its messages only */
    uint64_t holds;            /* times a sender was told to keep even its offers */
    uint64_t hungers;          /* times it was let go because a receive or a probe may be waiting for what it has */
    uint64_t posted_high;      /* most receives and most messages that one context had in its queues */
    uint64_t arrivals_high;
    uint64_t walked;           /* entries of queues looked at in vain */
    uint64_t device_posted;    /* receives given to a device that matches, */
    uint64_t device_taken;     /* matched there, */
    uint64_t device_raced;     /* taken back because the software had matched them, */
    uint64_t device_spilled;   /* and kept by the software though the device might have had them */
};

/* What one communicator has in its queues now. */
struct p2p_queues {
    uint64_t posted;    /* receives */
    uint64_t arrivals;  /* messages that nobody has asked for */
};

struct comm;

/* Of its point-to-point and its collective messages together. Thread safe. Never waits in a callback of an event
 * (base/event.h): if another thread has the lane, what it says may be a moment old. */
void p2p_queues(const struct comm *comm, struct p2p_queues *out);

/* All of this process so far. With several lanes the highest values are sums of those of each, which may lie apart in
 * time, but for those of one context. From any thread between p2p_init and p2p_fini; in a callback as above. */
void p2p_counters(struct p2p_counters *out);

#endif
