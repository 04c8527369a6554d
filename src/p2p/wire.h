/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. What travels between processes. A record is a net_head and a payload.
 *
 * Head:
 *   word[0]   bits 7..0 kind, 15..8 flags, 31..16 hash of the type signature (0: none), 63..32 context
 *   word[1]   bits 31..0 tag, 63..32 rank of the sender in its group: the key of matching (DATA: the receiver's id)
 *
 * Payload by kind (an id is the address of a request in the process that made it, and comes back as it was sent):
 *   EAGER          with SYNC: 8 bytes, the sender's id; then the message; with CAUSE: struct p2p_cause, cut behind its
 *                  text, in place of a message that cannot be supplied, or, with the tag INT_MIN in the context of the
 *                  user, about the communicator (broken.c)
 *   RTS            struct wire_rts: a long message is offered
 *   CTS_COPY       struct wire_cts: copy it together by the record, of the sender of this
 *   CTS_STREAM     struct wire_cts: send `len` bytes of it as DATA
 *   DATA           the next bytes of the message
 *   ACK            struct wire_reply: the synchronous message has been matched
 *   FIN            struct wire_reply: nothing of the message is needed any more
 *   CANCEL         struct wire_reply: take the message back, if nobody has it yet; head as that of the message
 *   CANCELLED      struct wire_reply: answer, it is gone; no answer comes when it was matched
 *   PART_SETUP     struct wire_rts: a partitioned send has been made; in the context of collectives, and the rank in
 *                  word[1] has its top bit set, so that it is matched by partitioned receives only
 *   PART_GRANT     struct wire_cts: to its sender; the receive has been started once more and is for `len` bytes
 *   PART_DATA      a piece of the message: bits 63..16 of word[0] are its offset, word[1] is the receiver's id
 *   PART_OFFER     struct wire_part_offer: a longer piece, which then moves as after an RTS; word[1] as in PART_DATA
 *   LETTER         a letter (p2p/letter.h): bits 63..16 of word[0] and word[1] are its user's
 *   LETTER_RTS     struct wire_rts: a longer one, which then moves as after an RTS; words as in LETTER
 *   PARCEL         a parcel (p2p/parcel.h): the tag is its user's
 *   PARCEL_RTS     struct wire_rts: a longer one, which then moves as after an RTS; words as in PARCEL
 *   FETCH, STORE   struct wire_errand: DATA shall come from an address, or be sent to it (CTS_STREAM); errand.c
 *
 * EAGER and RTS of a pair stay in order, and so do LETTER and LETTER_RTS, PARCEL and PARCEL_RTS. The other kinds need
 * none: DATA of one message is in order, CANCEL comes after its message because it is asked only once that is out, and
 * all else answers something that has arrived. So they may pass messages that wait. The version of this page is checked
 * when a job starts (the job segment's major number).
 *
 * Beside the records, the receiver of a pair sets the transport's words: `throttle` to one of enum wire_throttle, and
 * the next one to the longest run of bytes that is not to be offered (0: the usual one), and WIRE_GAPS_TOO. */
#ifndef P2P_WIRE_H
#define P2P_WIRE_H

#include <stdint.h>

#include "net/net.h"

enum wire_kind {
    WIRE_EAGER = 1, WIRE_RTS, WIRE_CTS_COPY, WIRE_CTS_STREAM, WIRE_DATA, WIRE_ACK, WIRE_FIN, WIRE_CANCEL,
    WIRE_CANCELLED, WIRE_PART_SETUP, WIRE_PART_GRANT, WIRE_PART_DATA, WIRE_PART_OFFER, WIRE_LETTER, WIRE_LETTER_RTS,
    WIRE_PARCEL, WIRE_PARCEL_RTS, WIRE_FETCH, WIRE_STORE,
    WIRE_FOREIGN, /* never on the wire: a message of another client, as it is matched and kept */
};

enum wire_flag {
    WIRE_SYNC = 1,   /* EAGER: acknowledge at the match */
    WIRE_CONTIG = 2, /* RTS: address is that of one run of bytes */
    WIRE_LISTED = 4, /* RTS: address is that of a list of blocks (struct type_block) in the sender */
    WIRE_CAUSE = 8,  /* EAGER: it says why there is no message */
};

enum wire_throttle {
    THROTTLE_NONE,
    THROTTLE_OFFER, /* of messages only RTS; their data stays with the sender */
    THROTTLE_HOLD,  /* no messages at all, but all other kinds */
};

/* Messages with gaps that could not be copied block by block shall come without an offer, packed, if they fit in the
 * longest record that is read while it is written. */
#define WIRE_GAPS_TOO UINT32_C(0x80000000)

struct wire_rts {
    uint64_t id;      /* the sender's */
    uint64_t len;     /* of the message */
    uint64_t address; /* of its first byte in the sender, with WIRE_CONTIG; of the list, with WIRE_LISTED */
    uint64_t blocks;  /* how many the list has */
};

struct wire_cts {
    uint64_t id;      /* the sender's, from the RTS */
    uint64_t recv_id; /* the receiver's, for DATA */
    uint64_t len;     /* bytes wanted; fewer than offered if the buffer is short */
    uint32_t record;  /* CTS_COPY */
    uint32_t parts;   /* CTS_STREAM: 1: DATA is read while it is written, if the transport has such a way */
};

struct wire_reply {
    uint64_t id;      /* the sender's */
};

struct wire_errand {
    uint64_t id;      /* of the request of who asks */
    uint64_t address; /* of a run of bytes in the other process */
    uint64_t len;
};

struct wire_part_offer {
    uint64_t id;      /* the sender's, of the piece */
    uint64_t offset;  /* in the packed stream of the whole */
    uint64_t len;
    uint64_t address; /* of its first byte in the sender, with WIRE_CONTIG */
};

enum { WIRE_SYNC_ID = sizeof(uint64_t), WIRE_OFFSET_BITS = 48 };

_Static_assert(sizeof(struct wire_cts) == 32 && sizeof(struct wire_rts) == 32, "payloads have no holes");
_Static_assert(sizeof(struct wire_part_offer) == 32, "payloads have no holes");

enum { WIRE_SIGNATURE_SHIFT = 16 };

/* Of the kinds, EAGER and RTS have none of these bits (nor CTS_COPY, which no way between machines carries): what the
 * receiver may have to keep. */
enum { WIRE_KEPT_MASK = 0xfc };

_Static_assert(!((WIRE_EAGER | WIRE_RTS) & WIRE_KEPT_MASK) && WIRE_CTS_STREAM & WIRE_KEPT_MASK, "kinds that are kept");

/* A match key is the second word of the head; see match_key. */
static ALWAYS_INLINE struct net_head wire_head(enum wire_kind kind, unsigned flags, unsigned signature,
                                               uint32_t ctx, uint64_t key)
{
    return (struct net_head){
        { (uint64_t)kind | (uint64_t)flags << 8 | (uint64_t)signature << WIRE_SIGNATURE_SHIFT | (uint64_t)ctx << 32,
          key },
    };
}

/* PART_DATA: `offset` is below 1 << WIRE_OFFSET_BITS. */
static inline struct net_head wire_part_head(uint64_t offset, uint64_t recv_id)
{
    return (struct net_head){ { WIRE_PART_DATA | offset << (64 - WIRE_OFFSET_BITS), recv_id } };
}

static inline uint64_t wire_offset(struct net_head head)
{
    return head.word[0] >> (64 - WIRE_OFFSET_BITS);
}

static ALWAYS_INLINE unsigned wire_kind(struct net_head head)
{
    return head.word[0] & 0xff;
}

static ALWAYS_INLINE unsigned wire_flags(struct net_head head)
{
    return head.word[0] >> 8 & 0xff;
}

static ALWAYS_INLINE uint16_t wire_signature(struct net_head head)
{
    return (uint16_t)(head.word[0] >> WIRE_SIGNATURE_SHIFT);
}

static ALWAYS_INLINE uint32_t wire_ctx(struct net_head head)
{
    return (uint32_t)(head.word[0] >> 32);
}

static ALWAYS_INLINE int wire_tag(struct net_head head)
{
    return (int)(uint32_t)head.word[1];
}

static ALWAYS_INLINE int wire_source(struct net_head head)
{
    return (int)(uint32_t)(head.word[1] >> 32);
}

#endif
