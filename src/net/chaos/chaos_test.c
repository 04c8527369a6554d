/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of transport chaos: the conformance suite over a wrapped self, with several seeds. */
#include "net/chaos/chaos.h"

#include "base/err.h"
#include "net/net_suite.h"
#include "net/self/self.h"

int main(void)
{
    const struct net_config config = { .proc = 2, .procs = 4, .inner = &self_ops };
    const long before = mem_live();
    char seed[16];
    struct suite_end end;

    for (int i = 1; i <= 5; i++) {
        snprintf(seed, sizeof seed, "%d", i);
        setenv("PARLEY_CHAOS_SEED", seed, 1);
        suite_open(&end, &chaos_ops, config, 2);
        net_suite(&end, &end);
        end.ops->close(end.net);
        CHECK_INT(mem_live(), before);
    }
    for (int n = 0; n < 5; n++) {
        mem_fail_after(n);
        CHECK_INT(err_class(chaos_ops.open(&config, &end.net)), MPI_ERR_NO_MEM);
        mem_fail_after(-1);
        CHECK_INT(mem_live(), before);
    }
    setenv("PARLEY_CHAOS_SEED", "many", 1);
    CHECK_INT(err_class(chaos_ops.open(&config, &end.net)), MPI_ERR_OTHER);
    return 0;
}
