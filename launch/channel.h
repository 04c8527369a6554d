/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: a connection over which frames (frame.h) go both ways without blocking. */
#ifndef LAUNCH_CHANNEL_H
#define LAUNCH_CHANNEL_H

#include "frame.h"
#include "launch.h"

/* Bytes from `start`, `length` of them. */
struct bytes {
    char *data;
    size_t start, length, room;
};

struct channel {
    struct source in, out;
    struct bytes got, queue; /* not read by us yet; not written yet */
    bool is_watched;         /* out: for room */
};

void bytes_add(struct bytes *bytes, const void *data, size_t size);
void bytes_drop(struct bytes *bytes, size_t size); /* the first ones */
void bytes_free(struct bytes *bytes);

/* `ready` is called when there is something to read. The descriptors are the channel's from now on and do not block. */
void channel_open(struct job *job, struct channel *channel, int in, int out,
                  void (*ready)(struct job *job, struct source *source, uint32_t events));
void channel_close(struct job *job, struct channel *channel);
/* Nothing more is said: the other side comes to the end of its input. */
void channel_end(struct job *job, struct channel *channel);

/* Both wait for channel_flush, which the loop calls before it sleeps. */
void channel_put(struct channel *channel, enum frame_kind kind, int rank, uint32_t value, const void *data,
                 size_t size);
void channel_put_text(struct channel *channel, const char *text, size_t size); /* the greeting */
/* Write what goes without blocking; the rest goes when there is room. */
void channel_flush(struct job *job, struct channel *channel);

/* Read once; false: it is at its end. */
bool channel_read(struct channel *channel);
/* Take the first line, with a zero in place of its end; NULL: there is no whole one. It stays until the next call. */
char *channel_line(struct channel *channel);

#endif
