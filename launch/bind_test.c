/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of binding: machines as directory trees that stand for /sys, plain ones and random ones with holes in the
 * numbers, threads here and there, and old or missing files; what is read of them, and what every plan must keep to. */
#include "bind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#define ALONE_DIES
#include "alone.h"
#include "sys/made_tree.h"

enum { MAX_CPUS = 64, MAX_NUMBER = 4 * MAX_CPUS, RANDOM_MACHINES = 40 };

static char root[] = "/tmp/parley-bind-XXXXXX";

/* A machine: for each processor in machine order, its number and its objects. */
struct machine {
    int count;
    int cpu[MAX_CPUS];
    int object[TOPOLOGY_KINDS][MAX_CPUS];
    bool has_old_names, is_silent; /* thread_siblings_list and the like; nothing at all */
};

/* The processors of one object, as a list, in the order of their numbers. */
static const char *list_of(const struct machine *machine, enum topology_kind kind, int object)
{
    static char text[1024];
    size_t length = 0;

    *text = 0;
    for (int cpu = 0; cpu < MAX_NUMBER; cpu++)
        for (int i = 0; i < machine->count; i++)
            if (machine->cpu[i] == cpu && machine->object[kind][i] == object)
                length += (size_t)snprintf(text + length, sizeof text - length, "%s%d", length ? "," : "", cpu);
    return text;
}

static void put_caches(const struct machine *machine, int i)
{
    static const char *const levels[] = { "1", "1", "2", "3" };
    const int cpu = machine->cpu[i];

    for (int index = 0; index < 4; index++) {
        const enum topology_kind kind = index == 3 ? TOPOLOGY_L3 : index == 2 ? TOPOLOGY_L2 : TOPOLOGY_CORE;
        made_tree_put(root, levels[index], "cpu/cpu%d/cache/index%d/level", cpu, index);
        made_tree_put(root, list_of(machine, kind, machine->object[kind][i]),
                      "cpu/cpu%d/cache/index%d/shared_cpu_list", cpu, index);
    }
}

static void put_machine(const struct machine *machine)
{
    char nodes[256] = "";
    int last = -1;

    made_tree_remove(root, "/sys");
    for (int i = 0; i < machine->count && !machine->is_silent; i++) {
        const int node = machine->object[TOPOLOGY_NUMA][i];
        made_tree_put(root, list_of(machine, TOPOLOGY_CORE, machine->object[TOPOLOGY_CORE][i]),
                      "cpu/cpu%d/topology/%s", machine->cpu[i],
                      machine->has_old_names ? "thread_siblings_list" : "core_cpus_list");
        made_tree_put(root, list_of(machine, TOPOLOGY_PACKAGE, machine->object[TOPOLOGY_PACKAGE][i]),
                      "cpu/cpu%d/topology/%s", machine->cpu[i],
                      machine->has_old_names ? "core_siblings_list" : "package_cpus_list");
        put_caches(machine, i);
        if (node == last)
            continue;
        last = node;
        made_tree_put(root, list_of(machine, TOPOLOGY_NUMA, node), "node/node%d/cpulist", node);
        snprintf(nodes + strlen(nodes), sizeof nodes - strlen(nodes), "%s%d", *nodes ? "," : "", node);
    }
    if (*nodes)
        made_tree_put(root, nodes, "node/online");
}

/* Packages of NUMA nodes of L3 caches of cores of threads, numbered in machine order. */
static struct machine regular(int packages, int nodes, int caches, int cores, int threads)
{
    const int all_cores = packages * nodes * caches * cores;
    struct machine machine = { .count = all_cores * threads };

    for (int i = 0; i < machine.count; i++) {
        const int core = i / threads;
        machine.cpu[i] = core + i % threads * all_cores; /* second threads come after all first ones */
        machine.object[TOPOLOGY_CORE][i] = machine.object[TOPOLOGY_L2][i] = core;
        machine.object[TOPOLOGY_L3][i] = core / cores;
        machine.object[TOPOLOGY_NUMA][i] = core / cores / caches;
        machine.object[TOPOLOGY_PACKAGE][i] = core / cores / caches / nodes;
    }
    return machine;
}

/* Two cores of two threads and four of one, the latter with one L2 cache. */
static struct machine hybrid(void)
{
    static const int cores[] = { 0, 0, 1, 1, 2, 3, 4, 5 }, l2[] = { 0, 0, 1, 1, 2, 2, 2, 2 };
    struct machine machine = { .count = 8 };

    for (int i = 0; i < 8; i++) {
        machine.cpu[i] = i;
        machine.object[TOPOLOGY_CORE][i] = cores[i];
        machine.object[TOPOLOGY_L2][i] = l2[i];
    }
    return machine;
}

static int random_below(int end)
{
    return rand() % end; /* its seed is fixed: every run tests the same */
}

/* Take processors away, and give those left numbers with holes, so that machine order and numbers still agree. */
static void punch(struct machine *machine)
{
    int kept = 0, number = 0;

    for (int i = 0; i < machine->count; i++) {
        if (random_below(5) == 0 && kept + machine->count - i > 1)
            continue;
        number += 1 + random_below(3);
        machine->cpu[kept] = number;
        for (int kind = 0; kind < TOPOLOGY_KINDS; kind++)
            machine->object[kind][kept] = machine->object[kind][i];
        kept++;
    }
    machine->count = kept;
}

static struct machine random_machine(void)
{
    struct machine machine = regular(1 + random_below(2), 1 + random_below(2), 1 + random_below(2),
                                     1 + random_below(4), 1 + random_below(2));

    if (random_below(2))
        punch(&machine);
    machine.has_old_names = random_below(3) == 0;
    machine.is_silent = random_below(8) == 0;
    return machine;
}

static struct cpus set_of(const struct machine *machine)
{
    struct cpus cpus = { { 0 } };

    for (int i = 0; i < machine->count; i++)
        cpus_add(&cpus, machine->cpu[i]);
    return cpus;
}

static struct topology read_back(const struct machine *machine)
{
    const struct cpus all = set_of(machine);
    struct topology topology;

    put_machine(machine);
    topology_read(&topology, root, &all, true);
    return topology;
}

/* Places are those of the machine, in its order, and together where they are together there. */
static void check_topology(const struct machine *machine, const struct topology *topology)
{
    CHECK_INT(topology->count, machine->count);
    for (int i = 0; i < topology->count; i++) {
        CHECK_INT(topology->places[i].cpu, machine->cpu[i]);
        for (int kind = TOPOLOGY_CORE; kind < TOPOLOGY_MACHINE && i > 0; kind++) {
            const bool is_same = machine->object[kind][i] == machine->object[kind][i - 1];
            CHECK_INT(topology->places[i].object[kind] - topology->places[i - 1].object[kind], !is_same);
        }
    }
    for (int kind = 0; kind < TOPOLOGY_KINDS; kind++)
        CHECK_INT(topology->objects[kind], topology->places[topology->count - 1].object[kind] + 1);
}

static void test_reading(void)
{
    struct machine machine = regular(2, 1, 1, 4, 2);
    struct topology topology = read_back(&machine);
    struct cpus some;

    check_topology(&machine, &topology);
    CHECK_INT(topology.objects[TOPOLOGY_CORE], 8);
    CHECK_INT(topology.objects[TOPOLOGY_PACKAGE], 2);
    topology_free(&topology);

    CHECK(cpus_parse("3-4,11", &some)); /* core 3 whole and one thread of core 4, in two packages */
    topology_read(&topology, root, &some, false);
    CHECK_INT(topology.objects[TOPOLOGY_CORE], 2);
    CHECK_INT(topology.objects[TOPOLOGY_PACKAGE], 2);
    CHECK_INT(topology.places[1].cpu, 11);
    topology_free(&topology);

    made_tree_put(root, "0", "cpu/smt/active"); /* then cores are not asked for */
    topology_read(&topology, root, &some, false);
    CHECK_INT(topology.objects[TOPOLOGY_CORE], 3);
    topology_free(&topology);

    machine = hybrid();
    topology = read_back(&machine);
    check_topology(&machine, &topology);
    CHECK_INT(topology.objects[TOPOLOGY_L2], 3);
    topology_free(&topology);
}

static void test_silent(void)
{
    struct machine machine = hybrid();
    struct topology topology;

    machine.is_silent = true;
    topology = read_back(&machine);
    CHECK_INT(topology.objects[TOPOLOGY_CORE], 8);
    CHECK_INT(topology.objects[TOPOLOGY_PACKAGE], 1);
    CHECK_INT(topology.objects[TOPOLOGY_NUMA], 1);
    topology_free(&topology);
}

static void test_nonsense(void)
{
    struct machine machine = regular(1, 1, 1, 2, 1);
    const struct cpus all = set_of(&machine);
    struct topology topology;

    put_machine(&machine);
    made_tree_put(root, "7-9", "cpu/cpu0/topology/core_cpus_list"); /* not its own */
    made_tree_put(root, "words", "cpu/cpu0/topology/package_cpus_list");
    made_tree_put(root, "0-", "node/node0/cpulist");
    topology_read(&topology, root, &all, true);
    CHECK_INT(topology.objects[TOPOLOGY_CORE], 2);
    CHECK_INT(topology.objects[TOPOLOGY_PACKAGE], 1);
    CHECK_INT(topology.objects[TOPOLOGY_NUMA], 1);
    topology_free(&topology);
}

static void check_masks(const struct topology *topology, const struct bind_plan *plan, int ranks)
{
    for (int rank = 0; rank < ranks; rank++) {
        int count = 0;
        for (int i = 0; i < topology->count; i++)
            count += cpus_has(&plan->masks[rank], topology->places[i].cpu);
        CHECK(count > 0);
        CHECK_INT(cpus_count(&plan->masks[rank]), count); /* nothing that is not allowed */
    }
}

/* Each processor is in exactly one mask. */
static void check_partition(const struct topology *topology, const struct bind_plan *plan, int ranks)
{
    for (int i = 0; i < topology->count; i++) {
        int owners = 0;
        for (int rank = 0; rank < ranks; rank++)
            owners += cpus_has(&plan->masks[rank], topology->places[i].cpu);
        CHECK_INT(owners, 1);
    }
}

/* Smallest and largest number of objects of one kind in a mask; true if all are whole ones. */
static bool count_objects(const struct topology *topology, const struct bind_plan *plan, int ranks,
                          enum topology_kind kind, int *least, int *most)
{
    bool is_whole = true;

    *least = topology->count;
    *most = 0;
    for (int rank = 0; rank < ranks; rank++) {
        int count = 0;
        for (int object = 0; object < topology->objects[kind]; object++) {
            int in = 0, all = 0;
            for (int i = 0; i < topology->count; i++) {
                const bool is_of = topology->places[i].object[kind] == object;
                all += is_of;
                in += is_of && cpus_has(&plan->masks[rank], topology->places[i].cpu);
            }
            count += in > 0;
            is_whole = is_whole && (in == 0 || in == all);
        }
        *least = count < *least ? count : *least;
        *most = count > *most ? count : *most;
    }
    return is_whole;
}

static void check_shares(const struct topology *topology, int ranks, int threads, int cpus)
{
    const struct binding nothing = { 0 };
    struct bind_plan plan;
    int least, most;

    bind_make(&nothing, topology, ranks, threads, cpus, &plan);
    if (ranks * threads > topology->count || ranks * threads > cpus) {
        CHECK(!plan.masks && plan.cpus <= cpus);
        return;
    }
    CHECK(plan.masks && plan.cpus == (topology->count < cpus ? topology->count : cpus));
    check_masks(topology, &plan, ranks);
    check_partition(topology, &plan, ranks);
    for (int rank = 0; rank < ranks; rank++)
        CHECK(cpus_count(&plan.masks[rank]) >= threads);
    if (ranks <= topology->objects[TOPOLOGY_CORE] && threads == 1) {
        CHECK(count_objects(topology, &plan, ranks, TOPOLOGY_CORE, &least, &most));
        CHECK_INT(least, topology->objects[TOPOLOGY_CORE] / ranks);
        CHECK_INT(most, (topology->objects[TOPOLOGY_CORE] + ranks - 1) / ranks);
    } else if (threads == 1) {
        count_objects(topology, &plan, ranks, TOPOLOGY_THREAD, &least, &most);
        CHECK(most - least <= 1);
    }
    bind_free(&plan);
}

/* With more ranks nobody gets more cores; or threads, when there are not cores for all. */
static void check_monotone(const struct topology *topology)
{
    const struct binding nothing = { 0 };
    int least_before = topology->count, most_before = topology->count, least, most;
    struct bind_plan plan;

    for (int ranks = 1; ranks <= topology->count; ranks++) {
        const bool has_cores = ranks <= topology->objects[TOPOLOGY_CORE];
        if (ranks == topology->objects[TOPOLOGY_CORE] + 1)
            least_before = most_before = 2;
        bind_make(&nothing, topology, ranks, 1, topology->count, &plan);
        count_objects(topology, &plan, ranks, has_cores ? TOPOLOGY_CORE : TOPOLOGY_THREAD, &least, &most);
        CHECK(least <= least_before && most <= most_before);
        least_before = least;
        most_before = most;
        bind_free(&plan);
    }
}

/* Whatever is asked for: each rank has processors, all of them allowed ones, and the count is one of them. */
static void check_random_wish(const struct topology *topology)
{
    const struct binding binding = {
        .to = random_below(2) ? BIND_OBJECT : random_below(2) ? BIND_SHARE : BIND_NONE,
        .to_kind = (enum topology_kind)random_below(TOPOLOGY_KINDS),
        .to_count = random_below(4),
        .map = random_below(2) ? BIND_MAP_OBJECT : BIND_MAP_SHARE,
        .map_kind = (enum topology_kind)random_below(TOPOLOGY_MACHINE),
        .map_count = random_below(3),
        .width = random_below(2) ? 0 : random_below(6),
        .has_threads = random_below(3) == 0,
        .is_ranked = random_below(2),
        .rank_kind = (enum topology_kind)random_below(TOPOLOGY_KINDS),
    };
    const int ranks = 1 + random_below(2 * topology->count), threads = 1 + random_below(3);
    struct bind_plan plan;

    bind_make(&binding, topology, ranks, threads, topology->count, &plan);
    CHECK(plan.cpus >= 1 && plan.cpus <= topology->count);
    if (plan.masks)
        check_masks(topology, &plan, ranks);
    bind_free(&plan);
}

static void test_hybrid(void)
{
    const struct machine machine = hybrid();
    struct topology topology = read_back(&machine);

    for (int ranks = 1; ranks <= machine.count + 1; ranks++)
        for (int threads = 1; threads <= 4; threads++)
            check_shares(&topology, ranks, threads, machine.count);
    check_monotone(&topology);
    topology_free(&topology);
}

static void test_random(void)
{
    for (int i = 0; i < RANDOM_MACHINES; i++) {
        const struct machine machine = random_machine();
        struct topology topology = read_back(&machine);
        if (!machine.is_silent)
            check_topology(&machine, &topology);
        for (int ranks = 1; ranks <= machine.count + 2; ranks++)
            for (int threads = 1; threads <= 4; threads++)
                check_shares(&topology, ranks, threads,
                             random_below(4) ? machine.count : 1 + random_below(machine.count));
        check_monotone(&topology);
        for (int wish = 0; wish < 40; wish++)
            check_random_wish(&topology);
        topology_free(&topology);
    }
}

/* Masks of all ranks as text: "0-1 2-3". */
static const char *plan_text(const struct bind_plan *plan, int ranks)
{
    static char text[4096];
    size_t length = 0;

    snprintf(text, sizeof text, "none");
    for (int rank = 0; rank < ranks && plan->masks; rank++) {
        const char *comma = rank ? " " : "";
        for (int from = 0, to; from < CPUS_MAX; from = to + 1) {
            for (to = from; cpus_has(&plan->masks[rank], to); to++) {
            }
            if (to > from)
                length += (size_t)snprintf(text + length, sizeof text - length,
                                           to > from + 1 ? "%s%d-%d" : "%s%d", comma, from, to - 1);
            comma = to > from ? "," : comma;
        }
    }
    return text;
}

/* A line such as "4 -bind-to core -map-by socket", and the masks that come of it; or the beginning of a refusal. */
static void check_line(const struct topology *topology, const char *line, const char *expected, int cpus)
{
    struct binding binding = { 0 };
    char words[256], *rest = words, *word;
    struct bind_plan plan;
    int ranks;

    snprintf(words, sizeof words, "%s", line);
    ranks = atoi(strsep(&rest, " "));
    *last_text = 0;
    if (setjmp(dead)) {
        if (!strstr(last_text, expected))
            fprintf(stderr, "%s: refused: %s\n", line, last_text);
        CHECK(strstr(last_text, expected));
        return;
    }
    while ((word = strsep(&rest, " "))) {
        char *value = rest && *rest != '-' ? strsep(&rest, " ") : NULL;
        bind_option(&binding, word + 1, value);
    }
    bind_make(&binding, topology, ranks, 1, topology->count, &plan);
    if (strcmp(plan_text(&plan, ranks), expected) != 0)
        fprintf(stderr, "%s: %s, expected %s\n", line, plan_text(&plan, ranks), expected);
    CHECK(!strcmp(plan_text(&plan, ranks), expected));
    CHECK_INT(plan.cpus, cpus);
    bind_free(&plan);
}

/* Two packages of four cores of two threads: cores 0 to 3 and 4 to 7, second threads 8 to 15. */
static void test_lines(void)
{
    static const struct {
        const char *line, *masks;
        int cpus;
    } lines[] = {
        { "2", "0-3,8-11 4-7,12-15", 16 },
        { "3", "0-1,8-9 2-4,10-12 5-7,13-15", 16 },
        { "8", "0,8 1,9 2,10 3,11 4,12 5,13 6,14 7,15", 16 },
        { "17", "none", 16 },
        { "2 -bind-to none", "none", 16 },
        { "2 -bind-to-none", "none", 16 },
        { "2 -bind-to core", "0,8 4,12", 4 },
        { "2 -bind-to core:2", "0-1,8-9 4-5,12-13", 8 },
        { "5 -bind-to core:2", "0-1,8-9 2-3,10-11 4-5,12-13 6-7,14-15 0-1,8-9", 16 },
        { "2 -bind-to hwthread", "0 4", 2 },
        { "4 -bind-to socket", "0-3,8-11 0-3,8-11 4-7,12-15 4-7,12-15", 16 },
        { "3 -bind-to socket -map-by socket", "0-3,8-11 4-7,12-15 0-3,8-11", 16 },
        { "3 -bind-to core -map-by socket", "0,8 4,12 2,10", 6 },
        { "4 -map-by socket", "0-1,8-9 4-5,12-13 2-3,10-11 6-7,14-15", 16 },
        { "4 -map-by socket:PE=2", "0-1,8-9 4-5,12-13 2-3,10-11 6-7,14-15", 16 },
        { "4 -map-by socket -rank-by core", "0-1,8-9 2-3,10-11 4-5,12-13 6-7,14-15", 16 },
        { "4 -map-by core -rank-by socket", "0,8 1,9 2,10 3,11", 8 },
        { "4 -map-by ppr:2:socket -rank-by socket", "0-1,8-9 4-5,12-13 2-3,10-11 6-7,14-15", 16 },
        { "2 -map-by core", "0,8 1,9", 4 },
        { "2 -map-by slot:PE=3", "0-2,8-10 3-5,11-13", 12 },
        { "2 -map-by :PE=3", "0-2,8-10 4-6,12-14", 12 },
        { "2 -cpus-per-proc 4", "0-3,8-11 4-7,12-15", 16 },
        { "2 -map-by hwthread", "0 8", 2 },
        { "3 -map-by core:2 -bind-to core", "0,8 2,10 4,12", 6 },
        { "2 -use-hwthread-cpus -cpus-per-rank 1", "0 4", 2 },
        { "2 -map-by ppr:1:socket", "0-3,8-11 4-7,12-15", 16 },
        { "4 -map-by ppr:2:socket:pe=1", "0,8 1,9 4,12 5,13", 8 },
        { "5 -map-by ppr:2:socket", "0,8 1,9 4-5,12-13 6-7,14-15 2-3,10-11", 16 },
        { "2 -npersocket 1", "0-3,8-11 4-7,12-15", 16 },
        { "3 -bind-to user:0,2", "0 2 0", 2 },
        { "2 -bind-to user:0+8,1-2", "0,8 1", 3 },
        { "1 -bind-to user:16", "processor 16: it is not there", 0 },
        { "2 -cpu-bind map_cpu:5,3", "5 3", 2 },
        { "2 -cpu-bind verbose,mask_cpu:0x00ff,F000", "0-7 12-15", 12 },
        { "2 -cpu-bind cores", "0,8 4,12", 4 },
        { "2 -cpu-bind none", "none", 16 },
        { "2 -binding pin=no;map=spread", "none", 16 },
        { "2 -binding cpu", "0,8 4,12", 4 },
        { "3 -cpu-list 9,1,3 -bind-to cpu-list:ordered", "9 1 3", 3 },
        { "2 -bysocket -bind-to-core", "0,8 4,12", 4 },
        { "2 -bynode", "0-3,8-11 4-7,12-15", 16 },
        { "2 -bind-to elbow", "'elbow' is not known", 0 },
        { "2 -bind-to core:knee", "'knee' is not known", 0 },
        { "2 -map-by elbow", "'elbow' is not known", 0 },
        { "2 -map-by core:PE=x", "'x' is not a whole number", 0 },
        { "2 -map-by ppr:2", "ppr:N:OBJECT is needed", 0 },
        { "2 -map-by ppr:0:core", "'0' is not a whole number", 0 },
        { "2 -rank-by elbow", "'elbow' is not known", 0 },
        { "2 -cpu-bind elbow", "'elbow' is not known", 0 },
        { "2 -cpu-bind mask_cpu:0xg", "no hexadecimal number", 0 },
        { "2 -cpu-bind mask_cpu:0", "has no processor", 0 },
        { "2 -bind-to user:1,,2", "'' is no number of a processor", 0 },
        { "2 -cpu-set x", "a list of processors", 0 },
        { "2 -cpus-per-proc 0", "'0' is not a whole number", 0 },
    };
    const struct machine machine = regular(2, 1, 1, 4, 2);
    struct topology topology = read_back(&machine);

    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        check_line(&topology, lines[i].line, lines[i].masks, lines[i].cpus);
    topology_free(&topology);
}

int main(void)
{
    CHECK(mkdtemp(root));
    srand(1);
    test_reading();
    test_silent();
    test_nonsense();
    test_hybrid();
    test_random();
    test_lines();
    made_tree_remove(root, "");
    return 0;
}
