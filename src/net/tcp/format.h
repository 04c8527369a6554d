/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/tcp. What goes over a connection, and what a process publishes of itself. Numbers are little endian; the
 * payloads are the caller's, and processes whose memory looks different refuse each other in the hello.
 *
 * A connection begins with notes of 64 bytes, then come frames, each a multiple of 8 bytes:
 *
 *   offset  size  what
 *   0       4     bytes of payload
 *   4       4     enum tcp_kind
 *   8       16    two words of the caller's; of TCP_WISH the wishes themselves, and in the upper half of the first word
 *                 how many bytes of records that may have to be kept (struct net_kept) may be sent, counted from the
 *                 beginning, TCP_FIRST_ROOM at first
 *   24            payload, filled up with zeroes to a multiple of 8
 *
 * An address (struct job_place) is as sys/ifaces.h writes it. */
#ifndef NET_TCP_FORMAT_H
#define NET_TCP_FORMAT_H

#include <stdint.h>

#include "net/net.h"
#include "sys/ifaces.h"

enum {
    TCP_VERSION = 1,
    TCP_ADDRESS_VERSION = IFACES_VERSION,
    TCP_FRAME_SIZE = 24,
    TCP_ALIGN = 8,
    TCP_FIRST_ROOM = 131072,
};

/* 0 is none, so that zeroes are no frame. */
enum tcp_kind { TCP_RECORD = 1, TCP_WISH, TCP_BYE };

struct tcp_frame {
    uint32_t len;
    uint32_t kind;
    struct net_head head;
};

_Static_assert(sizeof(struct tcp_frame) == TCP_FRAME_SIZE, "a frame's head has no holes");

/* What a payload of `len` bytes takes. */
static inline size_t tcp_padded(uint32_t len)
{
    return ((size_t)len + TCP_ALIGN - 1) / TCP_ALIGN * TCP_ALIGN;
}

#endif
