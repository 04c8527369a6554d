/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/tcp. Addresses: which ones this process publishes, and in which order those of another one are tried. No
 * name is resolved and no list of names of interfaces decides: an address is good if the right process answers there.
 * Knows: base, sys (addresses of interfaces). */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/setting.h"
#include "net/tcp/int_tcp.h"
#include "net/tcp/tcp.h"

static struct setting interface_setting = {
    .name = "TCP_INTERFACE",
    .help = "interfaces (eth0) or networks (10.1.0.0/16) for connections to other machines, with commas; "
            "after ^: all but these",
    .topic = "network",
    .kind = SETTING_TEXT,
    .text = "",
};
SETTING_LISTED(interface_setting);

int tcp_system_error(const char *what)
{
    if (errno == EMFILE || errno == ENFILE)
        return err(MPI_ERR_OTHER, "E0363: %s: %s", what, strerror(errno));
    return err(MPI_ERR_OTHER, "%s: %s", what, strerror(errno));
}

int tcp_address_look(struct ifaces *ifaces)
{
    const int rc = setting_read(&interface_setting);

    if (rc)
        return rc;
    if (!ifaces_look(interface_setting.text, ifaces))
        return tcp_system_error("no list of the addresses of this machine");
    if (ifaces->count)
        return 0;
    return err(MPI_ERR_OTHER, "E0365: no network interface of this machine is up and allowed by "
               "PARLEY_TCP_INTERFACE (\"%s\")", interface_setting.text);
}

/* One that stands in an address: `bits` are those of the other one's subnet. */
struct found {
    struct iface at;
    int order;                  /* the lower, the earlier */
};

/* A subnet that both are in comes first: it needs no router. */
static int order_of(const struct ifaces *own, const struct iface *other)
{
    if (other->rank != IFACE_WIDE)
        return 1 + other->rank;
    for (int i = 0; i < own->count; i++) {
        if (own->at[i].family == other->family && own->at[i].bits == other->bits && other->bits &&
            iface_is_same_net(own->at[i].bytes, other->bytes, other->bits))
            return 0;
    }
    return 1;
}

static int parse(const struct ifaces *own, const unsigned char *from, size_t size, struct found found[TCP_TARGETS])
{
    size_t at = 4;
    int count = 0;

    if (size < 4 || from[0] != TCP_ADDRESS_VERSION)
        return 0;
    for (int i = 0; i < from[1] && count < TCP_TARGETS; i++) {
        struct found *f = &found[count];
        if (size - at < 6 || (from[at] != 4 && from[at] != 6) || size - at < 2 + (size_t)iface_bytes(from[at]))
            return count;
        *f = (struct found){ .at = { .family = from[at], .bits = from[at + 1] } };
        if (f->at.bits > 8 * iface_bytes(f->at.family))
            return count;
        memcpy(f->at.bytes, from + at + 2, (size_t)iface_bytes(f->at.family));
        f->at.rank = (uint8_t)iface_scope_of(f->at.family, f->at.bytes);
        f->order = order_of(own, &f->at);
        at += 2 + (size_t)iface_bytes(f->at.family);
        count++;
    }
    return count;
}

static struct tcp_target target_of(const struct iface *at, in_port_t port, uint32_t scope)
{
    struct tcp_target target = { 0 };

    if (at->family == 4) {
        target.size = sizeof target.to.v4;
        target.to.v4.sin_family = AF_INET;
        target.to.v4.sin_port = port;
        memcpy(&target.to.v4.sin_addr, at->bytes, 4);
    } else {
        target.size = sizeof target.to.v6;
        target.to.v6.sin6_family = AF_INET6;
        target.to.v6.sin6_port = port;
        target.to.v6.sin6_scope_id = scope;
        memcpy(&target.to.v6.sin6_addr, at->bytes, 16);
    }
    return target;
}

/* An IPv6 address of a link is tried from each interface that has such a one. */
static int add_targets(const struct ifaces *own, const struct iface *at, in_port_t port,
                       struct tcp_target *targets, int room)
{
    int count = 0;

    if (at->family == 4 || at->rank != IFACE_LINK) {
        if (room > 0)
            targets[count++] = target_of(at, port, 0);
        return count;
    }
    for (int i = 0; i < own->count && count < room; i++) {
        if (own->at[i].family == 6 && own->at[i].rank == IFACE_LINK)
            targets[count++] = target_of(at, port, own->at[i].index);
    }
    return count;
}

int tcp_address_read(const struct ifaces *own, const unsigned char *from, size_t size,
                     struct tcp_target targets[TCP_TARGETS])
{
    struct found found[TCP_TARGETS];
    const int given = parse(own, from, size, found);
    int count = 0;

    for (int order = 0; order <= 1 + IFACE_HOST; order++) {
        for (int i = 0; i < given; i++) {
            if (found[i].order == order)
                count += add_targets(own, &found[i].at, htons((uint16_t)(from[2] | from[3] << 8)), targets + count,
                                     TCP_TARGETS - count);
        }
    }
    return count;
}

void tcp_address_name(const struct tcp_target *target, char *text, size_t size)
{
    const bool is_v4 = target->to.any.sa_family == AF_INET;
    const void *bytes = is_v4 ? (const void *)&target->to.v4.sin_addr : &target->to.v6.sin6_addr;
    char name[INET6_ADDRSTRLEN] = "?";

    inet_ntop(target->to.any.sa_family, bytes, name, sizeof name);
    snprintf(text, size, "%s port %d", name, ntohs(is_v4 ? target->to.v4.sin_port : target->to.v6.sin6_port));
}

enum { REACH_MAX = 80 }; /* bytes, so that the name of a port is short enough for all MPIs */

int tcp_reach_write(uint16_t port, char *hex, size_t size)
{
    unsigned char bytes[REACH_MAX];
    struct ifaces ifaces;
    size_t length;
    int rc = tcp_address_look(&ifaces);

    if (rc)
        return rc;
    length = ifaces_write(&ifaces, port, bytes, size_min(sizeof bytes, (size - 1) / 2));
    for (size_t i = 0; i < length; i++)
        snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
    return 0;
}

static bool read_hex(const char *hex, unsigned char *bytes, size_t *size)
{
    const size_t length = strspn(hex, "0123456789abcdef");

    if (hex[length] || length % 2 || length / 2 > *size)
        return false;
    *size = length / 2;
    for (size_t i = 0; i < *size; i++) {
        unsigned byte;
        if (sscanf(hex + 2 * i, "%2x", &byte) != 1)
            return false;
        bytes[i] = (unsigned char)byte;
    }
    return true;
}

bool tcp_reach_read(const char *hex, struct tcp_reach *reach)
{
    struct tcp_target targets[TCP_TARGETS];
    unsigned char bytes[REACH_MAX];
    size_t size = sizeof bytes;
    struct ifaces ifaces;

    if (!read_hex(hex, bytes, &size) || tcp_address_look(&ifaces))
        return false;
    reach->count = tcp_address_read(&ifaces, bytes, size, targets);
    for (int i = 0; i < reach->count; i++) {
        const bool is_v4 = targets[i].to.any.sa_family == AF_INET;
        const void *at = is_v4 ? (const void *)&targets[i].to.v4.sin_addr : &targets[i].to.v6.sin6_addr;
        inet_ntop(targets[i].to.any.sa_family, at, reach->at[i].ip, sizeof reach->at[i].ip);
        reach->at[i].scope = is_v4 ? 0 : targets[i].to.v6.sin6_scope_id;
    }
    reach->port = reach->count ? (uint16_t)(bytes[2] | bytes[3] << 8) : 0;
    return reach->count > 0;
}
