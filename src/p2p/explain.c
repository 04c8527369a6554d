/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. The choice of a protocol by size, told to people. It reads what send.c and rndv.c decide by: the sizes of
 * the transport, the limit asked of the sender, the model of speeds.
 * Knows: net, speed. Changes nothing. */
#include "p2p/explain.h"

#include <stdarg.h>
#include <stdio.h>

#include "p2p/int_p2p.h"

struct text {
    char *at;
    size_t size, len;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...)
{
    const size_t used = size_min(text->len, text->size);
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(text->at + used, text->size - used, format, args);
    va_end(args);
    text->len += n > 0 ? (size_t)n : 0;
}

static void add_range(struct text *text, size_t first, size_t last)
{
    char range[48];

    if (last)
        snprintf(range, sizeof range, "%zu to %zu", first, last);
    else
        snprintf(range, sizeof range, "%zu and more", first);
    add(text, "\n%18s  ", range);
}

/* "0.041 ns a byte", or nothing. */
static void add_speed(struct text *text, const char *before, float value)
{
    if (value > 0)
        add(text, "%s%.3f ns a byte", before, (double)value);
}

/* How fast long messages are, as far as it is known. */
static void add_ways(struct text *text, const struct speed_long *known)
{
    add_speed(text, ": by the system ", known->together);
    add_speed(text, known->together > 0 ? ", in pieces " : ": in pieces ", known->stream);
}

static void add_eager(struct text *text, const struct peer *peer, size_t limit)
{
    const struct speed *speed = &peer->speed;

    add_range(text, 0, peer->ops->short_max);
    add(text, "at once, copied into the transport's own lines");
    add_range(text, peer->ops->short_max + 1, limit);
    add(text, "at once, in a cell of the sender, copied in and out");
    add_speed(text, "; reading takes ", speed->eager[0]);
    add(text, peer->pace->is_far ? "; lines are far" : "");
    if (limit < peer->ops->eager_max)
        add(text, "; longer ones are faster by one copy");
    if (limit > peer->ops->eager_max)
        add_ways(text, speed_of_long(speed, limit));
}

/* Messages whose bytes do not lie in one run, by the length of their blocks; those that were seen. */
static void add_gaps(struct text *text, const struct speed *speed)
{
    for (int class = 0; class < SPEED_BLOCK_CLASSES; class++) {
        const struct speed_long *gaps = &speed->gaps[class];
        if (!gaps->offers && !gaps->apart)
            continue;
        add(text, "\n%18s  with gaps, blocks of %d bytes and more: %s", "", SPEED_BLOCK_MIN << class,
            speed_is_packed(gaps) ? "packed, in pieces through cells" : "both copy, block by block");
        add_speed(text, "; block by block takes ", gaps->together);
        add_speed(text, ", packed ", gaps->stream);
    }
}

static void add_long(struct text *text, const struct speed_long *known, bool is_alone)
{
    if (speed_is_streamed(known))
        add(text, "offered; in pieces through cells");
    else if (is_alone)
        add(text, "offered; the receiver copies, alone");
    else
        add(text, "offered; both copy, the halves of what is left");
    add_ways(text, known);
}

/* From `first` bytes on, when the system lets the two processes copy. */
static void add_copies(struct text *text, struct peer *peer, size_t first)
{
    const struct speed *speed = &peer->speed;
    size_t end = SPEED_LONG_MIN;

    if (first < SPEED_TOGETHER) {
        add_range(text, first, SPEED_TOGETHER - 1);
        add_long(text, speed_of_long(speed, first), true);
        first = SPEED_TOGETHER;
    }
    for (; end <= SPEED_LONG_MIN << (SPEED_LONG_CLASSES - 1); first = size_max(first, end + 1), end *= 2) {
        const bool is_last = end == SPEED_LONG_MIN << (SPEED_LONG_CLASSES - 1);

        if (first > end)
            continue;
        add_range(text, first, is_last ? 0 : end);
        add_long(text, speed_of_long(speed, first), false);
    }
    add_gaps(text, speed);
}

/* On another machine. */
static void add_far(struct text *text, const struct peer *peer)
{
    add_range(text, 0, peer->ops->eager_max);
    add(text, "at once, over the network (%s)", peer->ops->name);
    add_range(text, peer->ops->eager_max + 1, 0);
    add(text, "offered; in pieces over the network, from buffer to buffer where both are one run");
}

size_t p2p_explain(int proc, char *text, size_t size)
{
    struct text out = { text, size, 0 };
    struct peer *peer = NULL;
    struct lane *lane;
    size_t limit;
    int number = 0;

    while (!peer && (lane = lane_next(&number)))
        peer = atomic_load_explicit(&lane->peers[proc], memory_order_acquire);
    if (!peer)
        return 0;
    if (peer->ops->send_from) {
        add_far(&out, peer);
        return out.len;
    }
    limit = peer->speed.limit ? peer->speed.limit : peer->ops->eager_max;
    add_eager(&out, peer, limit);
    if (peer->ops->is_same_space) {
        add_range(&out, limit + 1, 0);
        add(&out, "offered; copied at once from the sender's buffer, in the same process");
    } else if (peer->ops->can_copy(peer->ep)) {
        add_copies(&out, peer, limit + 1);
    } else {
        add_range(&out, limit + 1, 0);
        add(&out, "offered; in pieces through cells: copying between the processes is refused or switched off");
    }
    return out.len;
}
