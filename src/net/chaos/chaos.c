/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/chaos. Refusals and delays by a seeded generator, so that a run can be repeated as far as its timing
 * allows. Held arrivals are one list in the order they came; a poll walks it and lets each go or stay, and whatever
 * stays keeps back the later ones of the same process.
 * Knows: base, net. */
#include "net/chaos/chaos.h"

#include "base/copy.h"
#include "base/err.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/setting.h"
#include "net/wrap.h"

enum { HELD_MAX = 64 };

struct held {
    struct list link;
    int proc;
    struct net_head head;
    uint32_t len;
    unsigned char payload[];
};

struct chaos {
    struct net_wrap wrap;   /* first */
    struct list held;
    unsigned held_count;
    _Atomic unsigned *held_of; /* by process, how many of them; read without the lock */
    unsigned *kept_in;      /* by process: the walk in which one of its records stayed */
    unsigned walk;
    bool has_refused;       /* since all was polled: who was refused must come again, so this is no time to sleep */
    uint64_t random;
};

static struct setting seed_setting = {
    .name = "CHAOS_SEED",
    .help = "where the random numbers of PARLEY_NET=chaos start",
    .topic = "testing",
    .kind = SETTING_INT,
    .value = 1,
    .max = INT32_MAX,
};
SETTING_LISTED(seed_setting);

static struct chaos *chaos_of(struct net_ep *ep)
{
    return (struct chaos *)(void *)ep->net;
}

/* True once in `n` times. */
static bool chance(struct chaos *chaos, unsigned n)
{
    chaos->random = chaos->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (chaos->random >> 33) % n == 0;
}

static bool refuses(struct chaos *chaos, unsigned n)
{
    const bool is_refused = chance(chaos, n);

    chaos->has_refused |= is_refused;
    return is_refused;
}

static int hold(void *arg, int proc, struct net_head head, const void *payload, uint32_t len)
{
    struct chaos *chaos = arg;
    struct held *held = chaos->held_count < HELD_MAX ? mem_alloc(sizeof *held + len) : NULL;

    if (!held)
        return NET_AGAIN;
    chaos->held_count++;
    held->proc = proc;
    held->head = head;
    held->len = len;
    copy_bytes(held->payload, payload, len); /* an empty one may come from a null buffer */
    list_append(&chaos->held, &held->link);
    atomic_fetch_add_explicit(&chaos->held_of[proc], 1, memory_order_relaxed);
    return 0;
}

static int let_go(struct chaos *chaos)
{
    int events = 0;

    chaos->walk++;
    LIST_FOR_EACH_SAFE(link, &chaos->held) {
        struct held *held = CONTAINER_OF(link, struct held, link);
        if (chaos->kept_in[held->proc] == chaos->walk || chance(chaos, 3) ||
            chaos->wrap.net.sink.arrive(chaos->wrap.net.sink.arg, held->proc, held->head, held->payload, held->len)) {
            chaos->kept_in[held->proc] = chaos->walk;
            continue;
        }
        atomic_fetch_sub_explicit(&chaos->held_of[held->proc], 1, memory_order_relaxed);
        list_remove(link);
        mem_free(held);
        chaos->held_count--;
        events++;
    }
    return events;
}

/* What the old process has sent last and nobody has missed goes with it. */
static void chaos_renew(struct net_ep *ep)
{
    struct chaos *chaos = chaos_of(ep);

    LIST_FOR_EACH_SAFE(link, &chaos->held) {
        struct held *held = CONTAINER_OF(link, struct held, link);
        if (held->proc != ep->proc)
            continue;
        atomic_fetch_sub_explicit(&chaos->held_of[held->proc], 1, memory_order_relaxed);
        list_remove(link);
        mem_free(held);
        chaos->held_count--;
    }
    wrap_renew(ep);
}

static void chaos_close(struct net *net)
{
    struct chaos *chaos = (struct chaos *)(void *)net;

    wrap_close(&chaos->wrap);
    LIST_FOR_EACH_SAFE(link, &chaos->held)
        mem_free(CONTAINER_OF(link, struct held, link));
    mem_free(chaos->kept_in);
    mem_free((void *)chaos->held_of);
    mem_free(chaos);
}

static int set_up(struct chaos *chaos, const struct net_ops *ops, const struct net_config *config)
{
    list_init(&chaos->held);
    chaos->random = (uint64_t)seed_setting.value * 1000003u + (uint64_t)(config->proc + 65537 * config->lane);
    chaos->kept_in = mem_zalloc((size_t)config->procs * sizeof *chaos->kept_in);
    chaos->held_of = mem_zalloc((size_t)config->procs * sizeof *chaos->held_of);
    if (!chaos->kept_in || !chaos->held_of)
        return err(MPI_ERR_NO_MEM, "no memory for transport chaos");
    return wrap_open(&chaos->wrap, ops, config, (struct net_sink){ .arrive = hold, .arg = chaos });
}

static int open_with(const struct net_ops *ops, const struct net_config *config, struct net **out)
{
    struct chaos *chaos = mem_zalloc(sizeof *chaos);
    int rc = setting_read(&seed_setting);

    if (!chaos || rc) {
        mem_free(chaos);
        return rc ? rc : err(MPI_ERR_NO_MEM, "no memory for transport chaos");
    }
    rc = set_up(chaos, ops, config);
    if (rc)
        chaos_close(&chaos->wrap.net);
    else
        *out = &chaos->wrap.net;
    return rc;
}

static int chaos_open_self(const struct net_config *config, struct net **out)
{
    return open_with(&chaos_self_ops, config, out);
}

static int chaos_open_shm(const struct net_config *config, struct net **out)
{
    return open_with(&chaos_shm_ops, config, out);
}

static int chaos_connect(struct net *net, int proc, struct net_ep **out)
{
    const int rc = wrap_connect(net, proc, out);

    if (!rc)
        ((struct wrap_ep *)(void *)*out)->refuses_copy = chance((struct chaos *)(void *)net, 2);
    return rc;
}

static int chaos_send(struct net_ep *ep, struct net_head head, const void *payload, uint32_t len)
{
    struct chaos *chaos = chaos_of(ep);

    return refuses(chaos, 4) ? NET_AGAIN : wrap_send(ep, head, payload, len);
}

static int chaos_alloc(struct net_ep *ep, struct net_buffer *buffer)
{
    struct chaos *chaos = chaos_of(ep);

    return refuses(chaos, 4) ? NET_AGAIN : wrap_alloc(ep, buffer);
}

static int chaos_commit(struct net_ep *ep, struct net_head head, const struct net_buffer *buffer, uint32_t len)
{
    struct chaos *chaos = chaos_of(ep);

    return refuses(chaos, 8) ? NET_AGAIN : wrap_commit(ep, head, buffer, len);
}

static int chaos_poll(struct net *net)
{
    struct chaos *chaos = (struct chaos *)(void *)net;

    const int events = chaos->wrap.inner_ops->poll(chaos->wrap.inner) + let_go(chaos);
    const bool is_busy = chaos->has_refused || !list_is_empty(&chaos->held);

    chaos->has_refused = false;
    return events + is_busy;
}

/* Says only what has happened: who polls this as long as there is news must come to poll everything in the end. */
static int chaos_poll_ep(void *ep, const _Atomic uint32_t *done)
{
    struct chaos *chaos = chaos_of(ep);

    return chaos->wrap.inner_ops->poll_ep(wrap_inner(ep), done) + let_go(chaos);
}

/* In the order in which records move. */
static bool chaos_is_silent(const struct net_ep *ep)
{
    const struct chaos *chaos = (const struct chaos *)(const void *)ep->net;

    return chaos->wrap.inner_ops->is_silent(wrap_inner(ep)) &&
           !atomic_load_explicit(&chaos->held_of[ep->proc], memory_order_relaxed);
}

static struct net_record *chaos_record_open(struct net_ep *ep, uint32_t *index)
{
    struct chaos *chaos = chaos_of(ep);

    return refuses(chaos, 4) ? NULL : wrap_record_open(ep, index);
}

/* Sizes smaller than those of the wrapped transports would do as well; the same ones keep the protocols alike. */
#define CHAOS_FUNCTIONS \
    .close = chaos_close, .connect = chaos_connect, .renew = chaos_renew, .send = chaos_send, .alloc = chaos_alloc, \
    .commit = chaos_commit, .release = wrap_release, .wishes = wrap_wishes, .pace = wrap_pace, .wake = wrap_wake, \
    .poll = chaos_poll, .poll_ep = chaos_poll_ep, .is_silent = chaos_is_silent, .take = net_take_nothing, \
    .can_copy = wrap_can_copy, .copy_from = wrap_copy_from, .copy_to = wrap_copy_to, \
    .copy_list = wrap_copy_list, \
    .record_open = chaos_record_open, .record_find = wrap_record_find, .record_close = wrap_record_close

const struct net_ops chaos_self_ops = {
    .name = "chaos(self)",
    .short_max = 160,
    .eager_max = 32768,
    .is_same_space = true,
    .open = chaos_open_self,
    CHAOS_FUNCTIONS,
};

const struct net_ops chaos_shm_ops = {
    .name = "chaos(shm)",
    .short_max = 160,
    .eager_max = 32768,
    .open = chaos_open_shm,
    CHAOS_FUNCTIONS,
};
