/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: reading the machine, once for each object and not for each processor. Where nothing is found, there are no
 * such objects. */
#include "topology.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "launch.h"
#include "sys/hwpart.h"
#include "sys/text.h"

enum { PATH_SIZE = 512 };

/* Where it reads from. */
struct source_tree {
    const char *root;
    struct topology *result;
    bool has_threads; /* cores of more than one thread are switched on, as far as is known */
};

/* The processors of the object of `kind` that has `cpu`. */
static bool read_object(const struct source_tree *tree, struct cpus *list, int cpu, enum topology_kind kind)
{
    switch (kind) {
    case TOPOLOGY_CORE: return tree->has_threads && hwpart_read(tree->root, HWPART_CORE, cpu, list);
    case TOPOLOGY_L2: return hwpart_read(tree->root, HWPART_L2, cpu, list);
    case TOPOLOGY_L3: return hwpart_read(tree->root, HWPART_L3, cpu, list);
    case TOPOLOGY_PACKAGE: return hwpart_read(tree->root, HWPART_PACKAGE, cpu, list);
    default: return false;
    }
}

/* Give those of `list` that have no object of this kind yet the number `object`. */
static void mark(struct topology *topology, const struct cpus *list, enum topology_kind kind, int object)
{
    for (int i = 0; i < topology->count; i++)
        if (topology->places[i].object[kind] < 0 && cpus_has(list, topology->places[i].cpu))
            topology->places[i].object[kind] = object;
}

/* Objects are named by their first processor until all is sorted. A kind that /sys does not have is not asked for
 * again, and what has no object gets -1, which is one object, too; but each thread is a core. */
static void find_objects(const struct source_tree *tree, enum topology_kind kind)
{
    struct topology *topology = tree->result;
    bool is_known = true;
    struct cpus list;

    for (int i = 0; i < topology->count; i++) {
        struct place *place = &topology->places[i];
        if (place->object[kind] >= 0)
            continue;
        is_known = is_known && read_object(tree, &list, place->cpu, kind);
        if (is_known)
            mark(topology, &list, kind, place->cpu);
        if (place->object[kind] < 0 && kind == TOPOLOGY_CORE)
            place->object[kind] = place->cpu;
    }
}

static void find_nodes(const struct source_tree *tree)
{
    struct cpus nodes, list; /* the list of nodes has the same form */

    if (!hwpart_read_list(tree->root, &nodes, "node/online"))
        return;
    for (int node = cpus_next(&nodes, 0); node < CPUS_MAX; node = cpus_next(&nodes, node + 1))
        if (hwpart_read_list(tree->root, &list, "node/node%d/cpulist", node))
            mark(tree->result, &list, TOPOLOGY_NUMA, node);
}

static int compare(const void *a, const void *b)
{
    static const enum topology_kind order[] = { TOPOLOGY_PACKAGE, TOPOLOGY_NUMA, TOPOLOGY_L3, TOPOLOGY_CORE };
    const struct place *one = a, *other = b;

    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        if (one->object[order[i]] != other->object[order[i]])
            return one->object[order[i]] < other->object[order[i]] ? -1 : 1;
    return one->cpu < other->cpu ? -1 : 1;
}

/* From names by a first processor to numbers from 0 in machine order. */
static void number_objects(struct topology *topology, enum topology_kind kind)
{
    static int numbers[CPUS_MAX + 1]; /* of a name, from 1 on; the name -1 comes first */

    topology->objects[kind] = 0;
    for (int i = 0; i < topology->count; i++)
        numbers[topology->places[i].object[kind] + 1] = 0;
    for (int i = 0; i < topology->count; i++) {
        int *object = &topology->places[i].object[kind], *number = &numbers[*object + 1];
        if (!*number)
            *number = ++topology->objects[kind];
        *object = *number - 1;
    }
}

static void fill_places(struct topology *topology, const struct cpus *allowed)
{
    topology->count = 0;
    topology->places = need((size_t)cpus_count(allowed) * sizeof *topology->places);
    for (int cpu = cpus_next(allowed, 0); cpu < CPUS_MAX; cpu = cpus_next(allowed, cpu + 1)) {
        struct place *place = &topology->places[topology->count++];
        place->cpu = cpu;
        for (int kind = 0; kind < TOPOLOGY_KINDS; kind++)
            place->object[kind] = kind == TOPOLOGY_THREAD ? cpu : -1;
    }
}

/* One file can spare one for each processor. */
static bool has_threads(const char *root)
{
    char path[PATH_SIZE], text[8];

    snprintf(path, sizeof path, "%s/sys/devices/system/cpu/smt/active", root);
    return !text_read(path, text, sizeof text) || *text != '0';
}

void topology_read(struct topology *topology, const char *root, const struct cpus *allowed, bool has_l2)
{
    const struct source_tree tree = { .root = root, .result = topology, .has_threads = has_threads(root) };

    fill_places(topology, allowed);
    find_objects(&tree, TOPOLOGY_CORE);
    if (has_l2)
        find_objects(&tree, TOPOLOGY_L2);
    find_objects(&tree, TOPOLOGY_L3);
    find_objects(&tree, TOPOLOGY_PACKAGE);
    find_nodes(&tree);
    qsort(topology->places, (size_t)topology->count, sizeof *topology->places, compare);
    for (int kind = 0; kind < TOPOLOGY_KINDS; kind++)
        number_objects(topology, (enum topology_kind)kind);
}

void topology_free(struct topology *topology)
{
    mem_free(topology->places);
    *topology = (struct topology){ 0 };
}

const char *topology_name(enum topology_kind kind, bool is_many)
{
    static const char *const names[TOPOLOGY_KINDS][2] = {
        { "hardware thread", "hardware threads" }, { "core", "cores" }, { "L2 cache", "L2 caches" },
        { "L3 cache", "L3 caches" }, { "NUMA node", "NUMA nodes" }, { "package", "packages" },
        { "machine", "machines" },
    };

    return names[kind][is_many];
}
