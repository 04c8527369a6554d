/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. Opening and closing the lanes: what room init needs of this room. */
#ifndef P2P_LANE_H
#define P2P_LANE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"
#include "obj/blocked.h"
#include "progress/progress.h"

struct group;
struct job_head;
struct joint;
struct type;

/* A sender of whom much is kept here that nobody has asked for. */
struct p2p_flood {
    int proc;               /* the sender */
    size_t held, limit;     /* bytes of its messages that are kept in one lane; for all senders and lanes together */
    int tag;                /* of the last one */
    size_t len;             /* in bytes */
    const struct comm *comm; /* NULL: not known here yet */
    bool is_coll;           /* part of a collective operation, the tag says nothing */
};

/* Called once at most, from a poll or a send, with a lane's lock. May take its time; may not call this room. */
typedef void p2p_flooded_fn(const struct p2p_flood *flood);

/* A message whose elements are not those that its receive asks for. */
struct p2p_mismatch {
    const struct comm *comm;
    int source, tag;
    size_t len;             /* in bytes */
    uint16_t signature;     /* of what was sent */
    const struct type *type; /* of the receive */
};

/* Called with a lane's lock each time; may not call this room. */
typedef void p2p_mismatched_fn(const struct p2p_mismatch *mismatch);

/* The connection to another client of IMPI has ended before that has left MPI: the class and the text of the error.
 * Called a little after operations with it have failed, with the lane's lock; need not return. */
typedef void p2p_broken_fn(int class, const char *text);

struct p2p_config {
    int proc, procs;          /* this process, and all that the job may have */
    int ranks;                /* that share the machine, as far as is known */
    struct job_head *segment; /* its head, mapped; NULL when procs is 1 */
    int segment_fd;           /* stays open as long as lanes may open */
    const struct joint *joint; /* other clients' processes (IMPI): numbers from `procs` on; NULL: there are none */
    int listener_fd;          /* with joint: at which they connect */
    bool is_threaded;         /* several threads may call at once (MPI_THREAD_MULTIPLE) */
    p2p_flooded_fn *flooded;  /* NULL: nobody wants to know */
    p2p_mismatched_fn *mismatched; /* NULL: messages are not looked at for that */
    p2p_broken_fn *broken;    /* NULL: nobody wants to know */
};

/* Where in the job segment the transports' part ends. */
size_t p2p_segment_end(int procs);

/* A process that was alone has become number 0 of a job with others: its lanes get their ways to them. `procs`, the
 * segment and `ranks` count of the configuration. No other thread is in a call. Errors: as p2p_init, and nothing has
 * changed. */
int p2p_grow(const struct p2p_config *config);

/* Before a process that has taken over the number of another one begins: what that one had shared with others of this
 * machine goes. May be called before p2p_init. */
void p2p_clear_place(struct job_head *segment, int segment_fd, int procs, int proc);
/* Before this process has anything to do with one that may have got the number of another one it knew, and be on
 * another machine. Nothing is under way with the old one. No process calls it for one that it exchanges messages with.
 * Errors: MPI_ERR_NO_MEM, MPI_ERR_OTHER if there is no way to it. */
int p2p_renew(int proc);

/* Open the transports; from now on communicators can be opened. Errors: MPI_ERR_NO_MEM, MPI_ERR_OTHER. */
int p2p_init(const struct p2p_config *config);
/* From now on several threads may call at once, or no more than one. No thread is in a call. False, and nothing has
 * changed, while there are requests: they know what to poll for one thread or for several. */
bool p2p_set_threaded(bool is_threaded);
/* Complete what has been begun and not been waited for (detached sends, acknowledgements). Blocks. */
void p2p_flush(void);
/* What a long wait for a probe, or p2p_flush, waits for. False: something else. */
bool p2p_describe_wait(const struct progress_long *wait, struct blocked *out) COLD;

/* For reports: what lies in the queues. */
struct p2p_envelope {
    const struct comm *comm; /* NULL: not known here yet */
    uint32_t ctx;
    int source;              /* rank in the communicator, or MPI_ANY_SOURCE */
    int proc;                /* the same process; -1: any */
    int tag;                 /* or MPI_ANY_TAG */
    MPI_Count count;         /* bytes of a message; elements of a receive */
    const char *type;        /* of a receive; of a message, NULL */
    uint64_t note;           /* of a message from another client: as in struct comm_notes */
    bool is_foreign;         /* it is one */
};
/* Called with a lane's lock; may not call this room. */
typedef void p2p_visit_envelope(const struct p2p_envelope *e, void *arg);
/* Messages that have come and nobody has asked for, in each communicator oldest first; receives that are posted, in no
 * particular order. Those of the library's own are left out. Take time for each. */
void p2p_each_unexpected(p2p_visit_envelope *visit, void *arg) COLD;
void p2p_each_posted(p2p_visit_envelope *visit, void *arg) COLD;
/* Communicators that are open, in no particular order; the library's own among them. */
typedef void p2p_visit_comm(const struct comm *comm, void *arg);
void p2p_each_comm(p2p_visit_comm *visit, void *arg) COLD;
/* Requests of sends and receives that have not been given back, complete or not. */
int p2p_open_requests(void) COLD;
/* The library's own for collective calls on a communicator, oldest first; are there any? */
void p2p_each_of_coll(const struct comm *comm, p2p_visit_envelope *visit, void *arg) COLD;
bool p2p_has_of_coll(const struct comm *comm);
/* How many collective calls have been begun on the communicator with a context, and the name of one of them, as
 * comm_call_name. False: there is no such communicator here. */
bool p2p_find_calls(uint32_t ctx, uint64_t sequence, uint64_t *begun, const char **name) COLD;

/* In a joint job (p2p_config.joint): wait until this process is connected to those of all other clients, which wait for
 * that, too. Error: MPI_ERR_OTHER (E1240) if this takes too long. Else does nothing. */
int p2p_foreign_connect(void);
/* The same, to those of a group. */
int p2p_foreign_reach(const struct group *group);
/* There, when all that was to be sent has been begun and nothing more comes: send what waits, tell all other clients
 * that this was the last of it, and wait until they say so. Error: of one that went without it (E1241). */
int p2p_foreign_close(void);

/* Close. All communicators are closed. */
void p2p_fini(void);

#endif
