/* SPDX-License-Identifier: BSD-3-Clause */
/* A procgroup table that the program makes itself, the hook after the start, and what becomes of a file that cannot be
 * read without hard errors. The argument: processes. */
#include "p4_test.h"

static int is_up;

/* In place of the library's, which does nothing. */
void p4_post_init(void)
{
    is_up++;
}

/* Of processes of other machines, that this one may only be treated as, nothing is known. */
static void check_far(int id, const char *host, const char *exe)
{
    const char *nodes = getenv("PARLEY_NODES");

    CHECK(id != p4_get_my_id() && nodes && atoi(nodes) > 1);
    CHECK(!host && !exe);
}

static void check_processes(int n)
{
    char *host, *exe, own[256] = "";

    gethostname(own, sizeof own - 1);
    for (int id = 0; id < n; id++) {
        const int pid = p4_proc_info(id, &host, &exe);
        if (!pid) {
            check_far(id, host, exe);
            continue;
        }
        CHECK(pid > 1 && !kill(pid, 0));
        CHECK(!strncmp(host, own, HOSTNAME_LEN - 1) && strstr(exe, "/table"));
        CHECK_INT(id == p4_get_my_id(), pid == getpid());
    }
    CHECK_INT(p4_proc_info(n, &host, &exe), 0);
    CHECK(!host && !exe);
    CHECK_INT(p4_proc_info(-1, &host, &exe), 0);
}

int main(int argc, char **argv)
{
    struct p4_procgroup *pg = p4_alloc_procgroup();
    int n;

    p4_initenv(&argc, argv);
    n = atoi(argv[1]);
    if (p4_num_total_ids() == 1) { /* of mpiexec there may be more already */
        p4_set_hard_errors(0);
        CHECK_INT(p4_create_procgroup(), -1);
        p4_set_hard_errors(1);
        pg->num_entries = 1;
        strcpy(pg->entries[0].host_name, "local");
        pg->entries[0].numslaves_in_group = n - 1;
        CHECK_INT(p4_startup(pg), 0);
        CHECK_INT(p4_startup(pg), 0); /* nothing, then */
    }
    free(pg);
    CHECK_INT(is_up, 1);
    CHECK_INT(p4_num_total_ids(), n);
    check_processes(n);
    p4_global_barrier(1);
    p4_wait_for_end();
    return 0;
}
