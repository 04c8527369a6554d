/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: rma. Favours: many small pieces of a target that is peeked into cost the system some hundred nanoseconds each,
 * and the target itself one or two. So the target is asked to do what the origin has begun to do itself, and does the
 * rest if it happens to be in MPI. If it computes, the origin goes on alone to the end: nothing ever waits for the
 * target to call MPI, and all is done when the call returns. */
#ifndef RMA_FAVOUR_H
#define RMA_FAVOUR_H

#include "rma/window.h"

struct op;

/* Bytes [at, end) of the target's stream, by peeking. `from`: the origin's data of byte `at`; `result`: where goes what
 * was there; NULL: nobody wants it. *at moves on. Error: as win_peek. */
typedef int win_favour_self(void *arg, char *from, char *result, size_t *at, size_t end);

/* A put, or operations that change the target. */
struct win_favour {
    struct win *win;
    const struct win_aim *aim;
    const struct win_place *place;
    const struct win_data *from, *result; /* result NULL: none is wanted */
    const struct op *op;                  /* NULL: a put */
    const struct type *element;           /* predefined; NULL: a put */
    const char *call;                     /* for reports */
    win_favour_self *self;
    void *arg;
};

/* Is the target's side of that kind? Its way is WIN_WAY_PEEK. */
bool win_favour_pays(const struct win *win, const struct win_aim *aim, const struct win_place *place);
/* Do it, from byte *at on, which says at the end how far it has come. Error: that of `self`; MPI_ERR_NO_MEM; that of a
 * target that is lost. After WIN_REFUSED the rest is left to be done by messages. */
int win_favour_run(const struct win_favour *favour, size_t *at);

/* The window goes: wait until all targets have seen what they were asked for in vain. */
void win_favour_settle(struct win *win);

#endif
