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
    SPEED_LONG_MIN = 65536,     /* longest length of the first class of long messages … */
    SPEED_LONGER_MIN = SPEED_LONG_MIN / 2, /* speed_long_eager is for longer ones */
    SPEED_LONG_CLASSES = 6,     /* … whose lengths double; the last one has no end */
    SPEED_BLOCK_MIN = 1024,     /* shorter blocks are packed: the system copies them one by one */
    SPEED_BLOCK_CLASSES = 4,    /* lengths of blocks from there on, doubling */
};

/* Of long messages that are one run, of a class of lengths; or with gaps, of a class of lengths of blocks. Several may
 * be on their way at once, and each then waits for those before it; so what is measured is a row of them: bytes that
 * came in between two moments. In a row all go the same way, which changes when nothing is on its way, or after so many
 * that there seems to be no such moment. */
struct speed_long {
    float together;             /* copied by the system, by both processes, or by this one alone; block by block */
    float stream;               /* in pieces through shared memory, both sides at work, packed if there are gaps */
    bool is_stream;             /* they go so now … */
    bool is_trial;              /* … to find out */
    bool is_cold;               /* the part that is measured began with cold memory */
    uint32_t offers;            /* messages since the last trial began or ended */
    uint32_t wait;              /* so many until the next one … */
    uint32_t apart;             /* … which is so many times as many as the last one had; 0: there was none */
    uint8_t slow_eager;         /* of those that came without an offer and were measured, the last so many were slow */
    uint8_t barred;             /* trials until they are to come so again; 0: they may */
    uint32_t moving;            /* begun and not in yet */
    uint32_t row;               /* begun since nothing was on its way or the way was changed */
    uint32_t skip;              /* so many are to come in before memory is warm */
    uint32_t parts;             /* of rows that were measured in this trial */
    uint32_t came;              /* messages of such a part that are in … */
    uint64_t bytes, since;      /* … their bytes, and since when; 0: it is not measured */
};

/* Of one peer, in ns per byte; 0: not seen yet. */
struct speed {
    float eager[SPEED_CLASSES]; /* reading what the peer has just written to shared memory */
    float alone[SPEED_CLASSES]; /* a copy by the system, by this process alone */
    uint32_t seen;              /* messages that could have been eager or offered */
    uint32_t limit;             /* what is asked of the peer: offer what is longer than this; 0: nothing is asked */
    uint32_t longer;            /* eager is best up to here, beyond what is usual; 0: it is not */
    struct speed_long longs[SPEED_LONG_CLASSES];
    struct speed_long gaps[SPEED_BLOCK_CLASSES];
};

/* When a copy begins: the time if this one is to be measured, else 0. */
uint64_t speed_start(const struct speed *speed);

/* A copy of `len` bytes (shorter ones than SPEED_TIMED_MIN do not count) is over that began at `start`; 0: it was not
 * measured. The first is of an eager message out of shared memory, the second of one through the system by this process
 * alone. Both may change `limit`. `usual`: the longest that is eager if nothing is known. */
void speed_eager(struct speed *speed, size_t len, uint64_t start, uint32_t usual);
void speed_alone(struct speed *speed, size_t len, uint64_t start, uint32_t usual);
/* One that might have been eager was offered and comes in pieces, which tells nothing of either way: so that the next
 * trial comes all the same. */
void speed_streamed(struct speed *speed, size_t len, uint32_t usual);

/* Messages of up to `longer` bytes, more than the usual ones, are best eager, too; 0: they are not. May change `limit`,
 * and ends a trial, which only shorter messages would end. */
void speed_longer(struct speed *speed, uint32_t longer, uint32_t usual);

/* An offered message of `len` bytes, which the system could copy, begins to move: does it go in pieces through shared
 * memory, which has been faster or is to be tried? Counts; speed_long_end follows, or it does not matter that it is
 * missing. */
bool speed_long_begin(struct speed *speed, size_t len);
/* It is in. */
void speed_long_end(struct speed *speed, size_t len);

/* One came without an offer, since pieces are faster: is the next trial due, for which some have to be offered? */
bool speed_long_eager(struct speed *speed, size_t len);
/* It was read while it was written, in `ns` from its first quarter on. True: this way takes longer than a copy by the
 * system, whatever pieces of those that were offered have told, and nobody shall ask for it for a while. */
bool speed_eager_is_slow(struct speed *speed, size_t len, uint64_t ns);
/* May messages as long as this one be asked for without an offer? */
bool speed_eager_is_barred(const struct speed *speed, size_t len);

/* The same of a message with gaps, of blocks of about this length (not less than SPEED_BLOCK_MIN), which the system
 * could copy block by block: is it packed? Both calls for a message name the same length of blocks. */
bool speed_gaps_begin(struct speed *speed, size_t block);
void speed_gaps_end(struct speed *speed, size_t block, size_t len);

/* What is known of messages as long as this one. */
const struct speed_long *speed_of_long(const struct speed *speed, size_t len);
/* Do they go in pieces? */
bool speed_is_streamed(const struct speed_long *known);

/* The same of messages with gaps, of such blocks. */
const struct speed_long *speed_of_gaps(const struct speed *speed, size_t block);
bool speed_is_packed(const struct speed_long *known);

#endif
