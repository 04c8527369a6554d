/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4. Coming up: what this process is before and after the procgroup. */
#include "p4/int_p4.h"

struct p4_own p4_own = { .total = 1, .clusters = 1 };
static int cluster_first[P4_MAXPROCS];

int p4_cluster_first(int cluster)
{
    return cluster_first[cluster];
}
