/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll, private. Communicators whose members are in several clients of IMPI, perhaps of other implementations:
 * which messages go between clients in a collective call, and with which tags, is laid down there (section 4 of IMPI
 * 0.0); what is done inside of a client is its own. In the layout of such a communicator the clients are the nodes, and
 * their leaders what IMPI calls masters.
 *
 * Messages between clients of this library have a note of their call, where other implementations do not look: so
 * calls that do not belong together are found also where their tags say nothing of it. It is
 *
 *   63 56   P2P_NOTE_MARK   55 48   the call's number, above what the tag has of it   47 32   the root
 *                           31  0   the tag of such a message within a client, with `sub` 0
 *
 * (A client cannot make another one wait, so one may be ahead by more calls than tags have numbers.)
 *
 * What does not fit external32 is not sent (E1242): where it should be, an empty message whose note has another mark.
 * Who should pass on what has not come does the same, so the error goes as far as the data would. Within a client such
 * a message has no note, and is known by having no data.
 *
 * A message to another client has the tag that its step has as `sub`, if that is one of IMPI's and the call blocks.
 * What IMPI has no tag for, and calls that are requests, go with tags from 1000 on, which only this library knows. */
#ifndef COLL_CLIENTS_H
#define COLL_CLIENTS_H

#include "coll/algorithms.h"
#include "coll/int_coll.h"
#include "p2p/p2p.h"

struct joint;

/* IMPI's tags. */
enum {
    CLIENTS_TAG_FIRST = 110,
    CLIENTS_BARRIER = 110,
    CLIENTS_BCAST = 120,
    CLIENTS_GATHER = 130,
    CLIENTS_GATHERV = 140,
    CLIENTS_SCATTER = 150,
    CLIENTS_SCATTERV = 160,
    CLIENTS_ALLTOALL = 170,
    CLIENTS_ALLTOALLV = 180,
    CLIENTS_REDUCE = 190,
    CLIENTS_SCAN = 200,
    CLIENTS_NOTICE = P2P_OWN_TAGS, /* says what is called, see disagree.c */
    CLIENTS_OWN_TAGS = P2P_OWN_TAGS + 1,
};

/* Of a call's number, beside those of the tag. */
enum { CLIENTS_SEQUENCE_BITS = 8 };

/* Once, before the first such communicator: the clients, and the places in our segment. */
void clients_open(const struct joint *joint, int slots);
/* Number of the client that a process is in. */
int clients_of(int proc);
/* Is it in another one? */
bool clients_is_foreign(int proc);
/* Are all members in this client, or in others of this library? */
bool clients_are_alike(const struct comm *comm);

/* Do all members have the call? Error: MPI_ERR_UNSUPPORTED_OPERATION, E1211. */
int clients_check(const struct comm *comm, const struct coll_args *args, enum coll_form form);
/* Set the tag of messages to other clients that are not laid down. */
void clients_number(struct sched *s, enum coll_form form);
/* The note of a call whose tag is set. On an intercommunicator nobody compares it, since roots differ there. */
uint64_t clients_note(const struct sched *s);
/* What such a note says. */
static inline int clients_note_tag(uint64_t note)
{
    return (int)(uint32_t)note;
}

static inline uint32_t clients_note_sequence(uint64_t note)
{
    return (uint32_t)(note >> 48 & 0xff) << COLL_SEQUENCE_BITS;
}

static inline int clients_note_root(uint64_t note)
{
    return (int)(note >> 32 & 0xffff);
}

/* The note of a message: in the local group of an intercommunicator that of the call which it is there; another one
 * without the data that it should have. */
uint64_t clients_step_note(const struct sched *s, const struct sched_step *step);
/* A step that receives is over: does what should have come with it not come? Then it is void, and so is what comes
 * after it. 0, or the error. */
int clients_received(const struct sched *s, struct sched_step *step);
/* A void step: is there something to be done all the same? */
bool clients_goes_on(const struct sched *s, const struct sched_step *step);

/* Of a message: `tag` is the one inside of a client. */
int clients_tag(const struct sched *s, const struct sched_step *step, int tag);

/* The one way to do an operation without neighborhoods. */
extern const struct coll_algorithm coll_clients[COLL_NEIGHBOR_ALLGATHER];

/* A message of a step that has this tag between clients. */
int clients_send(struct sched *s, struct coll_block block, int dest, int tag, int after);
int clients_recv(struct sched *s, struct coll_block block, int source, int tag, int after);

/* clients.c. Parts, each with messages of its own tag; they return the step after which it is done here. `result` and
 * `block` are there after `after`. */
int clients_bcast(struct sched *s, struct coll_block block, int root, int after);
/* `own` of all; `result` counts at the root only. */
int clients_reduce(struct sched *s, struct coll_block own, struct coll_block result, int root);

/* clients_blocks.c */
coll_build_fn clients_build_gather, clients_build_gatherv, clients_build_scatter, clients_build_scatterv,
    clients_build_allgather, clients_build_alltoall, clients_build_reduce_scatter, clients_build_scan;

/* Have so many masters a line or a tree? */
bool clients_is_linear(int masters);
/* Does a block of so many bytes in external32 go straight between its process and the root? */
bool clients_is_long(size_t bytes);

#endif
