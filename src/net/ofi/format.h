/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/ofi. What goes over the fabric, and what a process publishes of itself. Numbers are little endian; the
 * payloads are the caller's, and processes whose memory looks different do not talk to each other.
 *
 * A frame is one message of the fabric, a multiple of 8 bytes long, so that those that come into one buffer lie
 * aligned:
 *
 *   offset  size  what
 *   0       4     bytes of payload in this frame
 *   4       4     OFI_FIRST: bytes of the whole record; else 0
 *   8       1     enum ofi_kind
 *   9       1     lane
 *   10      2     zero
 *   12      4     process that sends it
 *   16      4     how many have had the sender's number before
 *   20      4     number of the frame in its lane and between the two, from 0
 *   24      8     stamp: who has not the job's token cannot make it
 *   32      16    two words of the caller's; of OFI_WISH the words themselves
 *   48            payload, filled up with anything to a multiple of 8
 *
 * A record that is longer than OFI_EAGER_MAX is cut: OFI_FIRST, then as many OFI_MORE as it takes. Providers may hand
 * frames over in any order; the numbers put it right.
 *
 * An address (struct job_place) is
 *
 *   0       1     OFI_ADDRESS_VERSION; other values are other transports'
 *   1       1     how the memory looks: size of an address, plus 128 if numbers are big endian
 *   2       1     bytes of the name, 3: of the address
 *   4             provider's name, without an end; then the address, as the provider gives it
 */
#ifndef NET_OFI_FORMAT_H
#define NET_OFI_FORMAT_H

#include <stdint.h>

#include "net/net.h"

enum {
    OFI_ADDRESS_VERSION = 129,
    OFI_ADDRESS_HEAD = 4,
    OFI_FRAME_SIZE = 48,
    OFI_ALIGN = 8,
    OFI_EAGER_MAX = 65536,
    OFI_BIG_SIZE = OFI_FRAME_SIZE + OFI_EAGER_MAX,
};

/* A good-bye is answered if its first word is not 0; after it its sender sends nothing but answers. */
enum ofi_kind { OFI_RECORD = 1, OFI_FIRST, OFI_MORE, OFI_WISH, OFI_BYE, OFI_BYE_HEARD };

struct ofi_frame {
    uint32_t len, whole;
    uint8_t kind, lane, unused[2];
    uint32_t from;
    uint32_t tenant;
    uint32_t number;
    uint64_t stamp;
    struct net_head head;
};

_Static_assert(sizeof(struct ofi_frame) == OFI_FRAME_SIZE, "a frame's head has no holes");

/* What a frame with so much payload takes. */
static inline size_t ofi_frame_bytes(uint32_t len)
{
    return OFI_FRAME_SIZE + ((size_t)len + OFI_ALIGN - 1) / OFI_ALIGN * OFI_ALIGN;
}

#endif
