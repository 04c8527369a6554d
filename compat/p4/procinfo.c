/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4. p4_proc_info: what the system calls a process of this host, for debuggers. */
#include <string.h>

#include "base/mem.h"
#include "p4/int_door.h"
#include "p4/int_message.h"

struct info {
    char host[HOSTNAME_LEN];
    char exe[512];
};

static struct info *infos[P4_MAXPROCS]; /* by id; NULL: nobody has asked */

static int pid_of(int id)
{
    return atomic_load_explicit(&job_proc(door->job->head, route_proc(id))->pid, memory_order_acquire);
}

/* It says so as soon as it is up. */
static bool has_pid(void *arg)
{
    const int *id = arg;

    return pid_of(*id) || route_is_gone(*id);
}

static bool is_of_other_host(int id)
{
    return route_proc(id) < 0 || !job_is_near(door->job->head, route_proc(id), door->job->proc);
}

/* 0: it is of another host. */
static int find_pid(int id)
{
    static const struct blocked words = { .call = "p4_proc_info", .peer_noun = "process" };

    if (id == p4_own.id)
        return p4_own.pid;
    if (p4_own.is_child || p4_own.stage != P4_RUNNING || is_of_other_host(id))
        return 0;
    door->wait_until(has_pid, &id, &words);
    return pid_of(id);
}

static struct info *read_info(int id, int pid)
{
    char link[32];
    ssize_t length;

    if (!infos[id])
        infos[id] = mem_zalloc(sizeof *infos[id]);
    if (!infos[id])
        return NULL;
    gethostname(infos[id]->host, sizeof infos[id]->host - 1);
    snprintf(link, sizeof link, "/proc/%d/exe", pid);
    length = readlink(link, infos[id]->exe, sizeof infos[id]->exe - 1);
    infos[id]->exe[length > 0 ? length : 0] = 0;
    return infos[id];
}

int p4_proc_info(int id, char **host, char **exe)
{
    int pid = 0;
    struct info *info = NULL;

    p4_need_started("p4_proc_info");
    if (id >= 0 && id < p4_own.total)
        pid = find_pid(id);
    if (pid)
        info = read_info(id, pid);
    *host = info ? info->host : NULL;
    *exe = info ? info->exe : NULL;
    return info ? pid : 0;
}
