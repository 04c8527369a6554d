/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/chaos. A transport that wraps another one (config.inner) and makes life hard: it refuses sends, buffers
 * and records at random, and holds arrivals back, mixing those of different processes. What it does is legal:
 * records of a pair stay in order and none is lost. For tests. */
#ifndef NET_CHAOS_CHAOS_H
#define NET_CHAOS_CHAOS_H

#include "net/net.h"

/* The tables differ in what they say of the transport they wrap: sizes, and whether it stays in the process. */
extern const struct net_ops chaos_self_ops, chaos_shm_ops;

#endif
