/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. Payloads out of the transport's buffers, which another process has written. Some of these reads are
 * measured, so that both sides know whether lines go near or far between them (sys/pace.h). Layouts with gaps go by way
 * of a buffer of type's where lines are far; where they are near, that would cost more than it brings.
 * Knows: net, type. Does not know: protocols. */
#include "base/copy.h"
#include "p2p/int_p2p.h"
#include "sys/clock.h"

enum { SAMPLE = 4096 }; /* bytes of a measured read of a layout with gaps, which would be none to compare with */

void cell_read(struct peer *peer, void *buf, const void *payload, size_t len)
{
    const uint64_t start = pace_start(peer->pace, len);

    shared_read(buf, payload, len);
    pace_end(peer->pace, len, start);
}

static ALWAYS_INLINE void unpack(const struct p2p_req *r, const struct peer *peer, size_t at, const void *payload,
                                 size_t len)
{
    type_unpack_far(r->type, r->buf, r->count, at, payload, len, peer && peer->pace->is_far);
}

/* The middle as a run, before anything else: a row of reads that has come so far, or that ends where this begins,
 * brings lines early, and then far ones look near. */
static NOINLINE void unpack_measured(const struct p2p_req *r, struct peer *peer, size_t at, const char *payload,
                                     size_t len)
{
    const size_t n = size_min(len, SAMPLE), first = (len - n) / 2 / CACHE_LINE * CACHE_LINE;
    const uint64_t start = clock_ns();
    char stage[SAMPLE];

    shared_read(stage, payload + first, n);
    pace_end(peer->pace, n, start);
    unpack(r, peer, at, payload, first);
    type_unpack(r->type, r->buf, r->count, at + first, stage, n);
    unpack(r, peer, at + first + n, payload + first + n, len - first - n);
}

void cell_unpack(const struct p2p_req *r, struct peer *peer, size_t at, const void *payload, size_t len)
{
    if (peer && unlikely(pace_start(peer->pace, len)))
        unpack_measured(r, peer, at, payload, len);
    else
        unpack(r, peer, at, payload, len);
}
