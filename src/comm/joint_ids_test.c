/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of room comm: ids of communicators over several clients. Agreeing on them is tested by whole jobs
 * (tests/impi). */
#include "comm/joint_ids.h"

#include "base/check.h"
#include "base/err.h"
#include "p2p/p2p.h"

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

    CHECK_INT(comm_clients_take(P2P_CTX_FOREIGN - 5, 1, &ctx), 0);
    CHECK(p2p_is_foreign_ctx(ctx) && p2p_is_foreign_ctx(ctx + 1));
    CHECK_INT(err_class(comm_clients_take(comm_clients_highest(), 1, &ctx)), MPI_ERR_OTHER);
    CHECK_INT(err_class(comm_clients_take(UINT64_MAX, 1, &ctx)), MPI_ERR_OTHER);
    CHECK_INT(comm_clients_highest(), P2P_CTX_FOREIGN - 3);
}

int main(void)
{
    test_ids();
    test_end();
    return 0;
}
