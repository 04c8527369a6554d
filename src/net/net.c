/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net. What a transport that lacks something takes instead. */
#include "net/net.h"

bool net_cannot_copy(struct net_ep *ep)
{
    (void)ep;
    return false;
}

int net_take_nothing(struct net_ep *ep, struct net_head head, void *buf, size_t max)
{
    (void)ep, (void)head, (void)buf, (void)max;
    return NET_NOT_THIS;
}
