/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/tcp. What its files share: the open transport, one contacted process, the listener of all lanes, and what
 * happens until two processes are connected. */
#ifndef NET_TCP_INT_TCP_H
#define NET_TCP_INT_TCP_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "base/list.h"
#include "base/mem.h"
#include "net/net.h"
#include "net/tcp/format.h"
#include "net/tcp/hello.h"
#include "sys/ifaces.h"
#include "sys/job.h"
#include "sys/lock.h"
#include "sys/pace.h"

enum {
    TCP_EAGER_MAX = 65536,
    TCP_CHUNKS_MAX = 4,         /* chunks of one process with bytes that have not gone out … */
    TCP_DIRECTS_MAX = 32,       /* … and records that go straight out of the caller's memory */
    TCP_COALESCE = 16384,       /* so many bytes that have been kept back are sent */
    TCP_SMALL = 1024,           /* shorter records are put together on the stack and sent at once; longer ones … */
    TCP_KEPT_MAX = 4096,        /* … up to here may be kept back */
    TCP_IN_SIZE = 32768,        /* bytes that one read of the system can bring besides a long payload */
    TCP_LAND_MIN = 8192,        /* payloads that have not come whole, from here on: are read to where they belong */
    TCP_STASH = 256,            /* so much of a record that has come in part is kept with the connection */
    TCP_READS = 8,              /* of one connection before the next one has its turn */
    TCP_TARGETS = 20,           /* addresses of a process that are tried, at the most … */
    TCP_TRIES = 8,              /* … and so many at a time */
    TCP_CALLERS_MAX = 256,      /* connections that have not yet said and proved whose they are */
};

/* --- addresses (address.c) --- */

/* An address to connect to. */
struct tcp_target {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } to;
    socklen_t size;
};

/* Those that PARLEY_TCP_INTERFACE lets through, the best first. 0, or an error: E0365 if none is left; the setting
 * cannot be read; the system's. */
int tcp_address_look(struct ifaces *ifaces);
/* The addresses that another process has published, in the order in which they are to be tried from here; how many.
 * 0: it is nothing that can be understood. */
int tcp_address_read(const struct ifaces *own, const unsigned char *from, size_t size,
                     struct tcp_target targets[TCP_TARGETS]);
/* A call of the system has failed: its errno as an error, E0363 if no descriptor is left. */
int tcp_system_error(const char *what);
/* For messages: "10.0.0.2 port 4711"; of up to INET6_ADDRSTRLEN + 12 bytes. */
void tcp_address_name(const struct tcp_target *target, char *text, size_t size);

/* --- the listener (port.c) --- */

/* What the descriptors in the lane's epoll belong to: the first member of each. */
enum tcp_watched { TCP_WATCH_PORT, TCP_WATCH_PEER, TCP_WATCH_TRY };

struct tcp_watch {
    enum tcp_watched kind;
};

/* A connection that another process has made and whose ends have proved themselves. */
struct tcp_proven {
    struct list link;
    int fd;
    struct tcp_party party;
};

struct tcp_port;

/* The listener of process config->proc, opened by its first lane and published in the segment. Errors: no memory, no
 * descriptor, no interface. Any thread. */
int tcp_port_open(const struct net_config *config, struct tcp_port **out);
void tcp_port_close(struct tcp_port *port);
/* A descriptor that polls readable when tcp_port_poll has something to do. */
int tcp_port_fd(const struct tcp_port *port);
const struct ifaces *tcp_port_ifaces(const struct tcp_port *port);
/* Take in who calls; how many things happened. Does nothing while another thread is at it. */
int tcp_port_poll(struct tcp_port *port);
/* Are there some that have not yet proved themselves, and may have to be dropped? */
bool tcp_port_has_callers(const struct tcp_port *port);
/* A connection for this lane, the caller's from now on (free it by mem_free); NULL: there is none. */
struct tcp_proven *tcp_port_take(struct tcp_port *port, int lane);
/* Back again, for the next poll. */
void tcp_port_put_back(struct tcp_port *port, struct tcp_proven *proven);

/* Seconds until a connection that is being made is given up. */
uint64_t tcp_patience_ns(void);
int tcp_patience_read(void);
/* The options of a connection. */
void tcp_tune(int fd);
/* Those that depend on where it leads, once it is connected. */
void tcp_tune_connected(int fd);
uint64_t tcp_nonce(void);

/* --- the transport --- */

/* What waits to go out, in order. */
struct tcp_item {
    struct list link;
    bool is_direct;
};

/* Frames that have been copied. */
struct tcp_chunk {
    struct tcp_item item;
    uint32_t begin, end;        /* what has not gone out */
    unsigned char data[TCP_FRAME_SIZE + TCP_EAGER_MAX] ALIGNED(TCP_ALIGN);
};

/* A record out of the caller's memory. */
struct tcp_direct {
    struct tcp_item item;
    struct tcp_frame frame;
    const char *payload;
    uint64_t done;              /* bytes of the frame that have gone out */
    _Atomic uint32_t *pending;  /* the caller's */
};

/* What has come and has not been handed on. */
struct tcp_in {
    unsigned char *buf;         /* TCP_IN_SIZE bytes; NULL: what there is lies in `stash` */
    uint32_t begin, end;
    /* The payload that is being read to where it belongs, if `at` is not NULL. */
    struct net_head head;
    char *at;
    void *own;                  /* memory of ours that `at` leads to, or NULL */
    uint32_t len, got;
    uint32_t skip;              /* bytes up to the next frame */
    bool has_asked;             /* the sink had no better place for the payload that comes next */
    unsigned char stash[TCP_STASH] ALIGNED(TCP_ALIGN);
};

enum tcp_state {
    TCP_IDLE,                   /* no connection */
    TCP_DIALING,                /* `dial` is at it */
    TCP_UP,
    TCP_GONE,                   /* the other one has closed it in good order */
    TCP_BROKEN,
};

struct tcp_peer {
    struct net_ep ep;           /* first */
    struct tcp_watch watch;
    enum tcp_state state;
    _Atomic int fd;             /* -1: none; read without the lock by tcp_is_silent */
    _Atomic bool has_input;     /* in `in`, so that the system does not know of it; likewise */
    struct tcp_dial *dial;
    bool is_byed;               /* the good-bye is on its way */
    uint32_t tenant;            /* of the process that it is connected to */
    struct tcp_proven *next;    /* a connection of a later one, see renew; or NULL */
    /* sending */
    struct list out;            /* of struct tcp_item */
    uint64_t unsent;            /* bytes in it, and how many of them … */
    uint64_t behind;            /* … stand behind the last record and are nobody's loss */
    bool has_forgotten;         /* a record that will never arrive */
    unsigned chunks, directs;   /* in it, or given out by alloc */
    bool in_burst;              /* something has gone out since the last poll */
    bool is_blocked;            /* the system takes no more … */
    bool watches_output;        /* … and is asked to tell when it does */
    int out_error;              /* errno of a write that failed: there will be no other one */
    struct list dirty_link;     /* in tcp.dirty: to be flushed by the next poll */
    uint32_t kept_sent, kept_may; /* bytes that the other one may have to keep: sent, and how many may be (mod 2^32) */
    uint32_t asked;             /* its first wish */
    /* receiving */
    uint32_t kept_come, kept_told; /* the same of what comes: come, and what the other one has been told of */
    uint32_t kept_low;          /* to be told again when it may send no more than that */
    struct list owed_link;      /* in tcp.owed: there was no memory for telling it */
    struct tcp_in in;
    bool is_leaving;            /* it has said that this was all */
    struct list stalled_link;   /* in tcp.stalled: the sink had no memory for what is in `in` */
    /* the end */
    int rc;                     /* why it is lost, to be told, when in … */
    struct list lost_link;      /* … tcp.lost */
};

struct tcp {
    struct net net;             /* first */
    struct lock guard;          /* of all that follows: who is in a function of net_ops has it, or the keeper */
    _Atomic uint32_t visits;    /* of the former */
    _Atomic bool has_left;      /* something may not have gone out; said by them, taken back by the keeper */
    uint32_t visits_seen;       /* the keeper's */
    struct list keeper_link;
    bool is_kept_by_keeper;     /* it has the guard */
    struct tcp_watch port_watch;
    struct tcp_port *port;
    struct job_head *segment;
    int proc, procs, lane;
    uint32_t tenant;            /* of this process */
    int epoll;
    struct tcp_peer **peers;    /* by process; NULL: no contact yet */
    _Atomic uint32_t *wishes;   /* NET_WISHES of each process: what we ask of it, … */
    uint32_t *told;             /* … what it has been told of that, … */
    _Atomic uint32_t *heard;    /* … and what it asks of us */
    size_t wishes_size;         /* bytes of each of these */
    struct list dirty, stalled, lost, owed;
    struct net_kept kept;
    bool has_kept;              /* something has been kept back since all was flushed */
    struct list dials, ended_dials;
    struct mem_pool chunks;
    struct mem_pool directs;
    struct mem_pool buffers;    /* of TCP_IN_SIZE bytes */
    struct tcp_chunk *spare;    /* for what a write leaves over; not NULL while a peer has room */
    unsigned char *in;          /* what the next read goes to; NULL: to be had again */
    uint32_t polls;
    _Atomic uint32_t far[2];    /* both words of `pace` */
    struct pace pace;
};

static inline struct tcp *tcp_of(const struct tcp_peer *peer)
{
    return (struct tcp *)(void *)peer->ep.net;
}

/* What a record counts of what its receiver has room for. */
static ALWAYS_INLINE uint32_t tcp_kept_cost(const struct tcp_peer *peer, struct net_head head, uint32_t len)
{
    const struct net_kept *kept = &tcp_of(peer)->kept;

    return head.word[0] & kept->mask ? 0 : len + kept->cost;
}

static inline bool tcp_has_room(const struct tcp_peer *peer)
{
    return (int32_t)(peer->kept_may - peer->kept_sent) > 0;
}

/* In and out of a function of net_ops; with the lane's lock besides, so that only the keeper may be there. A sink may
 * call another one. */
static ALWAYS_INLINE struct tcp *tcp_enter(struct net *net)
{
    struct tcp *tcp = (struct tcp *)(void *)net;

    lock_take(&tcp->guard);
    atomic_store_explicit(&tcp->visits, atomic_load_explicit(&tcp->visits, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    return tcp;
}

static ALWAYS_INLINE void tcp_leave(struct tcp *tcp)
{
    lock_release(&tcp->guard);
}

/* Of all connections of two processes the lower one picks. */
static inline bool tcp_is_lower(const struct tcp *tcp, int proc)
{
    const struct job_abroad *abroad = &job_proc(tcp->segment, proc)->abroad;

    return abroad->bond ? abroad->side == 0 : tcp->proc < proc;
}

/* tcp.c: the state for a process, made at first contact; NULL: no memory. */
struct tcp_peer *tcp_peer(struct tcp *tcp, int proc);
/* The connection has ended with `rc` (0: in good order): drop all that belongs to it. The sink is told by the next
 * poll. */
void tcp_end(struct tcp_peer *peer, int rc);
/* It is connected by `fd`, to the process with this number which so many have had before. */
void tcp_adopt(struct tcp_peer *peer, int fd, uint32_t tenant);
/* Something is to be sent to a process that has left: now it is lost. */
void tcp_lose(struct tcp_peer *peer);
/* A connection that the other one, which has a state here, has made. */
void tcp_adopt_proven(struct tcp *tcp, struct tcp_proven *proven);
/* Watch `fd` in the lane's epoll for input, or for output as well. 0, or -1 with errno. */
int tcp_watch(struct tcp *tcp, int fd, struct tcp_watch *watch, bool for_output);
/* Close what `epoll` watches. As long as a child of fork has it too, closing alone would not end the watch. */
void tcp_close_watched(int epoll, int fd);

/* keeper.c: somebody writes for this transport what is left in it, until it is closed. Without the guard. */
void tcp_keeper_add(struct tcp *tcp);
void tcp_keeper_remove(struct tcp *tcp);
/* What the keeper does then, under the guard: write as much as the system takes. True if something is left. */
bool tcp_keeper_flush(struct tcp *tcp);
enum { TCP_KEEPER_AWAKE, TCP_KEEPER_ASLEEP, TCP_KEEPER_ENDS };
extern _Atomic uint32_t tcp_keeper_word;
void tcp_keeper_wake(void) COLD;

/* Something does not go out now. */
static ALWAYS_INLINE void tcp_leave_some(struct tcp *tcp)
{
    atomic_store_explicit(&tcp->has_left, true, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst); /* the keeper's barrier does the rest */
    if (unlikely(atomic_load_explicit(&tcp_keeper_word, memory_order_relaxed) == TCP_KEEPER_ASLEEP))
        tcp_keeper_wake();
}

/* room.c: tell it what is asked of it and how much more it may send, if that has changed. The same of all, and of those
 * for which there was no memory. */
void tcp_tell(struct tcp_peer *peer);
void tcp_tell_all(struct tcp *tcp) COLD;
void tcp_tell_owed(struct tcp *tcp);
/* Show the caller what it asks of us. */
void tcp_show_wish(struct tcp_peer *peer);

/* dial.c: connect to a process whose address is known. NET_AGAIN: not yet. */
int tcp_dial(struct tcp_peer *peer);
void tcp_dial_stop(struct tcp_peer *peer);
/* Begin further tries and give up; how many things happened. */
int tcp_dial_tick(struct tcp *tcp);
int tcp_dial_event(struct tcp_watch *watch);
/* No event leads to them any more. */
void tcp_dial_free_ended(struct tcp *tcp);

/* send.c: those of net_ops, which enter; and others. */
int tcp_send(struct net_ep *ep, struct net_head head, const void *payload, uint32_t len);
int tcp_send_soon(struct net_ep *ep, struct net_head head, const void *payload, uint32_t len);
int tcp_send_in_room(struct net_ep *ep, struct net_head head, const void *payload, uint32_t len);
int tcp_alloc(struct net_ep *ep, struct net_buffer *buffer);
int tcp_commit(struct net_ep *ep, struct net_head head, const struct net_buffer *buffer, uint32_t len);
void tcp_release(struct net_ep *ep, const struct net_buffer *buffer);
int tcp_send_from(struct net_ep *ep, struct net_head head, const void *payload, uint32_t len,
                  _Atomic uint32_t *pending);
/* A frame without a payload that is no record. False: no memory. */
bool tcp_append_frame(struct tcp_peer *peer, enum tcp_kind kind, struct net_head head);
/* Send what waits, as far as the system takes it. */
void tcp_flush(struct tcp_peer *peer);
/* The system may take more; has it? */
bool tcp_unblock(struct tcp_peer *peer);
/* Nothing is kept back any more. */
void tcp_tell_flushed(struct tcp *tcp);
/* Of all that have something to flush; the second one tells, as well. */
void tcp_flush_all(struct tcp *tcp);
void tcp_flush_dirty(struct tcp *tcp);
/* What waits will never go out. */
void tcp_drop_unsent(struct tcp_peer *peer);

/* receive.c: read and hand on; how many arrivals there were, or 1 if only a part of one has come. */
int tcp_receive(struct tcp_peer *peer, const _Atomic uint32_t *done);
/* Once more what the sink had no memory for. */
int tcp_retry_stalled(struct tcp *tcp);
void tcp_drop_input(struct tcp_peer *peer);

#endif
