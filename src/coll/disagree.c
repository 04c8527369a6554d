/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Processes that make different collective calls with the same number on a communicator (MPI 5.0 §6.14).
 * The tags of their messages say what they have called (call.c), so the calls do not match, and messages are left that
 * nobody asks for. Who has waited for long looks at those; so does a call that had to wait, once it is over, and who
 * frees the communicator. Nothing is done for it before.
 *
 * Where everybody waits there are no messages: so who has waited for long sends one that says what he calls, a notice,
 * to whom he waits for, once. Its tag is
 *
 *   28 15   which call   14 10  COLL_NOTICE   9  6  hash of what all must give alike   5  0  the operation
 *
 * A notice of the same call is thrown away afterwards, or, where some call is always under way, when it is old: else
 * its number would come round and look like that of another call. Knows: tags. Does not know: algorithms. */
#include <stdio.h>

#include "base/err.h"
#include "coll/clients.h"
#include "coll/int_call.h"
#include "obj/req.h"
#include "p2p/lane.h"

enum { OPERATION_BIT = 10, OPERATION_MASK = 31, SUB_MASK = (1 << COLL_SUB_BITS) - 1, MOST_NOTICES = 8 };

static uint32_t number_of(int tag)
{
    return (uint32_t)-COLL_TAG_FIRST - (uint32_t)tag;
}

/* That of a message; one from another client has it in its note, if anywhere. */
static uint32_t number_in(const struct p2p_envelope *e)
{
    if (!e->is_foreign)
        return number_of(e->tag);
    return e->note ? number_of(clients_note_tag(e->note)) : UINT32_MAX;
}

/* By how many calls a message is ahead of the call with this number; below 0: behind. As far as the bits tell that
 * each has of its number. */
static int64_t calls_ahead(uint32_t number, bool has_note, uint64_t note, uint32_t sequence)
{
    const int bits = COLL_SEQUENCE_BITS + (has_note ? CLIENTS_SEQUENCE_BITS : 0);
    const uint32_t theirs = (number >> COLL_SEQUENCE_BIT) + (has_note ? clients_note_sequence(note) : 0);
    const int64_t whole = INT64_C(1) << bits, ahead = (theirs - sequence) & (whole - 1);

    return ahead > whole / 2 ? ahead - whole : ahead;
}

static int64_t envelope_ahead(const struct p2p_envelope *e, uint32_t sequence)
{
    return calls_ahead(number_in(e), e->is_foreign, e->note, sequence);
}

static bool is_numbered(uint32_t number)
{
    return !(number >> COLL_PERSISTENT_BIT);
}

static enum coll_operation operation_of(uint32_t number)
{
    return (enum coll_operation)(number >> OPERATION_BIT & OPERATION_MASK);
}

/* What a message with this number belongs to, without which of the call's it is. */
static uint32_t call_of(uint32_t number)
{
    const uint32_t call = number & ~(uint32_t)SUB_MASK;

    if (operation_of(number) != COLL_NOTICE)
        return call;
    return (call & ~((uint32_t)OPERATION_MASK << OPERATION_BIT)) | (number & OPERATION_MASK) << OPERATION_BIT;
}

/* --- while waiting --- */

struct other {
    uint32_t call;       /* ours */
    uint32_t sequence;   /* its number */
    int source;          /* who has begun something else; -1: nobody */
    enum coll_operation operation;
};

static void on_message(const struct p2p_envelope *e, void *arg)
{
    struct other *other = arg;
    const uint32_t number = number_in(e), call = call_of(number);

    if (!is_numbered(number) || call == other->call || envelope_ahead(e, other->sequence))
        return;
    other->source = e->source;
    other->operation = operation_of(call);
}

static bool has_root(enum coll_operation operation)
{
    return operation == COLL_BCAST || operation == COLL_REDUCE || operation == COLL_GATHER ||
           operation == COLL_SCATTER || operation == COLL_GATHERV || operation == COLL_SCATTERV;
}

/* "MPI_Bcast of 8 bytes with root 0" */
static void name_own(const struct sched *s, char *text, size_t size)
{
    int used = snprintf(text, size, "%s", s->call);

    if (s->bytes)
        used += snprintf(text + used, size - (size_t)used, " of %llu bytes", (unsigned long long)s->bytes);
    if (has_root(s->operation))
        snprintf(text + used, size - (size_t)used, " with root %d", s->root);
}

/* `what` stands before the name of their call. */
static COLD int complain_of(const struct sched *s, int class, int source, enum coll_operation theirs, const char *what)
{
    char own[128], label[COMM_LABEL_SIZE];

    name_own(s, own, sizeof own);
    return err(class, "E0700: ranks disagree in collective call number %u on %s: rank %d calls %s, rank %d %s %s",
               s->sequence, obj_comm_label(s->comm, label), s->comm->rank, own, source, what,
               coll_name(theirs, COLL_BLOCKING));
}

/* A message of another client's has met a receive of this call, and is of another one. */
static int other_client(const struct sched *s)
{
    const struct comm_notes *notes = &s->comm->notes;
    const uint32_t theirs = number_of(clients_note_tag(notes->wrong));
    const int64_t ahead = calls_ahead(theirs, true, notes->wrong, s->sequence);
    const enum coll_operation operation = operation_of(theirs);
    const int root = clients_note_root(notes->wrong);
    char what[96] = "calls";
    int class = MPI_ERR_OTHER;

    if (ahead) {
        snprintf(what, sizeof what, "is in its call number %u there,", s->sequence + (uint32_t)ahead);
    } else if (operation == s->operation) {
        const bool is_root = has_root(operation) && root != (s->root & 0xffff);

        class = MPI_ERR_ARG;
        snprintf(what, sizeof what, is_root ? "gives root %d to" : "gives another amount of data to", root);
    }
    return complain_of(s, class, notes->wrong_from, operation, what);
}

int sched_disagreement(const struct sched *s)
{
    struct other other = { .call = call_of(number_of(s->tag)), .sequence = s->sequence, .source = -1 };

    if (!is_numbered(other.call) || s->comm->is_inter)
        return 0;
    if (s->is_blocking && s->comm->notes.wrong)
        return other_client(s);
    p2p_each_of_coll(s->comm, on_message, &other);
    if (other.source < 0)
        return 0;
    if (other.operation != s->operation)
        return complain_of(s, MPI_ERR_OTHER, other.source, other.operation, "calls");
    return complain_of(s, MPI_ERR_ARG, other.source, other.operation,
                       "gives another root or another amount of data to");
}

/* To another client: where nobody asks for it. */
static bool notify_client(const struct sched *s, int dest, int tag)
{
    struct comm *comm = s->comm;
    struct req *req;

    comm->notes.sent = (clients_note(s) & ~(uint64_t)UINT32_MAX) | (uint32_t)tag;
    if (p2p_isend_now(comm, NULL, 0, obj_type(MPI_BYTE), dest, CLIENTS_NOTICE, P2P_STANDARD | P2P_COLL, &req))
        return false;
    if (req_is_done(req))
        req->ops->release(req);
    else
        req->ops->detach(req);
    return true;
}

bool sched_notify(const struct sched *s, int dest)
{
    const uint32_t call = call_of(number_of(s->tag)), hash = call & (uint32_t)(15 << COLL_SUB_BITS);
    const uint32_t number = (call >> COLL_SEQUENCE_BIT << COLL_SEQUENCE_BIT) | COLL_NOTICE << OPERATION_BIT | hash |
                            (uint32_t)s->operation;
    const int tag = -COLL_TAG_FIRST - (int)number;

    if (!is_numbered(call) || s->comm->is_inter)
        return false;
    if (p2p_is_foreign(s->comm, dest))
        return clients_are_alike(s->comm) && notify_client(s, dest, tag);
    return p2p_send_if_it_goes(s->comm, dest, tag, P2P_STANDARD | P2P_COLL);
}

/* --- afterwards --- */

struct left {
    uint32_t begun;      /* calls of this process */
    bool is_end;         /* it will make no more */
    int source;          /* of the first message that nobody will ask for; -1: there is none */
    uint32_t number;
    int64_t ahead;       /* of the calls of this process */
    int notices;
    struct {
        int source, tag;
    } notice[MOST_NOTICES];
};

static void take_note(struct left *left, const struct p2p_envelope *e)
{
    if (left->notices >= MOST_NOTICES)
        return;
    left->notice[left->notices].source = e->source;
    left->notice[left->notices++].tag = e->tag;
}

static void on_left(const struct p2p_envelope *e, void *arg)
{
    struct left *left = arg;
    const uint32_t number = number_in(e);
    const int64_t ahead = envelope_ahead(e, left->begun);

    if (!is_numbered(number) || operation_of(number) == COLL_INTERNAL || (ahead > 0 && !left->is_end))
        return;
    if (operation_of(number) != COLL_NOTICE) {
        if (left->source < 0) {
            left->source = e->source;
            left->number = number;
            left->ahead = ahead;
        }
    } else {
        take_note(left, e);
    }
}

static int complain(const struct comm *comm, const struct left *left)
{
    const uint32_t call = left->begun + (uint32_t)left->ahead;
    const char *theirs = coll_name(operation_of(left->number), COLL_BLOCKING), *own = NULL;
    char text[COMM_LABEL_SIZE];
    const char *label = obj_comm_label(comm, text);

    if (left->ahead > 0)
        return err(MPI_ERR_OTHER,
                   "E0700: ranks disagree in collective call number %u on %s: rank %d calls %s, rank %d has made "
                   "only %u calls and frees the communicator",
                   call, label, left->source, theirs, comm->rank, left->begun);
    own = comm_call_name(comm, call);
    return err(MPI_ERR_OTHER,
               "E0700: ranks disagree in collective call number %u on %s: rank %d has called %s and sent what rank %d, "
               "which has called %s, did not ask for: another operation, another root or another amount of data",
               call, label, left->source, theirs, comm->rank, own ? own : "something long ago");
}

static void receive_notices(struct comm *comm, const struct left *left)
{
    const struct coll_block nothing = { NULL, 0, obj_type(MPI_BYTE) };

    for (int i = 0; i < left->notices; i++)
        coll_recv(comm, left->notice[i].tag, &nothing, left->notice[i].source);
}

static int check_left(struct comm *comm, bool is_end)
{
    struct left left = { .begun = comm->coll_sequence, .is_end = is_end, .source = -1 };

    if (comm->is_inter || comm->coll_has_complained || atomic_load_explicit(&comm->coll_running, memory_order_relaxed))
        return 0;
    p2p_each_of_coll(comm, on_left, &left);
    receive_notices(comm, &left);
    if (left.source < 0)
        return 0;
    comm->coll_has_complained = true; /* the message stays */
    return complain(comm, &left);
}

enum { OLD = (COLL_SEQUENCE_MASK + 1) / 16 }; /* calls behind */

static void on_old(const struct p2p_envelope *e, void *arg)
{
    struct left *left = arg;
    const uint32_t number = number_in(e);

    if (!is_numbered(number) || operation_of(number) != COLL_NOTICE || envelope_ahead(e, left->begun) > -OLD)
        return;
    take_note(left, e);
}

void coll_forget_notices(struct comm *comm)
{
    struct left left;

    comm->coll_swept = comm->coll_sequence;
    do {
        left = (struct left){ .begun = comm->coll_sequence };
        p2p_each_of_coll(comm, on_old, &left);
        receive_notices(comm, &left);
    } while (left.notices == MOST_NOTICES);
}

int coll_check_done(struct comm *comm)
{
    return check_left(comm, false);
}

int coll_check_end(struct comm *comm)
{
    return p2p_has_of_coll(comm) ? check_left(comm, true) : 0;
}
