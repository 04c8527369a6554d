/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/impi. What its files share: the open net, hosts of other clients, their processes. */
#ifndef NET_IMPI_INT_IMPI_H
#define NET_IMPI_INT_IMPI_H

#include "base/list.h"
#include "base/mem.h"
#include "net/impi/credit.h"
#include "net/impi/impi.h"
#include "sys/joint.h"
#include "sys/pace.h"

enum {
    IMPI_UNSENT_MAX = 262144,   /* bytes for one host beyond which nothing is begun */
    IMPI_ACKS = 8,              /* PROTOACKs that go out together */
    IMPI_READ = 32768,          /* bytes beyond a packet that one read of the system can bring */
    IMPI_READS = 8,             /* of one host before the next one has its turn */
    IMPI_CALLERS = 64,          /* connections that have not said whose they are */
    IMPI_TICK_MS = 100,         /* from one look at what is being connected to the next */
    IMPI_CALLER_TICKS = 100,    /* so long a caller may take to say who it is */
    IMPI_KNELL_MS = 200,        /* from the loss of a host to the end of the job: who waits for it says so first */
    IMPI_HOST_TEXT = 128,
};

/* What the descriptors in the epoll belong to: the first member of each. */
enum impi_watched { IMPI_WATCH_PORT, IMPI_WATCH_TIMER, IMPI_WATCH_CALLER, IMPI_WATCH_HOST,
                    IMPI_WATCH_KNELL };

struct impi_watch {
    enum impi_watched kind;
};

enum impi_state {
    IMPI_OURS,                  /* a host of our client: not our business */
    IMPI_EXPECTED,              /* is to connect to us */
    IMPI_TO_TRY,                /* we are to connect to it, at the next tick */
    IMPI_CONNECTING,
    IMPI_UP,
    IMPI_ENDED,
};

struct impi_out {
    struct list link;           /* in impi_host.out */
    uint32_t begin, end;        /* what has not gone out of … */
    unsigned char bytes[];      /* … header and data */
};

struct impi_host {
    struct impi_watch watch;    /* first */
    struct impi *impi;
    int index;                  /* global */
    enum impi_state state;
    _Atomic int fd;             /* -1: none; read without the lock by impi_is_silent */
    /* sending */
    struct list out;            /* struct impi_out */
    uint64_t unsent;            /* bytes in it */
    struct list owing;          /* peers that are to be sent PROTOACKs */
    unsigned char acks[IMPI_ACKS * IMPI_HEADER_SIZE]; /* those that go out now … */
    uint32_t acks_begin, acks_end; /* … but for what has gone */
    bool watches_output;        /* the system takes no more, and is to say when it does */
    bool has_left;              /* our FINI is in `out`, or gone */
    int out_error;              /* errno of a write that failed: there will be no other one */
    /* receiving */
    unsigned char *in;          /* NULL: nothing has come in part */
    uint32_t begin, end;        /* of what is in it */
    bool is_leaving;            /* its FINI has come */
    struct list stalled_link;   /* in impi.stalled: there was no memory for what is in `in` */
    /* the end */
    int rc;                     /* why it is lost, or 0 */
    bool is_broken;             /* it is, and its FINI had not come */
    struct list lost_link;      /* in impi.lost: its processes are to be told of */
    char failure[96];           /* of the last try to connect */
};

/* A process of such a host. */
struct impi_peer {
    struct net_ep ep;           /* first */
    struct impi_host *host;
    int rank;                   /* joint */
    struct credit credit;
    uint32_t owed;              /* PROTOACKs to be sent */
    struct list owing_link;     /* in host->owing then */
};

/* Somebody has connected and has not said who it is. */
struct impi_caller {
    struct impi_watch watch;    /* first */
    int fd;                     /* -1: free */
    unsigned char index[IMPI_INDEX_SIZE];
    uint32_t got;               /* bytes of that */
    int ticks;                  /* how long it has been here */
};

struct impi {
    struct net net;             /* first */
    const struct joint *joint;
    struct impi_config config;
    struct credit_marks marks;
    int own;                    /* index of our host */
    int epoll;
    int timer;                  /* -1: all are connected, or no longer tried; likewise … */
    int knell;                  /* a timer that runs from the loss of the first host on; -1 before, and afterwards */
    int first_lost;             /* a process of that */
    bool has_tolled;            /* that has been told of */
    struct impi_watch port_watch, timer_watch, knell_watch;
    int listener;
    struct impi_host **hosts;   /* by index; NULL: ours */
    struct impi_peer **peers;   /* by joint rank; NULL: ours, or no contact yet */
    int missing;                /* hosts not connected yet */
    int ticks;                  /* since this began */
    int connect_rc;             /* why connecting has failed, or 0 */
    char stranger[96];          /* what the last caller did that was sent away; "" */
    struct impi_caller callers[IMPI_CALLERS];
    struct list stalled, lost;
    struct mem_pool buffers;    /* for `in` */
    uint32_t in_size;
    bool is_leaving;
    int live;                   /* hosts that are connected or will be */
    _Atomic uint32_t heard[NET_WISHES], told[NET_WISHES];
    _Atomic uint32_t far[2];    /* both words of `pace` */
    struct pace pace;
};

static inline struct impi *impi_of(struct net *net)
{
    return (struct impi *)(void *)net;
}

static inline struct impi_peer *impi_peer_of(const struct net_ep *ep)
{
    return (struct impi_peer *)(uintptr_t)ep;
}

/* impi.c. The way to a process, made at first contact; NULL: no memory. */
struct impi_peer *impi_peer(struct impi *impi, int rank);
/* Watch `fd` for input, or for output as well. 0, or -1 with errno. */
int impi_watch(struct impi *impi, int fd, struct impi_watch *watch, bool for_output);
/* The connection has ended with an error, or 0: all that belongs to it is dropped; who is to know of it will be
 * told by the next poll. */
void impi_end(struct impi_host *host, int rc);
/* For messages: "rank 3 of client 1 (10.0.0.2 port 4711)". */
const char *impi_host_text(const struct impi_host *host, char text[IMPI_HOST_TEXT]);
/* A call of the system has failed: its errno as an error. */
int impi_system_error(const char *what);

/* link.c: connections come up. */
int impi_link_open(struct impi *impi);
void impi_link_close(struct impi *impi);
void impi_link_accept(struct impi *impi);
void impi_link_tick(struct impi *impi);
void impi_link_hear(struct impi *impi, struct impi_caller *caller);
/* A connection that we make stands, or has failed. */
void impi_link_connected(struct impi_host *host);

/* send.c. Send what waits, as far as the system takes it. */
void impi_flush(struct impi_host *host);
/* A PROTOACK to this process goes out with the next flush. */
void impi_owe(struct impi_peer *peer);
/* FINI behind all that waits. False: no memory. */
bool impi_say_fini(struct impi_host *host);
void impi_drop_output(struct impi_host *host);

/* receive.c: read and hand on; how many packets there were. */
int impi_receive(struct impi_host *host);
/* Once more what there was no memory for. */
int impi_retry_stalled(struct impi *impi);
/* When its FINI is there and ours has gone, the connection has done its duty. */
void impi_end_if_done(struct impi_host *host);
void impi_drop_input(struct impi_host *host);

#endif
