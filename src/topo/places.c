/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: topo. Who is near whom: from where processes sit to a tree. The levels are the machine and the kinds of
 * parts of it, larger ones first, and of these only such as tell processes apart that no larger one does. Processes
 * that may run on several parts of a kind are on one place there, for want of a better one. */
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "topo/int_map.h"

enum { MACHINE = HWPARTS, KINDS };

static int part_of(const struct comm_seat *seat, int kind)
{
    const int first = kind == MACHINE ? seat->node : seat->site.first[kind];

    return first < 0 ? -1 : first;
}

/* Kinds in falling order of the size of their parts. */
static void sort_kinds(const struct comm_seat *seats, int count, int *kinds)
{
    int size[KINDS] = { 0 };

    size[MACHINE] = CPUS_MAX + 1;
    for (int i = 0; i < count; i++)
        for (int kind = 0; kind < HWPARTS; kind++)
            if (seats[i].site.count[kind] > size[kind])
                size[kind] = seats[i].site.count[kind];
    for (int i = 0; i < KINDS; i++) {
        int at = i;

        for (; at > 0 && size[kinds[at - 1]] < size[i]; at--)
            kinds[at] = kinds[at - 1];
        kinds[at] = i;
    }
}

static const int *path_of(const struct topo_places *places, int process)
{
    return places->path + (size_t)process * KINDS;
}

static int by_path(const void *a, const void *b, void *arg)
{
    const int p = *(const int *)a, q = *(const int *)b;
    const struct topo_places *places = arg;

    for (int level = 0; level < places->levels; level++) {
        const int in = path_of(places, p)[level], other = path_of(places, q)[level];

        if (in != other)
            return in < other ? -1 : 1;
    }
    return (p > q) - (p < q);
}

/* Does this kind tell apart processes that are together on all levels so far? They are sorted by these. */
static bool tells_apart(const struct topo_places *places, const struct comm_seat *seats, int kind)
{
    for (int i = 1; i < places->count; i++) {
        const int p = places->slot[i - 1], q = places->slot[i];

        if (part_of(&seats[p], kind) != part_of(&seats[q], kind) && topo_places_hops(places, p, q) == 0)
            return true;
    }
    return false;
}

static void add_level(struct topo_places *places, const struct comm_seat *seats, int kind)
{
    const int level = places->levels++;

    for (int i = 0; i < places->count; i++)
        places->path[(size_t)i * KINDS + (size_t)level] = part_of(&seats[i], kind);
    qsort_r(places->slot, (size_t)places->count, sizeof *places->slot, by_path, places);
}

int topo_places_read(struct topo_places *places, const struct comm_seat *seats, int count)
{
    int kinds[KINDS];

    *places = (struct topo_places){ .count = count };
    places->path = mem_alloc((size_t)count * KINDS * sizeof *places->path);
    places->slot = mem_alloc((size_t)count * sizeof *places->slot);
    if (!places->path || !places->slot) {
        topo_places_free(places);
        return err(MPI_ERR_NO_MEM, "no memory for the places of %d processes", count);
    }
    for (int i = 0; i < count; i++)
        places->slot[i] = i;
    sort_kinds(seats, count, kinds);
    for (int i = 0; i < KINDS; i++)
        if (tells_apart(places, seats, kinds[i]))
            add_level(places, seats, kinds[i]);
    return 0;
}

void topo_places_free(struct topo_places *places)
{
    mem_free(places->path);
    mem_free(places->slot);
}

int topo_places_hops(const struct topo_places *places, int process, int other)
{
    const int *path = path_of(places, process), *other_path = path_of(places, other);
    int level = 0;

    while (level < places->levels && path[level] == other_path[level])
        level++;
    return places->levels - level;
}
