/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of room comm: ids of communicators over several clients. Agreeing on them is tested by whole jobs
 * (tests/impi). */
#include "comm/joint_ids.h"

#include "base/check.h"
#include "base/err.h"
#include "p2p/p2p.h"

enum { OWN = P2P_CTX_FOREIGN / 2 }; /* above: ids that processes have for themselves */

static void test_ids(void)
{
    uint32_t ctx;

    comm_clients_start();
    CHECK_INT(comm_clients_highest(), 1);
    CHECK_INT(comm_clients_take(1, 1, &ctx), 0);
    CHECK_INT(ctx, P2P_CTX_FOREIGN + 2);
    CHECK_INT(comm_clients_highest(), 3);
    CHECK_INT(comm_clients_take(7, 1, &ctx), 0);
    CHECK_INT(ctx, P2P_CTX_FOREIGN + 8);
    CHECK_INT(comm_clients_highest(), 9);
}

/* E1212: the last ones. */
static void test_end(void)
{
    uint32_t ctx = 5;

    CHECK_INT(comm_clients_take(OWN - 5, 1, &ctx), 0);
    CHECK(p2p_is_foreign_ctx(ctx) && p2p_is_foreign_ctx(ctx + 1));
    CHECK_INT(err_class(comm_clients_take(comm_clients_highest(), 1, &ctx)), MPI_ERR_OTHER);
    CHECK_INT(err_class(comm_clients_take(UINT64_MAX, 1, &ctx)), MPI_ERR_OTHER);
    CHECK_INT(comm_clients_highest(), OWN - 3);
}

/* The ranges of processes lie one after the other, above what is agreed on, and end (E1212). */
static void test_own(void)
{
    enum { PROCS = 60000, PAIRS = (OWN / 2 - 1) / PROCS };
    struct joint joint = { .procs = PROCS, .first = 1, .count = 2, .slots = 100 };
    uint32_t ctx, first[3] = { OWN, OWN + 2 * PAIRS, OWN + (PROCS - 1) * 2 * PAIRS };

    comm_world.joint = &joint;
    for (int i = 0; i < 3; i++) {
        joint.first = i == 2 ? PROCS - 1 : (uint32_t)i;
        comm_clients_start();
        for (uint32_t n = 0; n < PAIRS; n++) {
            CHECK_INT(comm_clients_take_own(&ctx), 0);
            CHECK_INT(ctx, P2P_CTX_FOREIGN + first[i] + 2 * n);
        }
        CHECK(p2p_is_foreign_ctx(ctx + 1));
        CHECK_INT(err_class(comm_clients_take_own(&ctx)), MPI_ERR_OTHER);
        CHECK_INT(ctx, 0);
    }
    comm_world.joint = NULL;
}

int main(void)
{
    test_ids();
    test_end();
    test_own();
    return 0;
}
