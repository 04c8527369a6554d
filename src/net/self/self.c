/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/self. The transport to the own process. Nothing is queued: send and commit call the sink.
 * Buffers come from a small stock, so that more than one can be filled at a time.
 * Knows: base, net. */
#include "net/self/self.h"

#include "base/err.h"
#include "base/mem.h"
#include "sys/pace.h"

enum { SELF_EAGER_MAX = 32768 };

struct self {
    struct net net;
    struct net_ep ep;
    struct mem_pool buffers;
    _Atomic uint32_t wishes[NET_WISHES];
    _Atomic uint32_t far;
    struct pace pace;
};

static int self_open(const struct net_config *config, struct net **out)
{
    struct self *self = mem_zalloc(sizeof *self);

    if (!self)
        return err(MPI_ERR_NO_MEM, "no memory for the transport to the own process");
    self->net = (struct net){ .ops = &self_ops, .sink = config->sink };
    self->ep = (struct net_ep){ .net = &self->net, .proc = config->proc };
    self->pace = (struct pace){ .told = &self->far, .heard = &self->far };
    mem_pool_init(&self->buffers, SELF_EAGER_MAX, 1);
    *out = &self->net;
    return 0;
}

static void self_close(struct net *net)
{
    struct self *self = (struct self *)(void *)net;

    mem_pool_fini(&self->buffers);
    mem_free(self);
}

static int self_connect(struct net *net, int proc, struct net_ep **out)
{
    struct self *self = (struct self *)(void *)net;

    if (proc != self->ep.proc)
        return err(MPI_ERR_INTERN, "transport self: process %d is not this one, %d", proc, self->ep.proc);
    *out = &self->ep;
    return 0;
}

static int self_send(struct net_ep *ep, struct net_head head, const void *payload, uint32_t len)
{
    return ep->net->sink.arrive(ep->net->sink.arg, ep->proc, head, payload, len);
}

static int self_alloc(struct net_ep *ep, struct net_buffer *buffer)
{
    struct self *self = (struct self *)(void *)ep->net;

    buffer->data = mem_pool_get(&self->buffers);
    return buffer->data ? 0 : NET_AGAIN;
}

static void self_release(struct net_ep *ep, const struct net_buffer *buffer)
{
    struct self *self = (struct self *)(void *)ep->net;

    mem_pool_put(&self->buffers, buffer->data);
}

static int self_commit(struct net_ep *ep, struct net_head head, const struct net_buffer *buffer, uint32_t len)
{
    const int rc = ep->net->sink.arrive(ep->net->sink.arg, ep->proc, head, buffer->data, len);

    if (!rc)
        self_release(ep, buffer);
    return rc;
}

static void self_wishes(struct net_ep *ep, _Atomic uint32_t **in, const _Atomic uint32_t **out)
{
    struct self *self = (struct self *)(void *)ep->net;

    *in = self->wishes;
    *out = self->wishes;
}

static struct pace *self_pace(struct net_ep *ep)
{
    return &((struct self *)(void *)ep->net)->pace;
}

static void self_wake(struct net_ep *ep)
{
    (void)ep;
}

static int self_poll(struct net *net)
{
    (void)net;
    return 0;
}

static int self_poll_ep(void *ep, const _Atomic uint32_t *done)
{
    (void)ep, (void)done;
    return 0;
}

static bool self_is_silent(const struct net_ep *ep)
{
    (void)ep;
    return true;
}

const struct net_ops self_ops = {
    .name = "self",
    .short_max = SELF_EAGER_MAX,
    .eager_max = SELF_EAGER_MAX,
    .is_same_space = true,
    .open = self_open,
    .close = self_close,
    .connect = self_connect,
    .send = self_send,
    .send_soon = self_send,
    .alloc = self_alloc,
    .commit = self_commit,
    .release = self_release,
    .wishes = self_wishes,
    .pace = self_pace,
    .wake = self_wake,
    .poll = self_poll,
    .poll_ep = self_poll_ep,
    .is_silent = self_is_silent,
    .take = net_take_nothing,
    .can_copy = net_cannot_copy,
};
