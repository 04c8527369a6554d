/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Blocks of members for members through shared memory: gather(v), scatter(v), allgather(v), alltoall(v, w).
 *
 *   short blocks    in rounds: who brings blocks writes a part of each, who wants them reads them; one hop, and parts
 *                   are on their way while others are used
 *   long ones       from memory to memory (node_box.c), and so if not everybody knows the lengths: then short blocks
 *                   go through slots (node_slots.c). Where the system does not let members do that, in as many rounds
 *                   as the longest block needs, which all ask each other for */
#include <string.h>

#include "base/err.h"
#include "coll/int_ways.h"
#include "sys/huge.h"

/* --- in rounds --- */

static size_t size_of(const struct coll_block *block)
{
    return type_bytes(block->type, block->count);
}

/* Of the block for a member. */
static size_t size_of_out(const struct node_blocks *b, int rank)
{
    const struct coll_block block = node_out(b, rank);

    return size_of(&block);
}

/* How much of a part [at, at + len) a block has. */
static size_t within(const struct coll_block *block, size_t at, size_t len)
{
    const size_t size = size_of(block);

    return at < size ? size_min(len, size - at) : 0;
}

/* In the place of who brings a block for each member they lie by rank; if all fit in a line (node_short.c), with room
 * for the one of that member itself. Of blocks whose lengths vary, one of a member, the line of the first round tells
 * the length: */
struct rounds {
    const struct node_blocks *b;
    bool is_each, has_own_place;
    int blocks;                  /* in a place */
    bool tells, tries;           /* …; the first line tells about ways */
    size_t len[NODE_SLOTS_MOST]; /* what there is to take from each member */
    int rc;
};

static void tell_length(const struct node_blocks *b)
{
    const uint64_t len = size_of_out(b, b->call->comm->rank);

    memcpy(shelf_line(b->call->comm, b->call->comm->rank, b->call->round)->data, &len, sizeof len);
}

static void hear_length(struct rounds *r, int rank, uint32_t round)
{
    const struct coll_block block = node_in(r->b, rank);
    const size_t room = size_of(&block);
    uint64_t len = r->b->told ? r->b->told[rank] : room;

    if (r->tells && !r->b->told)
        memcpy(&len, shelf_line(r->b->call->comm, rank, round)->data, sizeof len);
    r->len[rank] = size_min(room, len);
    if (unlikely(len > room))
        node_note(&r->rc, err(MPI_ERR_TRUNCATE, "got %llu bytes, from rank %d; there is room for %zu bytes",
                              (unsigned long long)len, rank, room));
}

static void fill(void *arg, char *place, size_t at, size_t len)
{
    const struct rounds *r = arg;
    const struct node_blocks *b = r->b;

    if (r->tells && !at)
        tell_length(b);
    if (r->tries && !at)
        node_ways_tell(b->call, shelf_line(b->call->comm, b->call->comm->rank, b->call->round));
    for (int rank = 0; rank < (r->is_each ? b->call->comm->size : 1); rank++) {
        if (!r->is_each || rank != b->call->comm->rank) {
            const struct coll_block block = node_out(b, rank);
            const size_t part = within(&block, at, len);

            if (part)
                node_pack(&block, at, place, part);
        } else if (!r->has_own_place) {
            continue;
        }
        place += len;
    }
}

/* The block for this member among those of another one: how many are before it? */
static size_t place_of_own(const struct rounds *r, int rank)
{
    const int own = r->b->call->comm->rank;

    return r->is_each ? (size_t)(own - (own > rank && !r->has_own_place)) : 0;
}

static void drain(void *arg, uint32_t round, size_t at, size_t len)
{
    struct rounds *r = arg;
    const struct node_blocks *b = r->b;
    const int own = b->call->comm->rank;

    if (r->tries && !at)
        node_ways_hear(b->call, round);
    for (int rank = b->first; rank < b->end; rank++) {
        if (rank != own) {
            const struct coll_block block = node_in(b, rank);
            const char *place = node_place(b->call, rank, round, (size_t)r->blocks * len);

            if (!at)
                hear_length(r, rank, round);
            if (at < r->len[rank])
                node_unpack(&block, at, place + place_of_own(r, rank) * len, size_min(len, r->len[rank] - at));
        }
    }
}

/* Bytes of each block in a round; so many lie in a place. */
static size_t part_of(int blocks)
{
    const size_t part = node_part() / (size_t)blocks;

    return part > CACHE_LINE ? part / CACHE_LINE * CACHE_LINE : part;
}

int node_copy_own(const struct node_blocks *b)
{
    size_t brings, wants;

    if (!b->has_own)
        return 0;
    brings = size_of(&b->own_from);
    wants = size_of(&b->own_to);
    if (unlikely(b->call->bytes && brings < wants))
        return err(MPI_ERR_COUNT, "E0702: blocks of %zu bytes are sent, and blocks of %zu bytes are to be received",
                   brings, wants);
    return coll_copy(&b->own_from, &b->own_to);
}

static int copy_own(void *arg)
{
    return node_copy_own(((const struct rounds *)arg)->b);
}

/* Memory that goes through cells would perhaps be copied if it lay in huge pages. */
static void note_use(const struct node_blocks *b)
{
    for (int rank = b->first; rank < b->end; rank++) {
        const struct coll_block from = node_out(b, rank), to = node_in(b, rank);

        if (rank != b->call->comm->rank) {
            huge_note(type_run(from.type, from.buf), type_is_run(from.type, from.count) ? size_of(&from) : 0);
            huge_note(type_run(to.type, to.buf), type_is_run(to.type, to.count) ? size_of(&to) : 0);
        }
    }
}

/* `is_each`: who brings blocks brings one for each member. */
static int run_rounds(const struct node_blocks *b, size_t bytes, bool is_each)
{
    const int size = b->call->comm->size;
    const bool has_own_place = is_each && bytes * (size_t)size <= SHELF_INLINE;
    const int blocks = is_each ? size - !has_own_place : 1;
    const int takes = b->end - b->first, readers = b->readers_end - b->reader;
    struct node_work work = { .total = bytes, .part = part_of(blocks), .blocks = blocks, .brings = b->out != NULL,
                              .next = b->first, .end = b->end, .wakes = NODE_WAKES_NOBODY };
    struct rounds r;
    int rc;

    r.b = b;
    r.is_each = is_each;
    r.has_own_place = has_own_place;
    r.blocks = blocks;
    r.tells = b->varies && !is_each && bytes > SHELF_INLINE;
    r.tries = b->call->tried && !b->varies;
    if (b->call->tried)
        note_use(b);
    r.rc = 0;
    if (takes == size && readers == size)
        work.wakes = NODE_WAKES_LAST;
    else if (readers)
        work.wakes = readers == 1 ? b->reader : NODE_WAKES_ALL;
    rc = node_run(b->call, &work, fill, copy_own, drain, &r);
    return rc ? rc : r.rc;
}

int node_take_blocks(const struct node_blocks *b)
{
    size_t told[NODE_SLOTS_MOST], longest;
    struct node_blocks rest = *b;
    int rc;

    rest.told = told;
    rc = node_take_boxes(&rest, &longest);
    return longest ? run_rounds(&rest, longest, !b->has_one) : rc;
}

_Static_assert(NODE_SLOTS_MOST * sizeof(uint64_t) <= SHELF_INLINE, "a length for each member goes into a line");

/* All tell each other how long their blocks are: those for this member, and the longest of all. */
static int tell_lengths(const struct node_blocks *b, size_t *told, size_t *longest)
{
    const struct comm *comm = b->call->comm;
    struct shelf_line *line = node_open(b->call, false);
    int rc;

    for (int rank = 0; rank < comm->size; rank++) {
        const uint64_t len = b->out ? size_of_out(b, rank) : 0;

        memcpy(line->data + (size_t)rank * sizeof len, &len, sizeof len);
    }
    node_post(b->call, line);
    rc = node_meet(b->call, b->call->round);
    for (int rank = 0; rank < comm->size && !rc; rank++) {
        uint64_t lengths[NODE_SLOTS_MOST];

        memcpy(lengths, shelf_line(comm, rank, b->call->round)->data, (size_t)comm->size * sizeof *lengths);
        told[rank] = lengths[comm->rank];
        for (int other = 0; other < comm->size; other++)
            *longest = size_max(*longest, lengths[other]);
    }
    return rc;
}

/* Of blocks that may be copied. */
static bool copies_are_better(const struct node_blocks *b, size_t bytes)
{
    return node_ways_are_tried(b) ? node_ways_copy(b->call, node_kind_of(b), bytes)
                                  : node_pays_as(b, bytes) >= b->call->comm->shelf_copy_min;
}

/* `bytes` of a block; where lengths vary: of the longest, if all members know that it is long and read by all, or 0. */
static int move_blocks(const struct node_blocks *b, size_t bytes, int blocks)
{
    size_t told[NODE_SLOTS_MOST];
    struct node_blocks rest = *b;
    int rc = 0, failed = 0;

    if (b->varies && bytes)
        return run_rounds(b, bytes, blocks > 1);
    if (b->varies && node_copies(b->call, &rc)) {
        rest.told = told;
        failed = node_copy_blocks(&rest, &bytes);
        if (!bytes)
            return failed;
        rest.has_own = rest.has_own && node_is_mutual(b); /* else it is there */
    } else if (!rc && b->varies) {
        rest.told = told;
        rc = tell_lengths(b, told, &bytes);
    } else if (!rc && node_is_long_for(b, bytes, blocks) && !node_is_read_by_all(b) &&
               node_copies(b->call, &rc) && copies_are_better(b, bytes)) {
        return node_copy_blocks(b, &bytes);
    }
    if (!rc)
        rc = run_rounds(&rest, bytes, blocks > 1);
    return failed ? failed : rc;
}

static int move(const struct node_blocks *b, size_t bytes, int blocks)
{
    const int rc = move_blocks(b, bytes, blocks);

    node_ways_end(b->call);
    return rc;
}

/* --- the calls --- */

static bool has_counts(const struct coll_data *data)
{
    return data->counts.width != 0;
}

static size_t bytes_of(const struct coll_data *data)
{
    return has_counts(data) ? 0 : type_bytes(data->type, data->count);
}

static void set_own(struct node_blocks *b, const struct coll_data *send, int from, const struct coll_data *recv, int to)
{
    b->has_own = true;
    b->own_from = coll_data_block(send, from);
    b->own_to = coll_data_block(recv, to);
}

int node_gather(struct comm *comm, const struct coll_data *send, const struct coll_data *recv, int root)
{
    const bool is_root = comm->rank == root, varies = has_counts(recv);
    const size_t bytes = varies ? 0 : bytes_of(is_root ? recv : send);
    struct node_call call;
    struct node_blocks b = { .call = &call, .out = is_root ? NULL : send, .in = recv, .in_index = NODE_EACH,
                             .end = is_root ? comm->size : 0, .reader = root,
                             .readers_end = is_root ? root : root + 1, .has_root = true, .has_one = true,
                             .varies = varies };
    int rc = node_begin(&call, comm, varies ? COLL_GATHERV : COLL_GATHER, root, bytes);

    if (!rc && is_root)
        rc = coll_check_data(recv, comm->size, "recvbuf");
    if (is_root && !coll_is_in_place(send->buf))
        set_own(&b, send, 0, recv, root);
    return rc ? rc : move(&b, bytes, 1);
}

int node_scatter(struct comm *comm, const struct coll_data *send, const struct coll_data *recv, int root)
{
    const bool is_root = comm->rank == root, varies = has_counts(send);
    const size_t bytes = varies ? 0 : bytes_of(is_root ? send : recv);
    struct node_call call;
    struct node_blocks b = { .call = &call, .out = is_root ? send : NULL, .out_index = NODE_EACH, .in = recv,
                             .first = root, .end = is_root ? root : root + 1,
                             .readers_end = is_root ? comm->size : 0, .has_root = true, .varies = varies };
    int rc = node_begin(&call, comm, varies ? COLL_SCATTERV : COLL_SCATTER, root, bytes);

    if (!rc && is_root)
        rc = coll_check_data(send, comm->size, "sendbuf");
    if (is_root && !coll_is_in_place(recv->buf))
        set_own(&b, send, root, recv, 0);
    return rc ? rc : move(&b, bytes, comm->size);
}

/* The longest of all blocks, which everybody knows, if it goes in rounds (node_is_read_by_all); else 0. */
static size_t longest_of_all(const struct comm *comm, const struct coll_data *recv)
{
    size_t longest = 0;

    for (int rank = 0; comm->size > 2 && rank < comm->size; rank++) {
        const struct coll_block block = coll_data_block(recv, rank);
        longest = size_max(longest, size_of(&block));
    }
    return node_is_long(longest, 1) ? longest : 0;
}

int node_allgather(struct comm *comm, const struct coll_data *send, const struct coll_data *recv)
{
    const bool is_in_place = coll_is_in_place(send->buf), varies = has_counts(recv);
    struct node_call call;
    struct node_blocks b = { .call = &call, .out = is_in_place ? recv : send,
                             .out_index = is_in_place ? comm->rank : 0, .in = recv, .in_index = NODE_EACH,
                             .end = comm->size, .readers_end = comm->size, .has_one = true, .varies = varies };
    int rc = node_begin(&call, comm, varies ? COLL_ALLGATHERV : COLL_ALLGATHER, -1, bytes_of(recv));

    if (!rc)
        rc = coll_check_data(recv, comm->size, "recvbuf");
    if (!is_in_place)
        set_own(&b, send, 0, recv, comm->rank);
    if (!rc && varies)
        call.bytes = longest_of_all(comm, recv);
    return rc ? rc : move(&b, call.bytes, 1);
}

static enum coll_operation kind_of_alltoall(const struct coll_data *recv)
{
    return recv->types ? COLL_ALLTOALLW : has_counts(recv) ? COLL_ALLTOALLV : COLL_ALLTOALL;
}

int node_alltoall(struct comm *comm, const struct coll_data *send, const struct coll_data *recv)
{
    const bool is_in_place = coll_is_in_place(send->buf), varies = has_counts(recv);
    struct node_call call;
    struct node_blocks b = { .call = &call, .out = is_in_place ? recv : send, .out_index = NODE_EACH,
                             .in = recv, .in_index = NODE_EACH, .end = comm->size, .readers_end = comm->size,
                             .is_in_place = is_in_place, .varies = varies };
    int rc = node_begin(&call, comm, kind_of_alltoall(recv), -1, bytes_of(recv));

    if (!rc)
        rc = coll_check_data(recv, comm->size, "recvbuf");
    if (!rc && !is_in_place)
        rc = coll_check_data(send, comm->size, "sendbuf");
    if (!is_in_place)
        set_own(&b, send, comm->rank, recv, comm->rank);
    return rc ? rc : move(&b, bytes_of(recv), comm->size);
}
