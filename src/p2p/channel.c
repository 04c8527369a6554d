/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. What a communicator has in its lane: two contexts in the table by which arrivals find them, and its
 * peers by rank. Knows: match, obj. Does not know: transports, polling. */
#include "base/err.h"
#include "p2p/int_abroad.h"
#include "p2p/int_part.h"
#include "p2p/int_p2p.h"

static unsigned first_slot(const struct lane *lane, uint32_t ctx)
{
    return (ctx * UINT32_C(2654435761)) >> 7 & (lane->channel_slots - 1);
}

struct channel *channel_find(struct lane *lane, uint32_t ctx)
{
    for (unsigned i = first_slot(lane, ctx); lane->channels[i]; i = (i + 1) & (lane->channel_slots - 1)) {
        if (lane->channels[i]->ctx == ctx)
            return lane->channels[i];
    }
    return NULL;
}

static void channel_insert(struct lane *lane, struct channel *channel)
{
    unsigned i = first_slot(lane, channel->ctx);

    while (lane->channels[i])
        i = (i + 1) & (lane->channel_slots - 1);
    lane->channels[i] = channel;
    lane->channel_count++;
}

/* Table with `slots` places and all that is in it now. */
static int channels_resize(struct lane *lane, unsigned slots)
{
    struct channel **old = lane->channels;
    const unsigned old_slots = lane->channel_slots;
    struct channel **table = mem_zalloc(slots * sizeof *table);

    if (!table)
        return err(MPI_ERR_NO_MEM, "no memory for a table of %u contexts", slots);
    lane->channels = table;
    lane->channel_slots = slots;
    lane->channel_count = 0;
    for (unsigned i = 0; i < old_slots; i++) {
        if (old[i])
            channel_insert(lane, old[i]);
    }
    mem_free(old);
    return 0;
}

/* Linear probing: whoever stood behind the hole is entered anew. */
static void channel_remove(struct lane *lane, struct channel *channel)
{
    const unsigned mask = lane->channel_slots - 1;
    unsigned i = first_slot(lane, channel->ctx);

    while (lane->channels[i] != channel)
        i = (i + 1) & mask;
    lane->channels[i] = NULL;
    lane->channel_count--;
    for (i = (i + 1) & mask; lane->channels[i]; i = (i + 1) & mask) {
        struct channel *moved = lane->channels[i];
        lane->channels[i] = NULL;
        lane->channel_count--;
        channel_insert(lane, moved);
    }
    lane->last_channel = NULL;
}

/* Messages that came before their communicator existed here: keep them in order. Nothing is posted yet. */
static void adopt_orphans(struct lane *lane, struct channel *channel)
{
    LIST_FOR_EACH_SAFE(link, &lane->orphans) {
        struct message *message = CONTAINER_OF(link, struct message, out.link);
        if (message->ctx != channel->ctx)
            continue;
        list_remove(link);
        if (message->kind == WIRE_FOREIGN)
            message->source = foreign_source(channel, message->proc, message->source);
        if (message->source == MPI_UNDEFINED) { /* its sender is no member */
            message_destroy(message);
            continue;
        }
        message->channel = channel;
        match_keep(&channel->match, &message->arrival, match_key(message->source, message->tag));
    }
}

static void channel_open(struct lane *lane, struct channel *channel, struct comm *comm, uint32_t ctx,
                         peer_ref *peers)
{
    *channel = (struct channel){
        .lane = lane,
        .comm = comm,
        .peers = peers,
        .eager_word = wire_head(WIRE_EAGER, 0, 0, ctx, 0).word[0],
        .source_key = match_key(comm->rank, 0),
        .ctx = ctx,
    };
    match_ctx_init(&channel->match, &lane->match, ctx);
    channel_insert(lane, channel);
    adopt_orphans(lane, channel);
}

/* --- peers by rank --- */

/* Of a group whose processes do not stand in a row. Communicators with the same group, or with strides that are alike,
 * share it, so what one more of them takes does not depend on the number of its processes. */
struct peer_table {
    struct list link;          /* in the lane's, the last one used first */
    const struct group *group; /* of a list: whoever has the same one has the same group */
    int first, step, size;     /* of a stride; step 0: it is none */
    unsigned users;            /* guarded by the lane's lock */
    peer_ref peers[];
};

enum { TABLES_LOOKED_AT = 16 };

/* The group that a stride's table was made for may be gone, and another one may be where it was. */
static bool is_table_of(const struct peer_table *table, const struct group *group)
{
    if (group->list)
        return !table->step && table->group == group;
    return table->first == group->first && table->step == group->step && table->size == group->size;
}

/* One that others use already; NULL: not found among the last ones used. */
static struct peer_table *find_table(struct lane *lane, const struct group *group)
{
    int left = TABLES_LOOKED_AT;

    LIST_FOR_EACH(link, &lane->tables) {
        struct peer_table *table = CONTAINER_OF(link, struct peer_table, link);
        if (is_table_of(table, group))
            return table;
        if (!--left)
            break;
    }
    return NULL;
}

/* With the lock; NULL: no memory. */
static struct peer_table *take_table(struct lane *lane, const struct group *group)
{
    struct peer_table *table = find_table(lane, group);

    if (table) {
        list_unlink(&table->link);
    } else {
        table = mem_zalloc(sizeof *table + (size_t)group->size * sizeof(peer_ref));
        if (!table)
            return NULL;
        table->group = group;
        table->first = group->first;
        table->step = group->list ? 0 : group->step;
        table->size = group->size;
    }
    list_prepend(&lane->tables, &table->link);
    table->users++;
    return table;
}

/* With the lock. NULL is fine. */
static void drop_table(struct peer_table *table)
{
    if (!table || --table->users)
        return;
    list_remove(&table->link);
    mem_free(table);
}

/* Of processes in a row that is a part of the lane's table; else `table` is taken. With the lock. NULL: no memory. */
static peer_ref *peers_of(struct lane *lane, const struct group *group, struct peer_table **table)
{
    if (!group->list && (group->step == 1 || group->size == 1))
        return lane->peers + group->first;
    *table = take_table(lane, group);
    return *table ? (*table)->peers : NULL;
}

/* --- communicators --- */

static int channels_open(struct lane *lane, struct comm *comm, peer_ref *peers)
{
    if ((lane->channel_count + 2) * 2 > lane->channel_slots) {
        const int rc = channels_resize(lane, lane->channel_slots * 2);
        if (rc)
            return rc;
    }
    channel_open(lane, &comm->p2p->channel[0], comm, comm->ctx, peers);
    channel_open(lane, &comm->p2p->channel[1], comm, comm->ctx + 1, peers);
    return 0;
}

int p2p_comm_open(struct comm *comm)
{
    struct lane *lane;
    peer_ref *peers;
    int rc = lane_get(p2p_lane_of(comm->ctx), &lane);

    if (rc)
        return rc;
    comm->p2p = mem_alloc_aligned(CACHE_LINE, sizeof *comm->p2p);
    if (!comm->p2p)
        return err(MPI_ERR_NO_MEM, "no memory for a communicator");
    comm->p2p->table = NULL;
    comm->p2p->box = NULL;
    lane_lock(lane);
    peers = peers_of(lane, comm->remote_group, &comm->p2p->table);
    rc = peers ? channels_open(lane, comm, peers)
               : err(MPI_ERR_NO_MEM, "no memory for a table of %d processes", comm->size);
    if (rc)
        drop_table(comm->p2p->table);
    lane_unlock(lane);
    if (rc) {
        mem_free(comm->p2p);
        comm->p2p = NULL;
    }
    return rc;
}

/* One that waits for an answer stays: its sender may yet cancel it. */
static void drop_message(struct match_arrival *arrival, void *arg)
{
    struct message *message = CONTAINER_OF(arrival, struct message, arrival);

    (void)arg;
    if (message_may_be_cancelled(message->kind, message->sync_id)) {
        message->channel = NULL;
        list_append(&message->lane->orphans, &message->out.link);
    } else {
        message_destroy(message);
    }
}

/* A receive that nothing can satisfy any more: the communicator is gone from under it. */
static void drop_posted(struct match_entry *entry, void *arg)
{
    struct p2p_req *r = CONTAINER_OF(entry, struct p2p_req, match);

    (void)arg;
    if (entry->mask >> 32 && match_key_source(entry->node.key) < 0) { /* from any source the key says nothing */
        part_drop_posted(entry);
        return;
    }
    r->req.error = err(MPI_ERR_COMM, "the communicator was freed while a receive was posted");
    p2p_complete(r);
}

/* With the lock. */
static void forget_ended(struct lane *lane, bool (*is_ended)(uint32_t ctx, void *arg), void *arg)
{
    for (unsigned i = 0; i < P2P_CLOSED && i < lane->closed_next; i++)
        if (is_ended(lane->closed[i], arg))
            lane->closed[i] = UINT32_MAX;
    LIST_FOR_EACH_SAFE(link, &lane->orphans) {
        struct message *message = CONTAINER_OF(link, struct message, out.link);
        if (!is_ended(message->ctx, arg) || message_may_be_cancelled(message->kind, message->sync_id))
            continue;
        list_remove(link);
        message_destroy(message);
    }
}

void p2p_forget_ended(bool (*is_ended)(uint32_t ctx, void *arg), void *arg)
{
    struct lane *lane;

    for (int number = 0; (lane = lane_next(&number));) {
        lane_lock(lane);
        forget_ended(lane, is_ended, arg);
        lane_unlock(lane);
    }
}

void p2p_comm_close(struct comm *comm)
{
    struct lane *lane = comm->p2p->channel[0].lane;

    lane_lock(lane);
    if (unlikely(lane->losses))
        broken_forget(lane, comm->ctx);
    for (int i = 0; i < 2; i++) {
        struct channel *channel = &comm->p2p->channel[i];
        channel_remove(lane, channel);
        counters_add_match(&lane->counters, &channel->match);
        match_ctx_fini(&channel->match, drop_posted, drop_message, NULL);
        if (comm->is_ended)
            lane->closed[lane->closed_next++ % P2P_CLOSED] = channel->ctx;
    }
    drop_table(comm->p2p->table);
    lane_unlock(lane);
    send_buffer_destroy(comm->buffer);
    mem_free(comm->p2p);
    comm->p2p = NULL;
}
