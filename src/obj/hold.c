/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: obj. What is held for a request: its functions are replaced by others that call the holder before, so requests
 * for which nothing is held know nothing of it.
 * Knows: req.h. Does not know: what is held. */
#include "obj/hold.h"

#include "base/list.h"

static struct req_hold *hold_of(const struct req *req)
{
    return CONTAINER_OF(req->ops, struct req_hold, ops);
}

static void let_go(struct req *req)
{
    struct req_hold *const hold = hold_of(req);

    hold->end(hold);
    req->ops = hold->inner;
    hold->drop(hold);
}

static void held_release(struct req *req)
{
    let_go(req);
    req->ops->release(req);
}

/* What is complete may go without a word; what is not will be released, or let go. It may complete meanwhile. */
static int held_detach(struct req *req)
{
    const struct req_ops *const inner = hold_of(req)->inner;

    if (req_is_done(req))
        let_go(req);
    return inner->detach(req);
}

static int held_start(struct req *req)
{
    struct req_hold *const hold = hold_of(req);

    hold->start(hold);
    return hold->inner->start(req);
}

static void tell(const struct req *req)
{
    struct req_hold *const hold = hold_of(req);

    hold->end(hold);
}

void req_keep(struct req *req, struct req_hold *hold)
{
    if (req_is_done(req) && !req->is_persistent) {
        hold->end(hold);
        hold->drop(hold);
        return;
    }
    hold->inner = req->ops;
    hold->ops = *req->ops;
    hold->ops.release = held_release;
    hold->ops.detach = held_detach;
    hold->ops.start = held_start;
    hold->ops.told = tell;
    hold->ops.let_go = let_go;
    req->ops = &hold->ops;
}
