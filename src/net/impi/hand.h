/* SPDX-License-Identifier: BSD-3-Clause */
/* For unit tests: the host of another client, played by hand over a connection of its own. It listens nowhere; it
 * is at 127.0.0.2, and whom it connects to at 127.0.0.1. The name of a process is its joint rank + 1, zeros, and a
 * 7; of a process of this library, if hand_is_parley, with its mark. */
#ifndef NET_IMPI_HAND_H
#define NET_IMPI_HAND_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

#include "base/check.h"
#include "net/impi/packet.h"
#include "sys/joint.h"

static int hand; /* the connection */
static bool hand_is_parley;

static inline void hand_name(int rank, unsigned char name[IMPI_NAME_SIZE])
{
    memset(name, 0, IMPI_NAME_SIZE);
    name[0] = (unsigned char)(rank + 1);
    name[IMPI_NAME_SIZE - 1] = 7;
    if (hand_is_parley) {
        name[JOINT_ADDRESS_SIZE] = JOINT_MARK >> 8;
        name[JOINT_ADDRESS_SIZE + 1] = JOINT_MARK & 0xff;
        name[JOINT_ADDRESS_SIZE + 2] = (unsigned char)joint_dialect();
    }
}

static inline int hand_dial(int port)
{
    struct sockaddr_in from = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000002) };
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000001) };
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    to.sin_port = htons((uint16_t)port);
    CHECK(fd >= 0 && !bind(fd, (struct sockaddr *)&from, sizeof from));
    CHECK(!connect(fd, (struct sockaddr *)&to, sizeof to));
    CHECK(!fcntl(fd, F_SETFL, O_NONBLOCK));
    return fd;
}

static inline void hand_write(const void *bytes, size_t size)
{
    CHECK(send(hand, bytes, size, MSG_NOSIGNAL) == (ssize_t)size);
}

static inline void hand_index(uint32_t index)
{
    unsigned char bytes[IMPI_INDEX_SIZE];

    impi_index_write(index, bytes);
    hand_write(bytes, sizeof bytes);
}

/* From that process to the one with joint rank 0. */
static inline struct impi_packet hand_packet(enum impi_type type, int rank)
{
    struct impi_packet packet = { .type = type };

    hand_name(rank, packet.src);
    hand_name(0, packet.dest);
    return packet;
}

static inline void hand_send_packet(const struct impi_packet *packet, const void *data)
{
    unsigned char bytes[IMPI_HEADER_SIZE];

    impi_packet_write(packet, bytes);
    hand_write(bytes, sizeof bytes);
    hand_write(data, packet->type <= IMPI_DATASYNC ? packet->len : 0);
}

static inline void hand_send(enum impi_type type, int rank)
{
    const struct impi_packet packet = hand_packet(type, rank);

    hand_send_packet(&packet, "");
}

/* The next packet that has come, and its data if there is room for them; false: none has come. `move` moves the other
 * side on. */
static inline bool hand_read(struct impi_packet *packet, void *data, void (*move)(void))
{
    unsigned char bytes[IMPI_HEADER_SIZE], lost[1024], *to = data;
    ssize_t got = recv(hand, bytes, sizeof bytes, MSG_PEEK);

    if (got < (ssize_t)sizeof bytes)
        return false;
    impi_packet_read(packet, bytes);
    CHECK_INT(recv(hand, bytes, sizeof bytes, 0), sizeof bytes);
    for (uint32_t left = packet->len; left;) {
        got = recv(hand, to ? to : lost, to || left < sizeof lost ? left : sizeof lost, 0);
        CHECK(got > 0 || (got < 0 && errno == EAGAIN));
        if (got < 0)
            move();
        left -= got > 0 ? (uint32_t)got : 0;
        to += to && got > 0 ? got : 0;
    }
    return true;
}

#endif
