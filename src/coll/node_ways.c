/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Trials of the ways that long blocks may go (int_ways.h). Rank 0 goes through this for each kind and
 * class:
 *
 *   here          so many calls go the best way, and their times are taken
 *   others        the same with each other way; the one with the least time is the best one from now on
 *   settled       very many go the best way
 *
 * Of the times of a way the shortest counts, and the first calls after another way do not: what they need is not in
 * the caches. A change that is told in a call holds from the next one on, so the calls of a trial are counted by the
 * way that they have gone, not by the one that was wanted.
 *
 * Knows: sys (clock). Does not know: what is moved. */
#include "coll/int_ways.h"

#include <string.h>

#include "base/mem.h"
#include "sys/clock.h"

enum {
    IS_SETTLED = 400, /* calls */
    COLD_CALLS = 2,   /* of a trial, that do not count … */
    SAMPLES = 4,      /* … and that do */
    BETTER = 95,      /* per cent of the time that another way may take at most to be taken */
    SLOTS = NODE_KINDS * NODE_WAYS_CLASSES,
    TOLD_AT = 40,     /* in the data of a line, behind what else may lie there */
};

struct trial {
    float time[NODE_WAYS]; /* ns */
    uint16_t calls;        /* settled ones, or those of a trial that counted */
    uint8_t run;           /* calls in a row that have gone the last one's way, up to COLD_CALLS + 1 */
    uint8_t best, last;    /* ways: the best one, that of the last call */
    uint8_t tried;         /* from the best one on, the way that is tried; as many as there are: settled */
};

struct ways {
    struct trial trial[SLOTS];
    int slot; /* of the last call */
};

struct told {
    uint8_t slot, way;
};

_Static_assert(sizeof(struct node_window) <= TOLD_AT, "what is told lies behind a window");
_Static_assert((int)SLOTS <= (int)COMM_SHELF_WAYS, "there is room");

/* Those that are tried: very long blocks are copied, and members that reduce read the operands of others. */
struct choice {
    uint8_t first, count;
};

static struct choice choice_of(int slot)
{
    const uint8_t first = slot % NODE_WAYS_CLASSES < NODE_WAYS_LONG ? NODE_WAY_CELLS : NODE_WAY_WRITE;
    const uint8_t last = slot / NODE_WAYS_CLASSES <= NODE_KIND_ONE ? NODE_WAY_READ : NODE_WAY_WRITE;

    return (struct choice){ first, (uint8_t)(last + 1 - first) };
}

/* That which is tried now, from the best one on in turn. */
static uint8_t way_of(const struct trial *trial, struct choice choice)
{
    return (uint8_t)(choice.first + (trial->best - choice.first + trial->tried) % choice.count);
}

static int slot_of(enum node_kind kind, size_t bytes)
{
    int class = 0;

    while (class < NODE_WAYS_CLASSES - 1 && bytes >= (size_t)NODE_WAYS_MIN << (class + 1))
        class++;
    return kind * NODE_WAYS_CLASSES + class;
}

/* Bytes to compare with shelf_copy_min for the first calls: some reductions need few copies, and far lines make many
 * of cells. */
static size_t pays_as(int slot)
{
    const size_t bytes = (size_t)NODE_WAYS_MIN << slot % NODE_WAYS_CLASSES;

    return slot / NODE_WAYS_CLASSES == NODE_KIND_REDUCE_SCATTER ? bytes * 8 : bytes;
}

void node_ways_init(struct comm *comm)
{
    comm->shelf_has_ways = true;
    if (comm->rank == 0 && !comm->shelf_trials) /* without memory for them all goes as it begins */
        comm->shelf_trials = mem_zalloc(sizeof *comm->shelf_trials);
    for (int slot = 0; slot < SLOTS; slot++) {
        const bool copies = choice_of(slot).first || pays_as(slot) >= comm->shelf_copy_min;

        comm->shelf_ways[slot] = copies ? NODE_WAY_WRITE : NODE_WAY_CELLS;
        if (comm->shelf_trials)
            comm->shelf_trials->trial[slot].best = comm->shelf_ways[slot];
    }
}

bool node_ways_copy(struct node_call *call, enum node_kind kind, size_t bytes)
{
    const int slot = slot_of(kind, bytes);

    call->tried = (uint8_t)(slot + 1);
    call->way = call->comm->shelf_ways[slot];
    return call->way != NODE_WAY_CELLS;
}

/* Calls of settled kinds and classes are counted only: two readings of a clock are much beside a short one. */
static bool is_settled(const struct ways *ways, int slot)
{
    return ways->trial[slot].tried == choice_of(slot).count;
}

void node_ways_tell(struct node_call *call, struct shelf_line *line)
{
    const struct comm *comm = call->comm;
    const struct ways *ways = comm->shelf_trials;
    const int slot = ways ? ways->slot : 0;
    const struct told told = { (uint8_t)slot, ways ? way_of(&ways->trial[slot], choice_of(slot))
                                                   : comm->shelf_ways[slot] };

    if (comm->rank == 0)
        memcpy(line->data + TOLD_AT, &told, sizeof told);
    if (ways && !(call->tried && is_settled(ways, call->tried - 1)))
        call->start = clock_ns();
}

void node_ways_hear(const struct node_call *call, uint32_t round)
{
    struct told told;

    memcpy(&told, shelf_line(call->comm, 0, round)->data + TOLD_AT, sizeof told);
    call->comm->shelf_ways[told.slot % SLOTS] = told.way;
}

static void choose(struct trial *trial, struct choice choice)
{
    const float most = trial->time[trial->best] * BETTER / 100;
    uint8_t best = trial->best;

    for (uint8_t way = choice.first; way < choice.first + choice.count; way++) {
        if (way != trial->best && trial->time[way] < most && trial->time[way] < trial->time[best])
            best = way;
    }
    trial->best = best;
}

static void learn(struct trial *trial, struct choice choice, uint8_t way, float took)
{
    float *time = &trial->time[way];

    trial->run = way == trial->last ? (uint8_t)(trial->run + (trial->run <= COLD_CALLS)) : 1;
    trial->last = way;
    if (trial->tried == choice.count) {
        if (++trial->calls < IS_SETTLED)
            return;
        trial->tried = 0;
    } else {
        if (way != way_of(trial, choice) || trial->run <= COLD_CALLS)
            return;
        *time = !trial->calls || took < *time ? took : *time;
        if (++trial->calls < SAMPLES)
            return;
        if (++trial->tried == choice.count)
            choose(trial, choice);
    }
    trial->calls = 0;
}

void node_ways_end(const struct node_call *call)
{
    struct ways *ways = call->comm->shelf_trials;

    if (!call->tried || !ways || !(call->start || is_settled(ways, call->tried - 1)))
        return;
    ways->slot = call->tried - 1;
    learn(&ways->trial[ways->slot], choice_of(ways->slot), call->way,
          call->start ? (float)(clock_ns() - call->start) : 0);
}
