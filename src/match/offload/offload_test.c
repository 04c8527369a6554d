/* SPDX-License-Identifier: BSD-3-Clause */
/* Receives matched by shadow and device at once: random schedules of a program that posts, cancels and is sent
 * messages, and of a device that runs commands and brings messages whenever the generator says so. What met what is
 * then compared with the rules of MPI (5.0 §3.5), read off from the order in which messages came to the device and
 * receives were posted. Two mutants, each without one of the rules, must be found out.
 *
 * Arguments: schedules (default 200,000), seed (default 1). */
#include <inttypes.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "match/offload/model.h"

enum { RECVS = 24, MESSAGES = 24, STEPS = 160, SLOTS = 8, SOURCES = 3, TAGS = 3, CONTEXTS = 2 };

enum mutant { SOUND, HASTY, EARLY };

struct recv {
    struct match_entry entry;   /* first */
    unsigned ctx, slot;
    uint64_t key, mask;
    int message;                /* that it got, or -1 */
    bool is_cancelled;
    unsigned char buf[8];
};

struct message {
    struct match_arrival arrival; /* first */
    unsigned ctx;
    uint64_t key;
    int recv;                   /* that got it, or -1 */
    unsigned char payload[8];
};

static struct world {
    struct match match;
    struct match_ctx ctx[CONTEXTS];
    struct match_watch watch;
    struct offload offload;
    struct offload_model model;
    struct recv recvs[RECVS];
    struct message messages[MESSAGES];
    int recv_count, message_count;
    enum mutant mutant;
} world;

static struct { uint64_t taken, raced, spilled, cancelled, violations; } sum;
static uint64_t random_state;

static uint32_t below(uint32_t n)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((random_state >> 33) % n);
}

static struct recv *recv_of(struct match_entry *entry)
{
    return CONTAINER_OF(entry, struct recv, entry);
}

static void on_posted(struct match_ctx *ctx, struct match_entry *entry, void *arg)
{
    struct recv *recv = recv_of(entry);
    const struct offload_tag tag = { entry->node.key, entry->mask, recv->buf, sizeof recv->buf, ctx->id };

    (void)arg;
    recv->slot = offload_post(&world.offload, entry, &tag, below(12) != 0);
}

static void on_unposted(struct match_ctx *ctx, struct match_entry *entry, void *arg)
{
    (void)arg;
    offload_unpost(&world.offload, recv_of(entry)->slot, entry, ctx->id);
}

static void meet(struct recv *recv, struct message *message)
{
    CHECK(recv->message < 0 && !recv->is_cancelled && message->recv < 0);
    recv->message = (int)(message - world.messages);
    message->recv = (int)(recv - world.recvs);
}

static void take_out(struct recv *recv)
{
    recv->slot = OFFLOAD_TAKEN;
    CHECK(match_cancel(&world.ctx[recv->ctx], &recv->entry));
}

/* --- the program --- */

static void post(void)
{
    struct recv *recv = &world.recvs[world.recv_count];
    struct match_arrival *found;

    if (world.recv_count == RECVS)
        return;
    world.recv_count++;
    *recv = (struct recv){ .ctx = below(CONTEXTS), .message = -1 };
    recv->key = match_key((int32_t)below(SOURCES), (int32_t)below(TAGS));
    recv->mask = match_mask(below(8) == 0, below(8) == 0);
    match_entry_init(&recv->entry, recv->key, recv->mask);
    found = match_post(&world.ctx[recv->ctx], &recv->entry);
    if (found)
        meet(recv, CONTAINER_OF(found, struct message, arrival));
}

static void cancel(void)
{
    struct recv *recv = &world.recvs[below(RECVS)];

    if (recv - world.recvs >= world.recv_count || !match_is_posted(&recv->entry))
        return;
    if (recv->slot != OFFLOAD_SOFT) {
        offload_cancel(&world.offload, recv->slot);
        return;
    }
    CHECK(match_cancel(&world.ctx[recv->ctx], &recv->entry));
    recv->is_cancelled = true;
}

static void unexpected(struct message *message)
{
    struct match_ctx *ctx = &world.ctx[message->ctx];
    struct match_entry *entry;

    if (world.mutant == EARLY) {
        offload_handled(&world.offload);
        offload_sync(&world.offload);
    }
    entry = match_arrive(ctx, message->key);
    if (entry)
        meet(recv_of(entry), message);
    else
        match_keep(ctx, &message->arrival, message->key);
    if (world.mutant != EARLY)
        offload_handled(&world.offload);
}

static void taken(const struct model_event *event)
{
    struct match_entry *entry = offload_taken(&world.offload, event->slot);
    struct message *message = event->message;

    if (!entry || recv_of(entry)->message >= 0) { /* only a mutant's: it went to two */
        sum.violations++;
        return;
    }
    take_out(recv_of(entry));
    meet(recv_of(entry), message);
    CHECK(event->is_placed && !memcmp(recv_of(entry)->buf, message->payload, sizeof message->payload));
}

static void removed(unsigned slot)
{
    struct match_entry *entry = offload_removed(&world.offload, slot);

    if (!entry)
        return;
    take_out(recv_of(entry));
    recv_of(entry)->is_cancelled = true;
    sum.cancelled++;
}

/* False: there was none. */
static bool handle_event(void)
{
    const struct model_event *event = model_event(&world.model);

    if (!event)
        return false;
    if (event->kind == MODEL_TAKEN)
        taken(event);
    else if (event->kind == MODEL_UNEXPECTED)
        unexpected(event->message);
    else if (event->kind == MODEL_REMOVED)
        removed(event->slot);
    else
        offload_remove_failed(&world.offload, event->slot);
    model_event_done(&world.model);
    return true;
}

/* --- the network --- */

static void send(void)
{
    struct message *message = &world.messages[world.message_count];
    struct model_arrival arrival;

    if (world.message_count == MESSAGES)
        return;
    *message = (struct message){ .ctx = below(CONTEXTS), .recv = -1 };
    message->key = match_key((int32_t)below(SOURCES), (int32_t)below(TAGS));
    memset(message->payload, world.message_count + 1, sizeof message->payload);
    arrival = (struct model_arrival){ message->ctx, message->key, message->payload, sizeof message->payload };
    world.message_count += model_arrive(&world.model, &arrival, message);
}

enum step { POST, SEND, CANCEL, COMMAND, EVENT, SYNC, KINDS };

static void one_step(const uint32_t *weight)
{
    uint32_t total = 0, draw, step = 0;

    for (int i = 0; i < KINDS; i++)
        total += weight[i];
    for (draw = below(total); draw >= weight[step]; step++)
        draw -= weight[step];
    if (step == POST)
        post();
    else if (step == SEND)
        send();
    else if (step == CANCEL)
        cancel();
    else if (step == COMMAND)
        model_run_command(&world.model);
    else if (step == EVENT)
        handle_event();
    else
        offload_sync(&world.offload);
}

/* --- the rules --- */

static bool fits(const struct recv *recv, const struct message *message)
{
    return recv->ctx == message->ctx && ((recv->key ^ message->key) & recv->mask) == 0;
}

/* Nothing lies between a receive and a message that may meet: a receive that was posted before and waits or got a
 * later one, a message that came before and waits or went to a later receive. */
static void judge(int r, int m)
{
    const struct recv *recv = &world.recvs[r];
    const struct message *message = &world.messages[m];
    const bool is_pair = recv->message == m;

    if (!fits(recv, message) || recv->is_cancelled || is_pair)
        return;
    sum.violations += recv->message < 0 && message->recv < 0;
    sum.violations += (recv->message > m || recv->message < 0) && message->recv > r;
    sum.violations += recv->message > m && message->recv < 0;
}

static void drain(void)
{
    bool is_busy;

    do {
        is_busy = model_run_command(&world.model);
        is_busy |= handle_event();
    } while (is_busy);
}

static void judge_all(void)
{
    for (int r = 0; r < world.recv_count; r++)
        for (int m = 0; m < world.message_count; m++)
            judge(r, m);
    sum.violations += world.offload.counters.lost;
}

static void leave_recv(struct match_entry *entry, void *arg)
{
    (void)entry;
    (void)arg;
}

static void leave_message(struct match_arrival *arrival, void *arg)
{
    (void)arrival;
    (void)arg;
}

/* How fast each side is differs from schedule to schedule. */
static void run_steps(void)
{
    const uint32_t weight[KINDS] = { 25, 5 + below(30), below(10), 10 + below(60), 10 + below(60), 1 + below(8) };

    for (int i = 0; i < STEPS; i++)
        one_step(weight);
}

static void play(enum mutant mutant)
{
    memset(&world, 0, sizeof world);
    world.mutant = mutant;
    world.watch = (struct match_watch){ on_posted, on_unposted, NULL };
    match_init(&world.match);
    match_set_watch(&world.match, &world.watch);
    for (uint32_t i = 0; i < CONTEXTS; i++)
        match_ctx_init(&world.ctx[i], &world.match, i);
    CHECK_INT(model_init(&world.model, 1 + below(SLOTS)), 0);
    CHECK_INT(offload_init(&world.offload, &world.model.device), 0);
    world.model.is_hasty = mutant == HASTY;
    world.offload.handled = world.offload.told = world.model.handed_up = (uint16_t)-(int)below(4);
    run_steps();
    drain();
    judge_all();
    sum.taken += world.offload.counters.taken;
    sum.raced += world.offload.counters.raced;
    sum.spilled += world.offload.counters.spilled;
    for (int i = 0; i < CONTEXTS; i++) {
        match_ctx_fini(&world.ctx[i], leave_recv, leave_message, NULL);
        drain();
    }
    if (mutant == SOUND)
        CHECK_INT(world.offload.free_count, world.offload.slot_count);
    offload_fini(&world.offload);
    model_fini(&world.model);
    match_fini(&world.match);
}

static void play_many(enum mutant mutant, long schedules, uint64_t seed)
{
    memset(&sum, 0, sizeof sum);
    random_state = seed;
    for (long i = 0; i < schedules; i++)
        play(mutant);
    printf("%s: %ld schedules, seed %" PRIu64 ": %" PRIu64 " taken by the device, %" PRIu64 " taken back, %" PRIu64
           " spilled, %" PRIu64 " cancelled there, %" PRIu64 " violations\n",
           mutant == SOUND ? "sound" : mutant == HASTY ? "without the count" : "number before the remove", schedules,
           seed, sum.taken, sum.raced, sum.spilled, sum.cancelled, sum.violations);
}

static void without_memory(void)
{
    const long before = mem_live();

    for (int n = 0; n < 4; n++) {
        mem_fail_after(n);
        if (!model_init(&world.model, SLOTS)) {
            CHECK_INT(err_class(offload_init(&world.offload, &world.model.device)), MPI_ERR_NO_MEM);
            model_fini(&world.model);
        }
        mem_fail_after(-1);
        CHECK_INT(mem_live(), before);
    }
}

int main(int argc, char **argv)
{
    const long schedules = argc > 1 ? atol(argv[1]) : 200000;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;

    play_many(SOUND, schedules, seed);
    CHECK_INT(sum.violations, 0);
    CHECK(sum.taken && sum.raced && sum.spilled && sum.cancelled);
    play_many(HASTY, schedules / 10, seed);
    CHECK(sum.violations > 0);
    play_many(EARLY, schedules / 10, seed);
    CHECK(sum.violations > 0);
    without_memory();
    return 0;
}
