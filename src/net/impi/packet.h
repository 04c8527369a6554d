/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/impi. What stands on the wire between two hosts of IMPI 0.0: first the index of the host that has
 * connected (4 bytes), then packets, each a header of 128 bytes and, in the two data types, so many bytes as it
 * says. All numbers are big-endian. Knows nothing of connections. */
#ifndef NET_IMPI_PACKET_H
#define NET_IMPI_PACKET_H

#include <stdbool.h>
#include <stdint.h>

enum { IMPI_HEADER_SIZE = 128, IMPI_INDEX_SIZE = 4, IMPI_NAME_SIZE = 24 };

enum impi_type {
    IMPI_DATA,      /* of a message: the first packet, or one that continues it */
    IMPI_DATASYNC,  /* the first packet of a message whose match is to be acknowledged */
    IMPI_PROTOACK,  /* the receiver has taken `ackmark` packets from the connection */
    IMPI_SYNCACK,   /* the message has been matched */
    IMPI_CANCEL,    /* take the message back, if it has not been matched */
    IMPI_CANCELYES, /* answers: it is gone; … */
    IMPI_CANCELNO,  /* … it is not */
    IMPI_FINI,      /* the last packet of a host */
    IMPI_TYPES
};

struct impi_packet {
    uint32_t type;   /* enum impi_type, if impi_packet_check has said so */
    uint32_t len;    /* bytes that follow; 0 in all but the first two types, whatever stands there */
    unsigned char src[IMPI_NAME_SIZE], dest[IMPI_NAME_SIZE]; /* processes */
    uint64_t srqid;  /* the sender's request, given back in answers */
    uint64_t drqid;  /* the receiver's, in SYNCACK and in what continues the message */
    uint64_t msglen; /* bytes of the whole message */
    int32_t lsrank;  /* rank of the sender in its group */
    int32_t tag;
    uint64_t cid;    /* context */
    uint64_t seqnum; /* of the message; means nothing */
    int64_t count;   /* of its elements, and … */
    uint64_t dtype;  /* … their type; mean nothing */
};

void impi_packet_write(const struct impi_packet *packet, unsigned char to[IMPI_HEADER_SIZE]);
void impi_packet_read(struct impi_packet *packet, const unsigned char from[IMPI_HEADER_SIZE]);
/* NULL, or what is wrong with a packet that has been read, for whoever takes packets of `maxlen` bytes. */
const char *impi_packet_check(const struct impi_packet *packet, uint32_t maxlen);

void impi_index_write(uint32_t index, unsigned char to[IMPI_INDEX_SIZE]);
uint32_t impi_index_read(const unsigned char from[IMPI_INDEX_SIZE]);

/* Does the packet belong to a message that has begun? */
static inline bool impi_packet_continues(const struct impi_packet *packet)
{
    return packet->type == IMPI_DATA && packet->len != packet->msglen;
}

/* Does it use up credit (credit.h)? */
static inline bool impi_packet_counts(const struct impi_packet *packet)
{
    return packet->type != IMPI_PROTOACK && packet->type != IMPI_FINI;
}

#endif
