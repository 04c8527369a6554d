/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net. What transports share that wrap another one: the ways to the processes, and the functions that only mean
 * the inner transport. Such a transport embeds struct net_wrap first. */
#ifndef NET_WRAP_H
#define NET_WRAP_H

#include "net/net.h"

struct wrap_ep {
    struct net_ep ep;            /* first */
    struct net_ep *inner;
    bool refuses_copy;           /* the wrapper's: can_copy says no */
};

struct net_wrap {
    struct net net;              /* first */
    const struct net_ops *inner_ops;
    struct net *inner;
    struct wrap_ep **eps;        /* by process */
    int procs;
};

static inline struct net_wrap *wrap_of(struct net_ep *ep)
{
    return (struct net_wrap *)(void *)ep->net;
}

static inline struct net_ep *wrap_inner(const struct net_ep *ep)
{
    return ((const struct wrap_ep *)(const void *)ep)->inner;
}

/* `wrap` is zeroed memory; `ops` are the wrapper's. Arrivals of the inner transport go to `sink`. After an error
 * wrap_close is due as well. */
int wrap_open(struct net_wrap *wrap, const struct net_ops *ops, const struct net_config *config, struct net_sink sink);
/* All but the memory of the wrapper itself. */
void wrap_close(struct net_wrap *wrap);

/* For the table of the wrapper, see struct net_ops. */
int wrap_connect(struct net *net, int proc, struct net_ep **out);
void wrap_renew(struct net_ep *ep);
int wrap_send(struct net_ep *ep, struct net_head head, const void *payload, uint32_t len);
int wrap_alloc(struct net_ep *ep, struct net_buffer *buffer);
int wrap_commit(struct net_ep *ep, struct net_head head, const struct net_buffer *buffer, uint32_t len);
void wrap_release(struct net_ep *ep, const struct net_buffer *buffer);
int wrap_send_from(struct net_ep *ep, struct net_head head, const void *payload, uint32_t len,
                   _Atomic uint32_t *pending);
void wrap_wishes(struct net_ep *ep, _Atomic uint32_t **in, const _Atomic uint32_t **out);
struct pace *wrap_pace(struct net_ep *ep);
void wrap_wake(struct net_ep *ep);
int wrap_wait_fd(struct net *net);
bool wrap_can_copy(struct net_ep *ep);
int wrap_copy_from(struct net_ep *ep, void *local, uint64_t remote, size_t len);
int wrap_copy_to(struct net_ep *ep, const void *local, uint64_t remote, size_t len);
int wrap_copy_list(struct net_ep *ep, struct peek_list *list, bool is_to);
void wrap_refuse_copy(struct net_ep *ep);
struct net_record *wrap_record_open(struct net_ep *ep, uint32_t *index);
struct net_record *wrap_record_find(struct net_ep *ep, uint32_t index);
void wrap_record_close(struct net_ep *ep, struct net_record *record);

#endif
