/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. IMPI 0.0, the interoperable MPI protocol: what stands on the wire between a client and the server.
 * Numbers are big-endian, fields of fixed size without gaps. Every message but the answer to AUTH, and the key that may
 * follow it, is a head of two Int4 (command, bytes that follow) and so many bytes. */
#ifndef SYS_IMPI_H
#define SYS_IMPI_H

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

/* Labels of version 0.0, and what each client contributes: an element, or one for each of its hosts or processes. */
enum {
    IMPI_C_VERSION = 0x1000,        /* 2 Uint4, major and minor; a list of them, the first is 0.0 */
    IMPI_C_NHOSTS = 0x1100,         /* Uint4 */
    IMPI_C_NPROCS = 0x1200,         /* Uint4 */
    IMPI_C_DATALEN = 0x1300,        /* Uint4, the least counts: user bytes in a packet */
    IMPI_C_TAGUB = 0x1400,          /* Int4, the least counts */
    IMPI_C_COLL_XSIZE = 0x1500,     /* Int4, the same everywhere; -1: IMPI_XSIZE */
    IMPI_C_COLL_MAXLINEAR = 0x1600, /* Int4, the same everywhere; -1: IMPI_MAXLINEAR */
    IMPI_H_IPV6 = 0x2000,           /* 16 bytes */
    IMPI_H_PORT = 0x2100,           /* Int4 */
    IMPI_H_NPROCS = 0x2200,         /* Uint4 */
    IMPI_H_ACKMARK = 0x2300,        /* Uint4, the least of all hosts counts */
    IMPI_H_HIWATER = 0x2400,        /* Uint4, the same */
    IMPI_P_IPV6 = 0x3000,           /* 16 bytes */
    IMPI_P_PID = 0x3100,            /* 8 bytes */
    IMPI_LABELS = 14,
};

enum {
    IMPI_XSIZE = 1024,
    IMPI_MAXLINEAR = 4,
    IMPI_TAGUB_LEAST = 32767,
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
