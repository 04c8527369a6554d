/* SPDX-License-Identifier: BSD-3-Clause */
/* libparley_mqs.so: our message queues, for debuggers that speak the message-queue interface (mqs_interface.h).
 *
 * Where things are, the process itself says: its library exports a table of fields (sys/debug.h), so no debug
 * information is needed. What is read, by the names in that table:
 *
 *   lanes -> lane -> channels: a matching context of a communicator each; shown as a communicator, that of collective
 *                    operations as one of its own while something is in it
 *   receives         posted in the context, and those whose message is being copied
 *   messages         kept in the context because nobody has asked for them
 *   sends            offered to the receiver, or on the way, or waiting for room
 *
 * Both sides are the same machine, so bytes need no conversion. All reading can fail; what cannot be read ends a list.
 */
#include "mqs_interface.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sys/debug.h"

enum {
    BAD_PROCESS = mqs_first_user_code, /* no memory, or it could not be read */
    NO_LAYOUT,
    OTHER_VERSION,
    ENTRIES_MAX = 1024,
    NAME_SIZE = 64,
    TYPE_NAME_SIZE = 64,
};

struct _mqs_image_info {
    const mqs_image_callbacks *table;
};

/* Addresses to go through, with what sorts them. */
struct found {
    mqs_taddr_t address;
    uint64_t order;
};

struct founds {
    struct found *at;
    size_t count, room, next;
};

struct _mqs_process_info {
    const mqs_process_callbacks *table;
    const mqs_image_callbacks *image;
    mqs_process *process;
    struct debug_entry *entries;
    uint32_t entry_count;
    mqs_taddr_t roots;
    bool has_failed;          /* something could not be read or found since this was last cleared */
    struct founds channels, operations;
    mqs_taddr_t channel;      /* the current one; 0: none */
    mqs_tword_t size;         /* of its communicator, as the debugger has been told, who makes room for a group */
    int op_class;
};

static const mqs_basic_callbacks *basic;

/* --- reading --- */

static void read_bytes(mqs_process_info *info, mqs_taddr_t address, void *to, int size)
{
    if (!address || info->table->mqs_fetch_data_fp(info->process, address, size, to) != mqs_ok) {
        memset(to, 0, (size_t)size);
        info->has_failed = true;
    }
}

#define READER(name, type) \
    static type name(mqs_process_info *info, mqs_taddr_t address) \
    { \
        type value; \
        read_bytes(info, address, &value, (int)sizeof value); \
        return value; \
    }

READER(read_address, mqs_taddr_t)
READER(read_u64, uint64_t)
READER(read_u32, uint32_t)
READER(read_i32, int32_t)
READER(read_u8, uint8_t)

/* Of the table in the process. */
static mqs_taddr_t at(mqs_process_info *info, const char *name)
{
    for (uint32_t i = 0; i < info->entry_count; i++)
        if (!strncmp(info->entries[i].name, name, sizeof info->entries[i].name))
            return info->entries[i].value;
    info->has_failed = true;
    return 0;
}

static void read_text(mqs_process_info *info, mqs_taddr_t address, char *to, size_t size)
{
    to[0] = '\0';
    for (size_t i = 0; address && i + 1 < size; i++) {
        to[i] = (char)read_u8(info, address + i);
        to[i + 1] = '\0';
        if (!to[i])
            return;
    }
}

static void *more(void *old, size_t old_size, size_t size)
{
    void *memory = basic->mqs_malloc_fp(size);

    if (memory && old)
        memcpy(memory, old, old_size);
    if (old)
        basic->mqs_free_fp(old);
    return memory;
}

static void add(mqs_process_info *info, struct founds *list, mqs_taddr_t address, uint64_t order)
{
    if (list->count == list->room) {
        const size_t room = list->room * 2 + 64;
        list->at = more(list->at, list->count * sizeof *list->at, room * sizeof *list->at);
        list->room = list->at ? room : 0;
        if (!list->at) {
            list->count = 0;
            info->has_failed = true;
            return;
        }
    }
    list->at[list->count++] = (struct found){ address, order };
}

static void clear(struct founds *list)
{
    list->count = list->next = 0;
}

static int compare(const void *a, const void *b)
{
    const struct found *x = a, *y = b;

    return x->order < y->order ? -1 : x->order > y->order;
}

static void sort(struct founds *list)
{
    if (list->count)
        qsort(list->at, list->count, sizeof *list->at, compare);
}

/* A walk from address to address, which must not come back to where it was: what the program has written over may lead
 * round for ever. An address that is compared with is left behind after 1, 2, 4 ... steps. */
struct walk {
    mqs_taddr_t mark;
    uint64_t steps, mark_at;
};

static bool goes_on(mqs_process_info *info, struct walk *walk, mqs_taddr_t to)
{
    if (walk->steps && to == walk->mark)
        info->has_failed = true;
    if (walk->steps++ == walk->mark_at) {
        walk->mark = to;
        walk->mark_at = 2 * walk->steps;
    }
    return !info->has_failed;
}

/* Call for each node of a ring but its head; `visit` gets the address of the link. */
typedef void visit_fn(mqs_process_info *info, mqs_taddr_t link);

static void each(mqs_process_info *info, mqs_taddr_t head, visit_fn *visit)
{
    struct walk walk = { 0 };
    mqs_taddr_t link = read_address(info, head + at(info, "list.next"));

    while (link != head && goes_on(info, &walk, link)) {
        visit(info, link);
        link = read_address(info, link + at(info, "list.next"));
    }
}

/* --- images --- */

void mqs_setup_basic_callbacks(const mqs_basic_callbacks *table)
{
    basic = table;
}

const char *mqs_version_string(void)
{
    return "Parley message queues, layout version 1";
}

int mqs_version_compatibility(void)
{
    return MQS_INTERFACE_COMPATIBILITY;
}

int mqs_dll_taddr_width(void)
{
    return (int)sizeof(mqs_taddr_t);
}

const char *mqs_dll_error_string(int code)
{
    switch (code) {
    case mqs_ok: return "no error";
    case mqs_no_information: return "there is no information";
    case mqs_end_of_list: return "the list ends here";
    case BAD_PROCESS: return "the process cannot be read, or there is no memory";
    case NO_LAYOUT: return "this is no program of Parley, or its library is not loaded yet";
    case OTHER_VERSION: return "the library in the process is of another version than libparley_mqs.so";
    }
    return "not an error of libparley_mqs.so";
}

int mqs_setup_image(mqs_image *image, const mqs_image_callbacks *table)
{
    mqs_image_info *info = basic->mqs_malloc_fp(sizeof *info);

    if (!info)
        return BAD_PROCESS;
    info->table = table;
    basic->mqs_put_image_info_fp(image, info);
    return mqs_ok;
}

static int find_layout(mqs_image *image, const mqs_image_callbacks *table, mqs_taddr_t *out)
{
    char name[] = "parley_debug_layout";

    return table->mqs_find_symbol_fp(image, name, out);
}

int mqs_image_has_queues(mqs_image *image, const char **message)
{
    mqs_taddr_t layout;

    *message = NULL; /* no complaint about programs that are none of ours */
    return find_layout(image, basic->mqs_get_image_info_fp(image)->table, &layout) == mqs_ok ? mqs_ok
                                                                                            : mqs_no_information;
}

void mqs_destroy_image_info(mqs_image_info *info)
{
    basic->mqs_free_fp(info);
}

/* --- processes --- */

int mqs_setup_process(mqs_process *process, const mqs_process_callbacks *table)
{
    mqs_process_info *info = basic->mqs_malloc_fp(sizeof *info);

    if (!info)
        return BAD_PROCESS;
    memset(info, 0, sizeof *info);
    info->table = table;
    info->process = process;
    info->image = basic->mqs_get_image_info_fp(table->mqs_get_image_fp(process))->table;
    basic->mqs_put_process_info_fp(process, info);
    return mqs_ok;
}

void mqs_destroy_process_info(mqs_process_info *info)
{
    void *const parts[] = { info->entries, info->channels.at, info->operations.at };

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i])
            basic->mqs_free_fp(parts[i]);
    basic->mqs_free_fp(info);
}

static int read_layout(mqs_process_info *info)
{
    struct debug_layout layout;
    mqs_taddr_t address;

    if (find_layout(info->table->mqs_get_image_fp(info->process), info->image, &address) != mqs_ok)
        return NO_LAYOUT;
    info->has_failed = false;
    read_bytes(info, address, &layout, (int)sizeof layout);
    if (info->has_failed || layout.magic != DEBUG_LAYOUT_MAGIC)
        return NO_LAYOUT;
    if (layout.version != DEBUG_LAYOUT_VERSION || layout.count > ENTRIES_MAX)
        return OTHER_VERSION;
    if (info->entries)
        basic->mqs_free_fp(info->entries);
    info->entry_count = 0;
    info->entries = basic->mqs_malloc_fp((layout.count + 1) * sizeof *info->entries);
    if (!info->entries)
        return BAD_PROCESS;
    info->entry_count = layout.count;
    read_bytes(info, (mqs_taddr_t)layout.entries, info->entries, (int)(layout.count * sizeof *info->entries));
    info->roots = (mqs_taddr_t)layout.roots;
    return info->has_failed ? BAD_PROCESS : mqs_ok;
}

int mqs_process_has_queues(mqs_process *process, char **message)
{
    *message = NULL;
    return read_layout(basic->mqs_get_process_info_fp(process));
}

/* --- communicators: channels --- */

static bool is_coll(mqs_process_info *info, mqs_taddr_t channel)
{
    return read_u32(info, channel + at(info, "channel.ctx")) & 1;
}

/* That of collectives is only worth a line when something is in it. */
static bool is_shown(mqs_process_info *info, mqs_taddr_t channel)
{
    const mqs_taddr_t match = channel + at(info, "channel.match");

    return !is_coll(info, channel) || read_u32(info, match + at(info, "match_ctx.posted_count")) ||
           read_u32(info, match + at(info, "match_ctx.arrival_count"));
}

static void add_lane(mqs_process_info *info, mqs_taddr_t lane)
{
    const mqs_taddr_t table = read_address(info, lane + at(info, "lane.channels"));
    const uint32_t slots = read_u32(info, lane + at(info, "lane.channel_slots"));

    for (uint32_t i = 0; i < slots && !info->has_failed; i++) {
        const mqs_taddr_t channel = read_address(info, table + i * sizeof(mqs_taddr_t));
        if (channel && is_shown(info, channel))
            add(info, &info->channels, channel, read_u32(info, channel + at(info, "channel.ctx")));
    }
}

static mqs_taddr_t lane_at(mqs_process_info *info, uint32_t number)
{
    const mqs_taddr_t lanes = read_address(info, info->roots + at(info, "debug_roots.lanes"));

    return read_address(info, lanes + number * sizeof(mqs_taddr_t));
}

int mqs_update_communicator_list(mqs_process *process)
{
    mqs_process_info *info = basic->mqs_get_process_info_fp(process);

    info->has_failed = false;
    clear(&info->channels);
    for (uint32_t i = 0; i < at(info, "NET_LANES") && !info->has_failed; i++) {
        const mqs_taddr_t lane = lane_at(info, i);
        if (lane)
            add_lane(info, lane);
    }
    sort(&info->channels);
    return info->has_failed ? BAD_PROCESS : mqs_ok;
}

static int take_channel(mqs_process_info *info)
{
    const bool is_there = info->channels.next < info->channels.count;

    info->channel = is_there ? info->channels.at[info->channels.next].address : 0;
    return is_there ? mqs_ok : mqs_end_of_list;
}

int mqs_setup_communicator_iterator(mqs_process *process)
{
    mqs_process_info *info = basic->mqs_get_process_info_fp(process);

    info->channels.next = 0;
    return take_channel(info);
}

int mqs_next_communicator(mqs_process *process)
{
    mqs_process_info *info = basic->mqs_get_process_info_fp(process);

    if (info->channels.next < info->channels.count)
        info->channels.next++;
    return take_channel(info);
}

static mqs_taddr_t comm_of(mqs_process_info *info)
{
    return read_address(info, info->channel + at(info, "channel.comm"));
}

int mqs_get_communicator(mqs_process *process, mqs_communicator *out)
{
    mqs_process_info *info = basic->mqs_get_process_info_fp(process);
    mqs_taddr_t comm;
    char name[NAME_SIZE - 16];

    if (!info->channel)
        return mqs_no_information;
    info->has_failed = false;
    comm = comm_of(info);
    out->unique_id = read_u32(info, info->channel + at(info, "channel.ctx"));
    out->local_rank = read_i32(info, comm + at(info, "comm.rank"));
    out->size = info->size = read_i32(info, comm + at(info, "comm.size"));
    read_text(info, comm + at(info, "comm.name"), name, sizeof name);
    snprintf(out->name, sizeof out->name, "%s%s", *name ? name : "without a name",
             is_coll(info, info->channel) ? " (collective)" : "");
    return info->has_failed ? BAD_PROCESS : mqs_ok;
}

struct ranks {
    mqs_taddr_t list; /* 0: first, first + step ... */
    int64_t first, step, size;
};

static struct ranks read_group(mqs_process_info *info, mqs_taddr_t group)
{
    return (struct ranks){
        .list = read_address(info, group + at(info, "group.list")),
        .first = read_i32(info, group + at(info, "group.first")),
        .step = read_i32(info, group + at(info, "group.step")),
        .size = read_i32(info, group + at(info, "group.size")),
    };
}

/* Rank in MPI_COMM_WORLD of rank `rank` of a group. */
static int world_rank(mqs_process_info *info, const struct ranks *group, int64_t rank)
{
    const int64_t place = group->first + rank * group->step;

    if (rank < 0 || rank >= group->size)
        return MQS_INVALID_PROCESS;
    return group->list ? read_i32(info, group->list + (mqs_taddr_t)place * sizeof(int32_t)) : (int)place;
}

/* Rank in the group of a process; its size if it is none of them. */
static int64_t rank_of(mqs_process_info *info, const struct ranks *group, int proc)
{
    const int64_t step = group->step ? group->step : 1, rank = (proc - group->first) / step;

    if (!group->list)
        return world_rank(info, group, rank) == proc ? rank : group->size;
    for (int64_t i = 0; i < group->size && !info->has_failed; i++)
        if (world_rank(info, group, i) == proc)
            return i;
    return group->size;
}

int mqs_get_comm_group(mqs_process *process, int *world_ranks)
{
    mqs_process_info *info = basic->mqs_get_process_info_fp(process);
    struct ranks group;

    if (!info->channel)
        return mqs_no_information;
    info->has_failed = false;
    group = read_group(info, read_address(info, comm_of(info) + at(info, "comm.group")));
    for (mqs_tword_t i = 0; i < info->size && !info->has_failed; i++)
        world_ranks[i] = world_rank(info, &group, i);
    return info->has_failed ? BAD_PROCESS : mqs_ok;
}

/* --- finding operations --- */

static mqs_taddr_t lane_of(mqs_process_info *info)
{
    const uint32_t lanes = (uint32_t)at(info, "NET_LANES");
    const uint32_t ctx = read_u32(info, info->channel + at(info, "channel.ctx"));

    for (uint32_t i = 0; i < lanes && !info->has_failed; i++) {
        const mqs_taddr_t lane = lane_at(info, i);
        const mqs_taddr_t table = lane ? read_address(info, lane + at(info, "lane.channels")) : 0;
        const uint32_t slots = lane ? read_u32(info, lane + at(info, "lane.channel_slots")) : 0;
        for (uint32_t k = 0; k < slots; k++) {
            const mqs_taddr_t channel = read_address(info, table + k * sizeof(mqs_taddr_t));
            if (channel && read_u32(info, channel + at(info, "channel.ctx")) == ctx)
                return lane;
        }
    }
    return 0;
}

static void add_arrival(mqs_process_info *info, mqs_taddr_t link)
{
    const mqs_taddr_t arrival = link - at(info, "match_arrival.all");

    add(info, &info->operations, arrival - at(info, "message.arrival"), 0);
}

/* A posted receive, in the list of all, or of those with two wildcards. */
static void add_posted(mqs_process_info *info, mqs_taddr_t link)
{
    const mqs_taddr_t match = info->channel + at(info, "channel.match");
    const mqs_taddr_t entry = link - at(info, "match_node.ring") - at(info, "match_entry.node");
    const bool is_hashed = read_u8(info, match + at(info, "match_ctx.is_hashed"));

    add(info, &info->operations, entry,
        is_hashed ? read_u64(info, entry + at(info, "match_entry.sequence")) : info->operations.count);
}

/* The leader of a key and those behind it, if they are of this context. */
static void add_leader(mqs_process_info *info, mqs_taddr_t node)
{
    const uint64_t owner = read_u64(info, node + at(info, "match_node.owner"));
    const mqs_taddr_t match = info->channel + at(info, "channel.match");

    if ((owner & ~(uint64_t)at(info, "MATCH_ANY")) != match)
        return;
    add_posted(info, node + at(info, "match_node.ring"));
    each(info, node + at(info, "match_node.ring"), add_posted);
}

static void add_hashed(mqs_process_info *info)
{
    const mqs_taddr_t match = info->channel + at(info, "channel.match");
    const mqs_taddr_t table = read_address(info, match + at(info, "match_ctx.match")) + at(info, "match.posted");
    const mqs_taddr_t buckets = read_address(info, table + at(info, "match_table.buckets"));
    const uint32_t shift = read_u32(info, table + at(info, "match_table.shift"));
    const uint64_t size = shift > 0 && shift < 64 ? UINT64_C(1) << (64 - shift) : 0;

    for (uint64_t i = 0; i < size && !info->has_failed; i++) {
        struct walk walk = { 0 };
        mqs_taddr_t node = read_address(info, buckets + i * sizeof(mqs_taddr_t));
        for (; node && goes_on(info, &walk, node); node = read_address(info, node + at(info, "match_node.bucket_next")))
            add_leader(info, node);
    }
}

static bool is_send(mqs_process_info *info, mqs_taddr_t r)
{
    return read_u8(info, r + at(info, "p2p_req.req") + at(info, "req.is_send"));
}

/* A request of this context and of the kind we look for. Receives are known by their entry. */
static void add_request(mqs_process_info *info, mqs_taddr_t r)
{
    const bool wants_sends = info->op_class == mqs_pending_sends;

    if (read_address(info, r + at(info, "p2p_req.channel")) == info->channel && is_send(info, r) == wants_sends)
        add(info, &info->operations, wants_sends ? r : r + at(info, "p2p_req.match"), 0);
}

static void add_linked(mqs_process_info *info, mqs_taddr_t link)
{
    add_request(info, link - at(info, "p2p_req.link"));
}

/* Waits for room; others than sends do as well. */
static void add_waiting(mqs_process_info *info, mqs_taddr_t link)
{
    const mqs_taddr_t out = link - at(info, "outgoing.link");
    const mqs_taddr_t push = read_address(info, out + at(info, "outgoing.push"));
    mqs_taddr_t known = read_address(info, info->roots + at(info, "debug_roots.pushes")), one;

    for (; (one = read_address(info, known)) && !info->has_failed; known += sizeof known)
        if (one == push)
            add_request(info, out - at(info, "p2p_req.out"));
}

static void add_sends(mqs_process_info *info, mqs_taddr_t lane)
{
    const mqs_taddr_t peers = read_address(info, lane + at(info, "lane.peers"));
    const mqs_taddr_t config = read_address(info, info->roots + at(info, "debug_roots.config"));
    const int procs = read_i32(info, config + at(info, "p2p_config.procs"));

    each(info, lane + at(info, "lane.offers"), add_linked);
    each(info, lane + at(info, "lane.copies"), add_linked);
    each(info, lane + at(info, "lane.streams"), add_linked);
    for (int i = 0; i < procs && !info->has_failed; i++) {
        const mqs_taddr_t peer = read_address(info, peers + (mqs_taddr_t)i * sizeof(mqs_taddr_t));
        if (peer)
            each(info, peer + at(info, "peer.waiting"), add_waiting);
    }
}

static void add_receives(mqs_process_info *info, mqs_taddr_t lane)
{
    const mqs_taddr_t match = info->channel + at(info, "channel.match");

    each(info, match + at(info, "match_ctx.posted"), add_posted);
    if (read_u8(info, match + at(info, "match_ctx.is_hashed")))
        add_hashed(info);
    sort(&info->operations);
    each(info, lane + at(info, "lane.copies"), add_linked);
    each(info, lane + at(info, "lane.no_record"), add_linked);
}

int mqs_setup_operation_iterator(mqs_process *process, int op_class)
{
    mqs_process_info *info = basic->mqs_get_process_info_fp(process);
    mqs_taddr_t lane;

    clear(&info->operations);
    info->op_class = op_class;
    info->has_failed = false;
    if (!info->channel)
        return mqs_no_information;
    lane = lane_of(info);
    if (op_class == mqs_unexpected_messages)
        each(info, info->channel + at(info, "channel.match") + at(info, "match_ctx.arrivals"), add_arrival);
    else if (op_class == mqs_pending_receives)
        add_receives(info, lane);
    else if (op_class == mqs_pending_sends)
        add_sends(info, lane);
    else
        return mqs_no_information;
    if (info->has_failed)
        return BAD_PROCESS;
    return info->operations.count ? mqs_ok : mqs_no_information;
}

/* --- describing operations --- */

static struct ranks remote_group(mqs_process_info *info)
{
    return read_group(info, read_address(info, comm_of(info) + at(info, "comm.remote_group")));
}

static void set_peer(mqs_process_info *info, mqs_pending_operation *out, int rank, int tag, mqs_tword_t length)
{
    const struct ranks group = remote_group(info);
    const int world = world_rank(info, &group, rank);

    out->desired_local_rank = out->actual_local_rank = rank;
    out->desired_global_rank = out->actual_global_rank = world;
    out->desired_tag = out->actual_tag = tag;
    out->desired_length = out->actual_length = length;
}

static void write_type(mqs_process_info *info, mqs_taddr_t r, mqs_pending_operation *out, const char *call)
{
    const mqs_taddr_t type = read_address(info, r + at(info, "p2p_req.type"));
    const mqs_taddr_t user_name = read_address(info, type + at(info, "type.user_name"));
    char name[TYPE_NAME_SIZE - 24];

    read_text(info, user_name ? user_name : read_address(info, type + at(info, "type.name")), name, sizeof name);
    snprintf(out->extra_text[0], sizeof out->extra_text[0], "%s", call);
    snprintf(out->extra_text[1], sizeof out->extra_text[1], "%lld x %s",
             (long long)read_u64(info, r + at(info, "p2p_req.count")), *name ? name : "a derived type");
}

static void describe_send(mqs_process_info *info, mqs_taddr_t r, mqs_pending_operation *out)
{
    const mqs_taddr_t peer = read_address(info, r + at(info, "p2p_req.peer"));
    const int proc = read_i32(info, peer + at(info, "peer.proc"));
    const int tag = read_i32(info, r + at(info, "p2p_req.req") + at(info, "req.tag"));
    const struct ranks group = remote_group(info);
    const unsigned state = read_u8(info, r + at(info, "p2p_req.state"));
    const bool is_sync = read_u8(info, r + at(info, "p2p_req.flags")) & at(info, "WIRE_SYNC");

    set_peer(info, out, (int)rank_of(info, &group, proc), tag,
             (mqs_tword_t)read_u64(info, r + at(info, "p2p_req.len")));
    out->status = state == at(info, "P2P_MOVING") ? mqs_st_matched : mqs_st_pending;
    out->buffer = read_address(info, r + at(info, "p2p_req.buf"));
    write_type(info, r, out, is_sync                           ? "synchronous send"
                             : state == at(info, "P2P_OFFERED") ? "send, offered to its receiver"
                             : state == at(info, "P2P_MOVING")  ? "send, its data is on the way"
                                                                : "send, waits for room");
}

static void describe_part(mqs_process_info *info, mqs_taddr_t entry, uint64_t key, mqs_pending_operation *out)
{
    const mqs_taddr_t r = entry - at(info, "part_req.match");

    set_peer(info, out, (int)(key >> 32 & 0x7fffffff), (int)(uint32_t)key,
             (mqs_tword_t)read_u64(info, r + at(info, "part_req.len")));
    out->buffer = read_address(info, r + at(info, "part_req.buf"));
    snprintf(out->extra_text[0], sizeof out->extra_text[0], "partitioned receive");
}

static void describe_receive(mqs_process_info *info, mqs_taddr_t entry, mqs_pending_operation *out)
{
    const mqs_taddr_t r = entry - at(info, "p2p_req.match"), req = r + at(info, "p2p_req.req");
    const uint64_t key = read_u64(info, entry + at(info, "match_entry.node") + at(info, "match_node.key"));
    const uint64_t mask = read_u64(info, entry + at(info, "match_entry.mask"));
    const bool is_posted = read_u64(info, entry + at(info, "match_entry.node") + at(info, "match_node.owner"));

    out->status = is_posted ? mqs_st_pending : mqs_st_matched;
    if (key >> 63 && mask >> 63) {
        describe_part(info, entry, key, out);
        return;
    }
    set_peer(info, out, mask >> 32 ? (int)(key >> 32) : -1, (int)(uint32_t)key,
             (mqs_tword_t)read_u64(info, r + at(info, "p2p_req.len")));
    out->tag_wild = !(uint32_t)mask;
    out->buffer = read_address(info, r + at(info, "p2p_req.buf"));
    if (!is_posted) {
        const struct ranks group = remote_group(info);
        out->actual_local_rank = read_i32(info, req + at(info, "req.source"));
        out->actual_global_rank = world_rank(info, &group, out->actual_local_rank);
        out->actual_tag = read_i32(info, req + at(info, "req.tag"));
        out->actual_length = (mqs_tword_t)read_u64(info, r + at(info, "p2p_req.wanted"));
    }
    write_type(info, r, out, is_posted ? "receive" : "receive, its data is on the way");
}

static void describe_message(mqs_process_info *info, mqs_taddr_t message, mqs_pending_operation *out)
{
    const bool is_offer = read_u8(info, message + at(info, "message.kind")) == at(info, "WIRE_RTS");
    const bool is_sync = read_u8(info, message + at(info, "message.flags")) & at(info, "WIRE_SYNC");

    set_peer(info, out, read_i32(info, message + at(info, "message.source")),
             read_i32(info, message + at(info, "message.tag")),
             (mqs_tword_t)read_u64(info, message + at(info, "message.len")));
    out->system_buffer = 1;
    out->buffer = is_offer ? 0 : message + at(info, "message.data");
    snprintf(out->extra_text[0], sizeof out->extra_text[0], "%s",
             is_offer  ? "offered, its data is with the sender"
             : is_sync ? "synchronous, its sender waits"
                       : "its data is here");
}

int mqs_next_operation(mqs_process *process, mqs_pending_operation *out)
{
    mqs_process_info *info = basic->mqs_get_process_info_fp(process);
    mqs_taddr_t address;

    if (info->operations.next >= info->operations.count)
        return mqs_end_of_list;
    address = info->operations.at[info->operations.next++].address;
    memset(out, 0, sizeof *out);
    info->has_failed = false;
    if (info->op_class == mqs_pending_sends)
        describe_send(info, address, out);
    else if (info->op_class == mqs_pending_receives)
        describe_receive(info, address, out);
    else
        describe_message(info, address, out);
    return info->has_failed ? BAD_PROCESS : mqs_ok;
}
