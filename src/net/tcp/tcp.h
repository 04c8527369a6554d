/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/tcp. The transport between machines: TCP. */
#ifndef NET_TCP_TCP_H
#define NET_TCP_TCP_H

#include "net/net.h"

extern const struct net_ops tcp_ops;

#endif
