/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Processes that make different collective calls with the same number on a communicator (MPI 5.0 §6.14):
 * their messages do not match, so one of them waits for ever. Who has waited for long looks at the messages that have
 * come and that nobody has asked for: their tags say what the others have called (call.c). Nothing is done for it
 * before. Knows: tags. Does not know: algorithms. */
#include <stdio.h>

#include "base/err.h"
#include "coll/int_call.h"
#include "p2p/lane.h"

struct other {
    uint32_t number;     /* tag of our messages, as a number, without `sub` */
    int source;          /* who has begun something else; -1: nobody */
    enum coll_operation operation;
};

static void on_message(const struct p2p_envelope *e, void *arg)
{
    struct other *other = arg;
    const uint32_t number = (uint32_t)-COLL_TAG_FIRST - (uint32_t)e->tag;
    const uint32_t differs = (number ^ other->number) >> COLL_SUB_BITS;

    if (number >> COLL_PERSISTENT_BIT || !differs || differs >> (COLL_SEQUENCE_BIT - COLL_SUB_BITS))
        return;
    other->source = e->source;
    other->operation = (enum coll_operation)(number >> 10 & 31);
}

/* "MPI_Bcast of 8 bytes with root 0" */
static void name_own(const struct sched *s, char *text, size_t size)
{
    int used = snprintf(text, size, "%s", s->call);

    if (s->bytes)
        used += snprintf(text + used, size - (size_t)used, " of %llu bytes", (unsigned long long)s->bytes);
    if (s->operation == COLL_BCAST || s->operation == COLL_REDUCE || s->operation == COLL_GATHER ||
        s->operation == COLL_SCATTER)
        snprintf(text + used, size - (size_t)used, " with root %d", s->root);
}

int sched_disagreement(const struct sched *s)
{
    struct other other = { .number = (uint32_t)-COLL_TAG_FIRST - (uint32_t)s->tag, .source = -1 };
    char own[128], label[COMM_LABEL_SIZE];
    bool is_same;

    if (other.number >> COLL_PERSISTENT_BIT || s->comm->is_inter)
        return 0;
    p2p_each_of_coll(s->comm, on_message, &other);
    if (other.source < 0)
        return 0;
    is_same = other.operation == s->operation;
    name_own(s, own, sizeof own);
    return err(is_same ? MPI_ERR_ARG : MPI_ERR_OTHER,
               "E0700: ranks disagree in collective call number %u on %s: rank %d calls %s, rank %d %s %s",
               s->sequence, obj_comm_label(s->comm, label), s->comm->rank, own, other.source,
               is_same ? "gives another root or another amount of data to" : "calls",
               coll_name(other.operation, COLL_BLOCKING));
}
