/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Blocks from memory to memory. In one round, who brings blocks puts a table into its cell which says for
 * each reader where its block lies and how long it is: in the same cell, if all of them fit, or in its memory. Readers
 * fetch. Who has shown its memory waits for their last step.
 *
 *   line         struct node_window: `value` is 1 if memory is shown
 *   cell         struct box for the one or for each reader, then the blocks that are in the cell
 *
 * Blocks with gaps, and those that would be overwritten by others before they are read, are packed to a temporary place
 * first. Where all read from all, everybody begins with the next member. */
#include "base/err.h"
#include "base/mem.h"
#include "base/memcheck.h"
#include "coll/int_node.h"

enum { BOUNCE = 65536 /* bytes fetched at a time for a layout with gaps */ };

struct box {
    uint64_t at;  /* an address, or, below SHELF_CELL, a place in the cell */
    uint64_t len;
};

/* --- who brings --- */

struct plan {
    int boxes;          /* one for all, or one for each */
    size_t total;       /* bytes of all blocks */
    size_t packed;      /* of those that have to be packed if they do not fit into the cell */
};

static bool is_brought(const struct node_blocks *b, int rank)
{
    return b->out_index != NODE_EACH || rank != b->call->comm->rank;
}

static bool is_packed(const struct node_blocks *b, const struct coll_block *block)
{
    return b->is_in_place || !type_is_run(block->type, block->count);
}

static struct plan plan_of(const struct node_blocks *b)
{
    struct plan plan = { .boxes = b->out_index == NODE_EACH ? b->call->comm->size : 1 };

    for (int rank = 0; rank < plan.boxes; rank++) {
        const struct coll_block block = node_out(b, rank);
        const size_t len = is_brought(b, rank) ? type_bytes(block.type, block.count) : 0;

        plan.total += len;
        plan.packed += is_packed(b, &block) ? len : 0;
    }
    return plan;
}

/* Fill the table and what it points to: in the cell if there is room, else packed to `temp` or where they lie. */
static bool fill_boxes(const struct node_blocks *b, const struct plan *plan, char *cell, char *temp)
{
    struct box *table = (struct box *)(void *)cell;
    size_t at = (size_t)plan->boxes * sizeof *table;
    const bool fits = at + plan->total <= SHELF_CELL;

    for (int rank = 0; rank < plan->boxes; rank++) {
        const struct coll_block block = node_out(b, rank);
        const size_t len = is_brought(b, rank) ? type_bytes(block.type, block.count) : 0;
        char *place = fits ? cell + at : temp;

        table[rank] = (struct box){ .at = at, .len = len };
        if (!len)
            continue;
        if (!fits)
            table[rank].at = is_packed(b, &block) ? (uintptr_t)temp : (uintptr_t)type_run(block.type, block.buf);
        if (fits || is_packed(b, &block))
            node_pack(&block, 0, place, len);
        at += fits ? len : 0;
        temp += !fits && is_packed(b, &block) ? len : 0;
    }
    return !fits;
}

/* Post the table. *temp is to be freed when all have read. */
static int show(const struct node_blocks *b, char **temp)
{
    const struct comm *comm = b->call->comm;
    struct plan plan = { 0 };
    struct node_window window = { 0 };
    struct shelf_line *line;

    if (b->out)
        plan = plan_of(b);
    if (plan.packed && (size_t)plan.boxes * sizeof(struct box) + plan.total > SHELF_CELL) {
        *temp = mem_alloc(plan.packed);
        if (!*temp)
            return err(MPI_ERR_NO_MEM, "no memory for %zu bytes of blocks that are not in a row", plan.packed);
    }
    line = node_open(b->call);
    if (b->out)
        window.value = fill_boxes(b, &plan, shelf_cell(comm, comm->rank, b->call->round), *temp);
    memcpy(line->data, &window, sizeof window);
    node_post(b->call, line);
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

static int take(const struct node_blocks *b, int rank, bool has_one)
{
    const struct comm *comm = b->call->comm;
    const char *cell = shelf_cell(comm, rank, b->call->round);
    const struct box *box = (const struct box *)(const void *)cell + (has_one ? 0 : comm->rank);
    const struct coll_block to = node_in(b, rank);
    const size_t room = type_bytes(to.type, to.count), len = size_min(box->len, room);
    int rc = 0;

    if (box->at < SHELF_CELL)
        node_unpack(&to, 0, cell + box->at, len);
    else if (type_is_run(to.type, to.count))
        rc = node_fetch(b->call, rank, type_run(to.type, to.buf), box->at, len);
    else
        rc = fetch_gaps(b, rank, box, &to, len);
    if (unlikely(box->len > room) && !rc)
        rc = err(MPI_ERR_TRUNCATE, "got %llu bytes, from rank %d; there is room for %zu bytes",
                 (unsigned long long)box->len, rank, room);
    return rc;
}

/* From all that there is to take from, the next member first. *is_shown: one of them waits for this one's step. */
static int take_all(const struct node_blocks *b, bool has_one, bool *is_shown)
{
    const struct comm *comm = b->call->comm;
    int rc = 0;

    for (int distance = 1; distance < comm->size; distance++) {
        const int rank = (comm->rank + distance) % comm->size;

        if (rank >= b->first && rank < b->end) {
            node_note(&rc, take(b, rank, has_one));
            *is_shown = *is_shown || node_window(b->call, rank)->value;
        }
    }
    return rc;
}

/* --- all of it --- */

static int meet(const struct node_blocks *b)
{
    const int size = b->call->comm->size;

    if (b->end - b->first == size && b->readers_end - b->reader == size)
        return node_meet(b->call, b->call->round);
    node_wake_all(b->call);
    return b->first < b->end ? node_await(b->call, b->call->round, b->first, b->end) : 0;
}

int node_copy_blocks(const struct node_blocks *b)
{
    struct node_call *call = b->call;
    char *temp = NULL;
    bool is_shown = false;
    int rc = show(b, &temp);

    if (!rc)
        rc = meet(b);
    if (rc) { /* who disagrees does not read; nobody may read what is gone */
        mem_free(temp);
        return rc;
    }
    rc = take_all(b, b->has_one, &is_shown);
    node_step(call, 1);
    if (is_shown)
        node_wake_all(call);
    if (b->out && node_window(call, call->comm->rank)->value)
        node_await_step(call, 1, b->reader, b->readers_end);
    mem_free(temp);
    return rc;
}
