/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4. Coming up. What this process is before and after the procgroup; the shared area; the three ways
 * in: as the master of a procgroup, as a rank of a launcher, as the master of a cluster on another host (remote.c). */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/err.h"
#include "base/mem.h"
#include "p4/int_door.h"
#include "p4/int_message.h"
#include "p4/int_remote.h"
#include "p4/int_start.h"
#include "sys/clock.h"
#include "sys/cpus.h"
#include "sys/segment.h"

struct p4_own p4_own = { .total = 1, .clusters = 1 };
struct control *control;

static int cluster_first[P4_MAXPROCS];
static bool is_launched;      /* a rank of a launcher's job */
static bool hard_errors = true;
static cpu_set_t all_cpus;    /* of this process before it was bound */
static bool is_bound;
static const char *program;   /* argv[0] */
static char **arguments;      /* what is left of the others, for processes of other hosts; ended by NULL */

/* The function of sources for p4 1.2, which had a procgroup call it in the slaves. */
extern int slave(void) __attribute__((weak));

void p4_set_clusters(const int first[], int count)
{
    p4_own.clusters = count;
    memcpy(cluster_first, first, (size_t)count * sizeof *first);
    while (p4_own.cluster + 1 < count && cluster_first[p4_own.cluster + 1] <= p4_own.first)
        p4_own.cluster++;
}

int p4_cluster_first(int cluster)
{
    return cluster_first[cluster];
}

static _Noreturn void fail_with(int rc)
{
    char text[ERR_TEXT_SIZE];

    door->text(rc, text, sizeof text);
    p4_fail("E0602: %s", text);
}

static void set_who(void)
{
    p4_own.pid = getpid();
    snprintf(p4_own.who, sizeof p4_own.who, "p%d_%d", p4_own.id, p4_own.pid);
}

/* --- what is shared --- */

static void *map_shared(size_t size, const char *what)
{
    void *start = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (start == MAP_FAILED)
        p4_fail("E0602: no %s of %zu bytes: %s", what, size, strerror(errno));
    return start;
}

static size_t arena_size(void)
{
    const char *text = options.arena ? options.arena : getenv("P4_GLOBMEMSIZE");
    char *end = NULL;
    long long size = GLOBMEMSIZE;

    if (text && *text) {
        size = strtoll(text, &end, 10);
        if (*end || size <= 0)
            p4_fail("E0602: the size of the shared memory is \"%s\"; it must be a number of bytes", text);
    }
    return ((size_t)size + 4095) / 4096 * 4096;
}

static void map_control(void)
{
    control = map_shared(sizeof *control, "memory for the run");
    atomic_store(&control->master, getpid());
}

static void map_arena(size_t size)
{
    p4_own.arena_size = size;
    p4_own.arena = map_shared(size, "shared memory");
}

/* --- options --- */

static void redirect(const char *path)
{
    int fd;

    if (!path)
        return;
    fflush(stdout);
    fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0 || dup2(fd, STDERR_FILENO) < 0)
        p4_fail("E0602: -p4out %s: %s", path, strerror(errno));
    close(fd);
}

/* A procgroup file is meant as seen from where the program was started. */
static void change_directory(void)
{
    static char path[4096];
    const char *chosen = getenv("P4_CHDIR"), *slash = strrchr(program, '/');
    char folder[4096];

    if (options.procgroup && realpath(options.procgroup, path))
        options.procgroup = path;
    if (options.directory) {
        if (chdir(options.directory))
            p4_fail("E0602: -p4wd %s: %s", options.directory, strerror(errno));
    } else if (chosen && *chosen == '1' && slash) {
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - program) + 1, program);
        if (chdir(folder))
            p4_fail("E0602: P4_CHDIR=1: %s: %s", folder, strerror(errno));
    }
}

/* --- the ways in --- */

static void become_rank(void)
{
    is_launched = true;
    p4_own.id = p4_own.first = p4_own.last = p4_own.cluster = door->job->rank;
    p4_own.total = p4_own.clusters = door->job->size;
    for (int i = 0; i < p4_own.total && i < P4_MAXPROCS; i++)
        cluster_first[i] = i;
    if (p4_own.total > P4_MAXPROCS)
        p4_fail("E0602: a job of %d processes; p4 has at most %d", p4_own.total, P4_MAXPROCS);
    route_set_places(0, p4_own.total, 0);
    set_who();
    intake_open();
    p4_own.stage = P4_RUNNING;
    p4_post_init();
}

void p4_set_hard_errors(int flag)
{
    hard_errors = flag;
}

/* --- the procgroup --- */

/* From now on messages go. Never returns in slaves of the old style. */
static int run(void)
{
    const char *text = getenv("P4_COMPAT_12");

    set_who();
    intake_open();
    remote_start();
    p4_own.stage = P4_RUNNING;
    p4_post_init();
    if (p4_own.id != p4_own.first && text && *text == '1' && slave) {
        slave();
        exit(0);
    }
    return 0;
}

static void set_clusters(const struct p4_procgroup *pg)
{
    int first[P4_MAX_PROCGROUP_ENTRIES] = { 0 }, next = pg->entries[0].numslaves_in_group + 1;

    for (int i = 1; i < pg->num_entries; i++) {
        first[i] = next;
        next += pg->entries[i].numslaves_in_group;
    }
    p4_set_clusters(first, pg->num_entries);
    p4_own.total = next;
    p4_own.first = 0;
    p4_own.last = pg->entries[0].numslaves_in_group;
}

/* As mpiexec binds ranks: each process of this host to an equal share of its processors, if there are enough, so that
 * two that talk do not take turns on one. P4_BIND=0: not. What p4_create makes gets all of them back. */
static void bind_to_share(int place, int count)
{
    const char *text = getenv("P4_BIND");
    cpu_set_t share;
    int seen = 0, cpus;

    CPU_ZERO(&share);
    if ((text && *text == '0') || sched_getaffinity(0, sizeof all_cpus, &all_cpus))
        return;
    cpus = CPU_COUNT(&all_cpus);
    if (count > cpus)
        return;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &all_cpus))
            continue;
        if (seen >= place * cpus / count && seen < (place + 1) * cpus / count)
            CPU_SET(cpu, &share);
        seen++;
    }
    is_bound = !sched_setaffinity(0, sizeof share, &share);
}

void p4_unbind(void)
{
    if (is_bound)
        (void)sched_setaffinity(0, sizeof all_cpus, &all_cpus);
}

/* Take the place in the segment of this host. `number`: of this process in its cluster. */
static void join(const struct cluster_plan *plan, int number)
{
    const int place = plan->place + number;
    const int rc = door->join_job(plan->segment_fd, plan->head->token, place, plan->places);
    int listener;

    if (rc)
        fail_with(rc);
    munmap(plan->head, job_transport_offset(plan->places));
    bind_to_share(place, plan->places);
    if (!plan->has_others)
        return;
    listener = hosts_take_listener(number, plan->count);
    if (plan->places < p4_own.total)
        remote_open(listener);
    else
        close(listener);
}

static void make_segment(struct cluster_plan *plan)
{
    const struct segment_plan segment = { .size = plan->places, .apps = 1, .errhandler = JOB_ERRORS_ARE_FATAL,
                                          .cpus = cpus_within_quota(cpus_in_mask()), .launcher = "p4" };
    char why[SEGMENT_WHY];

    plan->segment_fd = segment_make(&segment, &plan->head, why);
    if (plan->segment_fd < 0)
        p4_fail("E0602: %s", why);
}

/* With the segment of this host: processes for it, and this one's place. */
static int start_cluster(struct cluster_plan *plan)
{
    int number;

    route_set_places(p4_own.first, plan->count, plan->place);
    if (plan->segment_fd < 0)
        make_segment(plan);
    number = keeper_start(plan);
    p4_own.id = p4_own.first + number;
    join(plan, number);
    return run();
}

static int start_all(struct p4_procgroup *pg, bool has_lines)
{
    static struct cluster_plan plan = { .hub_fd = -1, .segment_fd = -1 };
    const int total = procgroup_check(pg, has_lines);

    if (total > 1 && door->is_open())
        p4_fail("E0609: MPI is in use already, and p4 would fork: call p4_create_procgroup before MPI_Init, or start "
                "the program with mpiexec");
    set_clusters(pg);
    route_set_places(0, 1, 0);
    if (total == 1)
        return run();
    plan.count = plan.places = p4_own.last + 1;
    plan.has_others = pg->num_entries > 1;
    if (plan.has_others) {
        hosts_prepare(pg, has_lines ? procgroup_find(program) : "p4_startup", arguments, &plan);
        hosts_listen(plan.count);
    }
    return start_cluster(&plan);
}

static bool is_done_here(const char *call)
{
    p4_need_started(call);
    return p4_own.is_child || p4_own.stage != P4_READY;
}

int p4_startup(struct p4_procgroup *pg)
{
    if (is_done_here("p4_startup"))
        return 0;
    return start_all(pg, false);
}

int p4_create_procgroup(void)
{
    static struct p4_procgroup pg;
    const char *path;

    if (is_done_here("p4_create_procgroup"))
        return 0;
    path = procgroup_find(program);
    if (!path) { /* alone */
        pg.num_entries = 1;
        return start_all(&pg, false);
    }
    if (!procgroup_read(path, &pg))
        return start_all(&pg, true);
    if (hard_errors)
        p4_fail("E0603: %s: %s", path, strerror(errno));
    return -1;
}

void p4_post_init(void)
{
}

/* --- the beginning --- */

/* The program may change its own. */
static void keep_arguments(int argc, char **argv)
{
    arguments = mem_zalloc(((size_t)argc + 1) * sizeof *arguments);
    for (int i = 1; arguments && i < argc; i++)
        arguments[i - 1] = mem_strdup(argv[i]);
    if (!arguments)
        p4_fail("E0602: no memory for the command line");
}

/* The master of a cluster that another host has started: the procgroup is a matter of p4_initenv then. */
static int become_remote(void)
{
    static struct cluster_plan plan = { .segment_fd = -1 };

    error_trap_signals();
    error_trap_end();
    hosts_report(&plan);
    map_arena(p4_own.arena_size);
    change_directory();
    redirect(options.out);
    finish_at_exit();
    return start_cluster(&plan);
}

int p4_initenv(int *argc, char **argv)
{
    int rc;

    if (!argc || !argv)
        p4_error("p4_initenv: no command line", 0);
    if (p4_own.stage != P4_NOT_YET)
        return 0;
    program = argv[0] ? argv[0] : "";
    p4_own.start_ns = clock_ns();
    set_who();
    options_take(argc, argv);
    keep_arguments(*argc, argv);
    map_control();
    p4_own.stage = P4_READY;
    if (hosts_is_remote())
        return become_remote();
    map_arena(arena_size());
    change_directory();
    redirect(options.out);
    finish_at_exit();
    rc = door->find_job();
    if (rc)
        fail_with(rc);
    if (door->job->size > 1) {
        become_rank();
        return 0;
    }
    error_trap_signals();
    error_trap_end();
    return 0;
}
