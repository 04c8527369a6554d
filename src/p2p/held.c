/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. The bound on memory for messages that nobody has asked for yet.
 *
 * What is kept is counted by sender, with all that it costs. A sender may hold four times what is left of an amount for
 * all: one alone four fifths of it, two four ninths each, and there is always something left for others (dynamic
 * thresholds: A. K. Choudhury, E. L. Hahne, 1998). One with more is told in two steps, by a word of the transport's:
 *
 *   offer  it offers its messages (RTS) and keeps the data itself; order and progress stay as they are: when it passes
 *          that rule for four fifths of the limit
 *   hold   it keeps even the offers: when it passes the rule for the whole limit
 *
 * When half of what it had at the first step is gone it is let go. What can come beyond the limit is what was on its
 * way, and a floor for each sender. In shared memory little is on its way. Other machines may send no more than there
 * is room for (held_room), counted as it will lie here; that is a part of what is left, so it stays below the limit.
 *
 * Nobody may wait for a message that is held back (MPI 5.0 §3.5: progress). So while somebody is, each poll looks at
 * the receives that are posted, and each probe that fails tells: whoever may have what they wait for may send offers
 * again, a quantum at a time. So there are more offers than the limit allows only if the program itself asks for what
 * lies behind them.
 *
 * All this is done in each lane for itself, with an even share of the limit: who waits in one lane cannot be waiting
 * for a message of another.
 *
 * Knows: match, net's words, obj. Does not know: how messages come and go. */
#include "base/event.h"
#include "base/setting.h"
#include "p2p/int_p2p.h"

enum {
    FLOOR = 65536,
    LIMIT_MIN = 4096,
    FLOORS_IN_LIMIT = 4,      /* at least */
    TIMES_LEFT = 4,
    QUANTA_IN_LIMIT = 256,
    OFFER_FIFTHS = 4,
    HOLD_FIFTHS = 5,
    LOOK = 16,                /* of a context with more receives than that, all senders are wanted */
    ALLOCATOR = 16,           /* bytes that an allocation costs besides */
    ROOMS_IN_LEFT = 4,
    ROOM_MIN = 4096,
    ROOM_MAX = 4 << 20,
};

static struct setting limit = {
    .name = "UNEXPECTED_MAX",
    .help = "bytes of unexpected messages that a process keeps before senders must keep theirs",
    .topic = "memory",
    .kind = SETTING_INT,
    .value = 64 << 20,
    .min = LIMIT_MIN,
    .max = 1L << 40,
};
SETTING_LISTED(limit);

static _Atomic size_t lane_limit; /* what each lane has of the limit */

void held_set_lanes(int count)
{
    atomic_store_explicit(&lane_limit, (size_t)limit.value / (size_t)count, memory_order_relaxed);
}

static size_t limit_of_lane(void)
{
    return atomic_load_explicit(&lane_limit, memory_order_relaxed);
}

int held_init(void)
{
    const int rc = setting_read(&limit);

    held_set_lanes(1);
    return rc;
}

static struct peer *sender_of(const struct message *message)
{
    return atomic_load_explicit(&message->lane->peers[message->proc], memory_order_relaxed);
}

static size_t cost(const struct message *message)
{
    if (!message->memory)
        return message->lane->messages.size;
    return message_size(message_data(message->kind, message->len, message->blocks)) + ALLOCATOR;
}

/* What one sender may hold at most when so many fifths of the lane's limit are there for all. */
static size_t share(const struct lane *lane, unsigned fifths)
{
    const size_t all = limit_of_lane() / 5 * fifths;
    const size_t least = size_min(FLOOR, limit_of_lane() / FLOORS_IN_LIMIT) / 5 * fifths;

    return all > lane->held.now ? size_max(least, TIMES_LEFT * (all - lane->held.now)) : least;
}

/* An even part of a quarter of what is left. Who has held back what it has goes on with the floor: its offers. */
uint32_t held_room(void *arg, int proc)
{
    const struct lane *lane = arg;
    const size_t all = limit_of_lane(), left = all > lane->held.now ? all - lane->held.now : 0;
    const size_t senders = lane->fars ? lane->fars : 1; /* who has sent only what was asked for may be no peer yet */
    const size_t least = size_max(size_min(FLOOR, all / FLOORS_IN_LIMIT / senders), ROOM_MIN);

    (void)proc;
    return (uint32_t)size_min(size_max(left / ROOMS_IN_LEFT / senders, least), ROOM_MAX);
}

uint32_t held_cost(void)
{
    return (uint32_t)message_size(0) + ALLOCATOR;
}

/* The sender polls its queue after it is woken, see net.h. */
static void tell(struct peer *peer, enum wire_throttle throttle)
{
    peer->throttle = (uint8_t)throttle;
    atomic_store_explicit(peer->throttle_in, throttle, memory_order_release);
}

static void unhold(struct peer *peer, enum wire_throttle throttle)
{
    peer->lane->holds--;
    work_remove(peer->lane, &peer->hold_link);
    tell(peer, throttle);
    peer->ops->wake(peer->ep);
}

static void report(struct peer *peer, const struct message *message)
{
    struct lane *lane = peer->lane;
    const struct channel *channel = message->channel;
    p2p_flooded_fn *flooded = lane->flooded;

    lane->flooded = NULL;
    if (flooded)
        flooded(&(struct p2p_flood){
            .proc = peer->proc,
            .held = peer->held,
            .limit = (size_t)limit.value,
            .tag = message->tag,
            .len = message->len,
            .comm = channel ? channel->comm : NULL,
            .is_coll = message->ctx & 1,
        });
}

static NOINLINE void restrain(struct peer *peer, const struct message *message)
{
    struct lane *lane = peer->lane;

    if (peer->throttle == THROTTLE_NONE) {
        peer->held_when_throttled = peer->held;
        tell(peer, THROTTLE_OFFER);
        lane->counters.throttles++;
        event_tell(EVENT_SENDER_RESTRAINED, peer->proc, (int64_t)peer->held, 0);
        report(peer, message);
    }
    if (peer->throttle == THROTTLE_OFFER && peer->held > size_max(share(lane, HOLD_FIFTHS), peer->held_allowed)) {
        tell(peer, THROTTLE_HOLD);
        work_add(lane, &lane->held_back, &peer->hold_link);
        lane->holds++;
        lane->counters.holds++;
        event_tell(EVENT_SENDER_RESTRAINED, peer->proc, (int64_t)peer->held, 1);
        held_work(lane);
    }
}

void held_add(struct message *message)
{
    struct lane *lane = message->lane;
    struct p2p_counters *counters = &lane->counters;
    struct peer *peer = sender_of(message);

    mem_tide_in(&lane->held, cost(message));
    peer->held += cost(message);
    counters->unexpected++;
    if (++counters->unexpected_now > counters->unexpected_high)
        counters->unexpected_high = counters->unexpected_now;
    if (lane->held.now > counters->bytes_high)
        counters->bytes_high = lane->held.now;
    if (unlikely(peer->held > share(lane, OFFER_FIFTHS)))
        restrain(peer, message);
}

static NOINLINE void let_go(struct peer *peer)
{
    if (peer->throttle == THROTTLE_HOLD)
        unhold(peer, THROTTLE_NONE);
    else
        tell(peer, THROTTLE_NONE);
    peer->held_allowed = 0;
}

void held_remove(struct message *message)
{
    struct lane *lane = message->lane;
    struct peer *peer = sender_of(message);

    lane->counters.unexpected_now--;
    peer->held -= cost(message);
    mem_tide_out(&lane->held, cost(message));
    if (unlikely(peer->throttle != THROTTLE_NONE) && peer->held <= peer->held_when_throttled / 2)
        let_go(peer);
}

/* --- hunger --- */

static void feed(struct peer *peer)
{
    if (peer->throttle != THROTTLE_HOLD)
        return;
    peer->held_allowed = peer->held + limit_of_lane() / QUANTA_IN_LIMIT;
    peer->lane->counters.hungers++;
    unhold(peer, THROTTLE_OFFER);
}

void held_want(struct channel *channel, uint64_t key, uint64_t mask)
{
    struct peer *peer;

    if (mask >> 32) { /* the top bit says that it is partitioned */
        peer = peer_of_rank(channel, match_key_source(key) & INT32_MAX);
        if (peer)
            feed(peer);
        return;
    }
    LIST_FOR_EACH_SAFE(link, &channel->lane->held_back) {
        peer = CONTAINER_OF(link, struct peer, hold_link);
        if (group_rank_of(channel->comm->remote_group, peer->proc) != MPI_UNDEFINED)
            feed(peer);
    }
}

static void want_posted(const struct match_entry *recv, void *channel)
{
    held_want(channel, recv->node.key, recv->mask);
}

void held_work(struct lane *lane)
{
    for (unsigned i = 0; i < lane->channel_slots && lane->holds; i++) {
        struct channel *channel = lane->channels[i];
        if (!channel || !channel->match.posted_count)
            continue;
        if (channel->match.posted_count > LOOK || channel->match.is_hashed)
            held_want(channel, 0, match_mask(true, true));
        else
            match_each_posted(&channel->match, want_posted, channel);
    }
}
