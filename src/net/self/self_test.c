/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of transport self: the conformance suite, and no way to another process. */
#include "net/self/self.h"

#include "base/err.h"
#include "net/net_suite.h"

int main(void)
{
    const long before = mem_live();
    struct suite_end end;
    struct net_ep *ep;

    suite_open(&end, &self_ops, (struct net_config){ .proc = 3, .procs = 8 }, 3);
    net_suite(&end, &end);
    CHECK_INT(err_class(self_ops.connect(end.net, 4, &ep)), MPI_ERR_INTERN);
    self_ops.close(end.net);
    CHECK_INT(mem_live(), before);
    mem_fail_after(0);
    CHECK_INT(err_class(self_ops.open(&(struct net_config){ .procs = 1 }, &end.net)), MPI_ERR_NO_MEM);
    mem_fail_after(-1);
    return 0;
}
