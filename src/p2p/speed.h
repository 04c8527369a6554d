/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. How fast bytes come from a process by each way, as this process has seen it, and which way follows.
 * What is faster differs between machines by a factor of four, and on one machine with the place of the two
 * processes, which may change while they run; so it is measured on the messages themselves, a few of each row.
 *
 * All functions are called with the lane's lock and do not block. Times in ns. */
#ifndef P2P_SPEED_H
#define P2P_SPEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

enum {
    SPEED_TIMED_MIN = 8192,     /* shorter copies are not worth two looks at the clock */
    SPEED_TOGETHER = 49152,     /* from here on both processes copy */
    SPEED_CLASSES = 3,          /* lengths from SPEED_TIMED_MIN on, doubling, to SPEED_TOGETHER */
    SPEED_BLOCK_MIN = 1024,     /* shorter blocks are packed: the system copies them one by one */
    SPEED_BLOCK_CLASSES = 4,    /* lengths of blocks from there on, doubling */
};

/* Of long messages with gaps whose blocks have about the same length. */
struct speed_gaps {
    float listed;               /* copied block by block by the system, both sides at work */
    float packed;               /* packed and in pieces through shared memory */
    uint32_t offers;            /* messages that could have gone either way */
};

/* Of one peer, in ns per byte; 0: not seen yet. */
struct speed {
    float eager[SPEED_CLASSES]; /* reading what the peer has just written to shared memory */
    float alone[SPEED_CLASSES]; /* a copy by the system, by this process alone */
    float part;                 /* the same of a long part, while the peer copies another */
    float stream;               /* a long message in pieces through shared memory, both sides at work */
    uint32_t seen;              /* messages that could have been eager or offered */
    uint32_t offers;            /* long messages that could have been copied or streamed */
    uint32_t limit;             /* what is asked of the peer: offer what is longer than this; 0: nothing is asked */
    struct speed_gaps gaps[SPEED_BLOCK_CLASSES];
};

/* When a copy begins: the time if this one is to be measured, else 0. */
uint64_t speed_start(const struct speed *speed);

/* A copy of `len` bytes (shorter ones than SPEED_TIMED_MIN do not count) is over that began at `start`; 0: it was not
 * measured. The first is of an eager message out of shared memory, the second of one through the system by this process
 * alone. Both may change `limit`. The third is of a part that was copied while the peer copied others. */
void speed_eager(struct speed *speed, size_t len, uint64_t start, uint32_t eager_max);
void speed_alone(struct speed *speed, size_t len, uint64_t start, uint32_t eager_max);
void speed_part(struct speed *speed, size_t len, uint64_t start);
/* A stream of `len` bytes was asked for at `start` and is in. */
void speed_stream(struct speed *speed, size_t len, uint64_t start);

/* Is a message of `len` bytes, which the system could copy, faster in pieces through shared memory? */
bool speed_prefers_stream(struct speed *speed, size_t len);

/* Is a message with gaps, of blocks of about this length (not less than SPEED_BLOCK_MIN), faster packed? Counts. */
bool speed_prefers_packing(struct speed *speed, size_t block);
/* Such a message of `len` bytes that was begun at `start` is in, packed or copied block by block. */
void speed_gaps(struct speed *speed, size_t block, size_t len, uint64_t start, bool is_packed);

/* What the model says, in ns, 0 if it cannot say: copying by the system (alone or together), and by stream. */
float speed_copy_cost(const struct speed *speed, size_t len);
float speed_stream_cost(const struct speed *speed, size_t len);

#endif
