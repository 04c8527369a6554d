/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/device. Arrivals of the inner transport are copied and brought to the model; at each poll the model runs
 * some of its commands, and some of its events are handed on, how many a seeded generator says. Events stay in order,
 * so records of a pair do.
 * Knows: base, net, match/offload. */
#include "net/device/device.h"

#include "base/copy.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/setting.h"
#include "net/wrap.h"

/* A record on its way through the device. */
struct carried {
    int proc;
    bool is_old;                /* of a process whose number another one has now: nobody misses it */
    struct net_head head;
    uint32_t len;
    unsigned char payload[];
};

struct device {
    struct net_wrap wrap;       /* first */
    const struct device_user *user;
    struct offload_model model;
    struct offload offload;
    _Atomic unsigned pending;   /* commands and events after the last poll; read without the lock */
    uint64_t random;
};

static struct setting entries_setting = {
    .name = "DEVICE_ENTRIES",
    .help = "how many receives the device of PARLEY_NET=device holds",
    .topic = "testing",
    .kind = SETTING_INT,
    .value = 32,
    .min = 1,
    .max = OFFLOAD_SLOTS_MAX,
};
SETTING_LISTED(entries_setting);

static struct setting seed_setting = {
    .name = "DEVICE_SEED",
    .help = "where the random numbers of PARLEY_NET=device start",
    .topic = "testing",
    .kind = SETTING_INT,
    .value = 1,
    .max = INT32_MAX,
};
SETTING_LISTED(seed_setting);

static unsigned below(struct device *device, unsigned n)
{
    device->random = device->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(device->random >> 33) % n;
}

static int carry(void *arg, int proc, struct net_head head, const void *payload, uint32_t len)
{
    struct device *device = arg;
    struct carried *carried = mem_alloc(sizeof *carried + len);
    struct model_arrival arrival;
    bool is_message;

    if (!carried)
        return NET_AGAIN;
    carried->proc = proc;
    carried->is_old = false;
    carried->head = head;
    carried->len = len;
    copy_bytes(carried->payload, payload, len); /* an empty one may come from a null buffer */
    is_message = device->user->is_message(head, carried->payload, len, &arrival);
    if (model_arrive(&device->model, is_message ? &arrival : NULL, carried))
        return 0;
    mem_free(carried);
    return NET_AGAIN;
}

static int hand_up(struct device *device, const struct model_event *event)
{
    const struct carried *carried = event->message;
    const struct net_sink *sink = &device->wrap.net.sink;

    if (carried->is_old && event->kind != MODEL_TAKEN)
        return 0;
    if (event->kind == MODEL_TAKEN)
        return device->user->taken(device->user->arg, event->slot, event->is_placed, carried->proc, carried->head,
                                   carried->payload, carried->len);
    return sink->arrive(sink->arg, carried->proc, carried->head, carried->payload, carried->len);
}

/* False: it could not be handled and stays the oldest. */
static bool handle(struct device *device, const struct model_event *event)
{
    const struct model_event copy = *event;

    if (copy.message && hand_up(device, &copy))
        return false;
    if (copy.kind == MODEL_UNEXPECTED)
        offload_handled(&device->offload);
    else if (copy.kind == MODEL_REMOVED)
        device->user->removed(device->user->arg, copy.slot);
    else if (copy.kind == MODEL_REMOVE_FAILED)
        offload_remove_failed(&device->offload, copy.slot);
    model_event_done(&device->model);
    mem_free(copy.message);
    return true;
}

/* Some commands, some events; a device is fast at one time and slow at another. */
static int move_on(struct device *device)
{
    struct offload_model *model = &device->model;
    const struct model_event *event;
    int events = 0;

    for (unsigned n = below(device, 8); n && model_run_command(model); n--)
        events++;
    for (unsigned n = below(device, 8); n && (event = model_event(model)) && handle(device, event); n--)
        events++;
    if (below(device, 4) == 0)
        offload_sync(&device->offload);
    atomic_store_explicit(&device->pending, model->command_count + model->event_count, memory_order_relaxed);
    return events;
}

static void device_renew(struct net_ep *ep)
{
    struct device *device = (struct device *)(void *)ep->net;
    const struct offload_model *model = &device->model;

    for (unsigned i = 0; i < model->event_count; i++) {
        struct carried *carried = model->events[(model->event_first + i) % MODEL_EVENTS].message;

        if (carried && carried->proc == ep->proc)
            carried->is_old = true;
    }
    wrap_renew(ep);
}

static void device_close(struct net *net)
{
    struct device *device = (struct device *)(void *)net;
    const struct model_event *event;

    wrap_close(&device->wrap);
    while ((event = model_event(&device->model))) {
        mem_free(event->message);
        model_event_done(&device->model);
    }
    offload_fini(&device->offload);
    model_fini(&device->model);
    mem_free(device);
}

static int set_up(struct device *device, const struct net_config *config)
{
    int rc = model_init(&device->model, (unsigned)entries_setting.value);

    device->user = config->device_user;
    device->random = (uint64_t)seed_setting.value * 1000003u + (uint64_t)(config->proc + 65537 * config->lane);
    if (!rc)
        rc = offload_init(&device->offload, &device->model.device);
    if (!rc)
        rc = wrap_open(&device->wrap, &device_shm_ops, config, (struct net_sink){ .arrive = carry, .arg = device });
    return rc;
}

static int device_open(const struct net_config *config, struct net **out)
{
    struct device *device;
    int rc = setting_read(&entries_setting);

    if (!rc)
        rc = setting_read(&seed_setting);
    if (rc)
        return rc;
    device = mem_zalloc(sizeof *device);
    if (!device)
        return err(MPI_ERR_NO_MEM, "no memory for transport device");
    rc = set_up(device, config);
    if (rc) {
        device_close(&device->wrap.net);
        return rc;
    }
    *out = &device->wrap.net;
    return 0;
}

struct offload *device_offload(struct net *net)
{
    return &((struct device *)(void *)net)->offload;
}

/* As long as something is under way this is no time to sleep: nobody would wake us for it. */
static int device_poll(struct net *net)
{
    struct device *device = (struct device *)(void *)net;
    const int events = device->wrap.inner_ops->poll(device->wrap.inner) + move_on(device);

    return events + (atomic_load_explicit(&device->pending, memory_order_relaxed) != 0);
}

/* Says only what has happened: who polls this as long as there is news must come to poll everything in the end. */
static int device_poll_ep(void *ep, const _Atomic uint32_t *done)
{
    struct device *device = (struct device *)(void *)((struct net_ep *)ep)->net;

    return device->wrap.inner_ops->poll_ep(wrap_inner(ep), done) + move_on(device);
}

static bool device_is_silent(const struct net_ep *ep)
{
    const struct device *device = (const struct device *)(const void *)ep->net;

    return !atomic_load_explicit(&device->pending, memory_order_relaxed) &&
           device->wrap.inner_ops->is_silent(wrap_inner(ep));
}

const struct net_ops device_shm_ops = {
    .name = "device(shm)",
    .short_max = 160,
    .eager_max = 32768,
    .open = device_open,
    .close = device_close,
    .connect = wrap_connect,
    .send = wrap_send,
    .send_soon = wrap_send,
    .alloc = wrap_alloc,
    .commit = wrap_commit,
    .renew = device_renew,
    .release = wrap_release,
    .wishes = wrap_wishes,
    .pace = wrap_pace,
    .wake = wrap_wake,
    .poll = device_poll,
    .poll_ep = device_poll_ep,
    .is_silent = device_is_silent,
    .take = net_take_nothing,
    .can_copy = wrap_can_copy,
    .copy_from = wrap_copy_from,
    .copy_to = wrap_copy_to,
    .copy_list = wrap_copy_list,
    .refuse_copy = wrap_refuse_copy,
    .record_open = wrap_record_open,
    .record_find = wrap_record_find,
    .record_close = wrap_record_close,
};
