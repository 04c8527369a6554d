/* SPDX-License-Identifier: BSD-3-Clause */
/* Who a process is. Arguments: "alone" (every process is a cluster: started by mpiexec) or "local" (one cluster). */
#include "p4_test.h"

static void check_master_before(void)
{
    CHECK_INT(p4_num_total_ids(), 1);
    CHECK_INT(p4_num_total_slaves(), 0);
    CHECK_INT(p4_get_my_id(), 0);
    CHECK(p4_am_i_cluster_master());
}

static void check_clusters(int n, int is_one)
{
    const int id = p4_get_my_id();
    int start, end, num, ids[P4_MAXPROCS];

    CHECK_INT(p4_get_my_id_from_proc(), id);
    CHECK_INT(p4_num_total_slaves(), n - 1);
    CHECK_INT(p4_num_cluster_ids(), is_one ? n : 1);
    CHECK_INT(p4_get_my_cluster_id(), is_one ? id : 0);
    CHECK_INT(p4_am_i_cluster_master(), !is_one || id == 0);
    p4_get_cluster_ids(&start, &end);
    CHECK_INT(start, is_one ? 0 : id);
    CHECK_INT(end, is_one ? n - 1 : id);
    p4_get_cluster_masters(&num, ids);
    CHECK_INT(num, is_one ? 1 : n);
    for (int i = 0; i < num; i++)
        CHECK_INT(ids[i], i);
    CHECK(CHECKNODE(-1) && CHECKNODE(n) && !CHECKNODE(0) && !CHECKNODE(n - 1));
}

int main(int argc, char **argv)
{
    int n, is_one;

    p4_initenv(&argc, argv);
    CHECK_INT(argc, 3);
    n = atoi(argv[1]);
    is_one = !strcmp(argv[2], "local");
    if (is_one)
        check_master_before();
    CHECK_INT(p4_create_procgroup(), 0);
    CHECK_INT(p4_create_procgroup(), 0); /* nothing, then */
    CHECK_INT(p4_num_total_ids(), n);
    CHECK(!CHECKNODE(p4_get_my_id()));
    check_clusters(n, is_one);
    CHECK_INT(p4_wait_for_end(), 0);
    CHECK_INT(p4_wait_for_end(), 0);
    return 0;
}
