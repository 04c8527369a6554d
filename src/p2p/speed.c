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
    STREAM_MARGIN = 20,   /* per cent by which a stream must be faster: it needs the sender's attention … */
    PACK_MARGIN = 0,      /* … as copying blocks does */
    LONG_TRIAL = 16,      /* long messages of a trial, of which … */
    LONG_COLD = 8,        /* … so many bring memory into the cache, or touch it for the first time */
    LONG_TRIAL_MAX = 1024, /* … if nothing could be measured */
    LONG_ROW = 64,        /* after so many the way may change while some are on their way */
    LONG_PART = 256,      /* of a row without an end, for in shorter ones it matters that several come in at once */
    LONG_PARTS = 2,       /* that must have been measured in a trial … */
    LONG_ENOUGH = 32,     /* … or one of so many messages, in which the cold ones count little … */
    LONG_WEIGHT = 4,      /* … and which tells as much as several */
    LONG_APART = 4,       /* the second trial comes after so many times as many messages as the first one had … */
    LONG_APART_MAX = 32,  /* … which doubles up to here: what comes first is disturbed most */
    EAGER_SURE = 3,       /* slow ones in a row to believe it: most slow ones were disturbed */
    EAGER_BARRED = 32,    /* trials */
    LONG_HOPELESS = 16,   /* and this many times further if the other way takes three times as long */
};

/* Quick to believe that something is fast, slow to believe the contrary: most slow copies were disturbed. */
static void learn_ns(float *value, size_t len, uint64_t ns)
{
    const float sample = (float)ns / (float)len;

    if (!*value)
        *value = sample;
    else if (sample < *value)
        *value += (sample - *value) / 2;
    else
        *value += ((sample > 2 * *value ? 2 * *value : sample) - *value) / 8;
}

static void learn(float *value, size_t len, uint64_t start)
{
    learn_ns(value, len, clock_ns() - start);
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

static bool is_faster(const struct speed_long *known, unsigned margin)
{
    return known->together && known->stream && known->stream * (float)(100 + margin) / 100 < known->together;
}

bool speed_is_streamed(const struct speed_long *known)
{
    return is_faster(known, STREAM_MARGIN);
}

bool speed_is_packed(const struct speed_long *known)
{
    return is_faster(known, PACK_MARGIN);
}

/* The way of the trial that is over was much slower: the next one is long in coming. */
static bool is_hopeless(const struct speed_long *known)
{
    const float tried = known->is_stream ? known->stream : known->together;
    const float other = known->is_stream ? known->together : known->stream;

    return tried > 3 * other;
}

/* Long enough, and something was measured, if there is ever anything to be measured. */
static bool is_trial_over(const struct speed_long *known)
{
    return known->offers >= (known->parts >= LONG_PARTS ? LONG_TRIAL : LONG_TRIAL_MAX);
}

static void begin_trial(struct speed_long *known)
{
    known->is_stream = !known->is_stream;
    known->is_trial = true;
    known->offers = 0;
    known->parts = 0;
}

static void end_trial(struct speed_long *known, unsigned margin)
{
    known->apart = known->apart ? (uint32_t)size_min(2 * known->apart, LONG_APART_MAX) : LONG_APART;
    known->wait = known->apart * known->offers;
    if (known->apart == LONG_APART_MAX && is_hopeless(known))
        known->wait *= LONG_HOPELESS;
    known->is_trial = false;
    known->offers = 0;
    known->barred -= known->barred > 0;
    known->is_stream = is_faster(known, margin);
}

/* The first messages are for the way by the system, then the other one is tried, and so is the one not chosen from time
 * to time from there on. */
static void choose(struct speed_long *known, unsigned margin)
{
    const bool was_stream = known->is_stream;

    if (known->is_trial && is_trial_over(known))
        end_trial(known, margin);
    else if (!known->is_trial && (known->apart ? known->offers >= known->wait : is_trial_over(known)))
        begin_trial(known);
    else if (!known->is_trial)
        known->is_stream = is_faster(known, margin);
    if (known->is_stream == was_stream && (known->offers || known->apart))
        return;
    known->row = 0;
    known->since = 0;
    known->skip = known->moving + LONG_COLD; /* those that go the other way have to come in, too */
}

/* What is new, or to be compared, is measured always, the rest sometimes. */
static void begin_part(struct speed_long *known)
{
    const bool is_measured = known->is_trial || !known->apart || is_sample(known->offers);

    known->came = 0;
    known->bytes = 0;
    known->is_cold = known->skip > 0;
    known->since = is_measured ? clock_ns() : 0;
}

static bool begin(struct speed_long *known, unsigned margin)
{
    const bool is_first = !known->moving;

    if (is_first)
        known->row = 0;
    if (is_first || known->row >= LONG_ROW)
        choose(known, margin);
    if (is_first)
        begin_part(known);
    known->offers++;
    known->row++;
    known->moving++;
    return known->is_stream;
}

static void end(struct speed_long *known, size_t len)
{
    bool is_mean;

    if (unlikely(!known->moving))
        return; /* all was forgotten after it had begun */
    known->moving--;
    known->skip -= known->skip > 0;
    known->bytes += len;
    if (++known->came < LONG_PART && known->moving)
        return;
    is_mean = known->came >= LONG_ENOUGH;
    if (known->since && (is_mean || !known->is_cold)) {
        const uint64_t ns = clock_ns() - known->since;
        for (int i = 0; i < (is_mean ? LONG_WEIGHT : 1); i++)
            learn_ns(known->is_stream ? &known->stream : &known->together, known->bytes, ns);
        known->parts += is_mean ? LONG_PARTS : 1;
    }
    known->since = 0;
    if (known->moving && known->row >= LONG_PART && !known->skip)
        begin_part(known);
}

bool speed_long_begin(struct speed *speed, size_t len)
{
    return begin(&speed->longs[long_class(len)], STREAM_MARGIN);
}

void speed_long_end(struct speed *speed, size_t len)
{
    end(&speed->longs[long_class(len)], len);
}

bool speed_long_eager(struct speed *speed, size_t len)
{
    struct speed_long *const known = &speed->longs[long_class(len)];

    return known->apart && !known->is_trial && ++known->offers >= known->wait;
}

/* Who offers makes the receiver wait less: the sender has time to get its buffer ready. So that pieces are fast says
 * little of how fast they would be without an offer. The first quarter had been written when the receiver saw it. */
bool speed_eager_is_slow(struct speed *speed, size_t len, uint64_t ns)
{
    struct speed_long *const known = &speed->longs[long_class(len)];

    if (!known->together || (float)ns * 4 / 3 < known->together * (float)len)
        known->slow_eager = 0;
    else if (++known->slow_eager == EAGER_SURE) {
        known->slow_eager = 0;
        known->barred = EAGER_BARRED;
        return true;
    }
    return false;
}

bool speed_eager_is_barred(const struct speed *speed, size_t len)
{
    return speed->longs[long_class(len)].barred;
}

/* --- with gaps --- */

static int block_class(size_t block)
{
    int class = 0;

    while (class < SPEED_BLOCK_CLASSES - 1 && block >= (size_t)SPEED_BLOCK_MIN << (class + 1))
        class++;
    return class;
}

const struct speed_long *speed_of_gaps(const struct speed *speed, size_t block)
{
    return &speed->gaps[block_class(block)];
}

bool speed_gaps_begin(struct speed *speed, size_t block)
{
    return begin(&speed->gaps[block_class(block)], PACK_MARGIN);
}

void speed_gaps_end(struct speed *speed, size_t block, size_t len)
{
    end(&speed->gaps[block_class(block)], len);
}
