/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: obj. Something that is held for a request as long as its operation runs: a copy of the user's buffer, say. The
 * functions of whoever holds it are called in the thread that starts, completes or frees the request; with `end` also
 * under locks of the request's kind, in a poll, if the user has freed the request before. They do not fail. */
#ifndef OBJ_HOLD_H
#define OBJ_HOLD_H

#include "obj/req.h"

struct req_hold {
    void (*start)(struct req_hold *hold); /* a persistent request is about to be started */
    void (*end)(struct req_hold *hold);   /* it is complete; may be called more than once for one start */
    void (*drop)(struct req_hold *hold);  /* the request is about to go, and has forgotten `hold` */
    struct req_ops ops;                   /* of the request, from now on */
    const struct req_ops *inner;          /* its own */
};

/* Hold it for a request that the user has just been given, once; the memory stays where it is until `drop`. A request
 * that is complete at birth ends it at once. */
void req_keep(struct req *req, struct req_hold *hold);

#endif
