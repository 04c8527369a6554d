/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net. The interface of transports. A transport carries bytes between processes, in order for each
 * directed pair; it does not know what they mean.
 *
 * A record is a head of two words, which are the caller's, and a payload. Short records are copied at the call;
 * longer ones are written into a buffer of the transport's and committed. "No room now" is an answer (NET_AGAIN):
 * nothing happened, poll and try again.
 *
 * All functions of one net are called by one thread at a time (the lane's lock). None waits. */
#ifndef NET_NET_H
#define NET_NET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

enum {
    NET_AGAIN = -1,
    NET_KEPT = 1,
    NET_NOT_YET = -1,
    NET_NOT_THIS = -2,
    NET_TAKEN = -3,
    NET_WISHES = 2,
    NET_LANES = 8, /* a process may open a transport so often, each time for another lane */
};

/* Travels in registers on both sides. */
struct net_head {
    uint64_t word[2];
};

/* Bytes [at, at + len) of a payload that does not lie in a row, written to `to`; or read from `from`. */
typedef void net_write_fn(const void *arg, size_t at, void *to, size_t len);
typedef void net_read_fn(void *arg, size_t at, const void *from, size_t len);

/* A payload: what `write` writes, or, if that is NULL, what lies at `arg`. */
struct net_source {
    net_write_fn *write;
    const void *arg;
};

static inline struct net_source net_source_at(const void *payload)
{
    return (struct net_source){ NULL, payload };
}

/* Takes arrivals: 0, or NET_AGAIN when there is no memory now, and then the same record is offered again at the next
 * poll. Called from poll (or, by a transport within the process, from send and commit), with the lock
 * held; the payload of `len` bytes is valid during the call only. It may send, but not poll. */
struct net_sink {
    int (*arrive)(void *arg, int proc, struct net_head head, const void *payload, uint32_t len);
    void *arg;
    /* Where the payload of a record of which only the head has come had best be put; `arrive` follows with that
     * address. NULL: anywhere. Asked by transports that get bytes from the system, for long payloads, once each; and
     * for records that are sent in parts, perhaps more than once, and `arrive` may have another address then.
     * NULL as a function: never ask. */
    void *(*land)(void *arg, int proc, struct net_head head, uint32_t len);
    /* Bytes [at, at + len) of the payload of a record that is sent in parts, and for which `land` had no place. True:
     * they have been taken to where they belong, and so will the rest be, in order, perhaps more than once; `arrive`
     * follows with NULL as payload. NULL as a function: never ask. */
    bool (*read)(void *arg, int proc, struct net_head head, size_t at, const void *bytes, size_t len);
    /* The way to this process has broken, for the reason that the text of `error` (base/err.h) tells: nothing more
     * comes from it, and what is sent to it from now on is taken and forgotten (words of send_from are lowered). Called
     * once for a process, from poll or poll_ep, after what had come. NULL: nobody wants to know. */
    void (*lost)(void *arg, int proc, int error);
    /* How many bytes of records that may have to be kept (struct net_kept) may be on their way from this process now.
     * Asked by transports whose ways hold more than a little. NULL: any number. */
    uint32_t (*room)(void *arg, int proc);
};

/* Which records the receiver may have to keep until somebody asks for them: those that have no bit of `mask` in their
 * first word. Each counts as its payload and `cost` bytes more. When the sender has sent as much as the receiver has
 * room for (net_sink.room), its transport shows `wish` as the first of the wishes, if that is more than what is there,
 * until it hears of more room; nothing is refused. */
struct net_kept {
    uint64_t mask;
    uint32_t cost;
    uint32_t wish;
};

struct device_user;
struct job_head;
struct net_ops;
struct pace;
struct peek_list;

struct net_config {
    int proc, procs;          /* this process and how many there are; which of them it reaches is the transport's */
    int lane;                 /* below NET_LANES; what is sent in a lane arrives in the same lane */
    struct job_head *segment; /* head of the job segment, mapped; NULL: none */
    int segment_fd;           /* of its file, whose other parts the transport maps itself */
    struct net_sink sink;
    struct net_kept kept;     /* with sink.room */
    const struct net_ops *inner; /* what a transport that wraps another one wraps */
    const struct device_user *device_user; /* for net/device only */
};

/* One line of memory that both processes of a pair see, for claiming parts of a copy. */
struct net_record {
    _Atomic uint32_t state;       /* the transport's: free or in use */
    _Atomic uint32_t users;       /* sides that have not let go yet */
    _Atomic uint64_t next;        /* bytes claimed so far, from the front */
    _Atomic uint64_t done;        /* bytes copied */
    uint64_t address;             /* of the receiver's buffer, or of its list of blocks */
    uint64_t len;
    _Atomic int32_t error;        /* errno of a copy that failed */
    uint32_t reserved[3];
    uint64_t blocks;              /* how many are in that list; 0: there is none, the buffer is one run */
} ALIGNED(CACHE_LINE);

_Static_assert(sizeof(struct net_record) == CACHE_LINE, "a record is one line");

/* A place for a longer payload, to be filled and committed. */
struct net_buffer {
    void *data;
    uint32_t index; /* the transport's */
};

struct net;

/* The way to one process. A transport embeds it. */
struct net_ep {
    struct net *net;
    int proc;
    int room;      /* > 0: the next `send` finds room. Of a transport that cannot know, always 0 */
};

struct net_ops {
    const char *name;
    uint32_t short_max;  /* longest payload of send */
    uint32_t eager_max;  /* longest payload of alloc and commit */
    uint32_t parts_min;  /* shortest payload of send_parts … */
    uint32_t parts_max;  /* … and the longest one, not below eager_max; one above that only if it is asked for */
    bool is_same_space;  /* the other end is this process: addresses are valid here */

    /* The three that start and end. open returns 0 or an error code. */
    int (*open)(const struct net_config *config, struct net **out);
    void (*close)(struct net *net);
    /* The way to a process; made at first contact, owned by the net. Local. 0 or an error code. */
    int (*connect)(struct net *net, int proc, struct net_ep **out);

    /* Another process has this number from now on, and what lies between it and this one is as at first: so is the ep,
     * which stays where it is. Nothing of the old one is waited for. NULL: numbers have one process. */
    void (*renew)(struct net_ep *ep);

    /* Copy the payload (len <= short_max bytes) out. 0 or NET_AGAIN. */
    int (*send)(struct net_ep *ep, struct net_head head, const void *payload, uint32_t len);
    /* As send, by who polls before long: the record may be kept back until then, to go out together with others, and
     * then the answer is NET_KEPT; see struct net. What keeps nothing back has its send here. */
    int (*send_soon)(struct net_ep *ep, struct net_head head, const void *payload, uint32_t len);
    /* As send, for who has seen that ep->room is above 0. NULL if it never is. */
    int (*send_in_room)(struct net_ep *ep, struct net_head head, const void *payload, uint32_t len);
    /* A buffer of eager_max bytes: 0, NET_AGAIN, or NET_TAKEN: others have all of them, and none is on its way to this
     * process. They may not read them for long, so who must get on goes another way. */
    int (*alloc)(struct net_ep *ep, struct net_buffer *buffer);
    /* Send `len` bytes of the buffer and forget it. 0 or NET_AGAIN: still the caller's. */
    int (*commit)(struct net_ep *ep, struct net_head head, const struct net_buffer *buffer, uint32_t len);
    /* Give a buffer back unsent. */
    void (*release)(struct net_ep *ep, const struct net_buffer *buffer);

    /* alloc, copying the payload and commit in one, by which the receiver may read the first bytes while the last ones
     * are written; `len` is from parts_min to parts_max. 0, NET_AGAIN, NET_TAKEN, or NET_NOT_THIS: nothing has been
     * done, since it would bring nothing. `is_asked_for`: the receiver has said that it would bring something (as its
     * wants_parts told it), and its sink's `land` has a place for the record, or its `read` takes it. NULL: no such
     * way. */
    int (*send_parts)(struct net_ep *ep, struct net_head head, struct net_source source, uint32_t len,
                      bool is_asked_for);
    /* Would it help if records of that process which land came so? NULL like send_parts. */
    bool (*wants_parts)(const struct net_ep *ep);

    /* Send a record straight out of the caller's memory, which stays as it is until *pending has been lowered by one,
     * by this call or a later poll. `len` may be above eager_max. 0 or NET_AGAIN. NULL: no such way. */
    int (*send_from)(struct net_ep *ep, struct net_head head, const void *payload, uint32_t len,
                     _Atomic uint32_t *pending);

    /* NET_WISHES words each way between the processes of a pair, 0 at first: `in` is written here and read there, `out`
     * the other way round. For what a receiver asks of a sender; a change is seen within a few records. */
    void (*wishes)(struct net_ep *ep, _Atomic uint32_t **in, const _Atomic uint32_t **out);
    /* Whether lines go near or far between the two (sys/pace.h). Owned by the transport; the caller measures by it when
     * it reads payloads that lie in the transport's buffers. */
    struct pace *(*pace)(struct net_ep *ep);
    /* The peer may be asleep and something it waits for has been stored: wake it. */
    void (*wake)(struct net_ep *ep);

    /* Hand arrivals to the sink; how many there were, or how much else has happened: 0 is idle time, and whoever waits
     * goes to sleep after a while of it, so parts of a long record count as well. poll_ep looks at one process only, is
     * cheap, and stops after the arrival by which *done was set (NULL: does not stop for anything); `ep` is a struct
     * net_ep *, untyped so that the function serves as the hint of a wait (progress_hint). */
    int (*poll)(struct net *net);
    int (*poll_ep)(void *ep, const _Atomic uint32_t *done);
    /* True if poll_ep would find nothing now. A glance without the lock, by any thread at any time: it may be wrong
     * once while another thread polls. */
    bool (*is_silent)(const struct net_ep *ep);

    /* A descriptor that polls readable when poll may have something to do, for who sleeps. -1 or NULL: none; news come
     * with a wake (progress). */
    int (*wait_fd)(struct net *net);

    /* If the next record of this process has come, is not long nor longer than `max`, and its head is `head`: take it,
     * copy the payload to `buf`, and return its length. NET_NOT_YET: none has come; NET_NOT_THIS: another one is
     * next, or the rest of a record that is being written does not come while a short message would be looked for
     * (PROGRESS_LOOK_FIRST); `buf` may have been written to then. The sink is not called. */
    int (*take)(struct net_ep *ep, struct net_head head, void *buf, size_t max);
    /* The same of a record whose payload is given to `read`, in order, perhaps more than once; NET_NOT_THIS also for
     * short ones. NULL: no such way. */
    int (*take_by)(struct net_ep *ep, struct net_head head, net_read_fn *read, void *arg, size_t max);

    /* The caller waits for this process, and nothing has come: a moment for what makes the next send to it faster,
     * again and again. Takes less than a short message. NULL: there is no such thing. */
    void (*use_wait)(struct net_ep *ep);

    /* Copying from and to the memory of the other process. can_copy is settled by trying, once a pair.
     * 0 or an errno. */
    bool (*can_copy)(struct net_ep *ep);
    int (*copy_from)(struct net_ep *ep, void *local, uint64_t remote, size_t len);
    int (*copy_to)(struct net_ep *ep, const void *local, uint64_t remote, size_t len);
    /* The same between pieces on both sides (sys/peek.h): from the other process, or to it. */
    int (*copy_list)(struct net_ep *ep, struct peek_list *list, bool is_to);
    /* The system has come to refuse it, to this process or the other one: from now on can_copy says no. */
    void (*refuse_copy)(struct net_ep *ep);
    /* A record of this process for a copy with this peer: NULL when all are in use. The peer finds it by index. */
    struct net_record *(*record_open)(struct net_ep *ep, uint32_t *index);
    struct net_record *(*record_find)(struct net_ep *ep, uint32_t index);
    /* Either side lets go; the second one frees it. */
    void (*record_close)(struct net_ep *ep, struct net_record *record);
};

/* `take` of a transport that has no such way: NET_NOT_THIS. */
int net_take_nothing(struct net_ep *ep, struct net_head head, void *buf, size_t max);

/* can_copy of a transport that cannot; its copy and record functions are never called then. */
bool net_cannot_copy(struct net_ep *ep);

/* Every transport's first member. */
struct net {
    const struct net_ops *ops; /* to use an open one by: it may differ from the one that has opened it */
    struct net_sink sink;
    _Atomic uint32_t *flushed; /* the caller's, or NULL: set to 1 when nothing is kept back (NET_KEPT) any more */
};

#endif
