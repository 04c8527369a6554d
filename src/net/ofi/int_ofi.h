/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/ofi. What its files share: the endpoint, one for each process and shared by its lanes (hub), what is on its
 * way out (cells) and in (parcels), and a lane's open transport with the processes that it has contact with.
 *
 * libfabric is called with the hub's lock held, and so is what is marked H below touched; the rest belongs to the
 * lane, whose callers hold its own lock. No lock is taken while the hub's is held, and no sink is called. */
#ifndef NET_OFI_INT_OFI_H
#define NET_OFI_INT_OFI_H

#include <pthread.h>
#include <stdbool.h>

#include "base/list.h"
#include "base/mem.h"
#include "net/net.h"
#include "net/ofi/format.h"
#include "net/ofi/library.h"
#include "sys/job.h"
#include "sys/pace.h"

enum {
    OFI_BUFFERS = 4,             /* that messages come into … */
    OFI_BUFFER_SIZE = 1 << 20,   /* … and their size */
    OFI_SMALL_SIZE = 4096,       /* of a cell for short frames … */
    OFI_SMALL_SLAB = 64,         /* … which are made so many at a time … */
    OFI_SMALL_MAX = 1024,        /* … and this many at the most */
    OFI_BIG_SLAB = 4,            /* likewise for long ones */
    OFI_BIG_MAX = 32,
    OFI_PEER_BIG_MAX = 8,        /* of those for one process … */
    OFI_PEER_SMALL_MAX = 256,    /* … and of the short ones */
    OFI_DIRECTS_MAX = 32,        /* records of one process that go straight out of the caller's memory */
    OFI_GATHER_MIN = 4096,       /* shorter payloads are copied even then */
    OFI_LAND_MIN = 8192,         /* for records from here on the sink is asked where they belong */
    OFI_ENTRIES = 32,            /* completions that are read at once … */
    OFI_READS = 4,               /* … so many times before something else has its turn */
    OFI_TEXT_SIZE = 256,
};

/* --- the provider (choose.c) --- */

struct ofi_found {
    const struct ofi_library *library;
    struct fab_info *all, *info; /* what the library has found, and the one of them that is taken */
};

/* As PARLEY_NET_FAR says, which has been read. 0, E0366 or E0367. */
int ofi_provider_find(struct ofi_found *out);
void ofi_provider_drop(struct ofi_found *found);

/* --- the endpoint (hub.c) --- */

/* What libfabric is given with an operation, and gives back. */
struct ofi_op {
    void *lent[FAB_CONTEXT_WORDS]; /* first; libfabric's meanwhile */
    bool is_cell;                /* of a cell, else of a buffer */
};

/* A frame on its way out. */
struct ofi_cell {
    struct ofi_op op;            /* first */
    struct ofi_cell *next;       /* that is free */
    bool is_big;
    uint32_t index;              /* of a big one, in hub.bigs */
    struct ofi_peer *peer;       /* NULL: nobody wants to know what becomes of it */
    struct ofi_direct *direct;   /* the record that it is a part of and that is sent from where it lies, or NULL */
    void *desc;
    unsigned char *data;
};

struct ofi_cells {
    struct ofi_cell *free;
    uint32_t made, max, per_slab;
    uint32_t size;               /* of a cell */
};

/* Memory that libfabric reads or writes. A child of fork does not get it: what the network writes while both have the
 * same page would miss us. */
struct ofi_memory {
    unsigned char *at;           /* NULL: none */
    size_t size;
    struct fab_mr *mr;           /* NULL: the provider needs none */
};

struct ofi_slab {
    struct list link;
    struct ofi_memory memory;
    struct ofi_cell cells[];
};

/* What messages come into, one after the other. */
struct ofi_buffer {
    struct ofi_op op;            /* first */
    struct ofi_memory memory;
    struct list parcels;         /* that lie in it */
    bool is_posted;              /* libfabric may still put something there */
};

/* A frame that has come. */
struct ofi_parcel {
    struct list link;
    struct list buffer_link;     /* in buffer.parcels */
    struct ofi_buffer *buffer;   /* NULL: it has been moved out of it, to `own` */
    unsigned char *own;
    const unsigned char *at;
    uint32_t size;
    bool is_taken;               /* by a lane, which may be reading it */
};

struct ofi_hub {
    struct list link;
    int uses;                    /* guarded by the list's lock */
    struct job_head *segment;
    int proc, procs;
    struct ofi_found found;
    const char *provider;        /* its name, in `found` */
    struct fab_fabric *fabric;
    struct fab_domain *domain;
    struct fab_av *av;
    struct fab_cq *cq;
    struct fab_ep *ep;
    int fd;                      /* polls readable when there is something in cq; -1: the provider has none */
    uint32_t inject_max;         /* frames up to here go at once, without a completion */
    bool needs_mr, mr_of_endpoint;
    uint64_t keys;               /* that have been given to registered memory; H, or nobody else has the hub yet */
    bool can_gather;             /* a frame and its payload from two places */
    pthread_mutex_t lock;
    /* H: */
    struct ofi_cells small, big;
    struct ofi_cell *bigs[OFI_BIG_MAX];
    struct list slabs;
    struct mem_pool directs, parcels;
    struct ofi_buffer buffers[OFI_BUFFERS];
    struct fab_entry entries[OFI_ENTRIES]; /* completions that have been read, … */
    int at, count;               /* … and those that have not been looked at */
    struct list inbox[NET_LANES]; /* parcels */
    struct list failed[NET_LANES]; /* peers, by fail_link */
    uint64_t *stamps;            /* of each process's frames; 0: not made yet */
    bool is_broken;              /* nothing can be sent or received any more, because of … */
    char why[OFI_TEXT_SIZE];     /* … this */
};

/* The endpoint of process config->proc, opened by its first lane and published in the segment. 0; E0366; E0367; no
 * memory. Any thread. */
int ofi_hub_open(const struct net_config *config, struct ofi_hub **out);
void ofi_hub_close(struct ofi_hub *hub);
/* What stands in front of each frame that process `from` sends to `to`. */
uint64_t ofi_stamp(const struct job_head *segment, int from, int to);
/* How the own memory looks, for an address. */
unsigned char ofi_memory_look(void);
/* Size must be whole pages. Memory, registered if the provider needs that. Errors: E0367, no memory. */
int ofi_memory_get(struct ofi_hub *hub, struct ofi_memory *memory, size_t size);
void ofi_memory_free(struct ofi_memory *memory);

/* --- sending (post.c); all H --- */

enum { OFI_FORGET = 1 };

/* A record of a process that is sent from where it lies. */
struct ofi_direct {
    struct list link;            /* in peer.directs, until all of it has been posted */
    struct net_head head;
    const unsigned char *payload;
    uint32_t len, posted;        /* bytes of it */
    uint32_t in_flight;          /* cells */
    _Atomic uint32_t *pending;   /* the caller's */
};

struct ofi_peer;

/* A frame, copied. 0; NET_AGAIN; OFI_FORGET: it can never be sent, and the peer has failed. */
int ofi_post(struct ofi_peer *peer, enum ofi_kind kind, struct net_head head, const void *payload, uint32_t len);
/* A big cell to be filled behind its frame; NULL: not now. */
struct ofi_cell *ofi_cell_get_big(struct ofi_peer *peer);
void ofi_cell_put(struct ofi_hub *hub, struct ofi_cell *cell);
/* The same with a cell that has been filled; it is the caller's still at NET_AGAIN. */
int ofi_post_cell(struct ofi_peer *peer, struct ofi_cell *cell, struct net_head head, uint32_t len);
/* As many as there is room for of the records that wait. */
void ofi_push(struct ofi_peer *peer);
/* What waits will never go out. */
void ofi_drop_directs(struct ofi_peer *peer);
/* libfabric has done with this cell. */
void ofi_posted(struct ofi_hub *hub, struct ofi_cell *cell);
/* The way to it has failed with this error: the lane deals with it in its next poll … */
void ofi_lose(struct ofi_peer *peer, int rc);
/* … in which `rc` is as libfabric gives it, and `more` may say more. */
void ofi_fail(struct ofi_peer *peer, const char *what, ssize_t rc, const char *more);
/* Nobody waits any more for what becomes of all that is on its way to it: libfabric will not say. */
void ofi_abandon(struct ofi_peer *peer);

/* --- what comes (pull.c); all H --- */

/* Read completions and put parcels into the inboxes, for `lane` and all others. */
void ofi_pull(struct ofi_hub *hub, int lane);
/* Let libfabric have all buffers that nothing lies in … */
void ofi_post_buffers(struct ofi_hub *hub);
/* … having moved out of those that are full what no lane has taken. */
void ofi_refill(struct ofi_hub *hub);
/* All that a list has of parcels that have been dealt with. */
void ofi_parcels_free(struct ofi_hub *hub, struct list *parcels);
/* Out of the buffer, so that that can be used again. False: no memory. */
bool ofi_parcel_move(struct ofi_parcel *parcel);
void ofi_break(struct ofi_hub *hub, const char *what, ssize_t rc, const char *more);

/* --- the transport (ofi.c, peer.c) --- */

enum ofi_state { OFI_OPEN, OFI_BROKEN };

/* A record that comes in several frames. */
struct ofi_in {
    struct net_head head;
    unsigned char *at;           /* NULL: there is none */
    void *own;                   /* memory of ours that `at` leads to, or NULL */
    uint32_t whole, got;
    bool has_asked;              /* the sink had no better place for it */
};

struct ofi_peer {
    struct net_ep ep;            /* first */
    enum ofi_state state;
    uint64_t stamp;              /* of frames to it */
    uint64_t address;            /* in hub.av … */
    bool has_address;            /* … if it is there */
    bool is_told;                /* it has been told of our leaving, … */
    bool awaits_answer;          /* … has to answer … */
    bool has_heard;              /* … and has done so */
    _Atomic bool has_left;       /* it has said good-bye; what goes wrong with it then does not matter … */
    bool owes_answer;            /* … and has to be answered */
    /* H: */
    uint32_t out_number;
    struct list directs;
    struct list push_link;       /* in ofi.pushing, while there are some … */
    uint32_t direct_count;       /* … or some are in flight */
    uint32_t small_count, big_count; /* cells in flight */
    int fail_rc;
    struct list fail_link;
    /* receiving */
    uint32_t tenant;             /* lowest of its number that counts */
    uint32_t in_number;          /* of the frame that comes next */
    struct list waiting;         /* parcels, by tenant and number */
    struct ofi_in in;
    /* the end */
    int rc;                      /* why it is lost, to be told, when in … */
    struct list lost_link;       /* … ofi.lost */
};

struct ofi {
    struct net net;              /* first */
    struct ofi_hub *hub;
    int proc, procs, lane;
    uint32_t tenant;             /* of this process */
    int epoll, tick;             /* what a sleeper waits at, and its clock in there */
    uint64_t tick_ns;            /* that the clock has been set to; 0: it is off */
    struct ofi_peer **peers;     /* by process; NULL: no contact yet */
    _Atomic uint32_t *wishes;    /* NET_WISHES of each process: what we ask of it, … */
    uint32_t *told;              /* … what it has been told of that, … */
    _Atomic uint32_t *heard;     /* … and what it asks of us */
    size_t wishes_size;          /* bytes of each of these */
    struct list orphans;         /* parcels of processes for which there was no memory */
    struct list lost;
    struct list pushing;         /* H */
    _Atomic bool has_input;      /* parcels that the sink or we had no memory for; read by ofi_is_silent */
    bool is_blocked;             /* H: libfabric had no room for a frame since the last poll */
    bool owes_answers;           /* some peer does */
    unsigned char *aligned;      /* for a payload that libfabric has put at an odd place; NULL: not needed yet */
    _Atomic uint32_t far[2];     /* both words of `pace` */
    struct pace pace;
};

static inline struct ofi *ofi_of(const struct ofi_peer *peer)
{
    return (struct ofi *)(void *)peer->ep.net;
}

static inline void ofi_lock(struct ofi_hub *hub)
{
    pthread_mutex_lock(&hub->lock);
}

static inline void ofi_unlock(struct ofi_hub *hub)
{
    pthread_mutex_unlock(&hub->lock);
}

/* peer.c: the state for a process, made at first contact; NULL: no memory. */
struct ofi_peer *ofi_peer(struct ofi *ofi, int proc);
/* Its address, if it is known now. H. 0; NET_AGAIN; OFI_FORGET: it cannot be used, and the peer has failed. */
int ofi_find_address(struct ofi_peer *peer);
/* The way to it has ended with `rc` (0: in good order); drop all that belongs to it. H. The sink is told by the next
 * poll. */
void ofi_end(struct ofi_peer *peer, int rc);

/* send.c */
int ofi_send(struct net_ep *ep, struct net_head head, const void *payload, uint32_t len);
int ofi_alloc(struct net_ep *ep, struct net_buffer *buffer);
int ofi_commit(struct net_ep *ep, struct net_head head, const struct net_buffer *buffer, uint32_t len);
void ofi_release(struct net_ep *ep, const struct net_buffer *buffer);
int ofi_send_from(struct net_ep *ep, struct net_head head, const void *payload, uint32_t len,
                  _Atomic uint32_t *pending);

/* receive.c: hand on what has been taken from the inbox, and what was left before; how many arrivals there were.
 * What has been dealt with is in `done` then. */
int ofi_receive(struct ofi *ofi, struct list *taken, struct list *done);

#endif
