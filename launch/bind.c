/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: the plan of binding. First the ranks are mapped: each gets a share of the places of one object (of the whole
 * machine, if nothing is said), counted in cores or in hardware threads. Then they are numbered (--rank-by), and
 * the share becomes the set: itself, or the objects that it begins in (--bind-to). Knows nothing of processes. */
#include "bind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launch.h"

/* Where planning stands. */
struct planner {
    const struct binding *binding;
    const struct topology *topology;
    int ranks;
    struct cpus *masks;
    int *first;       /* of each rank: the place that its share begins with */
    int width;        /* units for each rank, 0: as many as there are */
    bool is_exact;    /* the width is what a rank is to be bound to, not only how far it is to the next one */
    bool has_threads; /* units are threads, not cores */
    /* of the object that is being shared */
    int *places;      /* its places, in machine order */
    int *units;       /* index in places of the first one of each core or thread; one more for the end */
    int unit_count;
};

static bool is_small(enum topology_kind kind)
{
    return kind == TOPOLOGY_THREAD || kind == TOPOLOGY_CORE;
}

/* Make `object` of `kind` the one to share. */
static void choose_object(struct planner *planner, enum topology_kind kind, int object)
{
    const struct topology *topology = planner->topology;
    const enum topology_kind unit = planner->has_threads ? TOPOLOGY_THREAD : TOPOLOGY_CORE;
    int count = 0, last = -1;

    planner->unit_count = 0;
    for (int i = 0; i < topology->count; i++) {
        if (topology->places[i].object[kind] != object)
            continue;
        if (topology->places[i].object[unit] != last)
            planner->units[planner->unit_count++] = count;
        last = topology->places[i].object[unit];
        planner->places[count++] = i;
    }
    planner->units[planner->unit_count] = count;
}

/* Give `rank` the places from `from` to before `to` of the chosen object. */
static void give(struct planner *planner, int rank, int from, int to)
{
    planner->first[rank] = planner->places[from];
    memset(&planner->masks[rank], 0, sizeof planner->masks[rank]);
    for (int i = from; i < to; i++)
        cpus_add(&planner->masks[rank], planner->topology->places[planner->places[i]].cpu);
}

/* `part` of `parts` equal parts of `all` begins here; parts that differ are as even along the way as can be, so that
 * borders of the machine are met whenever the parts are a multiple of what is between them. */
static int begin_of(int part, int parts, int all)
{
    return (int)((long long)part * all / parts);
}

/* More ranks than cores: those on one core share its threads. With more ranks than threads there, one for each. */
static void share_core(struct planner *planner, int rank, int i, int count)
{
    const int core = begin_of(i, count, planner->unit_count);
    const int begin = planner->units[core], threads = planner->units[core + 1] - begin;
    int low = i, high = i + 1;

    while (low > 0 && begin_of(low - 1, count, planner->unit_count) == core)
        low--;
    while (high < count && begin_of(high, count, planner->unit_count) == core)
        high++;
    if (high - low <= threads)
        give(planner, rank, begin + begin_of(i - low, high - low, threads),
             begin + begin_of(i - low + 1, high - low, threads));
    else
        give(planner, rank, begin + begin_of(i - low, high - low, threads),
             begin + begin_of(i - low, high - low, threads) + 1);
}

/* The share of the i-th of `count` ranks on the chosen object. */
static void share_object(struct planner *planner, int rank, int i, int count)
{
    const int units = planner->unit_count;

    if (count > units)
        share_core(planner, rank, i, count);
    else
        give(planner, rank, planner->units[begin_of(i, count, units)], planner->units[begin_of(i + 1, count, units)]);
}

/* So many units for each rank: spread if there is room and nothing else is said, else one after the other, and from the
 * beginning again at the end. */
static void share_by_width(struct planner *planner, int rank, int i, int count)
{
    const int units = planner->unit_count, wide = planner->width < units ? planner->width : units;
    const bool is_spread = planner->binding->map == BIND_MAP_SHARE && count <= units / wide;
    const int begin = is_spread ? begin_of(i, count, units) : i % (units / wide) * wide;

    give(planner, rank, planner->units[begin], planner->units[begin + wide]);
}

/* The object of map_kind that `rank` is mapped to. */
static int object_of(const struct planner *planner, int rank)
{
    const struct binding *binding = planner->binding;
    const int objects = planner->topology->objects[binding->map_kind];

    if (binding->map == BIND_MAP_PER)
        return rank / binding->map_count % objects; /* with more than so many the first ones get more */
    return (int)((long long)rank * (binding->map_count ? binding->map_count : 1) % objects);
}

static void map_to_objects(struct planner *planner)
{
    const struct binding *binding = planner->binding;
    const int objects = planner->topology->objects[binding->map_kind];

    for (int object = 0; object < objects; object++) {
        int count = 0, i = 0;
        for (int rank = 0; rank < planner->ranks; rank++)
            count += object_of(planner, rank) == object;
        choose_object(planner, binding->map_kind, object);
        for (int rank = 0; rank < planner->ranks; rank++) {
            if (object_of(planner, rank) != object)
                continue;
            if (planner->width)
                share_by_width(planner, rank, i++, count);
            else
                share_object(planner, rank, i++, count);
        }
    }
}

/* Share the machine as a whole: also when mapped to cores or threads one after the other, which has a width then. */
static void map_to_machine(struct planner *planner)
{
    choose_object(planner, TOPOLOGY_MACHINE, 0);
    for (int rank = 0; rank < planner->ranks; rank++)
        if (planner->width)
            share_by_width(planner, rank, rank, planner->ranks);
        else
            share_object(planner, rank, rank, planner->ranks);
}

static bool is_in_order(const struct binding *binding)
{
    return binding->map == BIND_MAP_OBJECT && is_small(binding->map_kind);
}

static void map(struct planner *planner)
{
    if (planner->binding->map == BIND_MAP_SHARE || is_in_order(planner->binding))
        map_to_machine(planner);
    else
        map_to_objects(planner);
}

/* A mapped rank, and what it is sorted by. */
struct order {
    long long key;
    int mapped;
};

static int compare_order(const void *a, const void *b)
{
    const struct order *one = a, *other = b;

    if (one->key != other->key)
        return one->key < other->key ? -1 : 1;
    return one->mapped - other->mapped;
}

/* What --rank-by sorts by: the place, or the turn in which its object comes to this rank, then the object. */
static void set_keys(const struct planner *planner, struct order *order)
{
    const enum topology_kind kind = planner->binding->rank_kind;
    const int objects = planner->topology->objects[kind];
    int *turns = need((size_t)objects * sizeof *turns);

    for (int i = 0; i < planner->ranks; i++) {
        const int object = planner->topology->places[planner->first[i]].object[kind];
        order[i] = (struct order){ planner->first[i], i };
        if (!is_small(kind))
            order[i].key = (long long)turns[object]++ * objects + object;
    }
    mem_free(turns);
}

static void number_ranks(struct planner *planner)
{
    const size_t ranks = (size_t)planner->ranks;
    struct order *order = need(ranks * sizeof *order);
    struct cpus *masks = need(ranks * sizeof *masks);
    int *first = need(ranks * sizeof *first);

    set_keys(planner, order);
    qsort(order, ranks, sizeof *order, compare_order);
    for (size_t i = 0; i < ranks; i++) {
        masks[i] = planner->masks[order[i].mapped];
        first[i] = planner->first[order[i].mapped];
    }
    memcpy(planner->first, first, ranks * sizeof *first);
    memcpy(planner->masks, masks, ranks * sizeof *masks);
    mem_free(first);
    mem_free(masks);
    mem_free(order);
}

/* Instead of its share the rank gets the objects that this begins in. */
static void bind_to_objects(struct planner *planner)
{
    const struct topology *topology = planner->topology;
    const enum topology_kind kind = planner->binding->to_kind;
    const int count = planner->binding->to_count ? planner->binding->to_count : 1, objects = topology->objects[kind];

    for (int rank = 0; rank < planner->ranks; rank++) {
        const int own = topology->places[planner->first[rank]].object[kind];
        const int begin = own + count > objects ? (objects > count ? objects - count : 0) : own;
        memset(&planner->masks[rank], 0, sizeof planner->masks[rank]);
        for (int i = 0; i < topology->count; i++)
            if (topology->places[i].object[kind] >= begin && topology->places[i].object[kind] < begin + count)
                cpus_add(&planner->masks[rank], topology->places[i].cpu);
    }
}

static struct cpus all_of(const struct topology *topology)
{
    struct cpus all = { { 0 } };

    for (int i = 0; i < topology->count; i++)
        cpus_add(&all, topology->places[i].cpu);
    return all;
}

static void bind_to_lists(struct planner *planner)
{
    const struct binding *binding = planner->binding;
    const struct cpus all = all_of(planner->topology);

    for (int i = 0; i < binding->list_count; i++)
        for (int cpu = 0; (cpu = cpus_next(&binding->lists[i], cpu)) < CPUS_MAX; cpu++)
            if (!cpus_has(&all, cpu))
                die(EXIT_USAGE, "E0101: binding to processor %d: it is not there, or not among those that mpiexec may "
                    "use\nmpiexec -n 1 --show-binding true shows them", cpu);
    for (int rank = 0; rank < planner->ranks; rank++)
        planner->masks[rank] = binding->lists[rank % binding->list_count];
}

static int compare_masks(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct cpus));
}

static bool is_within(const struct cpus *inner, const struct cpus *outer)
{
    for (int i = 0; i < CPUS_MAX / 64; i++)
        if (inner->word[i] & ~outer->word[i])
            return false;
    return true;
}

/* Processors of all sets together; but fewer than ranks if somewhere more ranks have to share than there are processors
 * in their set. */
static int count_cpus(const struct bind_plan *plan, int ranks)
{
    const size_t size = (size_t)ranks * sizeof(struct cpus);
    struct cpus *sorted = need(size), all = { { 0 } };
    int worst = 0;

    memcpy(sorted, plan->masks, size);
    qsort(sorted, (size_t)ranks, sizeof *sorted, compare_masks);
    for (int i = 0; i < ranks; i++) {
        int within = 0;
        if (i > 0 && !compare_masks(&sorted[i - 1], &sorted[i]))
            continue;
        for (int j = 0; j < CPUS_MAX / 64; j++)
            all.word[j] |= sorted[i].word[j];
        for (int j = 0; j < ranks; j++)
            within += is_within(&sorted[j], &sorted[i]);
        if (within - cpus_count(&sorted[i]) > worst)
            worst = within - cpus_count(&sorted[i]);
    }
    mem_free(sorted);
    return worst && ranks - worst < cpus_count(&all) ? ranks - worst : cpus_count(&all);
}

/* Does each rank have processors for its threads, and none has two ranks? */
static bool is_enough(const struct planner *planner, int threads)
{
    const struct cpus all = all_of(planner->topology);
    int sum = 0;

    for (int rank = 0; rank < planner->ranks; rank++) {
        const int count = cpus_count(&planner->masks[rank]);
        if (count < threads)
            return false;
        sum += count;
    }
    return sum <= cpus_count(&all);
}

/* Without a wish for something else: by cores; if that leaves somebody too little, by threads; else not at all. */
static bool bind_to_shares(struct planner *planner, int threads)
{
    map(planner);
    if (is_enough(planner, threads))
        return true;
    planner->has_threads = true;
    map(planner);
    return is_enough(planner, threads);
}

/* False: somebody would get too little. */
static bool bind_all(struct planner *planner, int threads)
{
    const struct binding *binding = planner->binding;

    if (binding->to == BIND_LISTS) {
        bind_to_lists(planner);
        return true;
    }
    if (binding->to == BIND_SHARE && !binding->width) {
        if (!bind_to_shares(planner, threads))
            return false;
    } else {
        map(planner);
    }
    if (binding->is_ranked)
        number_ranks(planner);
    if (binding->to == BIND_OBJECT && !(planner->is_exact && is_small(binding->to_kind)))
        bind_to_objects(planner);
    return true;
}

/* No rank has processors of its own. A set that the options name is kept to all the same. */
static void bind_none(const struct binding *binding, const struct topology *topology, int ranks, struct bind_plan *plan)
{
    const struct cpus all = all_of(topology);

    if (!binding->only)
        return;
    plan->masks = need((size_t)ranks * sizeof *plan->masks);
    for (int rank = 0; rank < ranks; rank++)
        plan->masks[rank] = all;
}

/* What is shared, and how many of it each rank gets. "core:2" gives two cores to each. */
static void set_units(struct planner *planner)
{
    const struct binding *binding = planner->binding;
    const bool is_wide = binding->to == BIND_OBJECT && is_small(binding->to_kind) && binding->to_count > 1 &&
                         binding->map == BIND_MAP_SHARE;

    planner->has_threads = binding->has_threads || (is_wide && binding->to_kind == TOPOLOGY_THREAD) ||
                           (binding->map == BIND_MAP_OBJECT && binding->map_kind == TOPOLOGY_THREAD);
    planner->is_exact = binding->width || is_wide;
    planner->width = binding->width;
    if (!planner->width && is_wide)
        planner->width = binding->to_count;
    else if (!planner->width && is_in_order(binding))
        planner->width = binding->map_count ? binding->map_count : 1;
}

/* False: the shares would be too small. */
static bool make_masks(struct planner *planner, int threads)
{
    const size_t ranks = (size_t)planner->ranks, places = (size_t)planner->topology->count;
    bool is_made;

    set_units(planner);
    planner->masks = need(ranks * sizeof *planner->masks);
    planner->first = need(ranks * sizeof *planner->first);
    planner->places = need(places * sizeof *planner->places);
    planner->units = need((places + 1) * sizeof *planner->units);
    is_made = bind_all(planner, threads);
    mem_free(planner->units);
    mem_free(planner->places);
    mem_free(planner->first);
    return is_made;
}

void bind_make(const struct binding *binding, const struct topology *topology, int ranks, int threads, int cpus,
               struct bind_plan *plan)
{
    struct planner planner = { .binding = binding, .topology = topology, .ranks = ranks };
    const bool is_default = binding->to == BIND_SHARE && !binding->width;
    const int usable = topology->count < cpus ? topology->count : cpus;

    *plan = (struct bind_plan){ .cpus = usable };
    if (binding->to == BIND_NONE)
        plan->why = "not bound, as asked for";
    else if (is_default && (long long)ranks * threads > usable)
        plan->why = "not bound, more threads than processors";
    else if (!make_masks(&planner, threads))
        plan->why = "not bound, some shares would be too small";
    else
        plan->masks = planner.masks;
    if (!plan->masks) {
        mem_free(planner.masks);
        bind_none(binding, topology, ranks, plan);
        return;
    }
    plan->why = is_default ? "equal shares" : "as asked for";
    if (!is_default || binding->map != BIND_MAP_SHARE) /* else all are used, none by two */
        plan->cpus = count_cpus(plan, ranks);
    plan->cpus = plan->cpus < cpus ? plan->cpus : cpus;
}

void bind_free(struct bind_plan *plan)
{
    mem_free(plan->masks);
    plan->masks = NULL;
}
