/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Blocks whose lengths not all members know, through the memory of the shelf: who brings short ones puts
 * each into a slot, in its line if all fit there, else in its cells.
 *
 *   line         struct node_head: bytes of a slot; the length of all blocks, or that they vary
 *   line, cell   the lengths, if they vary; the slots, one for all or one for each other member by its rank
 *
 * Slots that do not fit into a part of a cell (node_part) go in several rounds, a part of each in a round; of a
 * scatterv, unless there are too many, as many slots as fit, or one after the other in rounds of its own, the next
 * member's first, who may be the next root. All
 * members have the same number of rounds: who brings less posts the others as well. So only calls have several in which
 * everybody reads the lines of all who bring something. */
#include "base/err.h"
#include "coll/int_node.h"

enum { IN_LINE = SHELF_INLINE - sizeof(struct node_head) };

/* Bytes of a cell that slots have in a round: neighbours, who have one round only, all. */
static size_t room_of(const struct node_call *call)
{
    return call->what >> NODE_WHAT_OP < COLL_NEIGHBOR_ALLGATHER ? node_part() : SHELF_CELL;
}

/* Where slots lie. Follows from the operation, the head and the number of slots. */
struct layout {
    size_t table;       /* bytes of the lengths before them */
    size_t part;        /* bytes of each slot in a round */
    int rounds;
    int in_turn;        /* so many slots in each round; 0: all */
    int each;           /* with that: rounds that a slot takes, if more than one does not fit */
    bool is_in_line;
};

static struct layout layout_of(const struct node_call *call, const struct node_head *head, int count)
{
    const size_t stride = head->stride, n = (size_t)count, room = room_of(call);
    struct layout l = { .table = head->len == NODE_SLOTS_VARY ? n * sizeof(uint32_t) : 0, .part = stride, .rounds = 1 };

    l.is_in_line = l.table + n * stride <= IN_LINE;
    if (likely(l.table + n * stride <= room))
        return l;
    if (call->what >> NODE_WHAT_OP == COLL_SCATTERV) {
        const size_t most = (room - l.table) / CACHE_LINE * CACHE_LINE, each = (stride + most - 1) / most;
        const size_t fit = each > 1 ? 1 : (room - l.table) / stride, rounds = (n + fit - 1) / fit * each;

        if (rounds <= NODE_AHEAD) {
            l.in_turn = (int)fit;
            l.each = (int)each;
            if (each > 1) /* even parts */
                l.part = (stride + each * CACHE_LINE - 1) / (each * CACHE_LINE) * CACHE_LINE;
            l.rounds = (int)rounds;
        }
    }
    if (!l.in_turn) {
        l.part = (room - l.table) / n / CACHE_LINE * CACHE_LINE;
        l.rounds = (int)((stride + l.part - 1) / l.part);
    }
    return l;
}

static char *place_of(const struct node_call *call, const struct layout *l, int rank, uint32_t round)
{
    return l->is_in_line ? (char *)shelf_line(call->comm, rank, round)->data + sizeof(struct node_head)
                         : shelf_cell(call->comm, rank, round);
}

/* Do all see the lines of all who bring something? */
static bool is_seen_by_all(const struct node_blocks *b)
{
    return b->readers_end - b->reader != 1 || b->call->comm->size == 2;
}

/* --- who brings --- */

bool node_slots_plan(const struct node_blocks *b, struct node_slots *slots)
{
    const int size = b->call->comm->size, own = b->call->comm->rank;
    size_t longest = 0, shortest = SIZE_MAX, pays_as;
    struct layout l;

    slots->count = b->has_one ? 1 : size - 1;
    if (slots->count > NODE_SLOTS_MOST)
        return false;
    for (int i = 0; i < slots->count; i++) {
        slots->block[i] = node_out(b, i + (i >= own));
        slots->len[i] = type_bytes(slots->block[i].type, slots->block[i].count);
        longest = size_max(longest, slots->len[i]);
        shortest = size_min(shortest, slots->len[i]);
    }
    slots->head = (struct node_head){ (uint32_t)size_min(longest, UINT32_MAX),
                                      longest == shortest ? (uint32_t)longest : NODE_SLOTS_VARY };
    l = layout_of(b->call, &slots->head, slots->count);
    slots->rounds = l.rounds;
    pays_as = l.in_turn ? longest : node_pays_as(b, longest);
    if (node_is_long_for(b, longest, b->has_one ? 1 : size) && !node_is_read_by_all(b) &&
        pays_as >= b->call->comm->shelf_copy_min)
        return false;
    return slots->rounds == 1 || (slots->rounds <= NODE_AHEAD && is_seen_by_all(b));
}

/* The part of each block that goes in the round that begins at `at`. */
static void fill(const struct node_slots *slots, const struct layout *l, char *to, size_t at)
{
    for (int i = 0; i < slots->count; i++, to += l->part) {
        if (at < slots->len[i] && slots->len[i] != NODE_SLOTS_NONE)
            node_pack(&slots->block[i], at, to, size_min(l->part, slots->len[i] - at));
    }
}

/* The blocks whose turn is in a round of member `rank`, or the part of one. */
static void fill_in_turn(const struct node_slots *slots, const struct layout *l, char *to, int round, int rank)
{
    const int first = round / l->each * l->in_turn, left = slots->count - first;
    const size_t at = (size_t)(round % l->each) * l->part;

    for (int i = 0; i < (left < l->in_turn ? left : l->in_turn); i++, to += l->part) {
        const int slot = (first + i + rank) % slots->count;

        if (at < slots->len[slot])
            node_pack(&slots->block[slot], at, to, size_min(l->part, slots->len[slot] - at));
    }
}

int node_slots_rounds(const struct node_call *call, const struct node_head *head, int count)
{
    return layout_of(call, head, count).rounds;
}

void node_slots_post(struct node_call *call, const struct node_slots *slots)
{
    const struct layout l = layout_of(call, &slots->head, slots->count);
    const uint32_t first = call->comm->shelf.round + 1;

    for (int i = 0; i < l.rounds; i++) {
        struct shelf_line *line = node_open(call, !l.is_in_line);
        char *place = place_of(call, &l, call->comm->rank, call->round);

        if (!i)
            memcpy(line->data, &slots->head, sizeof slots->head);
        for (int slot = 0; !i && l.table && slot < slots->count; slot++)
            ((uint32_t *)(void *)place)[slot] = (uint32_t)slots->len[slot];
        if (unlikely(l.in_turn))
            fill_in_turn(slots, &l, place + l.table, i, call->comm->rank);
        else
            fill(slots, &l, place + l.table, (size_t)i * l.part);
        node_post(call, line);
    }
    call->round = first;
}

/* --- who takes --- */

static int count_of(const struct node_blocks *b)
{
    return b->has_one ? 1 : b->call->comm->size - 1;
}

void node_slots_follow(const struct node_blocks *b, int rounds)
{
    struct node_call *call = b->call;
    const uint32_t first = call->round;
    const size_t count = (size_t)count_of(b);

    for (int rank = b->first; rank < b->end; rank++) {
        const struct node_head *head = node_head(call, rank, first);

        if (unlikely(count * (head->stride + sizeof(uint32_t)) > node_part())) {
            for (const int most = node_slots_rounds(call, head, (int)count); rounds < most; rounds++)
                node_post(call, node_open(call, false));
        }
    }
    call->round = first;
}

size_t node_slots_len(const struct node_call *call, int rank, int count, int slot)
{
    const struct node_head *head = node_head(call, rank, call->round);
    const struct layout l = layout_of(call, head, count);

    return l.table ? ((const uint32_t *)(const void *)place_of(call, &l, rank, call->round))[slot] : head->len;
}

int node_slots_take(struct node_call *call, int rank, int count, int slot, const struct coll_block *to)
{
    const uint32_t first = call->round;
    const struct layout l = layout_of(call, node_head(call, rank, first), count);
    const size_t room = type_bytes(to->type, to->count), len = node_slots_len(call, rank, count, slot);
    const size_t taken = size_min(len, room);
    uint32_t before = 0;
    size_t in_cell = (size_t)slot * l.part;
    int rc = 0;

    if (unlikely(l.in_turn)) {
        const int place = (slot + count - rank) % count;

        before = (uint32_t)(place / l.in_turn * l.each);
        in_cell = (size_t)(place % l.in_turn) * l.part;
    }
    for (size_t at = 0; at < taken && !rc; at += l.part) {
        const uint32_t round = first + before + (uint32_t)(at / l.part);

        if (round != first)
            rc = node_await(call, round, rank, rank + 1);
        if (!rc)
            node_unpack(to, at, place_of(call, &l, rank, round) + l.table + in_cell,
                        size_min(l.part, taken - at));
    }
    if (unlikely(len > room) && !rc)
        rc = err(MPI_ERR_TRUNCATE, "got %zu bytes, from rank %d; there is room for %zu bytes", len, rank, room);
    return rc;
}
