/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Blocks from memory to memory. In one round, who brings blocks puts a table into its cell which says for
 * each reader where its block lies in its memory and how long it is. Readers fetch. Who has shown its memory waits for
 * their last step. Where lengths vary, a member whose blocks are short puts them into slots instead (node_slots.c).
 *
 *   line         struct node_head: are there slots, or is memory shown?
 *   cell         struct box for the one or for each reader; of who only reads: struct box for the one or for each that
 *                brings, with the place that its block goes to
 *
 * Where all bring and all take, who brings a long block writes it to where it goes, which is faster than reading it.
 * Where some bring and others take, both sides copy: who brings a long block writes its end, who takes it reads its
 * beginning, in shares that let all be ready at the same time.
 *
 * Blocks with gaps, and those that would be overwritten by others before they are read, are packed to a temporary place
 * first. Where all read from all, everybody begins with the next member. */
#include "base/copy.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/memcheck.h"
#include "coll/int_ways.h"
#include "sys/huge.h"

enum {
    BOUNCE = 65536,     /* bytes fetched at a time for a layout with gaps */
    SHARED_MIN = 98304, /* bytes of a block from which on who brings it writes */
    SCATTER_MIN = 524288, /* the same of a scatter */
    SLOTTED_MAX = 65536, /* up to here blocks of lengths that vary may be in slots instead, which not all know */
    TURN = 262144,      /* bytes that go to two places before the next ones do */
    PAGE = 4096,
};

struct box {
    uint64_t at;  /* an address */
    uint64_t len;
};

/* --- both --- */

/* Of a long block: what its reader does. Writing takes 0.85 of the time of reading; so where all bring and all take,
 * and where many bring blocks to one, who brings them writes. Who scatters has its own block to copy: it writes an
 * eighth of a very long one for the only other member. */
static size_t share_of_reader(const struct node_blocks *b, size_t len)
{
    if (len < SHARED_MIN)
        return len;
    if (node_is_mutual(b))
        return b->call->way == NODE_WAY_READ ? len : 0;
    if (!b->has_one)
        return b->call->comm->size > 2 || len < SCATTER_MIN ? len : len - len / 8 / PAGE * PAGE;
    return b->in_index == NODE_EACH ? 0 : len - len / (size_t)b->call->comm->size / PAGE * PAGE;
}

/* The system looks up every page of the other process, so huge ones help who has its memory read or written by others:
 * are blocks of so many bytes read by who takes them, or written to where they go? Where ways are tried, both. */
static bool is_read(const struct node_blocks *b, size_t len)
{
    return node_ways_are_tried(b) || share_of_reader(b, len);
}

static bool is_written(const struct node_blocks *b, size_t len)
{
    return node_ways_are_tried(b) || share_of_reader(b, len) < len;
}

/* The table of a member, in the present round. */
static struct box *table_of(const struct node_blocks *b, int rank)
{
    return (struct box *)(void *)shelf_cell(b->call->comm, rank, b->call->round);
}

/* The places. */
static struct box *places_of(const struct node_blocks *b, int rank)
{
    return table_of(b, rank) + (node_is_mutual(b) ? b->has_one ? 1 : b->call->comm->size : 0);
}

/* --- who brings --- */

static bool is_brought(const struct node_blocks *b, int rank)
{
    return b->out_index != NODE_EACH || rank != b->call->comm->rank;
}

static bool is_packed(const struct node_blocks *b, const struct coll_block *block)
{
    return b->is_in_place || !type_is_run(block->type, block->count);
}

/* One for all, or one for each. */
static int count_boxes(const struct node_blocks *b)
{
    return b->out_index == NODE_EACH ? b->call->comm->size : 1;
}

/* Bytes that have to be packed before others can read them. */
static size_t count_packed(const struct node_blocks *b)
{
    size_t packed = 0;

    for (int rank = 0; rank < count_boxes(b); rank++) {
        const struct coll_block block = node_out(b, rank);

        if (is_brought(b, rank) && is_packed(b, &block))
            packed += type_bytes(block.type, block.count);
    }
    return packed;
}

static size_t longest_out(const struct node_blocks *b)
{
    size_t longest = 0;

    for (int rank = 0; rank < count_boxes(b); rank++) {
        const struct coll_block block = node_out(b, rank);

        if (is_brought(b, rank))
            longest = size_max(longest, type_bytes(block.type, block.count));
    }
    return longest;
}

/* Fill the table and what it points to: packed to `temp` or where they lie. */
static void fill_boxes(const struct node_blocks *b, char *temp)
{
    struct box *table = table_of(b, b->call->comm->rank);

    for (int rank = 0; rank < count_boxes(b); rank++) {
        const struct coll_block block = node_out(b, rank);
        const size_t len = is_brought(b, rank) ? type_bytes(block.type, block.count) : 0;

        table[rank] = (struct box){ .len = len };
        if (!len)
            continue;
        if (is_packed(b, &block)) {
            table[rank].at = (uintptr_t)temp;
            node_pack(&block, 0, temp, len);
            temp += len;
        } else {
            table[rank].at = (uintptr_t)type_run(block.type, block.buf);
            if (is_read(b, len))
                huge_note(type_run(block.type, block.buf), len);
        }
    }
}

/* Is there a block so long that who brings it may write a part to where it goes? */
static bool takes_long(const struct node_blocks *b)
{
    const int first = b->in_index == NODE_EACH ? b->first : 0, end = b->in_index == NODE_EACH ? b->end : 1;

    for (int i = first; i < end; i++) {
        const struct coll_block to = node_in(b, i);

        if (type_bytes(to.type, to.count) >= SHARED_MIN)
            return true;
    }
    return false;
}

/* Where blocks go to; nowhere if the layout has gaps. */
static void fill_places(const struct node_blocks *b)
{
    struct box *places = places_of(b, b->call->comm->rank);
    const int first = b->in_index == NODE_EACH ? b->first : 0, end = b->in_index == NODE_EACH ? b->end : 1;

    for (int i = first; i < end; i++) {
        const struct coll_block to = node_in(b, i);
        const bool is_run = type_is_run(to.type, to.count);

        places[i].at = is_run ? (uintptr_t)type_run(to.type, to.buf) : 0;
        places[i].len = type_bytes(to.type, to.count);
        if (is_run && is_written(b, (size_t)places[i].len))
            huge_note(type_run(to.type, to.buf), (size_t)places[i].len);
    }
}

/* Does a member show memory, or places? */
static bool has_table(const struct node_blocks *b, int rank)
{
    return node_head(b->call, rank, b->call->round)->len == NODE_SLOTS_NONE;
}

/* Of the block of a reader, in this member's table: from which byte on this member writes it. The length: nothing. */
static size_t begin_push(const struct node_blocks *b, int rank, const struct box *block, const struct box *to)
{
    const size_t at = share_of_reader(b, block->len);

    return has_table(b, rank) && to->at && to->len == block->len ? at : block->len;
}

/* To where the block of a reader goes: its end. */
static int push_end(const struct node_blocks *b, int rank)
{
    const int own = b->call->comm->rank;
    const struct box *block = table_of(b, own) + (b->out_index == NODE_EACH ? rank : 0);
    const struct box *to = places_of(b, rank) + (b->in_index == NODE_EACH ? own : 0);
    const size_t at = begin_push(b, rank, block, to);

    return node_push(b->call, rank, (const char *)(uintptr_t)block->at + at, to->at + at, block->len - at);
}

/* To all that read what this member has shown, the next one first. */
static int push_ends(const struct node_blocks *b)
{
    const struct comm *comm = b->call->comm;
    int rc = 0;

    for (int distance = 1; distance < comm->size && !rc; distance++) {
        const int rank = (comm->rank + distance) % comm->size;

        if (rank < b->reader || rank >= b->readers_end)
            continue;
        rc = node_await(b->call, b->call->round, rank, rank + 1);
        if (!rc)
            rc = push_end(b, rank);
    }
    return rc;
}

/* Of two members that bring one block for all: to the other one, and to the own place what is in the cache by that.
 * False: it is another case. */
static bool push_twice(const struct node_blocks *b, int *rc)
{
    const struct comm *comm = b->call->comm;
    const struct coll_block *own = &b->own_to;
    const struct box *block = table_of(b, comm->rank), *to = places_of(b, !comm->rank) + comm->rank;
    const char *from = (const char *)(uintptr_t)block->at;
    char *keep;

    if (comm->size > 2 || !b->has_one || !b->has_own || begin_push(b, !comm->rank, block, to) ||
        !type_is_run(own->type, own->count) || type_bytes(own->type, own->count) != block->len)
        return false;
    keep = type_run(own->type, own->buf);
    for (size_t at = 0, part; at < block->len; at += part) {
        part = size_min(TURN, block->len - at);
        node_note(rc, node_push(b->call, !comm->rank, from + at, to->at + at, part));
        copy_long(keep + at, from + at, part);
    }
    memcheck_written(keep, block->len);
    return true;
}

/* Post the table. *temp is to be freed when all have read. */
static int show(const struct node_blocks *b, char **temp)
{
    const size_t packed = b->out ? count_packed(b) : 0;
    const uint64_t longest = b->out ? longest_out(b) : 0;
    const bool tells_places = node_is_mutual(b) ||
                              (!b->out && (b->has_one || b->call->comm->size == 2) && takes_long(b));
    struct node_head head = { 0, NODE_SLOTS_NONE };
    struct shelf_line *line;

    if (packed) {
        *temp = mem_alloc(packed);
        if (!*temp)
            return err(MPI_ERR_NO_MEM, "no memory for %zu bytes of blocks that are not in a row", packed);
    }
    line = node_open(b->call, b->out || tells_places);
    if (b->out)
        fill_boxes(b, *temp);
    if (tells_places)
        fill_places(b);
    else if (!b->out)
        head.len = 0;
    memcpy(line->data, &head, sizeof head);
    memcpy((char *)line->data + sizeof head, &longest, sizeof longest);
    if (node_ways_are_tried(b))
        node_ways_tell(b->call, line);
    node_post(b->call, line);
    return 0;
}

/* Where lengths vary: do all that bring something show memory, do all members know how long their longest block is, and
 * does it not pay to copy it here? Its bytes, else 0. */
static size_t longest_shown(const struct node_blocks *b)
{
    const struct comm *comm = b->call->comm;
    size_t longest = 0;

    if (!b->varies || !(comm->shelf_copy_min || node_ways_are_tried(b)) ||
        (b->has_root && b->has_one && comm->size > 2))
        return 0;
    for (int rank = 0; rank < comm->size; rank++) {
        uint64_t bytes;

        if (b->has_root && (rank == comm->rank ? !b->out : rank < b->first || rank >= b->end))
            continue; /* who brings nothing */
        if (!has_table(b, rank))
            return 0;
        memcpy(&bytes, (char *)shelf_line(comm, rank, b->call->round)->data + sizeof(struct node_head), sizeof bytes);
        longest = size_max(longest, (size_t)bytes);
    }
    if (node_ways_are_tried(b) && longest > SLOTTED_MAX)
        return node_ways_copy(b->call, node_kind_of(b), longest) ? 0 : longest;
    return node_pays_as(b, longest) < comm->shelf_copy_min ? longest : 0;
}

/* The lengths that tables tell of the blocks for this member. */
static void hear_lengths(const struct node_blocks *b)
{
    const int own = b->call->comm->rank;

    for (int rank = b->first; rank < b->end; rank++)
        b->told[rank] = rank == own ? 0 : (size_t)table_of(b, rank)[b->has_one ? 0 : own].len;
}

/* In slots or a tray, if that goes; *rounds is how many rounds it takes. */
static int bring(const struct node_blocks *b, char **temp, int *rounds)
{
    struct node_slots slots;

    *rounds = 1;
    if (b->varies && b->out && node_slots_plan(b, &slots)) {
        *rounds = slots.rounds;
        node_slots_post(b->call, &slots);
    } else if (node_tray_is_better(b)) {
        node_tray_post(b);
    } else {
        return show(b, temp);
    }
    return 0;
}

/* --- who takes --- */

/* From the memory of another member into a layout with gaps. */
static int fetch_gaps(const struct node_blocks *b, int rank, const struct box *box, const struct coll_block *to,
                      size_t len)
{
    char *bounce = mem_alloc(BOUNCE);
    int rc = bounce ? 0 : err(MPI_ERR_NO_MEM, "no memory for %d bytes on their way", BOUNCE);

    for (size_t at = 0; at < len && !rc; at += BOUNCE) {
        const size_t part = size_min(BOUNCE, len - at);

        rc = node_fetch(b->call, rank, bounce, box->at + at, part);
        if (!rc)
            node_unpack(to, at, bounce, part);
    }
    mem_free(bounce);
    return rc;
}

static int take_long(const struct node_blocks *b, int rank)
{
    const struct box *box = table_of(b, rank) + (b->has_one ? 0 : b->call->comm->rank);
    const struct coll_block to = node_in(b, rank);
    const size_t room = type_bytes(to.type, to.count), len = size_min(box->len, room);
    int rc;

    if (type_is_run(to.type, to.count)) {
        rc = node_fetch(b->call, rank, type_run(to.type, to.buf), box->at,
                        box->len == room && has_table(b, b->call->comm->rank) ? share_of_reader(b, len) : len);
    } else {
        rc = fetch_gaps(b, rank, box, &to, len);
    }
    if (unlikely(box->len > room) && !rc)
        rc = err(MPI_ERR_TRUNCATE, "got %llu bytes, from rank %d; there is room for %zu bytes",
                 (unsigned long long)box->len, rank, room);
    return rc;
}

static int take_short(const struct node_blocks *b, int rank)
{
    const int own = b->call->comm->rank, size = b->call->comm->size;
    const struct coll_block to = node_in(b, rank);

    if (node_head(b->call, rank, b->call->round)->len == NODE_SLOTS_TRAY)
        return node_tray_take(b->call, rank, &to);
    return node_slots_take(b->call, rank, b->has_one ? 1 : size - 1, b->has_one ? 0 : own - (own > rank), &to);
}

/* From all that there is to take from, the next member first. True: one of them waits for this one's step. */
static bool take_all(const struct node_blocks *b, int *rc)
{
    const struct comm *comm = b->call->comm;
    bool is_shown = false;

    for (int distance = 1; distance < comm->size; distance++) {
        const int rank = (comm->rank + distance) % comm->size;

        if (rank >= b->first && rank < b->end) {
            const bool is_long = has_table(b, rank);

            node_note(rc, is_long ? take_long(b, rank) : take_short(b, rank));
            is_shown = is_shown || is_long;
        }
    }
    return is_shown;
}

/* Until those that bring have written their part. */
static void await_ends(const struct node_blocks *b)
{
    for (int rank = b->first; rank < b->end; rank++) {
        if (rank != b->call->comm->rank && has_table(b, rank)) {
            const struct coll_block to = node_in(b, rank);

            if (!node_is_mutual(b))
                node_await_step(b->call, 1, rank, rank + 1);
            if (type_is_run(to.type, to.count))
                memcheck_written(type_run(to.type, to.buf), type_bytes(to.type, to.count));
        }
    }
}

/* --- all of it --- */

static int meet(const struct node_blocks *b)
{
    const int size = b->call->comm->size, readers = b->readers_end - b->reader;

    if (b->end - b->first == size && readers == size)
        return node_meet(b->call, b->call->round);
    if (readers == 1)
        node_wake(b->call, b->reader);
    else if (readers || !b->varies)
        node_wake_all(b->call);
    return b->first < b->end ? node_await(b->call, b->call->round, b->first, b->end) : 0;
}

/* With what this member has shown: write, and take its own block. */
static int bring_long(const struct node_blocks *b, bool shows)
{
    int rc = 0;

    if (shows && node_is_mutual(b) && push_twice(b, &rc))
        return rc;
    if (shows)
        rc = push_ends(b);
    if (node_is_mutual(b))
        node_note(&rc, node_copy_own(b));
    return rc;
}

/* All lines are there, this member has posted `rounds` of its own; rc is the first error. */
static int finish(const struct node_blocks *b, int rounds, int rc)
{
    struct node_call *call = b->call;
    bool shows, reads;

    if (b->varies)
        node_slots_follow(b, rounds);
    shows = b->out && has_table(b, call->comm->rank);
    node_note(&rc, bring_long(b, shows));
    reads = take_all(b, &rc);
    if (shows || reads) {
        node_step(call, 1);
        node_wake_all(call);
    }
    if (shows)
        node_await_step(call, 1, b->reader, b->readers_end);
    if (reads && has_table(b, call->comm->rank)) /* else nobody writes here */
        await_ends(b);
    return rc;
}

/* The same, unless all goes on in rounds: then nothing is moved here. */
static int finish_here(const struct node_blocks *b, int rounds, int rc, size_t *longest)
{
    *longest = longest_shown(b);
    if (node_ways_are_tried(b) && has_table(b, 0))
        node_ways_hear(b->call, b->call->round);
    if (!*longest)
        return finish(b, rounds, rc);
    hear_lengths(b);
    return rc;
}

int node_take_boxes(const struct node_blocks *b, size_t *longest)
{
    return finish_here(b, 1, 0, longest);
}

int node_copy_blocks(const struct node_blocks *b, size_t *longest)
{
    char *temp = NULL;
    int rounds, rc = bring(b, &temp, &rounds), failed = rc || node_is_mutual(b) ? 0 : node_copy_own(b);

    *longest = 0;
    if (!rc)
        rc = meet(b);
    if (!rc) /* else who disagrees does not read; nobody may read what is gone */
        rc = finish_here(b, rounds, failed, longest); /* after an error, too, others get what they wait for */
    mem_free(temp);
    return rc;
}
