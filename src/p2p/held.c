/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. The bound on memory for messages that nobody has asked for yet.
 *
 * What is kept is counted by sender. A sender that holds more than its share of the limit is throttled: it sees so in
 * a word of the transport's, and from then on offers its messages (RTS) and keeps the data itself, so that order
 * and progress stay as they are. Below half its share it is let go. What can come beyond the limit is what was
 * on its way, and the envelopes. */
#include "base/setting.h"
#include "p2p/int_p2p.h"

enum { SHARE_MIN = 65536, ENVELOPE = sizeof(struct message) };

static struct setting limit = {
    .name = "UNEXPECTED_MAX",
    .help = "bytes of unexpected messages that a process keeps before senders must keep theirs",
    .kind = SETTING_INT,
    .value = 64 << 20,
    .min = SHARE_MIN,
    .max = 1L << 40,
};

int held_init(void)
{
    return setting_read(&limit);
}

static size_t cost(const struct message *message)
{
    return ENVELOPE + (message->data != message->inline_data ? message->len : 0);
}

static size_t share(const struct lane *lane)
{
    return size_max(SHARE_MIN, (size_t)limit.value / (lane->holders ? lane->holders : 1));
}

void held_add(struct message *message)
{
    struct lane *lane = message->lane;
    struct peer *peer = atomic_load_explicit(&lane->peers[message->proc], memory_order_relaxed);

    if (message->kind != WIRE_EAGER)
        return;
    if (!peer->held)
        lane->holders++;
    peer->held += cost(message);
    if (unlikely(peer->held > share(lane)) && !peer->is_throttled) {
        peer->is_throttled = true;
        atomic_store_explicit(peer->throttle_in, 1, memory_order_relaxed);
        lane->throttles++;
    }
}

void held_remove(struct message *message)
{
    struct lane *lane = message->lane;
    struct peer *peer = atomic_load_explicit(&lane->peers[message->proc], memory_order_relaxed);

    if (message->kind != WIRE_EAGER)
        return;
    peer->held -= cost(message);
    if (!peer->held)
        lane->holders--;
    if (unlikely(peer->is_throttled) && peer->held < share(lane) / 2) {
        peer->is_throttled = false;
        atomic_store_explicit(peer->throttle_in, 0, memory_order_relaxed);
    }
}
