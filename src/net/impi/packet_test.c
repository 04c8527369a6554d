/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of net/impi: packets byte for byte as the protocol has them, what is refused, and credit counted
 * exactly. */
#include "net/impi/packet.h"

#include <string.h>

#include "base/check.h"
#include "net/impi/credit.h"

/* A DATASYNC of 4 bytes from process 1000 at ::ffff:127.0.0.1 to process 2000 at ::ffff:127.0.0.2. */
static const unsigned char sample[IMPI_HEADER_SIZE] = {
    0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0xff, 0xff, 0x7f, 0, 0, 1, 0, 0, 0, 0, 0, 0, 3, 0xe8,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0x7f, 0, 0, 2,
    0, 0, 0, 0, 0, 0, 7, 0xd0, 0, 0, 0, 0, 0, 0, 0, 7,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4,
    0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1,
    0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0,
};

static struct impi_packet sample_packet(void)
{
    return (struct impi_packet){
        .type = IMPI_DATASYNC, .len = 4, .srqid = 7, .msglen = 4, .tag = 20, .seqnum = 1, .count = 1, .dtype = 3,
        .src = { [10] = 0xff, 0xff, 127, 0, 0, 1, [22] = 3, 0xe8 },
        .dest = { [10] = 0xff, 0xff, 127, 0, 0, 2, [22] = 7, 0xd0 },
    };
}

static void test_sample(void)
{
    const struct impi_packet packet = sample_packet();
    unsigned char bytes[IMPI_HEADER_SIZE], again[IMPI_HEADER_SIZE];
    struct impi_packet back;

    memset(bytes, 0x55, sizeof bytes);
    impi_packet_write(&packet, bytes);
    CHECK(!memcmp(bytes, sample, sizeof sample));
    impi_packet_read(&back, sample);
    CHECK(!memcmp(back.src, packet.src, IMPI_NAME_SIZE) && !memcmp(back.dest, packet.dest, IMPI_NAME_SIZE));
    impi_packet_write(&back, again);
    CHECK(!memcmp(again, sample, sizeof sample));
}

/* Every field stands where it belongs, with all of its bytes and its sign. */
static void test_fields(void)
{
    unsigned char bytes[IMPI_HEADER_SIZE];
    struct impi_packet packet;

    for (int i = 0; i < IMPI_HEADER_SIZE; i++)
        bytes[i] = (unsigned char)(i + 1);
    memset(bytes, 0, 4);
    bytes[80] = bytes[104] = 0xff;
    impi_packet_read(&packet, bytes);
    CHECK_INT(packet.type, IMPI_DATA);
    CHECK_INT(packet.len, 0x05060708);
    CHECK_INT(packet.srqid, 0x393a3b3c3d3e3f40);
    CHECK_INT(packet.drqid, 0x4142434445464748);
    CHECK_INT(packet.msglen, 0x494a4b4c4d4e4f50);
    CHECK_INT(packet.lsrank, (int32_t)0xff525354);
    CHECK_INT(packet.tag, 0x55565758);
    CHECK_INT(packet.cid, 0x595a5b5c5d5e5f60);
    CHECK_INT(packet.seqnum, 0x6162636465666768);
    CHECK_INT(packet.count, (int64_t)0xff6a6b6c6d6e6f70);
    CHECK_INT(packet.dtype, 0x7172737475767778);
}

static const char *check(struct impi_packet packet)
{
    return impi_packet_check(&packet, 100);
}

static void test_check(void)
{
    const struct impi_packet good = { .type = IMPI_DATA, .len = 100, .msglen = 100 };
    struct impi_packet packet = good;
    unsigned char bytes[IMPI_HEADER_SIZE];

    CHECK(!check(good));
    packet.msglen = 1000;
    CHECK(!check(packet) && impi_packet_continues(&packet));
    packet.msglen = 99;
    CHECK(check(packet));
    packet = good;
    packet.len = packet.msglen = 101;
    CHECK(check(packet));
    packet.len = 0;
    CHECK(check(packet));
    packet.type = IMPI_DATASYNC;
    CHECK(!check(packet));
    packet.msglen = UINT64_C(1) << 63;
    CHECK(check(packet));
    packet = good;
    packet.tag = -1;
    CHECK(check(packet));
    packet.type = IMPI_TYPES;
    CHECK(check(packet));
    for (uint32_t type = IMPI_PROTOACK; type < IMPI_TYPES; type++) { /* whatever else they say, they bring no data */
        packet = (struct impi_packet){ .type = type, .len = 128, .msglen = 128, .tag = -1, .lsrank = -1 };
        impi_packet_write(&packet, bytes);
        impi_packet_read(&packet, bytes);
        CHECK(!packet.len && !check(packet));
    }
}

static void test_index(void)
{
    unsigned char bytes[IMPI_INDEX_SIZE];

    impi_index_write(1, bytes);
    CHECK(!memcmp(bytes, "\0\0\0\1", 4));
    impi_index_write(0xfedcba98, bytes);
    CHECK_INT(impi_index_read(bytes), 0xfedcba98);
}

/* A sender that always has something, and a receiver that takes it one by one: the sender stops at exactly hiwater,
 * gets ackmark more each time, and no acknowledgement is too many. */
static void test_credit(uint32_t ackmark, uint32_t hiwater)
{
    const struct credit_marks marks = { ackmark, hiwater };
    struct credit sender = { 0 }, receiver = { 0 };
    uint32_t under_way = 0, taken = 0, acks = 0;

    CHECK(!credit_regain(&sender, &marks));
    while (taken < 1000) {
        for (; credit_allows(&sender, &marks); under_way++)
            credit_use(&sender);
        CHECK_INT(sender.sent, hiwater);
        CHECK_INT(under_way + receiver.received, hiwater);
        do {
            under_way--;
            taken++;
        } while (!credit_take(&receiver, &marks));
        acks++;
        CHECK_INT(taken, acks * ackmark);
        CHECK(credit_regain(&sender, &marks));
        CHECK_INT(sender.sent, hiwater - ackmark);
    }
    for (; sender.sent >= ackmark;)
        CHECK(credit_regain(&sender, &marks));
    CHECK(!credit_regain(&sender, &marks));
    CHECK_INT(sender.sent, hiwater % ackmark);
}

int main(void)
{
    test_sample();
    test_fields();
    test_check();
    test_index();
    test_credit(1, 1);
    test_credit(1, 2);
    test_credit(3, 7);
    test_credit(10, 20);
    return 0;
}
