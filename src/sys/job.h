/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. Layout of the job segment: one sparse memory file per job and machine, made by mpiexec,
 * inherited by every rank. It is the agreement between the launcher and the library; both include this header
 * and nothing else of each other. Memory is used where it is touched, so the reserved parts cost nothing.
 *
 *   offset                      size       what
 *   0                           4096       struct job_head: made by the launcher before the first rank starts
 *   4096 * (1 + proc)           4096       struct job_proc of that process
 *   4096 * (1 + slots + proc)   4096       struct job_desk of that process
 *   job_places_offset(slots)    256*slots  struct job_place of each process
 *   job_transport_offset(slots) library's  the transports' part; if the file is too short, the library extends it
 *
 * A process has a place in it, its number among all that may share the segment: those of the first MPI_COMM_WORLD have
 * their ranks, from there on come places for processes that are started later (MPI_Comm_spawn, MPI 5.0 §11.8), in a row
 * for each world of theirs.
 *
 * A job may be spread over several machines, its nodes. Each has a segment of its own, made alike: the numbers of
 * processes are the same in all of them. Of processes of other nodes only the struct job_place is filled in, and what
 * [L] says of rank, world and tenant in job_proc; nobody may look at the rest.
 *
 * A field says who writes it: [L] the launcher, [R] the rank, [O] the other ranks. A reader may be anyone. */
#ifndef SYS_JOB_H
#define SYS_JOB_H

#include <assert.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

/* The minor number grows when reserved bytes get a meaning, the major one when old readers would be wrong. */
#define JOB_MAGIC UINT64_C(0x424f4a59454c5250) /* "PRLEYJOB" in memory of a little-endian machine */
#define JOB_NO_CTX UINT64_MAX
enum {
    JOB_MAJOR = 7,
    JOB_MINOR = 0,
    JOB_PAGE = 4096,
    JOB_NET_SIZE = 1024,
    JOB_STATUS_SIZE = 1024,
    JOB_NAME_SIZE = 128,
    JOB_ANSWER_SIZE = 960,
    JOB_NOUN_SIZE = 16,
    JOB_PSETS_SIZE = 3072,
    JOB_BOUND_CPUS = 4096,
    JOB_WANTS = 4,               /* requests described in a status beside the first one */
    JOB_STRAYS = 4,
    JOB_SET_RANKS = 1024,        /* ranks that a set in a status can hold: those below */
    JOB_TRANSPORT_ALIGN = 65536, /* a page of every machine */
    JOB_NO_VALUE = -1000,        /* in a status: there is none */
    JOB_SLOTS_MAX = 1024,        /* processes that a segment can have a place for */
    JOB_PORTS = 256,             /* that a process can have open (§11.9) */
    JOB_CALLS = 16,              /* calls of MPI_Comm_connect that a process can be in at a time, in its threads */
    JOB_VISITORS = 32,           /* calls from other machines that wait at ports of a process at a time */
    JOB_REPLY_SIZE = 1200,
    JOB_ADDRESS_SIZE = 116,
};

/* Networks that carry messages between machines. Processes of different jobs have TCP in common. */
enum job_net { JOB_TCP, JOB_OFI, JOB_NETS };

/* Error handler that the predefined communicators start with (MPI 5.0 §9.3). */
enum job_errhandler { JOB_ERRORS_ARE_FATAL, JOB_ERRORS_ABORT, JOB_ERRORS_RETURN };

/* As info and options have it. */
static inline const char *job_errhandler_name(enum job_errhandler handler)
{
    static const char *const names[] = {
        [JOB_ERRORS_ARE_FATAL] = "mpi_errors_are_fatal",
        [JOB_ERRORS_ABORT] = "mpi_errors_abort",
        [JOB_ERRORS_RETURN] = "mpi_errors_return",
    };

    return names[handler];
}

/* How far a rank has come. Only grows. */
enum job_state {
    JOB_NONE,        /* [L] not started */
    JOB_STARTED,     /* [L] its program runs */
    JOB_INITIALISED, /* [R] inside MPI */
    JOB_FINALISED,   /* [R] left MPI */
    JOB_EXITED,      /* [L] reaped */
};

struct job_head {
    uint64_t magic;        /* [L] JOB_MAGIC */
    uint32_t major, minor; /* [L] */
    uint32_t head_size;    /* [L] sizeof(struct job_head) */
    uint32_t proc_size;    /* [L] sizeof(struct job_proc) */
    uint32_t size;         /* [L] ranks in the first MPI_COMM_WORLD */
    uint32_t slots;        /* [L] places for processes, at least `size` */
    uint32_t apps;         /* [L] number of programs (blocks between colons) */
    uint32_t errhandler;   /* [L] enum job_errhandler */
    int32_t launcher_pid;  /* [L] */
    uint32_t cpus;         /* [L] processors that the ranks have together, by affinity, binding and quota; without the
                            * quota if fewer than ranks anyway. A rank may bind itself to fewer */
    uint64_t token[2]; /* [L] random; names the job and authenticates who connects to the launcher */
    int64_t start_ns;  /* [L] CLOCK_MONOTONIC when the launcher began */
    uint32_t no_barrier; /* [L] 1: the system denies membarrier, so whoever wakes somebody uses a fence */
    uint32_t universe;   /* [L] MPI_UNIVERSE_SIZE of worlds that are smaller */
    uint32_t here;       /* [L] ranks of the first world that share `cpus`, those on this machine; 0: all */
    uint32_t is_spread;  /* [L] 1: processes are on several machines, or are to behave as if */
    _Atomic uint32_t has_abroad; /* [L] 1: places have been given to processes of other jobs (struct job_abroad) */

    /* 0 while the job runs, then job_end() of the first who ends it: the launcher, or a rank that aborts. Set
     * once, by compare-and-swap. */
    alignas(CACHE_LINE) _Atomic uint64_t end;

    alignas(CACHE_LINE) char launcher[64]; /* [L] name and version, for messages */

    /* [L] futex word: while it is not 0 no rank leaves MPI_Init, for a debugger that wants to see all first. */
    alignas(CACHE_LINE) _Atomic uint32_t hold;

    /* [L] Names that the user has given to the process sets of the programs, in their order, each with its zero; empty:
     * none, as for all that are not there. */
    alignas(CACHE_LINE) char psets[JOB_PSETS_SIZE];

    /* [L] The job is one of several that have one MPI_COMM_WORLD (sys/joint.h). */
    alignas(CACHE_LINE) uint64_t joint_size; /* of the table; 0: it is not */
    int32_t joint_fd;                        /* where each rank finds the table … */
    int32_t listener_fd;                     /* … and the socket at which it listens for processes of the others */
    alignas(CACHE_LINE) unsigned char unused[JOB_PAGE - JOB_PSETS_SIZE - 6 * CACHE_LINE];
};

/* What a rank is blocked in, and where what it waits for comes from or goes to: the peer. */
enum job_way { JOB_NOT_BLOCKED, JOB_RECEIVING, JOB_SENDING, JOB_BLOCKED_OTHERWISE };

/* What else is known of a wait. */
enum job_wait_flag {
    JOB_WAIT_WHOLE = 1,    /* everything in the status is filled in; before, only what stands up to type_name is */
    JOB_WAIT_ANY = 2,      /* one of the pending requests is enough: any rank of `peers` may end the wait */
    JOB_WAIT_OUTSIDE = 4,  /* something else than ranks may end it */
    JOB_WAIT_WIDE = 8,     /* `peers` is not complete: any rank of the job */
    JOB_WAIT_THREADS = 16, /* other threads of the process may call MPI meanwhile */
    JOB_WAIT_RETURN = 32,  /* a rank that has left MPI may come back and end it */
    JOB_WAIT_FOREIGN = 64, /* `peers` is not complete: ranks of other clients of a joint job, which have no bits */
};

/* A message: one that is waited for, has come, or would be received. */
struct job_envelope {
    int32_t way;        /* enum job_way */
    int32_t peer;       /* the next three as in struct job_status */
    int32_t tag;
    int32_t peer_world;
    int64_t count;      /* elements of type_name, or bytes if that is empty; -1: not known */
    uint64_t ctx;
    char comm_name[40]; /* cut off */
    char type_name[24];
};

/* Written by the rank only in a long wait, its way into it and out of it, read by the launcher and by other ranks
 * at any time: take `lock` (odd: being written, read again), copy, fence, compare. Nouns are words, so that
 * other libraries on the same engine can speak of themselves. */
struct job_status {
    _Atomic uint32_t lock; /* [R] */
    int32_t way;           /* enum job_way */
    int32_t peer;          /* rank in the communicator, -1: MPI_ANY_SOURCE; JOB_NO_VALUE */
    int32_t tag;           /* -1: MPI_ANY_TAG; JOB_NO_VALUE */
    int64_t count;         /* elements; -1: none */
    int64_t since_ns;      /* CLOCK_MONOTONIC */
    uint64_t ctx;          /* context of the communicator */
    uint64_t call_site;    /* return address in the program, 0: unknown */
    uint64_t sequence;     /* a collective call: which one on this communicator, from 1; 0: it is none */
    int32_t peer_world;    /* the peer's place; of another client: its number (sys/joint.h); -1: none or any */
    int32_t comm_size;
    char call_name[64]; /* "MPI_Recv"; "MPI_Wait of MPI_Irecv" */
    char comm_name[JOB_NAME_SIZE];
    char type_name[JOB_NAME_SIZE];

    char peer_noun[JOB_NOUN_SIZE]; /* what a peer is called: "rank" */
    char tag_noun[JOB_NOUN_SIZE];  /* and a tag: "tag" */
    int64_t left_ns;               /* when the last long wait ended, or MPI came up */
    uint32_t flags;                /* enum job_wait_flag */
    uint32_t pending;              /* requests that are waited for and not complete; 0: not known */
    uint32_t wants;                /* so many of these are in `want`, beside the one above */
    /* The next three change during a wait, without the lock. */
    _Atomic uint32_t looks;   /* times that it has looked at everything since; its release covers the next */
    _Atomic int64_t moved_ns; /* when that last found something */
    _Atomic uint32_t threads; /* of this process in long waits */
    /* Ranks of MPI_COMM_WORLD, a bit each: whom the peer can be, if it may be any; with JOB_WAIT_ANY the peers of all
     * requests; else the communicator's members. */
    uint64_t peers[JOB_SET_RANKS / 64];
    struct job_envelope want[JOB_WANTS];
    unsigned char unused[JOB_STATUS_SIZE - 968];
};

/* What the launcher wants to know of a rank that waits. The rank answers in its wait, once woken. */
struct job_question {
    _Atomic uint32_t number; /* [L] grows with each question; release */
    uint32_t reserved;
    uint64_t ctx;            /* [L] of a communicator that others are in a collective call on */
    uint64_t sequence;       /* [L] which call that is; 0: there is none */
};

struct job_answer {
    _Atomic uint32_t number;  /* [R] of the question; release */
    uint32_t stray_count;     /* messages that have come and nobody has asked for; all of them */
    uint32_t posted_count;    /* receives that are posted and not waited for; all of them */
    uint32_t reserved;
    uint64_t ctx;             /* that of the question if the communicator is known here, else JOB_NO_CTX; in a process
                               * that has left MPI: that of MPI_COMM_WORLD */
    uint64_t sequence;        /* collective calls begun on it */
    char call_name[64];       /* the one that was asked about; after the end, the last; empty: not known */
    struct job_envelope stray[JOB_STRAYS], posted[JOB_STRAYS]; /* those most like what is waited for, first */
    unsigned char unused[JOB_ANSWER_SIZE - 864];
};

/* Who has this place if it is a process of another job, of another mpiexec (MPI 5.0 §11.9). It behaves as one of
 * another machine. The two mpiexecs have a bond: a number and a key that both jobs know, and a range of contexts
 * (comm/two_jobs.c) of which each side has a half. All machines of a job know the same of it, but for `contexts`: each
 * begins with its own number among them, and goes on in steps of as many as there are. */
struct job_abroad {
    uint64_t bond;     /* [L] number; 0: the process is of this job */
    uint64_t job;      /* [L] token[0] of its job */
    uint64_t key[2];   /* [L] by which its processes and ours know each other */
    uint32_t home;     /* [L] its place in its own job */
    uint32_t range;    /* [L] of contexts, from 0 */
    uint32_t side;     /* [L] our half: 0 or 1; the side that has 0 counts as the lower one */
    uint32_t first;    /* [L] the first place that has been given to a process of this bond, where … */
    _Atomic uint32_t contexts; /* [R] … is counted which contexts our side has taken */
    uint32_t step;             /* [L] from one of them to the next */
    uint32_t tenant;           /* [L] so many processes have had that place in its own job before */
    uint32_t node;             /* [L] its machine, as its own job numbers them */
};

struct job_proc {
    /* Line 0: coming and going. */
    alignas(CACHE_LINE) _Atomic int32_t pid; /* [R] of the MPI process; claimed by compare-and-swap from 0 */
    _Atomic uint32_t state;                  /* [L] [R] enum job_state */
    int32_t child_pid;   /* [L] of the process that the launcher started: the MPI process or its wrapper */
    uint32_t appnum;     /* [L] MPI_APPNUM */
    int32_t exit_status; /* [L] as from waitpid, when JOB_EXITED */
    _Atomic uint32_t acknowledged; /* [L] futex word: messages taken from this rank's control socket */
    uint32_t rank;                 /* [L] in its MPI_COMM_WORLD, … */
    uint32_t first, size;          /* [L] … which has these processes, … */
    uint32_t world;                /* [L] … and this number; the first one has 0 */
    uint32_t tenant;               /* [L] so many processes have had this place before */
    _Atomic uint32_t lost;         /* [R] 1 + the first process that it has found to be gone; 0: none. What it does
                                    * then, ending included, may be a consequence */

    /* Line 1: sleeping. The owner announces its sleep in `sleep` and sleeps on that word; who brings work
     * wakes it. */
    alignas(CACHE_LINE) _Atomic uint32_t sleep; /* [R] [O] futex word, meaning owned by progress */
    _Atomic uint32_t generation;                /* [O] counts wakes */
    _Atomic uint32_t cpu;       /* [R] where and when it has last waited; meaning owned by progress */
    _Atomic uint32_t used_cpu;  /* [R] which processor others than ranks use, and since when; the same */
    _Atomic uint32_t once_cpu;  /* [R] where and when others than ranks have last been found, if for once; the same */

    /* Line 2 and on. */
    alignas(CACHE_LINE) uint64_t bound[JOB_BOUND_CPUS / 64]; /* [L] processors that it is started on, a bit each; none:
                                                              * it is not bound, or to later ones */

    alignas(CACHE_LINE) struct job_abroad abroad; /* [L] */

    alignas(CACHE_LINE) _Atomic uint64_t worked; /* [R] when it has last done something else than wait; meaning owned
                                                  * by progress. Written in many waits, so not where others look for
                                                  * who sleeps */

    alignas(CACHE_LINE) unsigned char unused[JOB_PAGE - JOB_NET_SIZE - JOB_STATUS_SIZE - JOB_ANSWER_SIZE -
                                             JOB_BOUND_CPUS / 8 - 5 * CACHE_LINE];

    /* Asking a rank that waits. */
    alignas(CACHE_LINE) struct job_question question; /* [L] */
    alignas(CACHE_LINE) struct job_answer answer;     /* [R] */

    alignas(CACHE_LINE) unsigned char net[JOB_NET_SIZE]; /* [R] [O] the shared-memory transport's own */
    alignas(CACHE_LINE) struct job_status status;        /* [R] */
};

/* Of a call of MPI_Comm_connect. */
enum job_caller_state {
    JOB_CALLER_NONE,     /* [R] */
    JOB_CALLER_TAKEN,    /* [R] being filled in, or gone with its answer */
    JOB_CALLER_WAITS,    /* [R] */
    JOB_CALLER_ACCEPTED, /* [O] by compare-and-swap; [L] if the port is of a process on another machine … */
    JOB_CALLER_REFUSED,  /* … [L] and it is not open, or no more */
};

/* Why a call to a port of another job is refused: its tag then. */
enum job_refusal { JOB_PORT_CLOSED, JOB_NO_WAY, JOB_NO_ROOM, JOB_NOT_KNOWN };

/* One process that wants to be connected to a port of another one. */
struct job_caller {
    _Atomic uint32_t state; /* enum job_caller_state */
    int32_t owner;          /* [R] the process whose port it is */
    uint32_t port;          /* [R] which of its ports */
    uint32_t ticket;        /* [R] the lowest comes first */
    uint32_t tag;           /* [O] for what follows */
};

/* Such a call of a process on another machine. */
struct job_visitor {
    _Atomic uint32_t state; /* [L] JOB_CALLER_WAITS or _NONE. [R] _TAKEN: the owner asks the launcher for it */
    uint32_t port;          /* [L] which of the owner's ports */
    uint32_t ticket;        /* [L] as in struct job_caller */
    uint32_t number;        /* [L] of the call, for the launcher */
};

/* What a process and its launcher, or another process, hand to each other besides. */
struct job_desk {
    /* How it came to be. */
    int32_t parent;        /* [L] the process that leads those who have spawned it; -1: nobody has */
    uint32_t spawn_number; /* [L] the number of that call there */
    uint32_t errhandler;   /* [L] enum job_errhandler */
    _Atomic uint32_t hold; /* [L] [O] futex word: while it is not 0 the process waits, for the one that has asked for it
                            * clears what the last one in its place has left */

    /* The answer to the last request (sys/control.h), there when that has been acknowledged. */
    uint32_t reply_error;      /* [L] class; 0: none, and then … */
    int32_t reply_first;       /* [L] … the first process started, … */
    uint32_t reply_count;      /* [L] … and how many */
    char reply[JOB_REPLY_SIZE]; /* [L] text of the error, or what was asked for */

    /* Contexts handed out so far, for the next process in this place to go on from. */
    alignas(CACHE_LINE) _Atomic uint32_t contexts[2]; /* [R] */

    /* Ports that are open, by their numbers; 0: none. */
    alignas(CACHE_LINE) _Atomic uint32_t port[JOB_PORTS]; /* [R] */

    /* Calls to other processes' ports, and how many calls have come to those here. */
    alignas(CACHE_LINE) struct job_caller caller[JOB_CALLS]; /* [R] [O] */
    alignas(CACHE_LINE) _Atomic uint32_t called;             /* [O] [L] */
    struct job_visitor visitor[JOB_VISITORS];                /* [R] [L] */

    /* A bit for each process of another world that this one has a communicator with. */
    alignas(CACHE_LINE) _Atomic uint64_t links[JOB_SLOTS_MAX / 64]; /* [R] */
};

/* How processes of other nodes reach one by a network. */
struct job_address {
    /* Bytes, release; 0: not known yet, or it has not opened that network. [R] on its own node, [L] on the others, who
     * then wakes all of its node that sleep. */
    _Atomic uint32_t size;
    unsigned char bytes[JOB_ADDRESS_SIZE]; /* [R] [L] the transport's own */
};

/* Where a process is. */
struct job_place {
    alignas(4 * CACHE_LINE) uint32_t node; /* [L] number of its machine in the job, from 0 */
    uint32_t appnum; /* [L] as in its struct job_proc */
    struct job_address address[JOB_NETS];
};

static_assert(sizeof(struct job_abroad) <= CACHE_LINE, "job_abroad is one line");
static_assert(sizeof(struct job_place) == 4 * CACHE_LINE, "a job_place is four lines");
static_assert(sizeof(struct job_desk) <= JOB_PAGE, "job_desk fits its page");
static_assert(sizeof(struct job_head) == JOB_PAGE, "job_head is one page");
static_assert(offsetof(struct job_head, start_ns) == 64 && offsetof(struct job_head, end) == 128,
              "job_head: fields lie where every version looks for them");
static_assert(sizeof(struct job_status) == JOB_STATUS_SIZE, "job_status fills its area");
static_assert(sizeof(struct job_answer) == JOB_ANSWER_SIZE, "job_answer fills its area");
static_assert(sizeof(struct job_question) <= CACHE_LINE, "job_question is one line");
static_assert(sizeof(struct job_proc) == JOB_PAGE, "job_proc is one page");
static_assert(offsetof(struct job_proc, sleep) == CACHE_LINE, "the sleep word has its line");
static_assert(offsetof(struct job_proc, question) == 1024 && offsetof(struct job_proc, answer) == 1088,
              "job_proc: what is asked lies where every version looks for it");
static_assert(offsetof(struct job_proc, net) == 2048 && offsetof(struct job_proc, status) == 3072,
              "job_proc: areas lie where every version looks for them");

/* Value of job_head.end: abort flag, who (-1: the launcher's own decision: signal, time limit), exit code. */
static inline uint64_t job_end(int rank, int code)
{
    return UINT64_C(1) << 63 | (uint64_t)(rank + 1) << 32 | (uint32_t)code;
}

static inline int job_end_rank(uint64_t end)
{
    return (int)(end >> 32 & 0x7fffffff) - 1;
}

static inline int job_end_code(uint64_t end)
{
    return (int)(uint32_t)end;
}

static inline struct job_proc *job_proc(void *head, int proc)
{
    return (struct job_proc *)((char *)head + JOB_PAGE * ((size_t)proc + 1));
}

static inline struct job_desk *job_desk(struct job_head *head, int proc)
{
    return (struct job_desk *)(void *)((char *)head + JOB_PAGE * ((size_t)head->slots + (size_t)proc + 1));
}

static inline size_t job_places_offset(int slots)
{
    return JOB_PAGE * (2 * (size_t)slots + 1);
}

static inline struct job_place *job_place(struct job_head *head, int proc)
{
    return (struct job_place *)(void *)((char *)head + job_places_offset((int)head->slots)) + proc;
}

/* Bytes of what a process has told of itself for a network; what they are may be read then. */
static inline uint32_t job_address_size(const struct job_address *address)
{
    return atomic_load_explicit(&address->size, memory_order_acquire);
}

/* Are two processes on one machine, with one segment? */
static inline bool job_is_near(struct job_head *head, int one, int other)
{
    return job_place(head, one)->node == job_place(head, other)->node;
}

/* Where the transports' part begins in a segment with so many places. */
static inline size_t job_transport_offset(int slots)
{
    const size_t end = job_places_offset(slots) + sizeof(struct job_place) * (size_t)slots;
    return (end + JOB_TRANSPORT_ALIGN - 1) / JOB_TRANSPORT_ALIGN * JOB_TRANSPORT_ALIGN;
}

/* How long the launcher makes the file: room enough for what any library lays out, so that
 * ranks need not extend it. */
static inline size_t job_segment_room(int slots)
{
    return job_transport_offset(slots) + (size_t)slots * (((size_t)16 << 20) + (size_t)slots * 16 * JOB_PAGE);
}

#endif
