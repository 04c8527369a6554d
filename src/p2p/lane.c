/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. The lanes: transports, peers, polling. The first one is open from the start, the
 * others are when a communicator needs them; one that is not open is not polled, and what arrives for it waits in its
 * part of the segment.
 * Knows: base, sys (lock), progress, match, net and the transports' tables, obj. */
#include "p2p/lane.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/err.h"
#include "base/setting.h"
#include "net/chaos/chaos.h"
#include "net/ofi/ofi.h"
#include "net/self/self.h"
#include "net/shm/shm.h"
#include "net/tcp/tcp.h"
#include "p2p/int_debug.h"
#include "p2p/int_abroad.h"
#include "p2p/int_part.h"
#include "sys/cpus.h"
#include "sys/descriptor.h"
#include "sys/job.h"
#include "sys/joint.h"
#include "sys/place.h"

enum {
    FAR_EVERY = 4,  /* polls of everything between two looks at other machines … */
    FAR_AWAKE = 32, /* … when so many have found nothing */
    INSIST_AFTER = 256, /* so many who came to poll were refused, with nobody polling: the next one waits to get in */
};

static struct lane first_lane;

static struct {
    struct lane *_Atomic lane[NET_LANES]; /* NULL: not open; changed with the lock */
    int open_count;                       /* guarded by the lock */
    pthread_mutex_t lock;                 /* for opening; no lane's lock is held when it is taken */
    struct p2p_config config;
    bool is_reachable;                    /* by processes of other jobs; guarded by the lock */
    atomic_flag has_told;                 /* that this process is flooded */
} lanes = { .lock = PTHREAD_MUTEX_INITIALIZER };

const struct debug_roots lane_debug_roots = { lanes.lane, &lanes.config, send_pushes };

static struct setting lanes_setting = {
    .name = "LANES",
    .help = "with MPI_THREAD_MULTIPLE, over how many separate locks new communicators are spread",
    .topic = "threads",
    .kind = SETTING_INT,
    .value = NET_LANES,
    .min = 1,
    .max = NET_LANES,
    .must_agree = true,
};
SETTING_LISTED(lanes_setting);

static struct setting net_setting = {
    .name = "NET",
    .help = "\"chaos\" delays and refuses at random, \"device\" matches in a model of a device, to test programs and "
            "the library",
    .topic = "testing",
    .kind = SETTING_TEXT,
    .text = "",
};
SETTING_LISTED(net_setting);

size_t p2p_segment_end(int procs)
{
    return shm_segment_end(procs);
}

static int open_net(struct lane *lane, enum p2p_way which, const struct net_ops *ops, const struct net_config *config)
{
    struct net_config wrapped = *config;
    int rc = setting_read(&net_setting);

    if (rc)
        return rc;
    if (!strcmp(net_setting.text, "chaos")) {
        wrapped.inner = ops;
        ops = &chaos_ops;
    } else if (!strcmp(net_setting.text, "device")) {
        wrapped.inner = ops;
        ops = which == TO_NEAR ? &device_shm_ops : ops;
    } else if (*net_setting.text) {
        return err(MPI_ERR_OTHER, "E0320: PARLEY_NET is \"%s\"; it must be \"chaos\", \"device\" or empty",
                   net_setting.text);
    }
    rc = ops->open(&wrapped, &lane->nets[which]);
    if (rc)
        return rc;
    lane->ops[which] = lane->nets[which]->ops;
    if (ops == &device_shm_ops)
        lane_offload_begin(lane, lane->nets[which]);
    return 0;
}

static struct net_config net_config_of(struct lane *lane)
{
    const struct p2p_config *config = &lanes.config;

    return (struct net_config){
        .proc = config->proc,
        .procs = config->procs,
        .lane = lane->number,
        .segment = config->segment,
        .segment_fd = config->segment_fd,
        .sink = { .arrive = config->mismatched ? p2p_arrive_checked : p2p_arrive, .arg = lane,
                  .land = p2p_land, .read = p2p_read, .lost = p2p_lost, .room = held_room },
        .kept = { .mask = WIRE_KEPT_MASK, .cost = held_cost(), .wish = THROTTLE_HOLD },
        .device_user = &lane->device_user,
    };
}

static enum p2p_way way_to(const struct lane *lane, int proc)
{
    if (proc == lane->proc)
        return TO_SELF;
    if (proc >= lanes.config.procs)
        return TO_FOREIGN;
    if (job_is_near(lanes.config.segment, lane->proc, proc))
        return TO_NEAR;
    return lane->nets[TO_FAR] && !lane->far_is_tcp && place_abroad(proc) ? TO_ABROAD : TO_FAR;
}

bool lane_is_near(const struct lane *lane, int proc)
{
    return way_to(lane, proc) == TO_NEAR;
}

/* TCP, or a network that is better. */
static int open_far_net(struct lane *lane)
{
    const struct net_config net = net_config_of(lane);
    const struct net_ops *ops;
    bool is_firm;
    int rc;

    lane->far_is_tcp = true;
    if (!lanes.config.segment->is_spread) /* only processes of other jobs are far */
        return open_net(lane, TO_FAR, &tcp_ops, &net);
    rc = ofi_choose(&tcp_ops, &ops, &is_firm);
    if (rc)
        return rc;
    lane->far_is_tcp = ops == &tcp_ops;
    rc = open_net(lane, TO_FAR, ops, &net);
    if (!rc || lane->far_is_tcp || is_firm)
        return rc;
    lane->far_is_tcp = true;
    return open_net(lane, TO_FAR, &tcp_ops, &net);
}

/* Processes of different jobs have TCP in common, whatever connects the nodes of each. */
static int open_abroad_net(struct lane *lane)
{
    const struct net_config net = net_config_of(lane);

    return open_net(lane, TO_ABROAD, &tcp_ops, &net);
}

void lane_note_flushed(struct lane *lane)
{
    for (int way = TO_FAR; way <= TO_ABROAD; way++)
        if (lane->nets[way])
            lane->nets[way]->flushed = &lane->kept[lane->kept_now].done;
}

static void join_descriptor(const struct lane *lane, int way)
{
    struct epoll_event event = { .events = EPOLLIN };

    if (lane->joined >= 0 && lane->nets[way])
        epoll_ctl(lane->joined, EPOLL_CTL_ADD, lane->ops[way]->wait_fd(lane->nets[way]), &event);
}

/* TO_FAR or TO_ABROAD: from now on processes there find this one. */
static int open_way(struct lane *lane, enum p2p_way way)
{
    int rc;

    if (lane->nets[way])
        return 0;
    rc = way == TO_FAR ? open_far_net(lane) : open_abroad_net(lane);
    if (rc)
        return rc;
    progress_listen(lane->ops[way]->wait_fd(lane->nets[way]));
    join_descriptor(lane, way);
    lane_note_flushed(lane);
    lane->has_far = true;
    return 0;
}

static int open_to_others(struct lane *lane)
{
    const int rc = open_way(lane, TO_FAR);

    return rc || lane->far_is_tcp ? rc : open_way(lane, TO_ABROAD);
}

int p2p_be_reachable(void)
{
    struct lane *lane;
    int number = 0, rc = 0;

    if (!lanes.config.segment) /* of one process, and with places for no more */
        return err(MPI_ERR_PORT, "E1001: there is no room for processes of another job in this one");
    pthread_mutex_lock(&lanes.lock); /* a lane that is being opened has it */
    lanes.is_reachable = true;
    while (!rc && (lane = lane_next(&number))) {
        lane_lock(lane);
        rc = open_to_others(lane);
        lane_unlock(lane);
    }
    pthread_mutex_unlock(&lanes.lock);
    return rc;
}

static int open_foreign(struct lane *lane)
{
    const int rc = foreign_open(lane, &lanes.config);

    if (!rc && lanes.config.segment) /* else nobody sleeps, in unit tests */
        progress_listen(lane->ops[TO_FOREIGN]->wait_fd(lane->nets[TO_FOREIGN]));
    lane->has_far |= !rc;
    return rc;
}

static int open_nets(struct lane *lane)
{
    const struct net_config net = net_config_of(lane);
    int rc;

    lane_offload_prepare(lane);
    rc = open_net(lane, TO_SELF, &self_ops, &net);

    if (!rc && lanes.config.segment)
        rc = open_net(lane, TO_NEAR, &shm_ops, &net);
    if (!rc && lanes.config.segment && lanes.config.segment->is_spread)
        rc = open_way(lane, TO_FAR);
    if (!rc && lanes.is_reachable)
        rc = open_to_others(lane);
    return rc || !lanes.config.joint || lane->number ? rc : open_foreign(lane);
}

static void init_lists(struct lane *lane)
{
    list_init(&lane->crowded);
    list_init(&lane->held_back);
    list_init(&lane->copies);
    list_init(&lane->streams);
    list_init(&lane->no_record);
    list_init(&lane->landings);
    list_init(&lane->lost);
    list_init(&lane->broken);
    list_init(&lane->tellings);
    list_init(&lane->offers);
    list_init(&lane->parts);
    list_init(&lane->part_all);
    list_init(&lane->orphans);
    list_init(&lane->tables);
    mem_pool_init(&lane->requests, sizeof(struct p2p_req), 16);
    mem_pool_init(&lane->pairs, sizeof(struct p2p_pair), 8);
    mem_pool_init(&lane->messages, sizeof(struct message) + P2P_POOLED_DATA, 16);
    lane->requests.max = P2P_REQUESTS_POOLED;
    lane->messages.max = P2P_MESSAGES_POOLED;
    mem_pool_init(&lane->part_requests, sizeof(struct part_req), 4);
    match_init(&lane->match);
}

/* What lane_open has made so far, or all of it. */
static void lane_close(struct lane *lane)
{
    LIST_FOR_EACH_SAFE(link, &lane->orphans)
        message_destroy(CONTAINER_OF(link, struct message, out.link));
    broken_close(lane);
    for (int proc = 0; lane->peers && proc < lane->procs; proc++) {
        struct peer *peer = atomic_load_explicit(&lane->peers[proc], memory_order_relaxed);
        if (peer)
            lost_drop_text(peer);
        mem_free(peer);
    }
    for (int way = TO_FAR; way < P2P_WAYS; way++) {
        if (lane->nets[way])
            progress_unlisten(lane->ops[way]->wait_fd(lane->nets[way]));
    }
    for (int way = 0; way < P2P_WAYS; way++) {
        if (lane->nets[way])
            lane->ops[way]->close(lane->nets[way]);
    }
    if (lane->joined >= 0)
        close(lane->joined);
    foreign_close(lane);
    match_fini(&lane->match);
    mem_free(lane->first_peers);
    mem_free(lane->peers);
    mem_free(lane->channels);
    mem_pool_fini(&lane->requests);
    mem_pool_fini(&lane->pairs);
    mem_pool_fini(&lane->messages);
    part_leave(lane);
    mem_pool_fini(&lane->part_requests);
    if (lane->number)
        mem_free(lane);
}

/* All but the first may be for threads of the library's. */
static void set_threaded(struct lane *lane, bool is_threaded)
{
    is_threaded = is_threaded || lane->number > 0;
    if (lane->is_threaded == is_threaded)
        return;
    lane->is_threaded = is_threaded;
    if (is_threaded)
        lock_init(&lane->lock, cpus_in_mask() > lanes.config.ranks);
}

static void tell_flooded(const struct p2p_flood *flood)
{
    if (!atomic_flag_test_and_set_explicit(&lanes.has_told, memory_order_relaxed))
        lanes.config.flooded(flood);
}

/* The first table, of one peer, itself, stays: all communicators of a process alone look there. */
static int lane_grow(struct lane *lane)
{
    const struct net_config net = net_config_of(lane);
    peer_ref *table = mem_zalloc((size_t)net.procs * sizeof *table);
    int rc = table ? open_net(lane, TO_NEAR, &shm_ops, &net)
                   : err(MPI_ERR_NO_MEM, "no memory for a table of %d processes", net.procs);

    if (rc) {
        mem_free(table);
        return rc;
    }
    atomic_store_explicit(&table[0], atomic_load_explicit(&lane->peers[0], memory_order_relaxed), memory_order_relaxed);
    lane->first_peers = lane->peers;
    lane->peers = table;
    lane->procs = net.procs;
    return 0;
}

int p2p_grow(const struct p2p_config *config)
{
    struct lane *lane;
    int number = 0, rc = 0;

    lanes.config.procs = config->procs;
    lanes.config.ranks = config->ranks;
    lanes.config.segment = config->segment;
    lanes.config.segment_fd = config->segment_fd;
    while (!rc && (lane = lane_next(&number))) {
        lane_lock(lane);
        rc = lane_grow(lane);
        lane_unlock(lane);
    }
    return rc;
}

/* Those of other clients have numbers behind all places of the segment. */
static int all_procs(void)
{
    return lanes.config.joint ? joint_numbers(lanes.config.joint) : lanes.config.procs;
}

/* `lane` is memory with anything in it; a lane beyond the first is given back if this fails. */
static int lane_open(struct lane *lane, int number)
{
    const struct p2p_config *config = &lanes.config;
    int rc;

    *lane = (struct lane){ .number = number, .proc = config->proc, .procs = all_procs(), .joined = -1 };
    set_threaded(lane, config->is_threaded);
    init_lists(lane);
    send_init_kept(lane);
    lane->flooded = config->flooded ? tell_flooded : NULL;
    lane->mismatched = config->mismatched;
    lane->channel_slots = P2P_CHANNELS_FIRST;
    lane->channels = mem_zalloc(P2P_CHANNELS_FIRST * sizeof(struct channel *));
    lane->peers = mem_zalloc((size_t)lane->procs * sizeof(peer_ref));
    rc = lane->channels && lane->peers ? open_nets(lane) : err(MPI_ERR_NO_MEM, "no memory for a lane");
    if (rc) {
        lane_close(lane);
        return rc;
    }
    atomic_store_explicit(&lanes.lane[number], lane, memory_order_release); /* pairs with lane_get */
    held_set_lanes(++lanes.open_count);
    progress_add(lane_poll, lane);
    return 0;
}

int lane_get(int number, struct lane **out)
{
    int rc = 0;

    *out = atomic_load_explicit(&lanes.lane[number], memory_order_acquire); /* pairs with lane_open */
    if (*out)
        return 0;
    pthread_mutex_lock(&lanes.lock);
    *out = atomic_load_explicit(&lanes.lane[number], memory_order_relaxed);
    if (!*out) {
        *out = mem_alloc_aligned(CACHE_LINE, sizeof **out);
        rc = *out ? lane_open(*out, number) : err(MPI_ERR_NO_MEM, "no memory for a lane");
    }
    pthread_mutex_unlock(&lanes.lock);
    return rc;
}

struct lane *lane_next(int *number)
{
    while (*number < NET_LANES) {
        /* acquire pairs with lane_open */
        struct lane *lane = atomic_load_explicit(&lanes.lane[(*number)++], memory_order_acquire);
        if (lane)
            return lane;
    }
    return NULL;
}

int p2p_init(const struct p2p_config *config)
{
    int rc = setting_read(&lanes_setting);

    lanes.config = *config;
    if (config->joint)
        type_forgo_quick_packing();
    atomic_flag_clear_explicit(&lanes.has_told, memory_order_relaxed);
    obj_predefine(&message_no_proc.obj, OBJ_MESSAGE, (uintptr_t)MPI_MESSAGE_NO_PROC);
    if (!rc)
        rc = held_init();
    return rc ? rc : lane_open(&first_lane, 0);
}

void p2p_fini(void)
{
    struct lane *lane;
    int number = 0;

    send_buffer_destroy(*p2p_buffer_of_process());
    *p2p_buffer_of_process() = NULL;
    broken_fini();
    while ((lane = lane_next(&number))) {
        progress_remove(lane_poll, lane);
        atomic_store_explicit(&lanes.lane[lane->number], NULL, memory_order_relaxed);
        lane_close(lane);
    }
    lanes.open_count = 0;
    lanes.is_reachable = false;
    lanes.config.is_threaded = false;
}

static bool has_requests(void)
{
    struct lane *lane;
    int number = 0;

    while ((lane = lane_next(&number))) {
        if (lane->requests.live)
            return true;
    }
    return false;
}

/* The peers that are known, too, for they say what may be done without the lock. */
static void switch_lane(struct lane *lane, bool is_threaded)
{
    set_threaded(lane, is_threaded);
    for (int proc = 0; proc < lane->procs; proc++) {
        struct peer *peer = atomic_load_explicit(&lane->peers[proc], memory_order_relaxed);
        if (!peer)
            continue;
        peer->direct_end = 0;
        peer_set_crowded(peer, peer->is_crowded);
    }
}

bool p2p_set_threaded(bool is_threaded)
{
    struct lane *lane;
    int number = 0;

    if (lanes.config.is_threaded == is_threaded)
        return true;
    if (has_requests())
        return false;
    while ((lane = lane_next(&number)))
        switch_lane(lane, is_threaded);
    lanes.config.is_threaded = is_threaded;
    return true;
}

/* Of TCP alone, or of all nets, also if that to other jobs is opened later. */
static int source_descriptor(struct lane *lane)
{
    if (!lane->nets[TO_FAR] && !lane->nets[TO_FOREIGN])
        return -1;
    if (lane->far_is_tcp && !lane->nets[TO_FOREIGN])
        return lane->ops[TO_FAR]->wait_fd(lane->nets[TO_FAR]);
    if (lane->joined < 0) {
        lane->joined = descriptor_apart(epoll_create1(EPOLL_CLOEXEC));
        for (int way = TO_FAR; way < P2P_WAYS; way++)
            join_descriptor(lane, way);
    }
    return lane->joined;
}

bool p2p_source_of(const struct comm *comm, struct p2p_source *source)
{
    struct lane *lane = channel_of(comm, 0)->lane;

    if (!lane->is_threaded)
        return false;
    lane_lock(lane);
    *source = (struct p2p_source){ source_descriptor(lane), lane_poll, lane };
    lane_unlock(lane);
    return source->fd >= 0;
}

int p2p_lanes(void)
{
    return lanes.config.is_threaded && !lanes.config.joint ? (int)lanes_setting.value : 1;
}

/* Whom we hold back or have lost, and what the user has not marked ready, is not our work. */
static bool is_idle(struct lane *lane)
{
    bool is;

    lane_lock(lane);
    is = work_of(lane) == lane->holds + lane->losses + part_unready(lane) && !lane->detached;
    lane_unlock(lane);
    return is;
}

static bool is_flushed(void *arg)
{
    struct lane *lane;
    int number = 0;

    (void)arg;
    while ((lane = lane_next(&number))) {
        if (!is_idle(lane))
            return false;
    }
    return true;
}

void p2p_flush(void)
{
    progress_wait_until(is_flushed, NULL);
}

bool p2p_describe_wait(const struct progress_long *wait, struct blocked *out)
{
    if (wait->is_done != is_flushed)
        return probe_describe(wait, out);
    p2p_describe_flush(out);
    return true;
}

/* --- numbers that others have had --- */

static uint32_t tenant_of(int proc)
{
    return lanes.config.segment && proc < lanes.config.procs ? job_proc(lanes.config.segment, proc)->tenant : 0;
}

void lane_tell_lost(int proc)
{
    const struct p2p_config *config = &lanes.config;
    uint32_t none = 0;

    if (config->segment && proc < config->procs)
        atomic_compare_exchange_strong_explicit(&job_proc(config->segment, config->proc)->lost, &none,
                                                (uint32_t)proc + 1, memory_order_relaxed, memory_order_relaxed);
}

void p2p_clear_place(struct job_head *segment, int segment_fd, int procs, int proc)
{
    shm_segment_clear(segment, segment_fd, procs, proc);
}

static bool is_between(enum p2p_way way)
{
    return way == TO_FAR || way == TO_ABROAD;
}

/* The way that leads to the process from now on. */
static int peer_lead(struct peer *peer)
{
    struct lane *lane = peer->lane;
    const enum p2p_way way = way_to(lane, peer->proc);
    struct net_ep *ep;
    int rc = is_between(way) ? open_way(lane, way) : 0;

    if (!rc)
        rc = lane->ops[way]->connect(lane->nets[way], peer->proc, &ep);
    if (rc)
        return rc;
    lane->fars += is_between(way);
    lane->fars -= peer->ep && (peer->ep->net == lane->nets[TO_FAR] || peer->ep->net == lane->nets[TO_ABROAD]);
    peer->is_foreign = way == TO_FOREIGN;
    peer->ep = ep;
    peer->ops = lane->ops[way];
    peer->ops->wishes(peer->ep, &peer->throttle_in, &peer->throttle_out);
    peer->pace = peer->ops->pace(peer->ep);
    return 0;
}

/* What is known of the old one goes, but for its messages that are kept: they are counted until they are dropped. The
 * new one may be on another machine. */
static int peer_renew(struct lane *lane, int proc)
{
    struct peer *peer = atomic_load_explicit(&lane->peers[proc], memory_order_relaxed);
    int rc;

    if (!peer || peer->tenant == tenant_of(proc) || proc == lane->proc)
        return 0;
    lost_forget(peer);
    if (peer->ep->net != lane->nets[way_to(lane, proc)] && (rc = peer_lead(peer)))
        return rc;
    if (!peer->ops->renew)
        return 0;
    peer_set_crowded(peer, peer->is_crowded);
    peer->tenant = tenant_of(proc);
    peer->ops->renew(peer->ep);
    peer->speed = (struct speed){ 0 };
    peer->is_asked_gaps = false;
    peer->offered_gaps = 0;
    atomic_store_explicit(peer->throttle_in, peer->throttle, memory_order_relaxed);
    return 0;
}

int p2p_renew(int proc)
{
    struct lane *lane;
    int number = 0, rc = 0;

    while (!rc && (lane = lane_next(&number))) {
        lane_lock(lane);
        rc = peer_renew(lane, proc);
        lane_unlock(lane);
    }
    return rc;
}

int peer_open(struct lane *lane, int proc, struct peer **out)
{
    struct peer *peer = mem_zalloc(sizeof *peer);
    int rc;

    if (!peer)
        return err(MPI_ERR_NO_MEM, "no memory for the connection to process %d", proc);
    peer->lane = lane;
    peer->proc = proc;
    rc = peer_lead(peer);
    if (rc) {
        mem_free(peer);
        return rc;
    }
    peer_set_crowded(peer, false);
    peer->tenant = tenant_of(proc);
    list_init(&peer->controls);
    list_init(&peer->waiting);
    list_init(&peer->link);
    list_init(&peer->hold_link);
    list_init(&peer->lost_link);
    *out = peer;
    atomic_store_explicit(&lane->peers[proc], peer, memory_order_release); /* pairs with peer_of_rank */
    return 0;
}

bool p2p_is_joint(const struct comm *comm)
{
    return lanes.config.joint && p2p_is_foreign_ctx(comm->ctx);
}

bool p2p_is_foreign(const struct comm *comm, int rank)
{
    return p2p_is_joint(comm) && group_proc(comm->remote_group, rank) >= lanes.config.procs;
}

int peer_open_rank(struct channel *channel, int rank, struct peer **out)
{
    int rc = unlikely(channel->lane->losses) ? broken_error(channel) : 0;

    if (!rc)
        rc = peer_get(channel->lane, group_proc(channel->comm->remote_group, rank), out);
    if (!rc)
        atomic_store_explicit(&channel->peers[rank], *out, memory_order_release); /* pairs with peer_of_rank */
    return rc;
}

/* What has to be done besides polling. */
static NOINLINE int lane_work(struct lane *lane)
{
    if (lane->holds)
        held_work(lane);
    if (lane->losses)
        lost_work(lane);
    return outgoing_work(lane) + rndv_work(lane) + part_work(lane) + broken_work(lane);
}

/* Refused at the door: is it to be taken all the same? Yes by who is about to sleep, and when many have been refused
 * and nobody has polled in the meantime: those inside may be doing something else, again and again. */
static NOINLINE bool lane_insists(struct lane *lane)
{
    const uint32_t polled = atomic_load_explicit(&lane->polled, memory_order_relaxed);

    if (progress_is_last_look)
        return true;
    if (atomic_load_explicit(&lane->polled_seen, memory_order_relaxed) != polled) {
        atomic_store_explicit(&lane->polled_seen, polled, memory_order_relaxed);
        atomic_store_explicit(&lane->unpolled, 0, memory_order_relaxed);
        return false;
    }
    return atomic_fetch_add_explicit(&lane->unpolled, 1, memory_order_relaxed) >= INSIST_AFTER;
}

/* For polling: who finds the lane locked leaves it to the holder, if that does the same. */
static ALWAYS_INLINE bool lane_enter(struct lane *lane)
{
    if (likely(!lane->is_threaded))
        return true;
    if (unlikely(!lock_try(&lane->lock))) {
        if (!lane_insists(lane))
            return false;
        lock_take(&lane->lock);
    }
    atomic_store_explicit(&lane->polled, atomic_load_explicit(&lane->polled, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    return true;
}

/* Leave the lane after a poll, having done what there is to do. */
static ALWAYS_INLINE int lane_leave(struct lane *lane, int events)
{
    if (unlikely(work_of(lane)))
        events += lane_work(lane);
    lane_unlock(lane);
    return events;
}

/* To look whether anything has come from other machines takes a call of the system, as long as several looks at shared
 * memory. While nothing comes or is kept back there are few of them. */
static NOINLINE int poll_far(struct lane *lane)
{
    const bool has_kept = !atomic_load_explicit(&lane->kept[lane->kept_now].done, memory_order_relaxed);
    int events;

    if (!lane->far_awake && ++lane->far_polls % FAR_EVERY && !has_kept && !progress_is_last_look)
        return 0;
    events = 0;
    for (int way = TO_FAR; way < P2P_WAYS; way++) {
        if (lane->nets[way])
            events += lane->ops[way]->poll(lane->nets[way]);
    }
    if (events)
        lane->far_awake = FAR_AWAKE;
    else if (lane->far_awake)
        lane->far_awake--;
    return events;
}

int lane_poll(void *arg)
{
    struct lane *lane = arg;
    int events = 0;

    if (unlikely(!lane_enter(lane)))
        return 0;
    for (int way = 0; way <= TO_NEAR; way++) {
        if (lane->nets[way])
            events += lane->ops[way]->poll(lane->nets[way]);
    }
    if (unlikely(lane->has_far))
        events += poll_far(lane);
    return lane_leave(lane, events);
}

int lane_poll_peer(void *arg, const _Atomic uint32_t *done)
{
    struct peer *peer = arg;
    struct lane *lane = peer->lane;

    if (unlikely(lane->is_threaded) && !work_of(lane) && peer->ops->is_silent(peer->ep))
        return 0;
    if (unlikely(!lane_enter(lane)))
        return 0;
    return lane_leave(lane, peer->ops->poll_ep(peer->ep, done));
}
