/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes of p4_create: before and after the procgroup, they share the shared memory, have no id, and are waited
 * for. */
#include "p4_test.h"

#include <sys/mman.h>

static volatile int *count;

static int child(void)
{
    CHECK_INT(p4_get_my_id(), -1);
    usleep(20000);
    __sync_fetch_and_add(count, 1);
    return 17; /* means nothing */
}

int main(int argc, char **argv)
{
    CHECK_INT(p4_initenv(&argc, argv), 0);
    count = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(p4_create(child) > 0);
    CHECK_INT(p4_create_procgroup(), 0);
    CHECK(p4_create(child) > 0);
    CHECK_INT(p4_wait_for_end(), 0);
    if (p4_get_my_id() == 0)
        CHECK(*count >= 2);
    return 0;
}
