/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/impi. Packets to bytes and back. */
#include "net/impi/packet.h"

#include <endian.h>
#include <string.h>

enum {
    AT_TYPE = 0, AT_LEN = 4, AT_SRC = 8, AT_DEST = 32, AT_SRQID = 56, AT_DRQID = 64, AT_MSGLEN = 72, AT_LSRANK = 80,
    AT_TAG = 84, AT_CID = 88, AT_SEQNUM = 96, AT_COUNT = 104, AT_DTYPE = 112, AT_RESERVED = 120,
};

static void put4(unsigned char *to, uint32_t value)
{
    value = htobe32(value);
    memcpy(to, &value, sizeof value);
}

static void put8(unsigned char *to, uint64_t value)
{
    value = htobe64(value);
    memcpy(to, &value, sizeof value);
}

static uint32_t get4(const unsigned char *from)
{
    uint32_t value;

    memcpy(&value, from, sizeof value);
    return be32toh(value);
}

static uint64_t get8(const unsigned char *from)
{
    uint64_t value;

    memcpy(&value, from, sizeof value);
    return be64toh(value);
}

void impi_packet_write(const struct impi_packet *packet, unsigned char to[IMPI_HEADER_SIZE])
{
    put4(to + AT_TYPE, packet->type);
    put4(to + AT_LEN, packet->len);
    memcpy(to + AT_SRC, packet->src, IMPI_NAME_SIZE);
    memcpy(to + AT_DEST, packet->dest, IMPI_NAME_SIZE);
    put8(to + AT_SRQID, packet->srqid);
    put8(to + AT_DRQID, packet->drqid);
    put8(to + AT_MSGLEN, packet->msglen);
    put4(to + AT_LSRANK, (uint32_t)packet->lsrank);
    put4(to + AT_TAG, (uint32_t)packet->tag);
    put8(to + AT_CID, packet->cid);
    put8(to + AT_SEQNUM, packet->seqnum);
    put8(to + AT_COUNT, (uint64_t)packet->count);
    put8(to + AT_DTYPE, packet->dtype);
    put8(to + AT_RESERVED, 0);
}

void impi_packet_read(struct impi_packet *packet, const unsigned char from[IMPI_HEADER_SIZE])
{
    packet->type = get4(from + AT_TYPE);
    packet->len = packet->type <= IMPI_DATASYNC ? get4(from + AT_LEN) : 0;
    memcpy(packet->src, from + AT_SRC, IMPI_NAME_SIZE);
    memcpy(packet->dest, from + AT_DEST, IMPI_NAME_SIZE);
    packet->srqid = get8(from + AT_SRQID);
    packet->drqid = get8(from + AT_DRQID);
    packet->msglen = get8(from + AT_MSGLEN);
    packet->lsrank = (int32_t)get4(from + AT_LSRANK);
    packet->tag = (int32_t)get4(from + AT_TAG);
    packet->cid = get8(from + AT_CID);
    packet->seqnum = get8(from + AT_SEQNUM);
    packet->count = (int64_t)get8(from + AT_COUNT);
    packet->dtype = get8(from + AT_DTYPE);
}

const char *impi_packet_check(const struct impi_packet *packet, uint32_t maxlen)
{
    if (packet->type >= IMPI_TYPES)
        return "a packet of a type that does not exist";
    if (packet->type > IMPI_DATASYNC)
        return NULL;
    if (packet->len > maxlen)
        return "a packet that is longer than was agreed";
    if (packet->len > packet->msglen)
        return "a packet that is longer than its message";
    if (packet->msglen > INT64_MAX)
        return "a message that is longer than there can be";
    if (packet->tag < 0)
        return "a message with a tag below 0";
    if (!packet->len && impi_packet_continues(packet))
        return "a packet that brings nothing of its message";
    return NULL;
}

void impi_index_write(uint32_t index, unsigned char to[IMPI_INDEX_SIZE])
{
    put4(to, index);
}

uint32_t impi_index_read(const unsigned char from[IMPI_INDEX_SIZE])
{
    return get4(from);
}
