/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: comm. Two groups meet, and they are of several jobs, some of which may not know each other: A is connected with
 * B and with C, and now there is to be a communicator with processes of all. So that everybody knows all of the other
 * side's, the leaders exchange cards of the members (place, address), and of each job the way to its mpiexec. In each
 * job one of the group asks its own mpiexec for places for those who have none yet; the mpiexecs make a bond where
 * there is none (launch/bond_meet.c). Nobody sends to the other side before both are done with that. A group over
 * several clients of IMPI does the same in itself (clients_abroad.c).
 * Knows: progress, coll, p2p, sys (places). */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "coll/coll.h"
#include "comm/joint_ids.h"
#include "progress/progress.h"

static const struct comm_outside *outside;

void comm_set_outside(const struct comm_outside *functions)
{
    outside = functions;
}

/* What the leaders exchange: this, the ways of all jobs in the group, the cards of all members. */
struct introduction_head {
    uint32_t ways, cards;
};

/* Are all of this side well? */
static int agree(const struct meeting *m, int rc)
{
    struct coll_agreement all;
    const int failed = coll_agree(m->local, m->call, rc, 0, &all);

    if (failed || !all.error_class)
        return failed;
    return err(all.error_class, "E0339: rank %d has failed, and has been told why", all.rank);
}

/* --- ways --- */

/* The first member of each job, in the order of ranks; how many jobs there are. */
static int list_jobs(const struct place_card *cards, int size, struct comm_way *ways, int *first)
{
    int count = 0;

    for (int rank = 0; rank < size; rank++) {
        const uint64_t job = cards[rank].job;
        int at = 0;
        while (at < count && ways[at].job != job)
            at++;
        if (at == count) {
            ways[count].job = job;
            first[count++] = rank;
        }
    }
    return count;
}

/* Each is told by the first member of its job. */
static int share_ways(const struct meeting *m, struct comm_way *ways, const int *first, int count)
{
    struct type *bytes = obj_type(MPI_BYTE);
    int rc = 0;

    for (int i = 0; i < count && !rc; i++) {
        memset(ways[i].text, 0, sizeof ways[i].text);
        if (m->local->rank == first[i])
            (void)outside->way(ways[i].text); /* without one, others may know it, or be told that they cannot */
        m->local->coll_outer = m->call;
        rc = coll_run(m->local, COLL_ARGS(COLL_BCAST, COLL_SAME(ways[i].text, COMM_WAY_SIZE, bytes), COLL_NOTHING,
                                          NULL, first[i]));
        m->local->coll_outer = NULL;
    }
    return rc;
}

/* Where members on other machines of this job are reached comes by their launcher. */
static bool has_cards(void *arg)
{
    const struct group *group = arg;

    for (int rank = 0; rank < group->size; rank++)
        if (!place_card(group_proc(group, rank)).size)
            return false;
    return true;
}

/* Of all members. Those of other clients tell their own; of any others all of this job know them. */
static int list_cards(const struct meeting *m, struct place_card *cards)
{
    const struct group *group = m->local->group;
    struct type *bytes = obj_type(MPI_BYTE);
    int rc;

    if (comm_clients_spans(m->local)) {
        cards[group->rank] = place_card(comm_world.proc);
        m->local->coll_outer = m->call;
        rc = coll_run(m->local, COLL_ARGS(COLL_ALLGATHER, COLL_SAME(MPI_IN_PLACE, 0, bytes),
                                          COLL_SAME(cards, sizeof *cards, bytes), NULL, 0));
        m->local->coll_outer = NULL;
        return rc;
    }
    progress_wait_until(has_cards, m->local->group);
    for (int rank = 0; rank < group->size; rank++)
        cards[rank] = place_card(group_proc(group, rank));
    return 0;
}

/* What is exchanged, with room for the ways of all jobs, and the cards. */
static int write_side(const struct meeting *m, struct introduction_head *head, struct place_card *cards, int *first,
                      size_t *size)
{
    struct comm_way *ways = (struct comm_way *)(void *)(head + 1);
    const int members = m->local->size;
    int rc = list_cards(m, cards);

    if (rc)
        return rc;
    *head = (struct introduction_head){ (uint32_t)list_jobs(cards, members, ways, first), (uint32_t)members };
    rc = share_ways(m, ways, first, (int)head->ways);
    memcpy(ways + head->ways, cards, (size_t)members * sizeof *cards);
    *size = sizeof *head + head->ways * sizeof *ways + (size_t)members * sizeof *cards;
    return rc;
}

/* *out is the caller's, but after an error. */
static int introduce_side(const struct meeting *m, void **out, size_t *size)
{
    const size_t members = (size_t)m->local->size;
    struct introduction_head *head = mem_zalloc(sizeof *head + members * (sizeof(struct comm_way) +
                                                                          sizeof(struct place_card)));
    struct place_card *cards = mem_zalloc(members * sizeof *cards);
    int *first = mem_alloc(members * sizeof *first), rc;

    rc = head && cards && first ? outside->get_ready()
                                : err(MPI_ERR_NO_MEM, "no memory for the addresses of %zu processes", members);
    rc = agree(m, rc);
    if (!rc)
        rc = write_side(m, head, cards, first, size);
    mem_free(first);
    mem_free(cards);
    *out = rc ? NULL : head;
    if (rc)
        mem_free(head);
    return rc;
}

/* --- places --- */

/* Does this process ask for all of its job that are in the group? */
static bool is_first_of_job(const struct group *group)
{
    int rank = 0;

    while (place_abroad(group_proc(group, rank)) || comm_is_foreign(group_proc(group, rank)))
        rank++;
    return rank == group->rank;
}

/* Those of one job that have no place here. */
static int learn_job(const struct comm_way *way, const struct place_card *cards, int count)
{
    struct place_card *unknown = mem_alloc((size_t)count * sizeof *unknown);
    int fresh = 0, rc = 0;

    if (!unknown)
        return err(MPI_ERR_NO_MEM, "no memory for the addresses of %d processes", count);
    for (int i = 0; i < count; i++)
        if (cards[i].job == way->job && !place_knows(&cards[i]))
            unknown[fresh++] = cards[i];
    if (fresh)
        rc = outside->meet(way->text, unknown, fresh);
    mem_free(unknown);
    return rc;
}

/* It comes from another job. */
bool comm_read_introduction(const void *data, size_t size, struct comm_introduction *out)
{
    const struct introduction_head *head = data;

    if (size < sizeof *head || !head->cards || head->cards > INT_MAX || head->ways > head->cards ||
        size != sizeof *head + head->ways * sizeof *out->ways + head->cards * sizeof *out->cards)
        return false;
    out->way_count = (int)head->ways;
    out->card_count = (int)head->cards;
    out->ways = (const struct comm_way *)(const void *)(head + 1);
    out->cards = (const struct place_card *)(const void *)(out->ways + head->ways);
    for (int i = 0; i < out->way_count; i++)
        if (!memchr(out->ways[i].text, 0, sizeof out->ways[i].text))
            return false;
    for (int i = 0; i < out->card_count; i++)
        if (!out->cards[i].size || out->cards[i].size > sizeof out->cards[i].address)
            return false;
    return true;
}

static int learn(const void *data, size_t size)
{
    const uint64_t own = place_card(comm_world.proc).job;
    struct comm_introduction theirs;
    int rc = 0;

    if (!comm_read_introduction(data, size, &theirs))
        return err(MPI_ERR_OTHER, "what the other group tells of its processes makes no sense");
    for (int i = 0; i < theirs.way_count && !rc; i++)
        if (theirs.ways[i].job != own)
            rc = learn_job(&theirs.ways[i], theirs.cards, theirs.card_count);
    return rc;
}

int comm_introduce(const struct meeting *meeting)
{
    struct meeting m = *meeting;
    struct agreed agreed;
    void *data = NULL;
    int rc;

    m.named = NULL;
    m.what_for = MEET_FOR_NONE;
    m.size = 0;
    m.failed = introduce_side(&m, &data, &m.size);
    m.data = data;
    rc = comm_meet(&m, &agreed);
    mem_free(data);
    if (m.failed || rc)
        return m.failed ? m.failed : rc;
    rc = agree(&m, is_first_of_job(m.local->group) ? learn(agreed.data, agreed.size) : 0);
    comm_agreed_drop(&agreed);
    return rc;
}

int comm_acquaint(struct comm *comm, const char *call)
{
    const struct meeting m = { .local = comm, .call = call };
    size_t size;
    void *data;
    int rc = introduce_side(&m, &data, &size);

    if (rc)
        return rc;
    rc = agree(&m, is_first_of_job(comm->group) ? learn(data, size) : 0);
    mem_free(data);
    return rc;
}

/* --- the end of it --- */

/* Three jobs and more: who is first in common order, and a number that his job has given only once. */
static int agree_on_circle(const struct meeting *m, const struct group *remote, const struct agreed *agreed,
                           uint32_t *ctx)
{
    struct group *all;
    char name[64];
    int rc = comm_group_of_both(m->local->group, remote, &all);

    if (rc)
        return rc;
    snprintf(name, sizeof name, "meeting %" PRIx64 " %" PRIx64, agreed->chief, agreed->ctx);
    rc = comm_circle_agree(all, name, ctx);
    group_unref(all);
    return rc;
}

int comm_settle(const struct meeting *meeting, struct group *remote, int rc, struct agreed *agreed)
{
    const bool is_of_many = !rc && comm_is_of_many(meeting->local->group, remote);
    struct meeting m = *meeting;
    struct agreed last;
    uint32_t ctx = 0;
    int failed;

    m.named = NULL;
    m.what_for = rc || is_of_many ? MEET_FOR_NONE : MEET_FOR_ONE;
    m.size = 0;
    m.failed = rc;
    if (!rc && !is_of_many) {
        m.bond = comm_abroad_in_group(m.local->group);
        m.bond = m.bond ? m.bond : comm_abroad_in_group(remote);
    }
    failed = comm_meet(&m, &last);
    if (!rc && !failed) {
        comm_agreed_drop(&last);
        ctx = (uint32_t)last.ctx;
        failed = is_of_many ? agree_on_circle(&m, remote, agreed, &ctx) : 0;
    }
    agreed->ctx = ctx;
    if (rc || failed)
        group_unref(remote);
    return rc ? rc : failed;
}
