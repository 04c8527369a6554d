/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/chaos. A transport that wraps another one (config.inner) and makes life hard: it refuses sends, buffers
 * and records at random, and holds arrivals back, mixing those of different processes. What it does is legal:
 * records of a pair stay in order and none is lost. For tests. */
#ifndef NET_CHAOS_CHAOS_H
#define NET_CHAOS_CHAOS_H

#include "net/net.h"

/* To open one by. An open net has a table of its own, with the sizes of the transport that it wraps (net.ops). */
extern const struct net_ops chaos_ops;

#endif
