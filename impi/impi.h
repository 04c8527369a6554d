/* SPDX-License-Identifier: BSD-3-Clause */
/* IMPI 0.0, the interoperable MPI protocol: what stands on the wire between a client and the server. Numbers are
 * big-endian, fields of fixed size without gaps. Every message but the answer to AUTH, and the key that may follow it,
 * is a head of two Int4 (command, bytes that follow) and so many bytes. */
#ifndef IMPI_IMPI_H
#define IMPI_IMPI_H

#include <stdint.h>

enum {
    IMPI_CMD_AUTH = 0x41555448, /* Uint4: mask of the methods that the client allows. Answer: Int4 method, Int4 0 */
    IMPI_CMD_IMPI = 0x494d5049, /* Int4: rank of the client. Answer: the same command with how many there are */
    IMPI_CMD_COLL = 0x434f4c4c, /* Int4: label; data. Answer: Int4 label, Uint4 mask of clients, data of all */
    IMPI_CMD_DONE = 0x444f4e45, /* no more labels. Answer when all have said so: the same */
    IMPI_CMD_FINI = 0x46494e49, /* all processes of the client have ended well. No answer */
};

enum {
    IMPI_AUTH_NONE = 0,
    IMPI_AUTH_KEY = 1,          /* 8 bytes follow from the client: the key, Int8, without a head */
    IMPI_AUTH_METHODS = 2,
};

enum {
    IMPI_CLIENTS_MAX = 32,      /* a mask has 32 bits */
    IMPI_HEAD_SIZE = 8,
    IMPI_KEY_SIZE = 8,
    IMPI_NO_LABEL = 0,          /* never sent */
};

static inline uint32_t impi_get4(const unsigned char *from)
{
    return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
}

static inline void impi_put4(unsigned char *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (unsigned char)(value >> (24 - 8 * i));
}

#endif
