/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. Point-to-point communication (MPI 5.0 §3): protocols between the matcher and the transports.
 *
 * Counts are widened and arguments are checked by the caller. `dest` and `source` are ranks of the
 * communicator's remote group (of the group itself for an intracommunicator), MPI_PROC_NULL, and for
 * receives MPI_ANY_SOURCE; tags are 0 to INT_MAX, for receives MPI_ANY_TAG as well. All functions return 0 or an
 * error code; all may be called from several threads when the process runs with MPI_THREAD_MULTIPLE. */
#ifndef P2P_P2P_H
#define P2P_P2P_H

#include "net/net.h"
#include "obj/comm.h"
#include "obj/req.h"
#include "type/type.h"

struct message;

/* Mode of a send, and in which of the communicator's two contexts the message travels. */
enum p2p_mode {
    P2P_STANDARD = 0,
    P2P_SYNC = 1,
    P2P_READY = 2,
    P2P_BUFFERED = 4, /* of p2p_send_init only */
    P2P_COLL = 8, /* may be or'ed in: the context of collective operations, not visible to the user's wildcards */
};

/* Blocking send, the first one with P2P_STANDARD; returns when the buffer may be used again. Waits for the receiver
 * when the message is long, when P2P_SYNC asks for it, or when the receiver already keeps much; else at most for
 * room. */
int p2p_send(struct comm *comm, const void *buf, MPI_Count count, struct type *type, int dest, int tag);
int p2p_send_mode(struct comm *comm, const void *buf, MPI_Count count, struct type *type, int dest, int tag, int mode);
/* Nonblocking send; local. The first is for the user's sends: a short message to another machine may wait for the next
 * poll, which the user's wait or test brings. The second one's does not, and only its request may go to p2p_report. */
int p2p_isend(struct comm *comm, const void *buf, MPI_Count count, struct type *type, int dest, int tag, int mode,
              struct req **out);
int p2p_isend_now(struct comm *comm, const void *buf, MPI_Count count, struct type *type, int dest, int tag, int mode,
                  struct req **out);
/* Blocking receive. `mode` is 0 or P2P_COLL. The status may be NULL; its error field is left alone.
 * Error: MPI_ERR_TRUNCATE with both sizes; what fits has been received. */
int p2p_recv(struct comm *comm, void *buf, MPI_Count count, struct type *type, int source, int tag, int mode,
             MPI_Status *status);
/* An empty message, if it goes at once: not while the receiver holds messages back, or others wait. For what may as
 * well be left out. */
bool p2p_send_if_it_goes(struct comm *comm, int dest, int tag, int mode) COLD;
/* What a process says in place of a message that it cannot supply: an error, its id in front of the text. Short enough
 * for one record, whatever the transport. */
enum { P2P_CAUSE_TEXT = 156 };
struct p2p_cause {
    int32_t error_class;
    char text[P2P_CAUSE_TEXT];
};
/* Of an error code, and as one of this process. */
void p2p_cause_of(struct p2p_cause *cause, int rc) COLD;
int p2p_cause_error(const struct p2p_cause *cause) COLD;
/* As p2p_isend_now, in place of the message with this tag: whoever receives it has the error. `cause` stays until the
 * request is complete. Not to processes of other clients (IMPI). */
int p2p_isend_cause(struct comm *comm, const struct p2p_cause *cause, int dest, int tag, int mode, struct req **out)
    COLD;
/* Its text, without the id. */
const char *p2p_cause_text(const struct p2p_cause *cause) COLD;
/* The same of the error `rc` as soon as there is memory for it, without a request: for who has none. Nothing waits. */
void p2p_tell_cause(struct comm *comm, int rc, int dest, int tag, int mode) COLD;
/* In the call that makes the communicator with this context, this process has failed, with `rc`, and process `proc` may
 * be a member: it learns of that, and whatever it begins or has begun there ends with the error, E0339. Nothing
 * waits. */
void p2p_break(uint32_t ctx, int proc, int rc) COLD;
/* 0, or the error of a communicator that not all members have, as far as is known. Any thread. */
int p2p_check_whole(const struct comm *comm);
/* Receive without making a request, if the message is the next thing that comes from there, within a short while.
 * False: nothing was done. Not for wildcards. */
bool p2p_recv_at_once(struct comm *comm, void *buf, MPI_Count count, const struct type *type, int source, int tag,
                      int mode);
int p2p_irecv(struct comm *comm, void *buf, MPI_Count count, struct type *type, int source, int tag, int mode,
              struct req **out);

/* Persistent requests (§3.9): all of the arguments are kept, with references to type and communicator; req_start
 * begins. A process that cannot be reached is an error here. Errors: MPI_ERR_NO_MEM. */
int p2p_send_init(struct comm *comm, const void *buf, MPI_Count count, struct type *type, int dest, int tag, int mode,
                  struct req **out);
int p2p_recv_init(struct comm *comm, void *buf, MPI_Count count, struct type *type, int source, int tag, int mode,
                  struct req **out);
/* Buffered mode (§3.4, §3.6): local whatever the receiver does, also MPI_Ibsend, whose request is complete at birth. A
 * message that can go out at once takes no buffer space. Errors: MPI_ERR_BUFFER if it cannot and the buffer has no
 * room for it, or there is none; MPI_ERR_NO_MEM. */
int p2p_bsend(struct comm *comm, const void *buf, MPI_Count count, struct type *type, int dest, int tag);
int p2p_ibsend(struct comm *comm, const void *buf, MPI_Count count, struct type *type, int dest, int tag,
               struct req **out);

/* Buffers for it: `place` is where their owner keeps them, `owner` says in messages who that is. `address` may be
 * MPI_BUFFER_AUTOMATIC. Error of all: MPI_ERR_BUFFER if there is one already, or none. */
int p2p_buffer_attach(struct send_buffer **place, const char *owner, void *address, MPI_Count size);
/* Blocks until its messages have gone; so does flush. Both return the error of a message that could not be sent. The
 * address goes to *(void **)address_out; the size of automatic buffering is 0. */
int p2p_buffer_detach(struct send_buffer **place, const char *owner, void *address_out, MPI_Count *size);
/* Detach, if one is attached, since its owner ends. */
int p2p_buffer_drop(struct send_buffer **place);
int p2p_buffer_flush(struct send_buffer **place, const char *owner);
/* A request that completes when the messages that are in the buffer now have gone. */
int p2p_buffer_iflush(struct send_buffer **place, const char *owner, struct req **out);
/* Where the process's buffer is kept. */
struct send_buffer **p2p_buffer_of_process(void);

/* Both at once (§3.2.7). */
struct p2p_sendrecv {
    const void *send_buf;
    MPI_Count send_count;
    struct type *send_type;
    int dest, send_tag;
    void *recv_buf;
    MPI_Count recv_count;
    struct type *recv_type;
    int source, recv_tag;
};
int p2p_sendrecv(struct comm *comm, const struct p2p_sendrecv *args, int mode, MPI_Status *status);
/* With one buffer for both, which stands in `args` twice; `args` is used up. */
int p2p_sendrecv_replace(struct comm *comm, struct p2p_sendrecv *args, MPI_Status *status);
/* Nonblocking (§3.7.2): one request, which is complete when both are. Status and errors are those of the receive; an
 * error of the send counts if the receive has none. MPI_Cancel cancels both, or nothing once the receive has its
 * message. */
int p2p_isendrecv(struct comm *comm, const struct p2p_sendrecv *args, struct req **out);
int p2p_isendrecv_replace(struct comm *comm, struct p2p_sendrecv *args, struct req **out);

/* §3.8.1 and §3.8.2. The nonblocking ones progress once; *message is NULL when flag is 0 and
 * &message_no_proc for MPI_PROC_NULL. */
int p2p_probe(struct comm *comm, int source, int tag, MPI_Status *status);
int p2p_iprobe(struct comm *comm, int source, int tag, int *flag, MPI_Status *status);
int p2p_mprobe(struct comm *comm, int source, int tag, struct message **message, MPI_Status *status);
int p2p_improbe(struct comm *comm, int source, int tag, int *flag, struct message **message, MPI_Status *status);
/* §3.8.3. The message is consumed. */
int p2p_mrecv(struct message *message, void *buf, MPI_Count count, struct type *type, MPI_Status *status);
int p2p_imrecv(struct message *message, void *buf, MPI_Count count, struct type *type, struct req **out);
/* Whose error handler takes the errors of a message, which may be NULL: that of the communicator on which it came;
 * NULL: nobody's. When a call that consumed one has failed, req_failed_owner knows. */
struct obj *p2p_message_owner(const struct message *message) COLD;

/* For one who waits for many requests of one communicator, and wants to be told which ones are complete: an inbox,
 * and a slip for each request that is put into it. `news` is not 0 when something may lie in it; it is stored last,
 * so several inboxes may share one. */
struct p2p_slip {
    struct p2p_slip *next;
};
struct p2p_inbox {
    struct p2p_slip *first, **end; /* with the lock of the communicator's lane; first NULL: empty */
    _Atomic uint32_t *news;
};

/* Put `slip` into the inbox when the request of a p2p_isend or p2p_irecv is complete. False: it is already. Inbox and
 * slip stay where they are until the slip has been taken; then the request may be released, and not before. */
bool p2p_report(struct req *req, struct p2p_inbox *inbox, struct p2p_slip *slip);
/* All slips that lie in it, in the order in which they came; NULL: none. */
struct p2p_slip *p2p_inbox_take(const struct comm *comm, struct p2p_inbox *inbox);

/* Every communicator belongs to a lane: a matcher, transports and a lock apart from those of the others. Which one is
 * in its context, so that all its processes agree: contexts from P2P_CTX_SPREAD on go round the lanes beyond the
 * first. A process takes any context, whatever its own level of threads. */
#define P2P_CTX_SPREAD (UINT32_C(1) << 31)

/* Contexts from here on are those of communicators with processes of other jobs (sys/place.h). */
#define P2P_CTX_ABROAD (UINT32_C(3) << 30)

static inline int p2p_lane_of(uint32_t ctx)
{
    return ctx < P2P_CTX_SPREAD || ctx >= P2P_CTX_ABROAD ? 0 : 1 + (int)(ctx / 2 % (NET_LANES - 1));
}

/* Contexts from here up to P2P_CTX_SPREAD are those of communicators with members in several clients (IMPI): the id
 * that all of them know is what the context is above this. In a job that is a client no other one has such a one. */
#define P2P_CTX_FOREIGN (UINT32_C(1) << 30)

static inline bool p2p_is_foreign_ctx(uint32_t ctx)
{
    return ctx >> 30 == 1;
}

/* Between clients: tags of collective calls from here on are this library's own. And how a note (struct comm_notes)
 * begins, above so many bits; FAILED: the message is empty, since its sender could not send what it should; PART: it
 * is of a partitioned one, PARCEL: of a parcel. */
enum { P2P_OWN_TAGS = 999, P2P_NOTE_BITS = 56, P2P_NOTE_MARK = 0xb2, P2P_NOTE_FAILED = 0xb3,
       P2P_NOTE_PART = 0xb4, P2P_NOTE_PARCEL = 0xb5 };

/* The lane of communicators that the library polls by a thread of its own, whatever the level of threads. */
enum { P2P_LANE_APART = NET_LANES - 1 };

/* Processes of other jobs can reach this one from now on. Errors: MPI_ERR_PORT, if there are no places for others;
 * MPI_ERR_NO_MEM; of the network. */
int p2p_be_reachable(void);

/* The system says that process `proc` of this machine is gone: the error, E0338, of a copy of so many bytes, of `what`.
 * mpiexec sees that the end of this process may follow from that. */
int p2p_gone(int proc, const char *what, size_t len) COLD;

/* For a call that IMPI does not have and this library has between its own clients: are all of the communicator of this
 * library, and data the same in the memory of all? Error: MPI_ERR_UNSUPPORTED_OPERATION, E1213. */
int p2p_check_kin(const struct comm *comm, const char *call);

/* Over how many lanes this process is to spread the communicators that it makes; 1 below MPI_THREAD_MULTIPLE. */
int p2p_lanes(void);

/* Open the matching state of a communicator whose ctx and groups are set: from now on messages for it are
 * matched, also those that came before. Opens its lane if need be. Error: MPI_ERR_NO_MEM. */
int p2p_comm_open(struct comm *comm);
/* Close it; posted receives of it must be gone, unexpected messages are dropped. */
void p2p_comm_close(struct comm *comm);

/* These contexts have ended here, and will be those of other communicators: what has come for them goes, and what
 * comes from now on is for the next ones. No lock of a lane is held. */
void p2p_forget_ended(bool (*is_ended)(uint32_t ctx, void *arg), void *arg);

/* Has the communicator members in several clients of a joint job (IMPI)? Is the member with this rank in the remote
 * group of another client? What goes to it does so in external32, and MPI_PACKED data must be that. */
bool p2p_is_joint(const struct comm *comm);
bool p2p_is_foreign(const struct comm *comm, int rank);

/* Where news from other machines come from in the lane of a communicator: a descriptor that polls readable then, and
 * what polls that lane, by any thread. False: nothing does, or the lane is for one thread at a time. */
struct p2p_source {
    int fd;
    int (*poll)(void *arg);
    void *arg;
};
bool p2p_source_of(const struct comm *comm, struct p2p_source *source);

/* 0, or the transport's error if the way to a process has broken, by its rank in the remote group: nothing comes from
 * it any more. Requests and probes say so themselves; this is for who waits for something else of that process. Any
 * thread. */
int p2p_lost_rank(const struct comm *comm, int rank);

/* Where the system has come to refuse a copy from or to the memory of a process of this machine that is in the same
 * call on `comm`, which has messages, and waits there until we are done: its library does it, a run of bytes. Return
 * when they are there. Error: no memory. */
int p2p_fetch(struct comm *comm, int proc, void *to, uint64_t from, size_t len);
int p2p_store(struct comm *comm, int proc, const void *from, uint64_t to, size_t len);

#endif
