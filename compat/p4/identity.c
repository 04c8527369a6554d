/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4. Who this process is: ids and clusters, as p4_own has them. Knows nothing of how they came about. */
#include "p4/int_p4.h"

int p4_get_my_id(void)
{
    return p4_own.is_child ? -1 : p4_own.id;
}

int p4_get_my_id_from_proc(void)
{
    return p4_get_my_id();
}

int p4_num_total_ids(void)
{
    return p4_own.total;
}

int p4_num_total_slaves(void)
{
    return p4_own.total - 1;
}

int p4_get_my_cluster_id(void)
{
    return p4_own.is_child ? -1 : p4_own.id - p4_own.first;
}

int p4_num_cluster_ids(void)
{
    return p4_own.last - p4_own.first + 1;
}

P4BOOL p4_am_i_cluster_master(void)
{
    return p4_get_my_cluster_id() == 0;
}

void p4_get_cluster_ids(int *start, int *end)
{
    *start = p4_own.first;
    *end = p4_own.last;
}

void p4_get_cluster_masters(int *num, int ids[])
{
    *num = p4_own.clusters;
    for (int i = 0; i < p4_own.clusters; i++)
        ids[i] = p4_cluster_first(i);
}
