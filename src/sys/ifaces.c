/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. The addresses of this machine's interfaces. */
#include "sys/ifaces.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool iface_is_same_net(const unsigned char *a, const unsigned char *b, int bits)
{
    const int whole = bits / 8, rest = bits % 8;

    return !memcmp(a, b, (size_t)whole) && (!rest || !((a[whole] ^ b[whole]) >> (8 - rest)));
}

enum iface_scope iface_scope_of(int family, const unsigned char *bytes)
{
    static const unsigned char loopback[16] = { [15] = 1 };

    if (family == 4)
        return bytes[0] == 127 ? IFACE_HOST : bytes[0] == 169 && bytes[1] == 254 ? IFACE_LINK : IFACE_WIDE;
    if (!memcmp(bytes, loopback, sizeof loopback))
        return IFACE_HOST;
    return bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80 ? IFACE_LINK : IFACE_WIDE;
}

/* "10.1.0.0/16" */
static bool is_in_network(const struct iface *iface, const char *network)
{
    unsigned char bytes[16];
    char text[INET6_ADDRSTRLEN];
    const char *slash = strchr(network, '/');
    const size_t len = (size_t)(slash - network);
    const int bits = atoi(slash + 1);

    if (len >= sizeof text || bits < 0 || bits > 8 * iface_bytes(iface->family))
        return false;
    memcpy(text, network, len);
    text[len] = 0;
    return inet_pton(iface->family == 4 ? AF_INET : AF_INET6, text, bytes) == 1 &&
           iface_is_same_net(bytes, iface->bytes, bits);
}

static bool is_listed(const char *list, const struct iface *iface, const char *name)
{
    char entry[64];

    while (*list) {
        const size_t len = strcspn(list, ",");
        snprintf(entry, sizeof entry, "%.*s", (int)len, list);
        if (strchr(entry, '/') ? is_in_network(iface, entry) : !strcmp(entry, name))
            return true;
        list += len + (list[len] == ',');
    }
    return false;
}

static bool is_wanted(const char *list, const struct iface *iface, const char *name)
{
    if (!*list)
        return true;
    return *list == '^' ? !is_listed(list + 1, iface, name) : is_listed(list, iface, name);
}

static int count_bits(const unsigned char *mask, int bytes)
{
    int bits = 0;

    for (int i = 0; i < bytes; i++)
        bits += __builtin_popcount(mask[i]);
    return bits;
}

/* False: it is no address that anybody could connect to. */
static bool read_iface(const struct ifaddrs *from, struct iface *iface)
{
    const void *bytes, *mask;

    if (!from->ifa_addr || !(from->ifa_flags & IFF_UP))
        return false;
    *iface = (struct iface){ .index = if_nametoindex(from->ifa_name) };
    if (from->ifa_addr->sa_family == AF_INET) {
        iface->family = 4;
        bytes = &((const struct sockaddr_in *)(const void *)from->ifa_addr)->sin_addr;
        mask = from->ifa_netmask ? &((const struct sockaddr_in *)(const void *)from->ifa_netmask)->sin_addr : NULL;
    } else if (from->ifa_addr->sa_family == AF_INET6) {
        iface->family = 6;
        bytes = &((const struct sockaddr_in6 *)(const void *)from->ifa_addr)->sin6_addr;
        mask = from->ifa_netmask ? &((const struct sockaddr_in6 *)(const void *)from->ifa_netmask)->sin6_addr : NULL;
    } else {
        return false;
    }
    memcpy(iface->bytes, bytes, (size_t)iface_bytes(iface->family));
    iface->bits = (uint8_t)(mask ? count_bits(mask, iface_bytes(iface->family)) : 8 * iface_bytes(iface->family));
    iface->rank = (uint8_t)iface_scope_of(iface->family, iface->bytes);
    return true;
}

/* Behind those that are as good. */
static void insert(struct ifaces *ifaces, const struct iface *iface)
{
    int at = ifaces->count < IFACES_MAX ? ifaces->count++ : IFACES_MAX - 1;

    if (at == IFACES_MAX - 1 && ifaces->at[at].family && ifaces->at[at].rank <= iface->rank)
        return;
    for (; at > 0 && ifaces->at[at - 1].rank > iface->rank; at--)
        ifaces->at[at] = ifaces->at[at - 1];
    ifaces->at[at] = *iface;
}

bool ifaces_look(const char *wanted, struct ifaces *ifaces)
{
    struct ifaddrs *list;
    struct iface iface;

    memset(ifaces, 0, sizeof *ifaces);
    if (getifaddrs(&list))
        return false;
    for (const struct ifaddrs *i = list; i; i = i->ifa_next) {
        if (read_iface(i, &iface) && is_wanted(wanted, &iface, i->ifa_name))
            insert(ifaces, &iface);
    }
    freeifaddrs(list);
    return true;
}

size_t ifaces_write(const struct ifaces *ifaces, uint16_t port, unsigned char *to, size_t room)
{
    size_t size = 4;

    to[0] = IFACES_VERSION;
    to[1] = 0;
    to[2] = (unsigned char)port;
    to[3] = (unsigned char)(port >> 8);
    for (int i = 0; i < ifaces->count; i++) {
        const struct iface *iface = &ifaces->at[i];
        const size_t bytes = (size_t)iface_bytes(iface->family);
        if (size + 2 + bytes > room)
            continue;
        to[size] = iface->family;
        to[size + 1] = iface->bits;
        memcpy(to + size + 2, iface->bytes, bytes);
        size += 2 + bytes;
        to[1]++;
    }
    return size;
}
