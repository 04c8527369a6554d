/* SPDX-License-Identifier: BSD-3-Clause */
/* p4_dprintf and its levels; prints, and runs.txt says what. */
#include "p4_test.h"

int main(int argc, char **argv)
{
    char text[3000];

    p4_initenv(&argc, argv);
    p4_create_procgroup();
    CHECK_INT(p4_get_dbg_level(), 3); /* -p4dbg 3 */
    if (p4_get_my_id() == 0)
        p4_dprintf("number %d\n", 7);
    p4_dprintfl(3, "printed\n");
    p4_dprintfl(4, "not printed\n");
    p4_global_barrier(0);
    p4_set_dbg_level(9);
    CHECK_INT(p4_get_dbg_level(), 9);
    p4_global_barrier(0);
    p4_dprintfl(9, "printed now\n");
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    p4_dprintf("long %s\n", text);
    CHECK(strlen(p4_version()) > 2 && strlen(p4_machine_type()) > 2);
    p4_wait_for_end();
    p4_dprintf("after the end\n");
    return 0;
}
