/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. What debuggers find by name in this library; both are exported. */
#ifndef P2P_INT_DEBUG_H
#define P2P_INT_DEBUG_H

#include "sys/debug.h"

struct lane;
struct outgoing;
struct p2p_config;
struct peer;

/* Where a debugger begins to read; its address is in the layout. */
struct debug_roots {
    struct lane *_Atomic *lanes; /* NET_LANES of them, NULL: not open */
    const struct p2p_config *config;
    int (*const *pushes)(struct outgoing *out, struct peer *peer); /* of sends, ended by NULL */
};

extern const struct debug_roots lane_debug_roots;

#define FOR_DEBUGGERS __attribute__((visibility("default")))

extern const struct debug_layout parley_debug_layout FOR_DEBUGGERS;
/* By the message-queue interface of debuggers: the library to load. */
extern const char MPIR_dll_name[] FOR_DEBUGGERS;

#endif
