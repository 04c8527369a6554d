/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/ofi. Messages between processes of a job on several machines, over libfabric: for networks that do better
 * than TCP, InfiniBand and the like. See net/net.h. */
#ifndef NET_OFI_OFI_H
#define NET_OFI_OFI_H

#include "net/net.h"

extern const struct net_ops ofi_ops;

/* What carries messages to other machines: this transport, or the one that is `usual`, as PARLEY_NET_FAR says. By
 * itself (auto) this one is taken only where hardware is that libfabric has a provider for; `*is_firm` is false then,
 * and if it cannot be opened after all the usual one is as good. 0; E0366 or E0367: what is asked for is not there;
 * E0369: the setting says nothing. Any thread. */
int ofi_choose(const struct net_ops *usual, const struct net_ops **out, bool *is_firm);

#endif
