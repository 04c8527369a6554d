/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. Payloads out of the transport's buffers, which another process has written. Some of these reads are
 * measured, so that both sides know whether lines go near or far between them (sys/pace.h). Layouts with gaps go by way
 * of a buffer of type's where lines are far; where they are near, that would cost more than it brings.
 * Knows: net, type. Does not know: protocols. */
#include "base/copy.h"
#include "p2p/int_p2p.h"

enum { SAMPLE = 4096 }; /* bytes of a measured read of a layout with gaps, which would be none to compare with */

void cell_read(struct peer *peer, void *buf, const void *payload, size_t len)
{
    const uint64_t start = pace_start(peer->pace, len);

    shared_read(buf, payload, len);
    pace_end(peer->pace, len, start);
}

/* The beginning as a run; returns how much that was. */
static NOINLINE size_t unpack_sample(const struct p2p_req *r, struct pace *pace, size_t at, const void *payload,
                                     size_t len, uint64_t start)
{
    char stage[SAMPLE];
    const size_t n = size_min(len, sizeof stage);

    shared_read(stage, payload, n);
    pace_end(pace, n, start);
    type_unpack(r->type, r->buf, r->count, at, stage, n);
    return n;
}

void cell_unpack(const struct p2p_req *r, struct peer *peer, size_t at, const void *payload, size_t len)
{
    const uint64_t start = peer ? pace_start(peer->pace, len) : 0;
    const size_t done = start ? unpack_sample(r, peer->pace, at, payload, len, start) : 0;

    type_unpack_far(r->type, r->buf, r->count, at + done, (const char *)payload + done, len - done,
                    peer && peer->pace->is_far);
}
