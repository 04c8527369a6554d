/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. The model behind the choice of a protocol by size: a few numbers for each peer, learned from its
 * messages.
 * Knows: base, sys (clock). Does not know: requests, transports. */
#include "p2p/speed.h"

#include "sys/clock.h"

enum {
    TRIAL_EVERY = 512,    /* messages between trials of the way not chosen … */
    TRIAL = 8,            /* … and how many of them are asked for; so the first ones are a trial */
    OFFER_NS = 150,       /* what an offer costs more than an eager message, besides the copy */
    STREAM_MARGIN = 20,   /* per cent by which a stream must be faster: it needs the sender's attention */
    STREAM_TRIAL = 16,    /* long messages of a trial, of which … */
    STREAM_COLD = 8,      /* … so many bring memory into the cache, or touch it for the first time */
};

/* Quick to believe that something is fast, slow to believe the contrary: most slow copies were disturbed. */
static void learn(float *value, size_t len, uint64_t start)
{
    const float sample = (float)(clock_ns() - start) / (float)len;

    if (!*value)
        *value = sample;
    else if (sample < *value)
        *value += (sample - *value) / 2;
    else
        *value += ((sample > 2 * *value ? 2 * *value : sample) - *value) / 8;
}

static bool is_trial(const struct speed *speed)
{
    return speed->seen % TRIAL_EVERY < TRIAL;
}

/* One in eight, in no pattern that a program's own could fall in step with. */
static bool is_sample(uint32_t number)
{
    return number * UINT32_C(2654435761) >> 29 == 0;
}

uint64_t speed_start(const struct speed *speed)
{
    return is_trial(speed) || is_sample(speed->seen) ? clock_ns() : 0;
}

/* Longest length of a class; a class begins behind the one before. */
static size_t class_end(int class)
{
    return (size_t)SPEED_TIMED_MIN << (class + 1);
}

static int class_of(size_t len)
{
    int class = 0;

    while (class < SPEED_CLASSES - 1 && len > class_end(class))
        class++;
    return class;
}

/* Eager, a message is copied twice. The sender's copy takes about as long as ours, but for the shortest class, whose
 * buffer it gets ready while it waits: a quarter. */
static bool is_better_offered(const struct speed *speed, int class)
{
    const float len = (float)class_end(class), copies = class ? 2 : 1.25F;

    return speed->alone[class] * len + OFFER_NS < copies * speed->eager[class] * len;
}

static bool is_seen(const struct speed *speed, int class)
{
    return speed->eager[class] && speed->alone[class];
}

static uint32_t best_limit(const struct speed *speed, uint32_t usual)
{
    uint32_t limit = usual;

    for (int class = class_of(usual); class >= 0; class--) {
        if (!is_seen(speed, class))
            continue;
        if (!is_better_offered(speed, class))
            break;
        limit = (uint32_t)class_end(class) / 2;
    }
    return limit;
}

static void set_limit(struct speed *speed, uint32_t usual)
{
    speed->limit = best_limit(speed, usual);
    if (speed->limit == usual && speed->longer)
        speed->limit = speed->longer;
}

/* In a trial the other way is asked for, so that both are known as they are now. */
static void count(struct speed *speed, uint32_t usual)
{
    speed->seen++;
    set_limit(speed, usual);
    if (is_trial(speed))
        speed->limit = speed->limit < usual ? usual : SPEED_TIMED_MIN;
}

void speed_longer(struct speed *speed, uint32_t longer, uint32_t usual)
{
    speed->longer = longer;
    set_limit(speed, usual);
}

void speed_eager(struct speed *speed, size_t len, uint64_t start, uint32_t usual)
{
    if (len > usual)
        return; /* no trial of shorter ones tells anything of it */
    if (start)
        learn(&speed->eager[class_of(len)], len, start);
    count(speed, usual);
}

void speed_alone(struct speed *speed, size_t len, uint64_t start, uint32_t usual)
{
    if (len < SPEED_TIMED_MIN)
        return; /* offered for another reason */
    if (start)
        learn(&speed->alone[class_of(len)], len, start);
    count(speed, usual);
}

void speed_streamed(struct speed *speed, size_t len, uint32_t usual)
{
    if (len >= SPEED_TIMED_MIN && len <= usual)
        count(speed, usual);
}

/* --- long ones --- */

static int long_class(size_t len)
{
    int class = 0;

    while (class < SPEED_LONG_CLASSES - 1 && len > (size_t)SPEED_LONG_MIN << class)
        class++;
    return class;
}

const struct speed_long *speed_of_long(const struct speed *speed, size_t len)
{
    return &speed->longs[long_class(len)];
}

bool speed_is_streamed(const struct speed_long *known)
{
    return known->together && known->stream && known->stream * (100 + STREAM_MARGIN) / 100 < known->together;
}

/* The first row is the way by the system, the second one a trial, and so is one in each 512 messages from there on,
 * unless it has turned out to be hopeless. */
static bool is_long_trial(const struct speed_long *known)
{
    const bool is_hopeless = known->together && known->stream > 3 * known->together;

    return known->offers % TRIAL_EVERY / STREAM_TRIAL == 1 && (!is_hopeless || known->offers < 4 * TRIAL_EVERY);
}

bool speed_prefers_stream(struct speed *speed, size_t len)
{
    struct speed_long *const known = &speed->longs[long_class(len)];

    known->offers++;
    return is_long_trial(known) ? !speed_is_streamed(known) : speed_is_streamed(known);
}

uint64_t speed_long_start(const struct speed *speed, size_t len)
{
    const struct speed_long *const known = speed_of_long(speed, len);
    const bool is_known = known->together && (known->stream || known->offers / STREAM_TRIAL > 1);

    if (is_long_trial(known) || !is_known)
        return known->offers % STREAM_TRIAL >= STREAM_COLD ? clock_ns() : 0;
    return is_sample(known->offers) ? clock_ns() : 0;
}

void speed_long(struct speed *speed, size_t len, uint64_t start, bool is_stream)
{
    struct speed_long *const known = &speed->longs[long_class(len)];

    learn(is_stream ? &known->stream : &known->together, len, start);
}

/* --- with gaps --- */

static struct speed_gaps *gaps_of(struct speed *speed, size_t block)
{
    int class = 0;

    while (class < SPEED_BLOCK_CLASSES - 1 && block >= (size_t)SPEED_BLOCK_MIN << (class + 1))
        class++;
    return &speed->gaps[class];
}

bool speed_prefers_packing(struct speed *speed, size_t block)
{
    struct speed_gaps *const gaps = gaps_of(speed, block);
    const bool is_trial = gaps->offers++ % TRIAL_EVERY / TRIAL == 1;
    const bool is_faster = gaps->packed && gaps->packed < gaps->listed;

    return is_trial ? !is_faster : is_faster;
}

void speed_gaps(struct speed *speed, size_t block, size_t len, uint64_t start, bool is_packed)
{
    struct speed_gaps *const gaps = gaps_of(speed, block);

    learn(is_packed ? &gaps->packed : &gaps->listed, len, start);
}
