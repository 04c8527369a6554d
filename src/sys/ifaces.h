/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. The addresses by which others may reach this machine, and how they are written for them:
 *
 *   0       1     IFACES_VERSION
 *   1       1     number of addresses that follow
 *   2       2     TCP port, little endian
 *   4             addresses, the best first: family (4 or 6), bits of its subnet, 4 or 16 bytes */
#ifndef SYS_IFACES_H
#define SYS_IFACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { IFACES_VERSION = 1, IFACES_MAX = 32 };

/* The lower, the better. */
enum iface_scope { IFACE_WIDE, IFACE_LINK, IFACE_HOST };

/* One address of an interface of this machine. */
struct iface {
    uint8_t family;             /* 4 or 6 */
    uint8_t bits;               /* of its subnet */
    uint8_t rank;               /* enum iface_scope */
    unsigned char bytes[16];
    uint32_t index;             /* of the interface */
};

struct ifaces {
    struct iface at[IFACES_MAX];
    int count;
};

static inline int iface_bytes(int family)
{
    return family == 4 ? 4 : 16;
}

bool iface_is_same_net(const unsigned char *a, const unsigned char *b, int bits);
enum iface_scope iface_scope_of(int family, const unsigned char *bytes);

/* Those that are wanted, the best first: `wanted` has interfaces (eth0) and networks (10.1.0.0/16) with commas between
 * them, behind ^ those that are not wanted; empty: all. False: the system cannot tell, with errno. */
bool ifaces_look(const char *wanted, struct ifaces *ifaces);
/* Write as many as there is room for; the size of it. */
size_t ifaces_write(const struct ifaces *ifaces, uint16_t port, unsigned char *to, size_t room);

#endif
