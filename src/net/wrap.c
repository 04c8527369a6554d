/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net. What transports share that wrap another one; see wrap.h. */
#include "net/wrap.h"

#include "base/err.h"
#include "base/mem.h"

int wrap_open(struct net_wrap *wrap, const struct net_ops *ops, const struct net_config *config, struct net_sink sink)
{
    struct net_config inner = *config;

    wrap->net = (struct net){ .ops = ops, .sink = config->sink };
    wrap->inner_ops = config->inner;
    wrap->procs = config->procs;
    wrap->eps = mem_zalloc((size_t)config->procs * sizeof *wrap->eps);
    if (!wrap->eps)
        return err(MPI_ERR_NO_MEM, "no memory for transport %s", ops->name);
    inner.sink = sink;
    return config->inner->open(&inner, &wrap->inner);
}

void wrap_close(struct net_wrap *wrap)
{
    if (wrap->inner)
        wrap->inner_ops->close(wrap->inner);
    for (int proc = 0; wrap->eps && proc < wrap->procs; proc++)
        mem_free(wrap->eps[proc]);
    mem_free(wrap->eps);
}

int wrap_connect(struct net *net, int proc, struct net_ep **out)
{
    struct net_wrap *wrap = (struct net_wrap *)(void *)net;
    struct wrap_ep *ep = mem_zalloc(sizeof *ep);
    int rc;

    if (!ep)
        return err(MPI_ERR_NO_MEM, "no memory for the connection to process %d", proc);
    rc = wrap->inner_ops->connect(wrap->inner, proc, &ep->inner);
    if (rc) {
        mem_free(ep);
        return rc;
    }
    ep->ep = (struct net_ep){ .net = net, .proc = proc };
    mem_free(wrap->eps[proc]);
    wrap->eps[proc] = ep;
    *out = &ep->ep;
    return 0;
}

int wrap_send(struct net_ep *ep, struct net_head head, const void *payload, uint32_t len)
{
    return wrap_of(ep)->inner_ops->send(wrap_inner(ep), head, payload, len);
}

int wrap_alloc(struct net_ep *ep, struct net_buffer *buffer)
{
    return wrap_of(ep)->inner_ops->alloc(wrap_inner(ep), buffer);
}

int wrap_commit(struct net_ep *ep, struct net_head head, const struct net_buffer *buffer, uint32_t len)
{
    return wrap_of(ep)->inner_ops->commit(wrap_inner(ep), head, buffer, len);
}

void wrap_release(struct net_ep *ep, const struct net_buffer *buffer)
{
    wrap_of(ep)->inner_ops->release(wrap_inner(ep), buffer);
}

int wrap_send_from(struct net_ep *ep, struct net_head head, const void *payload, uint32_t len,
                   _Atomic uint32_t *pending)
{
    return wrap_of(ep)->inner_ops->send_from(wrap_inner(ep), head, payload, len, pending);
}

void wrap_wishes(struct net_ep *ep, _Atomic uint32_t **in, const _Atomic uint32_t **out)
{
    wrap_of(ep)->inner_ops->wishes(wrap_inner(ep), in, out);
}

void wrap_renew(struct net_ep *ep)
{
    if (wrap_of(ep)->inner_ops->renew)
        wrap_of(ep)->inner_ops->renew(wrap_inner(ep));
}

struct pace *wrap_pace(struct net_ep *ep)
{
    return wrap_of(ep)->inner_ops->pace(wrap_inner(ep));
}

void wrap_wake(struct net_ep *ep)
{
    wrap_of(ep)->inner_ops->wake(wrap_inner(ep));
}

int wrap_wait_fd(struct net *net)
{
    struct net_wrap *wrap = (struct net_wrap *)(void *)net;

    return wrap->inner_ops->wait_fd(wrap->inner);
}

bool wrap_can_copy(struct net_ep *ep)
{
    return !((struct wrap_ep *)(void *)ep)->refuses_copy && wrap_of(ep)->inner_ops->can_copy(wrap_inner(ep));
}

int wrap_copy_from(struct net_ep *ep, void *local, uint64_t remote, size_t len)
{
    return wrap_of(ep)->inner_ops->copy_from(wrap_inner(ep), local, remote, len);
}

int wrap_copy_to(struct net_ep *ep, const void *local, uint64_t remote, size_t len)
{
    return wrap_of(ep)->inner_ops->copy_to(wrap_inner(ep), local, remote, len);
}

int wrap_copy_list(struct net_ep *ep, struct peek_list *list, bool is_to)
{
    return wrap_of(ep)->inner_ops->copy_list(wrap_inner(ep), list, is_to);
}

void wrap_refuse_copy(struct net_ep *ep)
{
    ((struct wrap_ep *)(void *)ep)->refuses_copy = true;
}

struct net_record *wrap_record_open(struct net_ep *ep, uint32_t *index)
{
    return wrap_of(ep)->inner_ops->record_open(wrap_inner(ep), index);
}

struct net_record *wrap_record_find(struct net_ep *ep, uint32_t index)
{
    return wrap_of(ep)->inner_ops->record_find(wrap_inner(ep), index);
}

void wrap_record_close(struct net_ep *ep, struct net_record *record)
{
    wrap_of(ep)->inner_ops->record_close(wrap_inner(ep), record);
}
