/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4, inside. Messages: buffers with their hidden header, what travels, what is waited for.
 *
 * The sink may be called by other threads that are in MPI, so what it touches (buffers, queues, the wait,
 * acknowledgements) is guarded by the engine's lock: message_lock. */
#ifndef P4_INT_MESSAGE_H
#define P4_INT_MESSAGE_H

#include "match/match.h"
#include "p4/int_p4.h"
#include "p4/int_wire.h"

enum { P4_CLASSES = 8 };

enum message_state { MESSAGE_LIVE = 0x70346c76, MESSAGE_FREE = 0x70346672 };

/* What a message is for; all but the first are the library's own. Not above 15. */
enum message_kind { KIND_USER, KIND_ACK = INNER_KINDS };

/* The hidden header, in front of the payload of every buffer. */
struct message {
    struct match_arrival arrival; /* while it is queued */
    uint32_t state;               /* enum message_state */
    int32_t type, from;
    uint32_t ack;                 /* number that the sender waits for; 0: none */
    size_t room;                  /* bytes behind this header */
    size_t capacity;              /* of these, so many were asked for */
    size_t len;
    struct message *next;         /* in the list of free ones */
    uint8_t kind;                 /* enum message_kind */
    uint8_t datatype;             /* P4NOX to P4DBL */
    bool is_xdr;                  /* the payload is in external form */
    bool is_here;                 /* all of it has come */
    int8_t class;                 /* size class of the buffer; -1: larger than all */
} ALIGNED(CACHE_LINE);

static inline void *message_data(struct message *m)
{
    return m + 1;
}

static inline struct message *message_at(void *data)
{
    return (struct message *)data - 1;
}

/* Says whether there are others. Before the engine runs there are not. */
extern const bool *message_threads;
/* Slow halves of the next two. */
void message_lock_threads(void);
void message_unlock_threads(void);

static inline void message_lock(void)
{
    if (unlikely(*message_threads))
        message_lock_threads();
}

static inline void message_unlock(void)
{
    if (unlikely(*message_threads))
        message_unlock_threads();
}

/* --- buffer.c; with the lock --- */

/* A live buffer; NULL: no memory. */
struct message *buffer_alloc(size_t len);
void buffer_free(struct message *m);
/* Free the one, if there is any, for one of that length. */
struct message *buffer_exchange(struct message *m, size_t len);
/* The buffer whose payload begins at `data`: live, or free and not given back to the system yet; else NULL. */
struct message *buffer_find(const void *data);

/* --- intake.c --- */

/* From now on messages are taken in. */
void intake_open(void);
/* The engine has gone down, unless somebody else uses it. */
void intake_close(void);
/* A message of `len` bytes begins to arrive; its buffer. Acknowledgements have none of their own, but a place all the
 * same. With the lock. */
void *intake_begin(const struct envelope *e, size_t len);
/* All of it is at `data`, or, with rc, never will be. With the lock. */
void intake_end(void *data, int rc);

/* What a receive takes. */
struct pattern {
    uint8_t kind;
    int type, from; /* -1: any */
};

/* The oldest that fits, left where it is; NULL: none has come. With the lock. */
struct message *intake_find(const struct pattern *p);
/* Wait for it and take it out. NULL: everybody who might send it has ended. */
struct message *intake_take(const struct pattern *p, const char *call);
/* Wait for it and leave it where it is. False: as above. */
bool intake_await(const struct pattern *p, const char *call);
/* Take out one that intake_find has found. With the lock. */
void intake_remove(struct message *m);
/* About to send something that is to be acknowledged: its number. Then, when it is sent, wait. False: the process has
 * ended. */
uint32_t intake_ack_begin(int from, int type, const char *call);
bool intake_ack_wait(void);
/* It could not be sent. */
void intake_ack_cancel(void);
/* Take in what has come. */
void intake_poll(void);
/* Wait until all that was sent is gone, or those it is for are. */
void intake_flush(void);

/* --- route.c: where a process is --- */

/* `count` processes of this host, of consecutive ids and places in its segment. All are told before anything goes. */
void route_set_places(int first, int count, int place);
/* Has it ended, in order or not? */
bool route_is_gone(int id);
/* Its place in the segment of this host; -1: it is on another host. `id` is one. */
int route_proc(int id);
/* Is it a process that the engine reaches through a network? */
bool route_is_far(int id);
/* Connect to such a process, once, by a message that its program does not see: then its end will be known. */
void route_knock(int id);
/* Send it, wherever it is. With `gone` the bytes stay where they are until that is called, perhaps during
 * this call; without, they are copied if need be. 0; or -1, and then `gone` is not called: the process has ended. */
int route_send(int to, const struct envelope *e, const void *data, size_t len, void (*gone)(void *arg), void *arg);
/* The short way for a message of the user's, while nothing else is on its way; false: nothing was done, and
 * route_send is to be used. */
bool route_send_at_once(int to, int type, const void *data, size_t len);
/* Is anything sent that has not gone? Forget of it what is for processes that have ended. */
bool route_is_pending(void);
void route_give_up(void);

/* --- xdr.c --- */

/* P4_FORCE_XDR=1. */
bool xdr_is_forced(void);
/* Does the other side, or a setting, want external form for elements of this type? */
bool xdr_is_wanted(int to, int datatype);
/* Bytes of `len` bytes of elements in external form. */
size_t xdr_len(int datatype, size_t len);
/* Elements of `len` bytes at `data` to external form at `out`. This and the next end in p4_error if there is no library
 * for it. */
void xdr_encode(int datatype, const void *data, size_t len, void *out);
/* Back, in place of a message in external form: its payload and length are as those of this machine then. */
struct message *xdr_decode(struct message *m);

/* --- send.c --- */

/* As all forms of p4_send; `call` for messages. */
int send_user(const char *call, int type, int to, const void *msg, int len, int datatype, unsigned how);
enum send_how { SEND_ACK = 1, SEND_OWN = 2 };

#endif
