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
    struct net_ops ops;     /* chaos_ops with the sizes of the wrapped transport */
    struct list held;
    unsigned held_count;
    _Atomic unsigned *held_of; /* by process, how many of them; read without the lock */
    unsigned *kept_in;      /* by process: the walk in which one of its records stayed */
    int *lost;              /* by process: why it is lost, to be told when nothing of it is held any more; or 0 */
    bool has_lost;
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

static void lose(void *arg, int proc, int error)
{
    struct chaos *chaos = arg;

    chaos->lost[proc] = error;
    chaos->has_lost = true;
}

/* Those of whom nothing is held any more. */
static void tell_lost(struct chaos *chaos)
{
    const struct net_sink *sink = &chaos->wrap.net.sink;

    chaos->has_lost = false;
    for (int proc = 0; proc < chaos->wrap.procs; proc++) {
        const int error = chaos->lost[proc];
        if (!error)
            continue;
        if (atomic_load_explicit(&chaos->held_of[proc], memory_order_relaxed)) {
            chaos->has_lost = true;
        } else {
            chaos->lost[proc] = 0;
            sink->lost(sink->arg, proc, error);
        }
    }
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
    if (unlikely(chaos->has_lost))
        tell_lost(chaos);
    return events;
}

/* What the old process has sent last and nobody has missed goes with it. */
static void chaos_renew(struct net_ep *ep)
{
    struct chaos *chaos = chaos_of(ep);

    chaos->lost[ep->proc] = 0;
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
    mem_free(chaos->lost);
    mem_free((void *)chaos->held_of);
    mem_free(chaos);
}

/* As the wrapped transport has it: what it lacks, and how long its records are. Smaller sizes would do as well; the
 * same ones keep the protocols alike. */
static void take_after(struct net_ops *ops, const struct net_ops *inner)
{
    *ops = chaos_ops;
    ops->short_max = inner->short_max;
    ops->eager_max = inner->eager_max;
    ops->is_same_space = inner->is_same_space;
    if (!inner->send_from)
        ops->send_from = NULL;
    if (!inner->wait_fd)
        ops->wait_fd = NULL;
}

static int set_up(struct chaos *chaos, const struct net_config *config)
{
    const size_t procs = (size_t)config->procs;
    const struct net_sink sink = { .arrive = hold, .arg = chaos, .lost = config->sink.lost ? lose : NULL };

    list_init(&chaos->held);
    take_after(&chaos->ops, config->inner);
    chaos->random = (uint64_t)seed_setting.value * 1000003u + (uint64_t)(config->proc + 65537 * config->lane);
    chaos->kept_in = mem_zalloc(procs * sizeof *chaos->kept_in);
    chaos->held_of = mem_zalloc(procs * sizeof *chaos->held_of);
    chaos->lost = mem_zalloc(procs * sizeof *chaos->lost);
    if (!chaos->kept_in || !chaos->held_of || !chaos->lost)
        return err(MPI_ERR_NO_MEM, "no memory for transport chaos");
    return wrap_open(&chaos->wrap, &chaos->ops, config, sink);
}

static int chaos_open(const struct net_config *config, struct net **out)
{
    struct chaos *chaos = mem_zalloc(sizeof *chaos);
    int rc = setting_read(&seed_setting);

    if (!chaos || rc) {
        mem_free(chaos);
        return rc ? rc : err(MPI_ERR_NO_MEM, "no memory for transport chaos");
    }
    rc = set_up(chaos, config);
    if (rc)
        chaos_close(&chaos->wrap.net);
    else
        *out = &chaos->wrap.net;
    return rc;
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

    if (refuses(chaos, 8))
        return NET_TAKEN;
    return refuses(chaos, 4) ? NET_AGAIN : wrap_alloc(ep, buffer);
}

static int chaos_commit(struct net_ep *ep, struct net_head head, const struct net_buffer *buffer, uint32_t len)
{
    struct chaos *chaos = chaos_of(ep);

    return refuses(chaos, 8) ? NET_AGAIN : wrap_commit(ep, head, buffer, len);
}

static int chaos_send_from(struct net_ep *ep, struct net_head head, const void *payload, uint32_t len,
                           _Atomic uint32_t *pending)
{
    struct chaos *chaos = chaos_of(ep);

    return refuses(chaos, 4) ? NET_AGAIN : wrap_send_from(ep, head, payload, len, pending);
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

const struct net_ops chaos_ops = {
    .name = "chaos",
    .open = chaos_open,
    .close = chaos_close,
    .connect = chaos_connect,
    .renew = chaos_renew,
    .send = chaos_send,
    .send_soon = chaos_send,
    .alloc = chaos_alloc,
    .commit = chaos_commit,
    .release = wrap_release,
    .send_from = chaos_send_from,
    .wishes = wrap_wishes,
    .pace = wrap_pace,
    .wake = wrap_wake,
    .poll = chaos_poll,
    .poll_ep = chaos_poll_ep,
    .is_silent = chaos_is_silent,
    .wait_fd = wrap_wait_fd,
    .take = net_take_nothing,
    .can_copy = wrap_can_copy,
    .copy_from = wrap_copy_from,
    .copy_to = wrap_copy_to,
    .copy_list = wrap_copy_list,
    .refuse_copy = wrap_refuse_copy,
    .record_open = chaos_record_open,
    .record_find = wrap_record_find,
    .record_close = wrap_record_close,
};
