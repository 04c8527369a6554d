/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: base. Events: what a room tells whoever listens, on slow paths only. Room tool listens when a tool has asked
 * for it (MPI 5.0 §15.3.8); it has the names and meanings of the values. */
#ifndef BASE_EVENT_H
#define BASE_EVENT_H

#include <stdatomic.h>

#include "base/base.h"

enum event_kind {
    EVENT_SENDER_RESTRAINED, /* process, bytes kept of it, 1 if it must keep even its envelopes; under a lane's lock */
    EVENT_COMM_MADE,         /* context, processes in it (of the remote group too) */
    EVENT_COMM_FREED,        /* context, processes in it */
    EVENT_KINDS
};

enum { EVENT_VALUES = 3 };

typedef void event_fn(enum event_kind kind, const int64_t values[EVENT_VALUES]);

extern event_fn *_Atomic event_listener; /* NULL: nobody listens */
/* Is this thread in a callback? Then it may hold locks of the place that tells, and must not wait for others. */
extern _Thread_local int event_depth;

static inline void event_tell(enum event_kind kind, int64_t a, int64_t b, int64_t c)
{
    event_fn *const listener = atomic_load_explicit(&event_listener, memory_order_acquire);

    if (unlikely(listener))
        listener(kind, (const int64_t[EVENT_VALUES]){ a, b, c });
}

#endif
