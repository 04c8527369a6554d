/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. What its files share: lane, peers, channels, requests, unexpected messages.
 *
 * Every function here that is not marked otherwise is called with the lane's lock. */
#ifndef P2P_INT_P2P_H
#define P2P_INT_P2P_H

#include "base/list.h"
#include "match/match.h"
#include "net/device/device.h"
#include "net/net.h"
#include "obj/comm.h"
#include "obj/req.h"
#include "p2p/counters.h"
#include "p2p/lane.h"
#include "p2p/p2p.h"
#include "p2p/speed.h"
#include "p2p/wire.h"
#include "sys/lock.h"
#include "sys/pace.h"
#include "type/type.h"

enum {
    P2P_PACK_ON_STACK = 160,   /* a message of gaps up to this is packed on the stack */
    P2P_CHANNELS_FIRST = 64,   /* size of the table of contexts at first */
    P2P_CLOSED = 64,           /* contexts whose late messages are dropped */
    P2P_REQUESTS_POOLED = 4096, /* more at a time are allocated one by one, so that their memory can go back */
    P2P_MESSAGES_POOLED = 256, /* the same of short unexpected messages */
    P2P_NOBODY = 128,          /* a mode of persistent requests: the partner is MPI_PROC_NULL */
    P2P_LISTS = 128,           /* beside enum wire_flag, never on the wire: `lists` is there */
    P2P_HIDDEN = 64,           /* a mode of a receive: its buffer is out of bounds, its length stands in `wanted` */
};

/* To this process, to others of its node, to those of other nodes (machines), to those of other jobs where the nodes of
 * this one are connected by another network than TCP, to those of other clients (IMPI). */
enum p2p_way { TO_SELF, TO_NEAR, TO_FAR, TO_ABROAD, TO_FOREIGN, P2P_WAYS };

/* Requests of sends that are kept back take turns, so that who waits for one sees it complete though other threads have
 * sent again meanwhile. */
enum { P2P_KEPT = 8 };

/* The way to one process, made at first contact. */
struct peer {
    struct lane *lane;
    struct net_ep *ep;
    const struct net_ops *ops;
    uint32_t direct_end;       /* a run of fewer bytes may go out without the lock; 0 with threads */
    uint32_t send_end;         /* and with the lock; both are 0 while something waits */
    int proc;
    uint32_t tenant;           /* which of the processes that have had this number (sys/job.h) */
    const _Atomic uint32_t *throttle_out; /* enum wire_throttle: what the process wants from us */
    _Atomic uint32_t *throttle_in; /* the same, what we want from it */
    struct pace *pace;         /* near or far */
    struct speed speed;
    bool is_asked_far;         /* lines were far when it was asked for messages of a pair of buffers (speed_longer) */
    bool is_asked_gaps;        /* it is asked for such messages with gaps (WIRE_GAPS_TOO), … */
    uint8_t offered_gaps;      /* … after so many that it has offered */
    size_t held;               /* bytes of its messages that nobody has asked for yet */
    size_t held_allowed;       /* it may send offers until so many are held, whatever the limit */
    size_t held_when_throttled;
    uint8_t throttle;          /* what throttle_in says */
    struct list hold_link;     /* in lane.held_back while throttle is THROTTLE_HOLD */
    bool is_foreign;           /* of another client of a joint job: all goes by abroad.c */
    bool is_crowded;           /* something waits, or is being sent from the queue: append, to keep order; or is lost */
    struct list controls;      /* struct outgoing of other kinds than messages that found no room */
    struct list waiting;       /* struct outgoing of messages that found no room or are held back, in order */
    struct list link;          /* in lane.crowded while something waits */
    char *lost;                /* the way to it has broken, and why, with an id (lost.c). NULL: it has not */
    int lost_class;            /* of error */
    unsigned moot;             /* of a foreign one: answers to come to questions whose request has ended */
    struct list lost_link;     /* in lane.lost then */
    struct {
        struct p2p_box *box;   /* of the parcel that is being read to where it belongs; NULL: none is */
        void *token;
        char *place;           /* from another client: where it goes, … */
        size_t at, len;        /* … what has come, of so much */
    } landing;
};

/* By rank or by process; NULL: no contact yet. Stored with the lock, read by senders without. */
typedef struct peer *_Atomic peer_ref;

/* One context of a communicator: 0 the user's, 1 that of collectives. */
struct channel {
    struct match_ctx match;
    struct lane *lane;
    struct comm *comm;
    peer_ref *peers;           /* by rank of the remote group */
    uint64_t eager_word;       /* first word of the head of an eager message without a type */
    uint64_t source_key;       /* match key of this process's messages without the tag */
    uint32_t ctx;
};

struct p2p_comm {
    struct channel channel[2];
    struct peer_table *table;  /* of its peers; NULL: they are a part of the lane's */
    struct p2p_box *box;       /* for parcels; owned; NULL: nobody has asked for it */
};

/* One matcher, its transports' ends, and their lock. */
struct lane {
    bool is_threaded;
    struct match match;
    struct channel **channels;     /* open addressing by context, a power of two */
    unsigned channel_slots, channel_count;
    struct channel *last_channel;  /* hit by the last arrival */
    peer_ref *peers;               /* by process */
    peer_ref *first_peers;         /* those of a process that was alone at first; NULL: it was not */
    int proc, procs;
    int number;                    /* 0: the first one */
    struct net *nets[P2P_WAYS];    /* NULL: nobody there, so far */
    const struct net_ops *ops[P2P_WAYS];
    struct req kept[P2P_KEPT];     /* of all sends whose records the net to far processes keeps back */
    unsigned kept_now;             /* the only one of them that may not be complete */
    unsigned fars;                 /* peers of other nodes and jobs */
    bool has_far;                  /* there is a net to processes of other nodes, jobs or clients */
    bool far_is_tcp;               /* that to other nodes */
    int joined;                    /* a descriptor that has those of the nets to other nodes and jobs; -1: none */
    unsigned far_polls, far_awake; /* polls of everything; looks at other machines before they become few */
    _Atomic uint32_t polled;       /* with threads: how often the lane has been polled, … */
    _Atomic uint32_t polled_seen;  /* … what that was when one was refused who came to poll, … */
    _Atomic uint32_t unpolled;     /* … and how many have been refused since then */
    struct mem_pool requests;      /* struct p2p_req, the first of them */
    struct mem_pool pairs;         /* struct p2p_pair */
    struct mem_pool messages;      /* struct message, the first of those that are short */
    struct mem_tide singles;       /* bytes of the other requests */
    _Atomic unsigned work;         /* entries of the next five lists and of `parts`: anything to do besides polling?
                                    * Written with the lock, read without */
    struct list crowded;           /* peers with outgoing records that found no room */
    struct list held_back;         /* peers that we have told to keep their messages */
    struct list copies;            /* requests that take part in a copy */
    struct list streams;           /* sends that stream DATA */
    struct list no_record;         /* receives that wait for a record */
    struct list landings;          /* receives whose bytes come as DATA; not counted in work */
    struct list lost;              /* peers whose way has broken; counted in work, and … */
    unsigned losses;               /* … entries of it and of `broken`; written with the lock, a glance without
                                    * is enough */
    struct list broken;            /* communicators that not all of their members have; counted in work and losses */
    struct list tellings;          /* what waits for memory to be told (broken.c); counted in work */
    struct list offers;            /* sends that the receiver must act on, for debuggers; not counted in work */
    struct list tables;            /* of peers by rank, see channel.c */
    struct list orphans;           /* messages for contexts that are not open here yet; not counted in work */
    unsigned holds;                /* entries of held_back */
    unsigned detached;             /* operations whose user has let go, buffered sends among them */
    struct mem_tide held;          /* bytes of messages that nobody has asked for yet, of all peers */
    struct p2p_counters counters;
    p2p_flooded_fn *flooded;       /* to be told when a sender is throttled for the first time; NULL: nobody, or told */
    struct mem_pool part_requests; /* struct part_req */
    struct list parts;             /* partitioned sends that both sides have started */
    struct list part_all;          /* partitioned requests with somebody; not counted in work */
    p2p_mismatched_fn *mismatched; /* NULL: messages are not compared with their receives */
    struct offload *offload;       /* of the device that matches, owned by the transport; NULL: there is none */
    struct device_user device_user;
    struct match_watch watch;
    struct lock lock;
    struct foreign *foreign;       /* of a joint job, in the first lane; else NULL */
    uint32_t closed[P2P_CLOSED];   /* the last contexts that ended; see p2p_forget_ended */
    unsigned closed_next;          /* how many there were */
};

/* Something that goes out as one record when there is room. `push` sends it: 0 or NET_AGAIN. */
struct outgoing {
    struct list link;
    int (*push)(struct outgoing *out, struct peer *peer);
};

enum p2p_state {
    P2P_NEW,
    P2P_QUEUED,        /* send: waits for room */
    P2P_OFFERED,       /* send: the receiver must act (RTS, or EAGER with SYNC) */
    P2P_MOVING,        /* data flows */
};

/* A request may not end before its control record is out, since the record stands in it. */
enum p2p_then { THEN_NOTHING, THEN_COMPLETE, THEN_COPY };

struct p2p_lists;

struct p2p_req {
    struct req req;                    /* first: the handle is its address */
    struct channel *channel;
    void *buf;
    size_t len;                        /* bytes: of the message sent, or that fit in the buffer */
    struct type *type;
    MPI_Count count;
    struct peer *peer;                 /* other side; receive: known from the match on, if it must be answered */
    struct match_entry match;          /* receive */
    uint8_t state;                     /* enum p2p_state */
    uint8_t flags;                     /* enum wire_flag, P2P_LISTS */
    uint8_t then;                      /* enum p2p_then: once the control record in `out` has gone out */
    bool is_special;                   /* one of the next four, a piece, or with lists: completing it takes more than
                                        * saying so */
    bool is_detached;                  /* the user has freed it: release when it completes */
    bool is_cancelling;                /* send: the receiver has been asked to give it up */
    bool is_half;                      /* of a pair: report to it */
    bool is_reported;                  /* its slip goes into an inbox */
    uint8_t mode;                      /* of one that was set up to be started: enum p2p_mode, P2P_NOBODY */
    bool in_parts;                     /* send, stream of one run: its records are read while they are written */
    uint16_t device_slot;              /* receive, posted, in a lane with a device: see offload_post */
    union {
        struct p2p_pair *pair;         /* of a half */
        struct p2p_inbox *inbox;       /* of one that is reported */
    };
    size_t moved;                      /* stream: bytes packed or unpacked so far */
    uint64_t started;                  /* receive, long: not 0: speed_long_end or speed_gaps_end is due. Send to another
                                        * client: its note, see abroad.c */
    size_t wanted;                     /* bytes that are to move: the smaller of message and buffer */
    uint64_t remote_id;                /* of the request on the other side */
    uint64_t remote_address;           /* receive: of the message in the sender, or of its list of blocks */
    uint64_t remote_blocks;            /* receive, with WIRE_LISTED: how many blocks */
    struct p2p_lists *lists;           /* with P2P_LISTS: where the bytes of both sides lie; owned */
    union {
        struct net_record *record;     /* of a copy */
        _Atomic uint32_t pending;      /* send, stream: records that the transport has yet to read */
    };
    struct outgoing out;
    struct net_head head;              /* of the record in `out` */
    uint32_t head_len;                 /* and the length of its payload */
    struct list link;                  /* in one of the lane's lists */
    union {
        struct wire_rts rts;
        struct wire_cts cts;
        struct wire_reply reply;
        struct wire_part_offer offer;
        struct wire_errand errand;
        struct external_cursor external; /* receive from another client: how far its message is unpacked */
    } control;                         /* payload of the record in `out` */
    struct p2p_slip *slip;             /* of one that is reported */
};

/* A send and a receive that are one request of the user's; sendrecv.c. */
struct p2p_pair {
    struct req req;                    /* first: the handle is its address; the result is that of the receive */
    struct lane *lane;
    struct p2p_req *send, *recv;       /* NULL: complete and gone, or there is none (MPI_PROC_NULL) */
    unsigned left;                     /* halves not complete, and one while they are being started */
    bool has_recv;                     /* there is or was a receive */
    bool is_replace;                   /* one buffer for both */
    bool is_detached;                  /* the user has freed it: release when it completes */
    void *packed;                      /* what is sent, if it is a copy; owned until the send is complete */
};

/* A message that came before its receive, or is held by a matched probe. */
struct message {
    struct obj obj;                    /* first: OBJ_MESSAGE once a probe has taken it */
    uint8_t kind, flags;               /* enum wire_kind: EAGER or RTS; enum wire_flag */
    uint16_t signature;                /* of the sender's type */
    uint32_t ctx;
    int proc;
    int source, tag;
    bool is_told;                      /* a probe has said that it is there */
    size_t len;
    uint64_t sync_id;                  /* EAGER with SYNC, RTS: the sender's id; else 0 */
    uint64_t address, blocks;          /* of an offer, as in struct wire_rts; FOREIGN: as in struct arrival */
    struct lane *lane;
    struct channel *channel;           /* NULL: an orphan */
    void *memory;                      /* what was allocated for it and its data; NULL: it is from the pool */
    struct outgoing out;               /* link: in lane.orphans; once it is cancelled: the answer, while it waits */
    struct match_arrival arrival;
    unsigned char data[];              /* what came with it; from the pool: room for P2P_POOLED_DATA bytes */
};

/* How much that is. */
static inline size_t message_data(unsigned kind, size_t len, uint64_t blocks)
{
    return kind == WIRE_EAGER ? len : kind == WIRE_FOREIGN ? blocks : 0;
}

/* Does its sender, by the id that came with it, wait for an answer, which a cancellation has a right to (§3.8.4)? */
static inline bool message_may_be_cancelled(unsigned kind, uint64_t sync_id)
{
    return sync_id && (kind == WIRE_EAGER || kind == WIRE_RTS);
}

enum { P2P_POOLED_DATA = CACHE_LINE };

/* To allocate for a message that is not from the pool, wherever the memory begins. */
static inline size_t message_size(size_t len)
{
    return sizeof(struct message) + len + CACHE_LINE - 1;
}

static ALWAYS_INLINE void lane_lock(struct lane *lane)
{
    if (unlikely(lane->is_threaded))
        lock_take(&lane->lock);
}

static ALWAYS_INLINE void lane_unlock(struct lane *lane)
{
    if (unlikely(lane->is_threaded))
        lock_release(&lane->lock);
}

/* First contact with a process: 0 or an error. */
int peer_open(struct lane *lane, int proc, struct peer **out) COLD;
/* The same for a rank of a communicator. */
int peer_open_rank(struct channel *channel, int rank, struct peer **out) COLD;

static ALWAYS_INLINE int peer_get(struct lane *lane, int proc, struct peer **out)
{
    *out = atomic_load_explicit(&lane->peers[proc], memory_order_relaxed);
    return likely(*out) ? 0 : peer_open(lane, proc, out);
}

/* Whether short messages may pass now: not while something waits, so that order is kept. */
static inline void peer_set_crowded(struct peer *peer, bool is_crowded)
{
    peer->is_crowded = is_crowded;
    peer->send_end = is_crowded ? 0 : peer->ops->short_max + 1;
    if (!peer->lane->is_threaded) /* else it stays 0: it is read without the lock */
        peer->direct_end = peer->send_end;
}

/* NULL: no contact yet. May be called without the lock. */
static ALWAYS_INLINE struct peer *peer_of_rank(const struct channel *channel, int rank)
{
    return atomic_load_explicit(&channel->peers[rank], memory_order_acquire); /* pairs with peer_open */
}

static ALWAYS_INLINE int peer_get_rank(struct channel *channel, int rank, struct peer **out)
{
    *out = peer_of_rank(channel, rank);
    return likely(*out) ? 0 : peer_open_rank(channel, rank, out);
}

/* What the receiver asks for besides (throttle_out[1]): offer a run of bytes that is longer, and none that is not, and
 * send what is longer than eager_max in parts; 0: nothing asked. */
static inline size_t eager_limit(const struct peer *peer)
{
    const uint32_t limit = atomic_load_explicit(peer->throttle_out + 1, memory_order_relaxed) & ~WIRE_GAPS_TOO;

    return limit ? limit : peer->ops->eager_max;
}

/* The same of a message with gaps that cannot be copied block by block. */
static inline size_t packed_limit(const struct peer *peer)
{
    const bool is_longer = atomic_load_explicit(peer->throttle_out + 1, memory_order_relaxed) & WIRE_GAPS_TOO;

    return is_longer ? peer->ops->parts_max : peer->ops->eager_max;
}

/* The other side of that. Stored only if it changes: the sender looks at this line with every message. */
static inline void ask_limit(struct peer *peer)
{
    const uint32_t wish = peer->speed.limit | (peer->is_asked_gaps ? WIRE_GAPS_TOO : 0);

    if (atomic_load_explicit(peer->throttle_in + 1, memory_order_relaxed) != wish)
        atomic_store_explicit(peer->throttle_in + 1, wish, memory_order_relaxed);
}

/* A message longer than a buffer came at once, as was asked for. Shall such ones be offered again: is it time for a
 * trial, is that way slow, or have lines come to be near or far? With the lock, or without threads. */
static inline void longer_came(struct peer *peer, size_t len)
{
    const uint32_t ns = peer->pace->parts_ns;

    peer->pace->parts_ns = 0;
    if (likely(peer->pace->is_far == peer->is_asked_far && !(ns && speed_eager_is_slow(&peer->speed, len, ns)) &&
               !speed_long_eager(&peer->speed, len)))
        return;
    speed_longer(&peer->speed, 0, peer->ops->eager_max);
    ask_limit(peer);
}

/* Messages with gaps of a pair of buffers shall be offered again: lines are far, or nobody waits in a way that reads
 * them while they are written. */
static inline void unask_gaps(struct peer *peer)
{
    peer->offered_gaps = 0;
    if (likely(!peer->is_asked_gaps))
        return;
    peer->is_asked_gaps = false;
    ask_limit(peer);
}

/* Of an eager message without flags; `key` as in match_key, of the sender. */
static ALWAYS_INLINE struct net_head eager_head(const struct channel *channel, const struct type *type, uint64_t key)
{
    return (struct net_head){ { channel->eager_word | (uint64_t)type->signature << WIRE_SIGNATURE_SHIFT, key } };
}

/* The open channel of a context, or NULL. */
struct channel *channel_find(struct lane *lane, uint32_t ctx);

/* Poll functions, without the lock; arg: the lane, or a peer. The second polls one process and does the lane's work. */
int lane_poll(void *arg);
/* Make all of lane->kept, complete. */
void send_init_kept(struct lane *lane);
int lane_poll_peer(void *arg, const _Atomic uint32_t *done);

/* What to poll while waiting for a message from a peer: with one thread, its transport directly. Waits for sends poll
 * the peer with lane_poll_peer, since their own record may be what waits for room. */
static ALWAYS_INLINE struct progress_hint recv_hint(struct peer *peer)
{
    if (unlikely(peer->lane->is_threaded))
        return (struct progress_hint){ lane_poll_peer, peer };
    return (struct progress_hint){ peer->ops->poll_ep, peer->ep };
}

/* May be asked without the lock. */
static ALWAYS_INLINE unsigned work_of(const struct lane *lane)
{
    return atomic_load_explicit(&lane->work, memory_order_relaxed);
}

/* An entry joins or leaves one of the lists that `work` counts. */
static inline void work_add(struct lane *lane, struct list *list, struct list *link)
{
    list_append(list, link);
    atomic_store_explicit(&lane->work, work_of(lane) + 1, memory_order_relaxed);
    progress_work(1);
}

static inline void work_remove(struct lane *lane, struct list *link)
{
    list_remove(link);
    atomic_store_explicit(&lane->work, work_of(lane) - 1, memory_order_relaxed);
    progress_work(-1);
}

/* Of the remote group, and not MPI_PROC_NULL or MPI_ANY_SOURCE. The bindings have just compared the same. */
static ALWAYS_INLINE bool is_rank_of(const struct comm *comm, int rank)
{
    return (unsigned)rank < (unsigned)comm->remote_size;
}

static ALWAYS_INLINE struct channel *channel_of(const struct comm *comm, int mode)
{
    return &comm->p2p->channel[(mode & P2P_COLL) != 0];
}

/* send.c: the `push` of messages that are requests, for debuggers, ended by NULL. */
extern int (*const send_pushes[])(struct outgoing *out, struct peer *peer);
/* An offered send has been answered. */
static inline void send_answered(struct p2p_req *s)
{
    if (likely(s->state == P2P_OFFERED)) { /* else it is a piece of a partitioned message */
        s->state = P2P_MOVING;
        list_remove(&s->link);
    }
}

/* out.c: send `out`, a message, now, or queue it behind those that wait for this peer. */
void outgoing_send(struct outgoing *out, struct peer *peer);
/* The same for a record of another kind, which need not stay behind messages that wait. */
void outgoing_control(struct outgoing *out, struct peer *peer);
/* A record of control to r->peer, with the payload that stands in r->control. Once it is out: nothing, or r completes,
 * or r takes part in the copy it has announced. */
void control_send(struct p2p_req *r, enum wire_kind kind, size_t len, enum p2p_then then);
/* The same with a head that is in r->head already. */
void record_send(struct p2p_req *r, size_t len, enum p2p_then then);
/* Send what waits; how much went out. */
int outgoing_work(struct lane *lane);

/* What is known of a message when it meets its receive. */
struct arrival {
    int proc;
    int source, tag;
    unsigned kind, flags;
    uint16_t signature; /* of the sender's type */
    size_t len;
    uint64_t sync_id;  /* EAGER with SYNC, RTS */
    uint64_t address, blocks; /* RTS; FOREIGN: its answer or 0, and how many bytes of it came first */
    bool is_kept;      /* its payload does not lie in a buffer of the transport's any more */
};

/* recv.c: give a message to receive `r` and complete it, or begin what leads there. */
void deliver(struct p2p_req *r, const struct arrival *a, const void *payload);
/* An eager message that does not fit, or whose type is not one run, in a buffer of the transport's that `peer` has
 * written; NULL: it lies elsewhere, or there is no peer yet. */
void deliver_uneven(struct p2p_req *r, struct peer *peer, size_t len, const void *payload);

/* What is told when a message of `len` bytes is longer than the room for it, where an item has so many. */
int recv_truncation(const struct p2p_req *r, size_t len, size_t item, size_t room) COLD;

/* cause.c: give receive `r` the error that stands in the payload, and complete it; the `push` of such a message. */
void deliver_cause(struct p2p_req *r, const struct arrival *a, const void *payload) COLD;
int push_cause(struct outgoing *out, struct peer *peer);

/* broken.c: communicators that not all of their members have. Is this the head of a record that tells of one? It
 * arrives, 0 or NET_AGAIN. The communicator with that context is closed; the lane is, all are. The error of what is
 * begun on one; 0: it is whole, as far as is known. The lane's work. */
bool broken_is_meant(struct net_head head);
int broken_arrive(struct lane *lane, int proc, struct net_head head, const void *payload, uint32_t len) COLD;
void broken_forget(struct lane *lane, uint32_t ctx) COLD;
void broken_close(struct lane *lane) COLD;
void broken_fini(void);
int broken_error(const struct channel *channel) COLD;
int broken_work(struct lane *lane);

/* cell.c: bytes of a buffer of the transport's that the peer has written, as a run; as bytes [at, at + len) of r's
 * stream (peer NULL: they lie elsewhere). */
void cell_read(struct peer *peer, void *buf, const void *payload, size_t len);
void cell_unpack(const struct p2p_req *r, struct peer *peer, size_t at, const void *payload, size_t len);

extern const struct req_ops p2p_req_ops, pair_ops;

/* Set what every request needs; what else it needs, the caller sets. For those on the stack of a blocking call. */
static ALWAYS_INLINE void request_init(struct p2p_req *r, struct channel *channel, struct type *type)
{
    r->req = (struct req){
        .obj = { .kind = OBJ_REQUEST, .refs = 1 },
        .comm = channel->comm,
        .ops = &p2p_req_ops,
    };
    r->channel = channel;
    r->type = type;
    r->state = P2P_NEW;
    r->flags = r->then = r->mode = 0;
    r->moved = 0;
    r->is_special = r->is_detached = r->is_cancelling = r->is_half = r->is_reported = false;
}

/* request_create, when many are alive. */
struct p2p_req *request_create_single(struct channel *channel, struct type *type) COLD;

/* A request with references to type and communicator; NULL: no memory. */
static ALWAYS_INLINE struct p2p_req *request_create(struct channel *channel, struct type *type)
{
    struct p2p_req *r = mem_pool_get(&channel->lane->requests);

    if (unlikely(!r))
        return request_create_single(channel, type);
    request_init(r, channel, type);
    r->req.waiter = REQ_IN_WAIT;
    type_ref(type);
    obj_ref(&channel->comm->obj);
    return r;
}

/* send.c, recv.c: fill in a request that is begun later, perhaps more than once; for a send, `mode` stands in it. */
int send_set_up(struct p2p_req *r, const void *buf, MPI_Count count, int dest, int tag);
void recv_set_up(struct p2p_req *r, void *buf, MPI_Count count, int source, int tag);
/* Begin it, as a call of its own would; it may be complete, and gone, on return. Neither fails nor allocates. */
void send_start(struct p2p_req *r);
void recv_start(struct p2p_req *r);
/* report.c: say that it is complete; the request may be gone afterwards. */
void report_complete(struct p2p_req *r);
/* sendrecv.c: a half is complete, its pair may be, and the half is gone. */
void half_complete(struct p2p_req *r);
/* persistent.c: MPI_Start of one of ours; without the lock. */
int request_start(struct req *req);

/* For reports. probe.c: what a probe waits for; false: it is none. blocked.c: what a request waits for (takes the lock
 * itself); what is receivable by a key. */
bool probe_describe(const struct progress_long *wait, struct blocked *out) COLD;
void request_describe(const struct req *req, struct blocked *out) COLD;
void describe_key(uint64_t key, uint64_t mask, struct blocked *out) COLD;
/* p2p_flush, while it waits. */
void p2p_describe_flush(struct blocked *out) COLD;

/* hidden.c: with P2P_HIDDEN, give its buffer back to the program. */
void recv_show(struct p2p_req *r) COLD;

/* offload.c: before a transport with a device is opened, and afterwards. */
void lane_offload_prepare(struct lane *lane) COLD;
void lane_offload_begin(struct lane *lane, struct net *net) COLD;
/* A receive that is to be cancelled: true if a device has it and has been asked to give it back. */
bool offload_ask_back(struct p2p_req *r);
/* request.c: it has been taken back, from wherever it was. */
void request_cancelled(struct p2p_req *r);
/* Of an offered send: ask its receiver to give it up. Once. */
void request_ask_back(struct p2p_req *r);

/* mismatch.c: the sink of a lane that compares, and the comparison with the receive that a message has met. */
int p2p_arrive_checked(void *arg, int proc, struct net_head head, const void *payload, uint32_t len);
void check_signature(const struct p2p_req *r, const struct arrival *a) COLD;

/* lost.c: the sink's `lost`; why, as an error of its own; what has been begun with lost peers ends; it is another
 * process from now on; it is freed; is a message lost that would have this key? 0 or an error. */
void p2p_lost(void *arg, int proc, int error);
int lost_error(const struct peer *peer) COLD;
void lost_work(struct lane *lane) COLD;
void lost_forget(struct peer *peer) COLD;
/* Is it a message of the user's or of the library's, which is a request? */
bool lost_is_send(const struct outgoing *out) COLD;
void lost_drop_text(struct peer *peer) COLD;
int lost_of_key(const struct channel *channel, uint64_t key, uint64_t mask) COLD;
/* letter.c, part.c: the same of these, with a peer. */
struct p2p_box;
void box_fail(struct p2p_box *box, struct peer *peer) COLD;
void part_fail(struct peer *peer) COLD;
void part_break(const struct channel *channel) COLD;

/* arrive.c: a message finds its receive or is kept; 0 or NET_AGAIN. */
int arrive_message(struct lane *lane, uint32_t ctx, const struct arrival *a, const void *payload);
/* The envelope of a record of kind EAGER or RTS (or PART_SETUP); what follows it. */
const void *arrival_read(struct arrival *a, int proc, struct net_head head, const char *payload, uint32_t len);
int p2p_arrive(void *arg, int proc, struct net_head head, const void *payload, uint32_t len) HOT;
/* The newest message with this id from this process that nobody has received on the channel; NULL: there is none. */
struct message *arrive_find(struct channel *channel, int proc, uint64_t id);
/* Has its communicator been freed here, so that nobody will ask for a message of this context? */
bool arrive_is_too_late(const struct lane *lane, uint32_t ctx);
void message_destroy(struct message *message);

/* lane.c: the nets that keep records back say so by the request of those that are kept back now. */
void lane_note_flushed(struct lane *lane);
/* The next open lane from `*number` on, which then is past it; NULL: no more. Any thread. */
struct lane *lane_next(int *number);
/* Is the process another one of this node, with which memory is shared? */
bool lane_is_near(const struct lane *lane, int proc);
/* Tell the launcher, by our page of the segment, that a process is gone as far as we can see. */
void lane_tell_lost(int proc) COLD;
/* Lane number `number`, opened if it is not open yet. Errors: those of its transports, MPI_ERR_NO_MEM. */
int lane_get(int number, struct lane **out);

/* counters.c: take in what a context has counted. */
struct p2p_counters;
void counters_add_match(struct p2p_counters *counters, const struct match_ctx *match);

/* held.c. Read the setting; so many lanes share the limit from now on (any thread; at first there is one). */
int held_init(void);
void held_set_lanes(int count);
/* As net_sink.room says, of a lane; what a message that is kept costs besides its bytes. */
uint32_t held_room(void *lane, int proc);
uint32_t held_cost(void);
/* A message that is complete is kept, or is given up: count it, and slow its sender down or let it go. The sender is a
 * peer. */
void held_add(struct message *message);
void held_remove(struct message *message);
/* Somebody waits for a message with this key on the channel and it is not here: whoever may have it and is held back
 * is let go for a while. Call it when lane.holds is not 0. */
void held_want(struct channel *channel, uint64_t key, uint64_t mask);
/* The same for all receives that are posted. */
void held_work(struct lane *lane);

/* rndv.c: a receive has met an RTS; the sender's side of what follows; the lane's work. */
void rndv_begin(struct p2p_req *r);
/* Receive: it comes as a stream. */
void rndv_stream(struct p2p_req *r);
/* Send: the other side's request asks for that. */
void rndv_stream_out(struct p2p_req *s, uint64_t recv_id, bool in_parts);
void rndv_on_cts(struct p2p_req *r, unsigned kind, const struct wire_cts *cts);
void rndv_on_data(uint64_t recv_id, const void *payload, size_t len);
/* Where the payload of a record best goes that is about to come (net_sink.land). */
void *p2p_land(void *arg, int proc, struct net_head head, uint32_t len);
/* Parts of a stream whose receive has gaps (net_sink.read). */
bool p2p_read(void *arg, int proc, struct net_head head, size_t at, const void *bytes, size_t len);
/* What a send has still to send, for records in parts. */
struct net_source rndv_source(const struct p2p_req *s);
int rndv_work(struct lane *lane);

/* copies.c: a receive begins a copy by both sides; false when all records are in use. */
bool copies_begin(struct p2p_req *r);
/* Either side takes a part, and ends its side when all are done; how much happened. */
int copies_step(struct p2p_req *r);
/* A receive copies the whole by itself. */
void copies_alone(struct p2p_req *r);
/* The system has refused to copy, as the other side says: this one takes no part any more, if it still does. */
void copies_end(struct p2p_req *r);

/* lists.c: may a message of `len` bytes be copied block by block, as far as this side goes? */
bool lists_pay(const struct p2p_req *r, size_t len);
/* Receive: length of the blocks on average, on the side where they are shorter. */
size_t lists_block(const struct p2p_req *r, size_t len);
/* List where bytes [offset, offset + len) of r's stream lie; false if there is no memory, and then nothing is
 * changed. Completing the request releases it. */
bool lists_open(struct p2p_req *r, size_t offset, size_t len);
/* The other side's: a list of so many blocks at `address` there; none: one run of `len` bytes. False, and
 * lists_can_copy is false, if it cannot be had. */
bool lists_meet(struct p2p_req *r, uint64_t address, size_t blocks, size_t len);
bool lists_can_copy(const struct p2p_req *r);
/* Copy bytes of what was listed; 0 or an errno. */
int lists_copy(const struct p2p_req *r, uint64_t at, size_t len);
/* What this side has told the other one of. */
const struct type_block *lists_own(const struct p2p_req *r, size_t *count);
/* The other process has written there: for memcheck. */
void lists_written(const struct p2p_req *r);
void lists_close(struct p2p_req *r);

/* errand.c: another process wants bytes of this one, or has some for it. 0 or NET_AGAIN. */
int errand_arrive(struct lane *lane, int proc, struct net_head head, const struct wire_errand *errand);

/* send.c: send as one record now, if nothing stands in the way: true. The way to `dest` is known. */
bool send_now(struct channel *channel, const void *buf, MPI_Count count, struct type *type, int dest, int tag);

/* letter.c: a letter arrives, or its offer. 0 or NET_AGAIN. */
int letter_arrive(struct lane *lane, int proc, struct net_head head, const void *payload, uint32_t len);

/* The same of a parcel. */
int parcel_arrive(struct lane *lane, int proc, struct net_head head, const void *payload, uint32_t len);
/* As net_sink.land. */
void *parcel_land(struct lane *lane, int proc, struct net_head head, uint32_t len);

/* buffered.c: let go of an attached buffer, whose messages have gone; NULL is fine. */
void send_buffer_destroy(struct send_buffer *buffer);

/* Partitioned communication. part_recv.c: a SETUP has met its receive (released ones go); a receive that was freed and
 * is unlinked from the matcher; what arrives (0 or NET_AGAIN). */
void part_meet(struct match_entry *entry, uint64_t id, size_t len);
void part_drop_posted(struct match_entry *entry);
void part_on_data(struct net_head head, const void *payload, size_t len);
int part_on_offer(struct net_head head, const struct wire_part_offer *offer);
/* part_send.c: the other side has started a round; send what is ready, how much went out; the lane's work; how many
 * in lane.parts have nothing to do until the user marks more. */
struct part_req;
void part_on_grant(const struct wire_cts *grant);
int part_push(struct part_req *s);
int part_work(struct lane *lane);
unsigned part_unready(const struct lane *lane);
/* The lane closes: what belongs to requests that were never freed goes. */
void part_leave(struct lane *lane);
/* part.c: an offered piece has moved. */
void part_piece_done(struct p2p_req *r);

/* Slow half of p2p_complete. */
void complete_special(struct p2p_req *r) COLD;

/* Complete a request: errors and results are in it. Nothing may touch it afterwards. */
static ALWAYS_INLINE void p2p_complete(struct p2p_req *r)
{
    if (likely(!r->is_special))
        req_complete(&r->req);
    else
        complete_special(r);
}

/* Behind MPI_MESSAGE_NO_PROC (§3.8.2). */
extern struct message message_no_proc;
/* Complete and shared: a receive from MPI_PROC_NULL (§3.10); a send. */
struct req *req_from_nobody(void);
struct req *req_sent(void);

#endif
