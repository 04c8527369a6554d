/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of held.c: random senders that obey the word, receives, probes and drains, against sums kept here. No
 * transport: a sender is a word and a counter of how often it was woken. */
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "p2p/int_p2p.h"

enum { SENDERS = 7, STEPS = 40000, KEPT = 20000, LIMIT = 1 << 20, LEN_MAX = 3000 };

struct sender {
    struct peer peer;
    _Atomic uint32_t word;
    size_t sum;        /* what its messages take at least */
    size_t messages;
    unsigned wakes;
};

static struct lane lane;
static struct sender senders[SENDERS];
static peer_ref peers[SENDERS];
static struct channel *channels[2]; /* table of contexts: one, and a hole behind it */
static struct channel channel;
static struct group group;
static struct comm comm;
static struct message *kept[KEPT];
static size_t kept_cost[KEPT];     /* what each takes at least */
static int kept_count;
static struct p2p_req posted;      /* one receive at a time */
static int floods;
static uint64_t random_state;

static size_t below(size_t n)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (size_t)(random_state >> 33) % n;
}

static void wake(struct net_ep *ep)
{
    senders[ep->proc].wakes++;
}

static const struct net_ops ops = { .wake = wake };

static void on_flood(const struct p2p_flood *flood)
{
    CHECK(flood->held > 0 && flood->limit == LIMIT && !flood->is_coll);
    CHECK(!flood->comm || flood->comm == &comm);
    floods++;
}

static void open_lane(void)
{
    static struct net_ep eps[SENDERS];

    memset(&lane, 0, sizeof lane);
    memset(senders, 0, sizeof senders);
    lane.flooded = on_flood;
    lane.peers = peers;
    lane.procs = SENDERS;
    lane.channels = channels;
    lane.channel_slots = 2;
    lane.channel_count = 1;
    list_init(&lane.held_back);
    mem_pool_init(&lane.messages, sizeof(struct message) + P2P_POOLED_DATA, 16);
    lane.messages.max = 32;
    match_init(&lane.match);
    group = (struct group){ .size = SENDERS, .step = 1 };
    comm = (struct comm){ .remote_group = &group, .group = &group, .size = SENDERS };
    channel = (struct channel){ .lane = &lane, .comm = &comm, .peers = peers };
    match_ctx_init(&channel.match, &lane.match, 0);
    channels[0] = &channel;
    for (int i = 0; i < SENDERS; i++) {
        eps[i].proc = i;
        senders[i].peer = (struct peer){
            .lane = &lane, .ops = &ops, .ep = &eps[i], .proc = i, .throttle_in = &senders[i].word,
        };
        list_init(&senders[i].peer.hold_link);
        peers[i] = &senders[i].peer;
    }
}

static uint32_t word_of(int proc)
{
    return atomic_load(&senders[proc].word);
}

/* What must hold at any time. */
static void check(void)
{
    size_t sum = 0;
    unsigned holds = 0, linked = 0;

    for (int i = 0; i < SENDERS; i++) {
        const struct peer *peer = &senders[i].peer;
        CHECK(peer->held >= senders[i].sum && peer->held <= senders[i].sum + senders[i].messages * 64);
        CHECK_INT(peer->throttle, word_of(i));
        CHECK(peer->held || peer->throttle == THROTTLE_NONE); /* else nothing would ever let it go */
        holds += peer->throttle == THROTTLE_HOLD;
        sum += peer->held;
    }
    LIST_FOR_EACH(link, &lane.held_back)
        linked++;
    CHECK(lane.held.now == sum);
    CHECK(lane.counters.bytes_high >= sum);
    CHECK_INT(lane.counters.unexpected_now, kept_count);
    CHECK_INT(lane.holds, holds);
    CHECK_INT(linked, holds);
    CHECK_INT(lane.work, holds);
}

/* A message of a sender that does as it is told; false: it may send nothing. */
static bool arrive(int proc)
{
    const size_t len = below(3) ? below(LEN_MAX) : below(P2P_POOLED_DATA);
    const uint32_t word = word_of(proc);
    const size_t size = word == THROTTLE_NONE ? len : 0;
    struct message *message = size <= P2P_POOLED_DATA ? mem_pool_get(&lane.messages) : NULL;
    void *memory = NULL;

    if (word == THROTTLE_HOLD || kept_count == KEPT)
        return false;
    if (!message)
        memory = message = mem_alloc_aligned(CACHE_LINE, message_size(size));
    *message = (struct message){
        .kind = word == THROTTLE_NONE ? WIRE_EAGER : WIRE_RTS,
        .len = len, .proc = proc, .lane = &lane, .channel = below(2) ? &channel : NULL, .memory = memory,
    };
    kept[kept_count] = message;
    kept_cost[kept_count++] = memory ? message_size(size) : sizeof *message + P2P_POOLED_DATA;
    senders[proc].sum += kept_cost[kept_count - 1];
    senders[proc].messages++;
    held_add(message);
    return true;
}

static void give_up(int at)
{
    struct message *message = kept[at];
    struct sender *sender = &senders[message->proc];

    sender->sum -= kept_cost[at];
    sender->messages--;
    kept[at] = kept[--kept_count];
    kept_cost[at] = kept_cost[kept_count];
    held_remove(message);
    if (message->memory)
        mem_free(message->memory);
    else
        mem_pool_put(&lane.messages, message);
}

static void post(int source)
{
    if (match_is_posted(&posted.match))
        match_cancel(&channel.match, &posted.match);
    match_entry_init(&posted.match, match_key(source, 1), match_mask(source < 0, false));
    CHECK(!match_post(&channel.match, &posted.match));
}

/* Whoever is asked for may send, and has been woken if it was held; the others are as they were. */
static void want(int source, bool is_probe)
{
    struct sender before[SENDERS];

    memcpy(before, senders, sizeof before);
    if (!is_probe) {
        post(source);
        held_work(&lane);
    } else if (lane.holds) {
        held_want(&channel, match_key(source, 1), match_mask(source < 0, false));
    }
    for (int i = 0; i < SENDERS; i++) {
        const bool is_meant = source < 0 || source == i, was_held = before[i].peer.throttle == THROTTLE_HOLD;
        CHECK_INT(word_of(i), was_held && is_meant ? THROTTLE_OFFER : before[i].peer.throttle);
        CHECK_INT(senders[i].wakes, before[i].wakes + (was_held && is_meant));
    }
    if (!is_probe)
        match_cancel(&channel.match, &posted.match);
}

/* With nobody asking: all together stay below the limit, plus the floor of each. */
static void test_bound(void)
{
    const size_t most = LIMIT + SENDERS * 65536;
    bool is_any = true;

    while (is_any) {
        is_any = false;
        for (int i = 0; i < SENDERS; i++)
            is_any |= below(3) == 0 ? arrive(i) : word_of(i) != THROTTLE_HOLD;
        check();
    }
    CHECK(lane.holds == SENDERS && lane.held.now > LIMIT / 5 * 4 && lane.held.now < most);
    CHECK_INT(floods, 1);
    for (int i = 0; i < SENDERS; i++)
        want(i, i & 1);
    want(-1, true);
    while (kept_count)
        give_up((int)below((size_t)kept_count));
    check();
    CHECK(!lane.holds);
}

/* A receive that stays posted: the one sender it may come from is never held for good, whatever comes. */
static void test_hunger(void)
{
    const uint64_t hungers = lane.counters.hungers;

    while (arrive(3)) {
    }
    CHECK_INT(word_of(3), THROTTLE_HOLD);
    post(3);
    held_work(&lane);
    for (int i = 0; i < 5000; i++)
        CHECK(arrive(3));
    CHECK(lane.counters.hungers > hungers + 10);
    match_cancel(&channel.match, &posted.match);
    while (arrive(3)) {
    }
    check();
    while (kept_count)
        give_up(kept_count - 1);
    check();
}

static void test_random(void)
{
    for (int step = 0; step < STEPS; step++) {
        const size_t what = below(100);
        const int proc = (int)below(SENDERS);
        if (what < 3)
            want((int)below(SENDERS + 1) - 1, below(2));
        else if (what < 6)
            for (size_t n = below(400); n && kept_count; n--)
                give_up((int)below((size_t)kept_count));
        else
            for (size_t n = below(40); n && arrive(proc); n--) {
            }
        check();
    }
    while (kept_count)
        give_up(0);
    check();
}

int main(void)
{
    setenv("PARLEY_UNEXPECTED_MAX", "1m", 1);
    CHECK_INT(held_init(), 0);
    for (uint64_t seed = 1; seed <= 5; seed++) {
        random_state = seed;
        floods = 0;
        open_lane();
        test_bound();
        test_hunger();
        test_random();
        match_ctx_fini(&channel.match, NULL, NULL, NULL);
        match_fini(&lane.match);
        mem_pool_fini(&lane.messages);
    }
    CHECK_INT(mem_live(), 0);
    return 0;
}
