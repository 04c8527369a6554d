/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Blocks of a gatherv that are too long for a slot in one round, where copies by the system do not pay: who
 * brings one puts it into one of its trays and goes on, as with a slot; the root takes it there.
 *
 *   line         struct node_head: the number of the tray, NODE_SLOTS_TRAY; then uint64_t: the length
 *
 * Several rounds would not do: the others do not know that there are more. A tray is free again when the root that it
 * was for has come to a later round, since by then it has left the call. */
#include <string.h>

#include "base/err.h"
#include "coll/int_node.h"

static size_t length_of(const struct coll_block *block)
{
    return type_bytes(block->type, block->count);
}

bool node_tray_is_better(const struct node_blocks *b)
{
    struct coll_block block;

    if (!b->varies || !b->out || !b->has_root || !b->has_one || b->call->comm->size == 2)
        return false; /* two use more rounds */
    block = node_out(b, b->call->comm->rank);
    return length_of(&block) <= SHELF_TRAY && length_of(&block) < b->call->comm->shelf_copy_min;
}

/* The next tray, when it is free. Nobody is more than SHELF_SLOTS rounds behind. */
static int await_tray(const struct node_call *call)
{
    struct comm_trays *trays = &call->comm->shelf_trays;
    const int tray = trays->next, reader = trays->tray[tray].reader - 1;
    const uint32_t next = trays->tray[tray].round + 1;

    if (reader >= 0 && call->round - next < SHELF_SLOTS)
        node_await_late(call, next, reader, reader + 1);
    trays->next = (tray + 1) % COMM_TRAYS;
    return tray;
}

void node_tray_post(const struct node_blocks *b)
{
    struct node_call *call = b->call;
    const struct comm *comm = call->comm;
    const struct coll_block block = node_out(b, comm->rank);
    const uint64_t len = length_of(&block);
    struct shelf_line *line = node_open(call, false);
    const int tray = await_tray(call);
    const struct node_head head = { (uint32_t)tray, NODE_SLOTS_TRAY };

    node_pack(&block, 0, shelf_tray(comm, comm->rank, tray), len);
    memcpy(line->data, &head, sizeof head);
    memcpy(line->data + sizeof head, &len, sizeof len);
    node_post(call, line);
    call->comm->shelf_trays.tray[tray].round = call->round;
    call->comm->shelf_trays.tray[tray].reader = b->reader + 1;
}

int node_tray_take(const struct node_call *call, int rank, const struct coll_block *to)
{
    const struct node_head *head = node_head(call, rank, call->round);
    const size_t room = length_of(to);
    uint64_t len;

    memcpy(&len, head + 1, sizeof len);
    node_unpack(to, 0, shelf_tray(call->comm, rank, (int)head->stride % SHELF_TRAYS), size_min(room, len));
    if (likely(len <= room))
        return 0;
    return err(MPI_ERR_TRUNCATE, "got %llu bytes, from rank %d; there is room for %zu bytes",
               (unsigned long long)len, rank, room);
}
