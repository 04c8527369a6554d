/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4, inside. What a process of another host sends, byte by byte as it comes:
 *
 *   at first            the key of the run (16 bytes), the id of the sender (8 bytes)
 *   then each message   both words of the envelope, the length (8 bytes each), the bytes
 *
 * all numbers little-endian. Knows nothing of sockets: whoever reads one asks where bytes go and says how many came. */
#ifndef P4_INT_STREAM_H
#define P4_INT_STREAM_H

#include "p4/int_message.h"

enum { STREAM_HEAD = 24, STREAM_KEY = 16 };

struct stream {
    int id;            /* of the sender; -1: it has not said who it is */
    unsigned char head[STREAM_HEAD];
    size_t head_got, len, got;
    char *data;        /* where the message goes; NULL: its head is not complete */
};

void stream_init(struct stream *s);
/* Where the next bytes go, and how many at most: at least 1. */
void *stream_next(struct stream *s, size_t *room);
/* `count` of them, at least 1, are there: whole messages go to intake_begin and intake_end. With the lock. False:
 * nobody of this run says that; nothing more of it may be read. */
bool stream_take(struct stream *s, size_t count);
/* The other side of it. */
void stream_hello(unsigned char head[STREAM_HEAD], int id);
void stream_head(unsigned char head[STREAM_HEAD], const struct envelope *e, size_t len);

#endif
