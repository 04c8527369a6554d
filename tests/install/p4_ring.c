/* SPDX-License-Identifier: BSD-3-Clause */
/* Against an installed tree: the ids of all p4 processes go round and are added up. */
#include <p4.h>

int main(int argc, char **argv)
{
    int type = 1, from, len, sum = 0, *got = &sum, me, total;

    p4_initenv(&argc, argv);
    p4_create_procgroup();
    me = p4_get_my_id();
    total = p4_num_total_ids();
    from = (me + total - 1) % total;
    len = sizeof sum;
    if (me)
        p4_recv(&type, &from, &got, &len);
    sum += me;
    p4_send(1, (me + 1) % total, &sum, sizeof sum);
    if (!me) {
        p4_recv(&type, &from, &got, &len);
        printf("the sum of %d processes is %d\n", total, sum);
    }
    p4_wait_for_end();
    return 0;
}
