/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. hwloc, opened by name, so that nothing needs it to be there. Of its objects the beginning is known here,
 * as the binary interface of its version 2 (libhwloc.so.15) keeps it. */
#include "sys/hwloc.h"

#include <assert.h>
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    VERSION = 2,
    CPUSET_AT = 184,
    INCLUDE_DISALLOWED = 1, /* also what a control group takes away, so that all processes see the same machine */
};

/* What hwloc calls the parts. */
static const int types[HWPARTS] = {
    [HWPART_PACKAGE] = 1, [HWPART_DIE] = 19, [HWPART_NUMA] = 13, [HWPART_L5] = 8, [HWPART_L4] = 7,
    [HWPART_L3] = 6, [HWPART_L2] = 5, [HWPART_L1] = 4, [HWPART_CORE] = 2, [HWPART_PU] = 3,
};

struct hwloc_object {
    char before[CPUSET_AT];
    void *cpuset;
};

static_assert(sizeof(void *) != 8 || offsetof(struct hwloc_object, cpuset) == CPUSET_AT, "hwloc's place of it");

bool hwloc_is_asked(void)
{
    return getenv("HWLOC_SYNTHETIC") || getenv("HWLOC_XMLFILE") || getenv("HWLOC_FSROOT");
}

/* One function into the table, whatever its type. */
static bool find(void *library, const char *name, void *place)
{
    void *const function = dlsym(library, name);

    memcpy(place, &function, sizeof function);
    return function != NULL;
}

static bool find_calls(struct hwloc_calls *calls)
{
    void *const library = sizeof(void *) == 8 ? dlopen("libhwloc.so.15", RTLD_NOW | RTLD_LOCAL) : NULL;

    return library && find(library, "hwloc_topology_init", &calls->init) &&
           find(library, "hwloc_topology_set_flags", &calls->set_flags) &&
           find(library, "hwloc_topology_load", &calls->load) &&
           find(library, "hwloc_topology_destroy", &calls->destroy) &&
           find(library, "hwloc_get_type_depth", &calls->type_depth) &&
           find(library, "hwloc_get_obj_by_depth", &calls->object) &&
           find(library, "hwloc_bitmap_next", &calls->next) &&
           find(library, "hwloc_get_api_version", &calls->version) && calls->version() >> 16 == VERSION;
}

bool hwloc_open(struct hwloc *hwloc)
{
    *hwloc = (struct hwloc){ 0 };
    if (!find_calls(&hwloc->calls) || hwloc->calls.init(&hwloc->topology))
        return false;
    if (!hwloc->calls.set_flags(hwloc->topology, INCLUDE_DISALLOWED) && !hwloc->calls.load(hwloc->topology))
        return true;
    hwloc_close(hwloc);
    return false;
}

static void copy_set(const struct hwloc *hwloc, const void *bitmap, struct cpus *list)
{
    *list = (struct cpus){ 0 };
    for (int cpu = -1; (cpu = hwloc->calls.next(bitmap, cpu)) >= 0 && cpu < CPUS_MAX;)
        cpus_add(list, cpu);
}

bool hwloc_part(const struct hwloc *hwloc, enum hwpart part, int cpu, struct cpus *list)
{
    const int depth = hwloc->calls.type_depth(hwloc->topology, types[part]);
    const struct hwloc_object *object;

    for (unsigned i = 0; (object = hwloc->calls.object(hwloc->topology, depth, i)); i++) {
        copy_set(hwloc, object->cpuset, list);
        if (cpus_has(list, cpu))
            return true;
    }
    return false;
}

void hwloc_close(struct hwloc *hwloc)
{
    hwloc->calls.destroy(hwloc->topology);
}
