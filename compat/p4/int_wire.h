/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4, inside. The envelope of a message, which travels with its bytes in the two words of a letter:
 *
 *   word[0]   bits 31..0 type, 35..32 kind, 38..36 datatype, 39 external form
 *   word[1]   bits 31..0 id of the sender, 63..32 number of the acknowledgement; 0: none wanted */
#ifndef P4_INT_WIRE_H
#define P4_INT_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

struct envelope {
    int32_t type, from;
    uint8_t kind, datatype; /* below 16 and 8 */
    bool is_xdr;
    uint32_t ack;
};

static ALWAYS_INLINE void wire_pack(const struct envelope *e, uint64_t word[2])
{
    word[0] = (uint32_t)e->type | (uint64_t)e->kind << 32 | (uint64_t)e->datatype << 36 | (uint64_t)e->is_xdr << 39;
    word[1] = (uint32_t)e->from | (uint64_t)e->ack << 32;
}

/* Of any words, also such as wire_pack never makes. */
static inline struct envelope wire_unpack(const uint64_t word[2])
{
    return (struct envelope){
        .type = (int32_t)(uint32_t)word[0],
        .from = (int32_t)(uint32_t)word[1],
        .kind = word[0] >> 32 & 15,
        .datatype = word[0] >> 36 & 7,
        .is_xdr = word[0] >> 39 & 1,
        .ack = (uint32_t)(word[1] >> 32),
    };
}

#endif
