/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/self. A process's way to itself: a record arrives while it is being sent. */
#ifndef NET_SELF_SELF_H
#define NET_SELF_SELF_H

#include "net/net.h"

extern const struct net_ops self_ops;

#endif
