/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net. What a transport that lacks something takes instead. */
#include "net/net.h"

bool net_cannot_copy(struct net_ep *ep)
{
    (void)ep;
    return false;
}
