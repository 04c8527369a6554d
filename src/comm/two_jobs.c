/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: comm. Communicators with processes of another job (struct job_abroad). What those share with us is a bond, and
 * the bond has a range of contexts which no other one of either job has: a half for each side, of which the first 2^16
 * are for leaders who meet for the first time. Of these are the contexts of communicators over two jobs; circle.c has
 * those over more. Knows: sys (places), p2p. */
#include "base/err.h"
#include "comm/joint_ids.h"
#include "p2p/p2p.h"

/* Numbers, of which contexts are the double. */
enum { SIDE_BITS = 19, RANGE_BITS = SIDE_BITS + 1, CALL_BITS = 16 };

static uint32_t first_ctx(const struct job_abroad *abroad, uint32_t side)
{
    return P2P_CTX_ABROAD + 2 * (abroad->range << RANGE_BITS | side << SIDE_BITS);
}

uint32_t comm_ctx_of_call(const struct job_abroad *abroad, uint32_t tag)
{
    return first_ctx(abroad, tag >> CALL_BITS & 1) + 2 * (tag & ((1u << CALL_BITS) - 1));
}

struct job_abroad *comm_abroad_in_group(const struct group *group)
{
    struct job_abroad *abroad = NULL;

    if (likely(!place_has_abroad()))
        return NULL;
    for (int rank = 0; rank < group->size && !abroad; rank++)
        abroad = place_abroad(group_proc(group, rank));
    return abroad;
}

struct job_abroad *comm_abroad_in(const struct comm *comm)
{
    struct job_abroad *abroad = comm_abroad_in_group(comm->group);

    return abroad || comm->remote_group == comm->group ? abroad : comm_abroad_in_group(comm->remote_group);
}

static bool is_of_bond(const struct group *group, uint64_t bond)
{
    for (int rank = 0; rank < group->size; rank++) {
        const struct job_abroad *abroad = place_abroad(group_proc(group, rank));
        if (abroad && abroad->bond != bond)
            return false;
    }
    return true;
}

bool comm_is_of_many(const struct group *group, const struct group *other)
{
    const struct job_abroad *abroad = comm_abroad_in_group(group);

    if (!abroad)
        abroad = comm_abroad_in_group(other);
    return abroad && !(is_of_bond(group, abroad->bond) && is_of_bond(other, abroad->bond));
}

int comm_ctx_take_abroad(const struct job_abroad *abroad, uint32_t *ctx)
{
    const uint32_t most = (1u << SIDE_BITS) - (1u << CALL_BITS);
    const uint32_t number = atomic_fetch_add_explicit(&place_abroad((int)abroad->first)->contexts, abroad->step,
                                                      memory_order_relaxed);

    *ctx = number < most ? first_ctx(abroad, abroad->side) + 2 * ((1u << CALL_BITS) + number) : 0;
    return *ctx ? 0 : err(MPI_ERR_OTHER, "this job has made so many communicators with the other one that their "
                          "contexts are used up");
}

int comm_ctx_take_among(const struct group *group, uint32_t *ctx)
{
    const struct job_abroad *abroad = comm_abroad_in_group(group);

    return unlikely(abroad) ? comm_ctx_take_abroad(abroad, ctx) : comm_ctx_take(ctx);
}

int comm_ctx_take_for(const struct comm *old, uint32_t *ctx)
{
    const struct job_abroad *abroad = comm_abroad_in(old);
    int rc;

    if (unlikely(p2p_is_foreign_ctx(old->ctx)))
        return comm_clients_take_own(ctx);
    if (likely(!abroad))
        return comm_ctx_take(ctx);
    return comm_circle_take(old->ctx, ctx, &rc) ? rc : comm_ctx_take_abroad(abroad, ctx);
}
