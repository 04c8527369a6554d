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

enum { HELD_MAX = 64 };

struct chaos_ep {
    struct net_ep ep;       /* first */
    struct net_ep *inner;
    bool refuses_copy;
};

struct held {
    struct list link;
    int proc;
    struct net_head head;
    uint32_t len;
    unsigned char payload[];
};

struct chaos {
    struct net net;         /* first */
    const struct net_ops *ops; /* of the inner one */
    struct net *inner;
    struct chaos_ep **eps;  /* by process */
    struct list held;
    unsigned held_count;
    _Atomic unsigned *held_of; /* by process, how many of them; read without the lock */
    unsigned *kept_in;      /* by process: the walk in which one of its records stayed */
    unsigned walk;
    int proc, procs;
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

static struct net_ep *inner_of(struct net_ep *ep)
{
    return ((struct chaos_ep *)(void *)ep)->inner;
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
            chaos->net.sink.arrive(chaos->net.sink.arg, held->proc, held->head, held->payload, held->len)) {
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

static void chaos_close(struct net *net)
{
    struct chaos *chaos = (struct chaos *)(void *)net;

    if (chaos->inner)
        chaos->ops->close(chaos->inner);
    LIST_FOR_EACH_SAFE(link, &chaos->held)
        mem_free(CONTAINER_OF(link, struct held, link));
    for (int proc = 0; chaos->eps && proc < chaos->procs; proc++)
        mem_free(chaos->eps[proc]);
    mem_free(chaos->eps);
    mem_free(chaos->kept_in);
    mem_free((void *)chaos->held_of);
    mem_free(chaos);
}

static int open_with(const struct net_ops *ops, const struct net_config *config, struct net **out)
{
    struct net_config inner = *config;
    struct chaos *chaos = mem_zalloc(sizeof *chaos);
    int rc = setting_read(&seed_setting);

    if (!chaos || rc) {
        mem_free(chaos);
        return rc ? rc : err(MPI_ERR_NO_MEM, "no memory for transport chaos");
    }
    list_init(&chaos->held);
    chaos->net = (struct net){ ops, config->sink };
    chaos->ops = config->inner;
    chaos->proc = config->proc;
    chaos->procs = config->procs;
    chaos->random = (uint64_t)seed_setting.value * 1000003u + (uint64_t)(config->proc + 65537 * config->lane);
    chaos->eps = mem_zalloc((size_t)config->procs * sizeof *chaos->eps);
    chaos->kept_in = mem_zalloc((size_t)config->procs * sizeof *chaos->kept_in);
    chaos->held_of = mem_zalloc((size_t)config->procs * sizeof *chaos->held_of);
    if (!chaos->eps || !chaos->kept_in || !chaos->held_of) {
        chaos_close(&chaos->net);
        return err(MPI_ERR_NO_MEM, "no memory for transport chaos");
    }
    inner.sink = (struct net_sink){ hold, chaos };
    rc = config->inner->open(&inner, &chaos->inner);
    if (rc) {
        chaos_close(&chaos->net);
        return rc;
    }
    *out = &chaos->net;
    return 0;
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
    struct chaos *chaos = (struct chaos *)(void *)net;
    struct chaos_ep *ep = mem_zalloc(sizeof *ep);
    int rc;

    if (!ep)
        return err(MPI_ERR_NO_MEM, "no memory for the connection to process %d", proc);
    rc = chaos->ops->connect(chaos->inner, proc, &ep->inner);
    if (rc) {
        mem_free(ep);
        return rc;
    }
    ep->ep = (struct net_ep){ .net = net, .proc = proc };
    ep->refuses_copy = chance(chaos, 2);
    mem_free(chaos->eps[proc]);
    chaos->eps[proc] = ep;
    *out = &ep->ep;
    return 0;
}

static int chaos_send(struct net_ep *ep, struct net_head head, const void *payload, uint32_t len)
{
    struct chaos *chaos = chaos_of(ep);

    return refuses(chaos, 4) ? NET_AGAIN : chaos->ops->send(inner_of(ep), head, payload, len);
}

static int chaos_alloc(struct net_ep *ep, struct net_buffer *buffer)
{
    struct chaos *chaos = chaos_of(ep);

    return refuses(chaos, 4) ? NET_AGAIN : chaos->ops->alloc(inner_of(ep), buffer);
}

static int chaos_commit(struct net_ep *ep, struct net_head head, const struct net_buffer *buffer, uint32_t len)
{
    struct chaos *chaos = chaos_of(ep);

    return refuses(chaos, 8) ? NET_AGAIN : chaos->ops->commit(inner_of(ep), head, buffer, len);
}

static void chaos_release(struct net_ep *ep, const struct net_buffer *buffer)
{
    chaos_of(ep)->ops->release(inner_of(ep), buffer);
}

static void chaos_wishes(struct net_ep *ep, _Atomic uint32_t **in, const _Atomic uint32_t **out)
{
    chaos_of(ep)->ops->wishes(inner_of(ep), in, out);
}

static void chaos_wake(struct net_ep *ep)
{
    chaos_of(ep)->ops->wake(inner_of(ep));
}

static int chaos_poll(struct net *net)
{
    struct chaos *chaos = (struct chaos *)(void *)net;

    const int events = chaos->ops->poll(chaos->inner) + let_go(chaos);
    const bool is_busy = chaos->has_refused || !list_is_empty(&chaos->held);

    chaos->has_refused = false;
    return events + is_busy;
}

/* Says only what has happened: who polls this as long as there is news must come to poll everything in the end. */
static int chaos_poll_ep(void *ep, const _Atomic uint32_t *done)
{
    struct chaos *chaos = chaos_of(ep);

    return chaos->ops->poll_ep(inner_of(ep), done) + let_go(chaos);
}

/* In the order in which records move. */
static bool chaos_is_silent(const struct net_ep *ep)
{
    const struct chaos *chaos = (const struct chaos *)(const void *)ep->net;

    return chaos->ops->is_silent(((const struct chaos_ep *)(const void *)ep)->inner) &&
           !atomic_load_explicit(&chaos->held_of[ep->proc], memory_order_relaxed);
}

static bool chaos_can_copy(struct net_ep *ep)
{
    return !((struct chaos_ep *)(void *)ep)->refuses_copy && chaos_of(ep)->ops->can_copy(inner_of(ep));
}

static int chaos_copy_from(struct net_ep *ep, void *local, uint64_t remote, size_t len)
{
    return chaos_of(ep)->ops->copy_from(inner_of(ep), local, remote, len);
}

static int chaos_copy_to(struct net_ep *ep, const void *local, uint64_t remote, size_t len)
{
    return chaos_of(ep)->ops->copy_to(inner_of(ep), local, remote, len);
}

static int chaos_copy_list(struct net_ep *ep, struct peek_list *list, bool is_to)
{
    return chaos_of(ep)->ops->copy_list(inner_of(ep), list, is_to);
}

static struct net_record *chaos_record_open(struct net_ep *ep, uint32_t *index)
{
    struct chaos *chaos = chaos_of(ep);

    return refuses(chaos, 4) ? NULL : chaos->ops->record_open(inner_of(ep), index);
}

static struct net_record *chaos_record_find(struct net_ep *ep, uint32_t index)
{
    return chaos_of(ep)->ops->record_find(inner_of(ep), index);
}

static void chaos_record_close(struct net_ep *ep, struct net_record *record)
{
    chaos_of(ep)->ops->record_close(inner_of(ep), record);
}

/* Sizes smaller than those of the wrapped transports would do as well; the same ones keep the protocols alike. */
#define CHAOS_FUNCTIONS \
    .close = chaos_close, .connect = chaos_connect, .send = chaos_send, .alloc = chaos_alloc, \
    .commit = chaos_commit, .release = chaos_release, .wishes = chaos_wishes, .wake = chaos_wake, \
    .poll = chaos_poll, .poll_ep = chaos_poll_ep, .is_silent = chaos_is_silent, .take = net_take_nothing, \
    .can_copy = chaos_can_copy, .copy_from = chaos_copy_from, .copy_to = chaos_copy_to, \
    .copy_list = chaos_copy_list, \
    .record_open = chaos_record_open, .record_find = chaos_record_find, .record_close = chaos_record_close

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
