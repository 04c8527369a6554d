/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/tcp. The transport between machines: TCP. */
#ifndef NET_TCP_TCP_H
#define NET_TCP_TCP_H

#include "net/net.h"

extern const struct net_ops tcp_ops;

/* Where somebody on this machine who listens at a TCP port can be reached, in hex digits, at most `size` - 1 of them.
 * Error: as of opening the transport. */
int tcp_reach_write(uint16_t port, char *hex, size_t size);

/* The other way round. */
struct tcp_reach {
    uint16_t port;
    int count;
    struct {
        char ip[46];
        uint32_t scope;
    } at[20];
};
/* False: that is none of these texts, or there is no address in it that can be tried. */
bool tcp_reach_read(const char *hex, struct tcp_reach *reach);

#endif
