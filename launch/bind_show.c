/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: --show-binding. The machine is drawn once for each rank: a package in brackets, NUMA nodes and L3 caches
 * apart by a bar, a sign for each hardware thread with the cores apart by a blank; on a large machine, a sign for
 * each core. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "bind.h"
#include "launch.h"

enum { WIDE = 100 }; /* columns from which on cores are one sign each */

/* Text that is being written. */
struct line {
    char *text;
    size_t length;
};

static void add(struct line *line, const char *text)
{
    const size_t length = strlen(text);

    memcpy(line->text + line->length, text, length + 1);
    line->length += length;
}

/* What stands before place i. */
static const char *border(const struct topology *topology, int i, bool is_wide)
{
    const int *now = topology->places[i].object, *before = now;

    if (i == 0)
        return "[";
    before = topology->places[i - 1].object;
    if (now[TOPOLOGY_PACKAGE] != before[TOPOLOGY_PACKAGE])
        return "] [";
    if (now[TOPOLOGY_NUMA] != before[TOPOLOGY_NUMA] || now[TOPOLOGY_L3] != before[TOPOLOGY_L3])
        return is_wide ? "|" : " | ";
    return now[TOPOLOGY_CORE] != before[TOPOLOGY_CORE] && !is_wide ? " " : "";
}

/* Signs for the places from i on that belong to one core, as one: all, some, none. */
static const char *core_sign(const struct topology *topology, int i, const struct cpus *mask)
{
    const int core = topology->places[i].object[TOPOLOGY_CORE];
    int all = 0, bound = 0;

    for (; i < topology->count && topology->places[i].object[TOPOLOGY_CORE] == core; i++, all++)
        bound += cpus_has(mask, topology->places[i].cpu);
    return bound == all ? "#" : bound ? "+" : ".";
}

static void draw(const struct topology *topology, const struct cpus *mask, bool is_wide, struct line *line)
{
    line->length = 0;
    for (int i = 0; i < topology->count; i++) {
        const bool is_new = i == 0 || topology->places[i].object[TOPOLOGY_CORE] !=
                                          topology->places[i - 1].object[TOPOLOGY_CORE];
        add(line, border(topology, i, is_wide));
        if (!is_wide)
            add(line, cpus_has(mask, topology->places[i].cpu) ? "#" : ".");
        else if (is_new)
            add(line, core_sign(topology, i, mask));
    }
    add(line, "]");
}

/* "0-3,8" */
static void write_list(const struct cpus *mask, struct line *line)
{
    char part[32];

    line->length = 0;
    add(line, "");
    for (int from = 0, to; from < CPUS_MAX; from = to) {
        for (to = from; cpus_has(mask, to); to++) {
        }
        if (to > from) {
            snprintf(part, sizeof part, to > from + 1 ? "%s%d-%d" : "%s%d", line->length ? "," : "", from, to - 1);
            add(line, part);
        } else {
            to++;
        }
    }
}

static void write_head(const struct topology *topology, const struct bind_plan *plan, int ranks)
{
    static const enum topology_kind kinds[] = { TOPOLOGY_PACKAGE, TOPOLOGY_NUMA, TOPOLOGY_L3, TOPOLOGY_CORE,
                                                TOPOLOGY_THREAD };

    fprintf(stderr, "parley: binding of %d %s: %s\n  machine:", ranks, ranks == 1 ? "rank" : "ranks", plan->why);
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        const int count = topology->objects[kinds[i]];
        fprintf(stderr, "%s %d %s", i ? "," : "", count, topology_name(kinds[i], count != 1));
    }
    fputs("\n  # bound, . not; [ ] package, | between NUMA nodes or L3 caches\n", stderr);
}

void bind_show(const struct topology *topology, const struct bind_plan *plan, const int *names, int ranks)
{
    const size_t room = (size_t)topology->count * 8 + 16;
    struct line picture = { need(room), 0 }, list = { need(room), 0 };
    struct cpus all = { { 0 } };
    bool is_wide;

    for (int i = 0; i < topology->count; i++)
        cpus_add(&all, topology->places[i].cpu);
    draw(topology, &all, false, &picture);
    is_wide = picture.length > WIDE;
    write_head(topology, plan, ranks);
    for (int rank = 0; rank < ranks; rank++) {
        const struct cpus *mask = plan->masks ? &plan->masks[rank] : &all;
        draw(topology, mask, is_wide, &picture);
        write_list(mask, &list);
        fprintf(stderr, "  rank %-4d %s  %s\n", names[rank], picture.text, list.text);
        if (!plan->masks && ranks > 1) {
            fprintf(stderr, "  and so the other ranks\n");
            break;
        }
    }
    mem_free(picture.text);
    mem_free(list.text);
}
