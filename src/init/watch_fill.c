/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: init. What stands in this rank's status page, and in its answer to the launcher: communicators by name, peers
 * by rank, what is pending, what lies in the queues. When that is written: watch.c. */
#include <stdio.h>
#include <string.h>

#include "init/int_init.h"
#include "obj/comm.h"
#include "obj/req.h"
#include "p2p/lane.h"
#include "sys/callsite.h"

/* Cut off, with a zero; what is behind it does not matter. */
static void set_text(char *text, size_t size, const char *value)
{
    const size_t length = strnlen(value, size - 1);

    memcpy(text, value, length);
    text[length] = 0;
}

static void set_comm_name(char *text, size_t size, const struct comm *comm)
{
    char label[COMM_LABEL_SIZE];

    set_text(text, size, obj_comm_label(comm, label));
}

/* --- the page --- */

static void fill_comm(struct job_status *page, const struct comm *comm)
{
    page->ctx = comm->ctx;
    page->comm_size = comm->size;
    set_comm_name(page->comm_name, sizeof page->comm_name, comm);
}

static int way_of(const struct blocked *b)
{
    if (b->way == BLOCKED_OTHERWISE)
        return JOB_BLOCKED_OTHERWISE;
    return b->way == BLOCKED_SENDING ? JOB_SENDING : JOB_RECEIVING;
}

/* The peer's number among all processes; -1: it may be any. */
static int proc_of(const struct blocked *b)
{
    if (b->peer < 0)
        return -1;
    return b->comm ? group_proc(b->comm->remote_group, b->peer) : b->peer;
}

static void fill_peer(struct job_status *page, const struct blocked *b)
{
    page->peer = b->peer;
    page->peer_world = proc_of(b);
    if (b->is_coll) {
        page->sequence = b->sequence;
        return;
    }
    page->tag = b->tag;
    page->count = b->count;
    set_text(page->type_name, sizeof page->type_name, b->type ? b->type : "");
}

void watch_fill(struct job_status *page, const struct blocked *b)
{
    page->way = way_of(b);
    page->peer = page->tag = JOB_NO_VALUE;
    page->count = page->peer_world = -1;
    page->comm_size = 0;
    page->ctx = page->sequence = page->call_site = 0;
    page->flags = page->pending = page->wants = 0;
    page->comm_name[0] = page->type_name[0] = 0;
    set_text(page->peer_noun, sizeof page->peer_noun, b->peer_noun ? b->peer_noun : "rank");
    set_text(page->tag_noun, sizeof page->tag_noun, b->tag_noun ? b->tag_noun : "tag");
    snprintf(page->call_name, sizeof page->call_name, "%s%s%s", b->call, b->of ? " of " : "", b->of ? b->of : "");
    if (b->comm)
        fill_comm(page, b->comm);
    if (page->way != JOB_BLOCKED_OTHERWISE && !b->is_of_anyone)
        fill_peer(page, b);
    if (b->may_return)
        page->flags |= JOB_WAIT_RETURN;
}

/* --- the rest of it --- */

struct rest {
    struct job_status *page;
    bool is_outside; /* something that no rank ends is among what is pending */
};

static bool is_foreign(int proc)
{
    return process.job.joint && proc >= (int)process.job.joint->slots;
}

static void add_peer(struct job_status *page, int proc)
{
    if (is_foreign(proc))
        page->flags |= JOB_WAIT_FOREIGN;
    else if (proc < JOB_SET_RANKS)
        page->peers[proc / 64] |= UINT64_C(1) << proc % 64;
    else
        page->flags |= JOB_WAIT_WIDE;
}

static void add_group(struct job_status *page, const struct group *group)
{
    for (int rank = 0; rank < group->size; rank++)
        add_peer(page, group_proc(group, rank));
}

/* Whom it may be waiting for. */
static void add_peers(struct rest *rest, const struct blocked *b)
{
    if (way_of(b) == JOB_BLOCKED_OTHERWISE)
        rest->is_outside = true;
    else if (!b->is_of_anyone && b->peer >= 0)
        add_peer(rest->page, proc_of(b));
    else if (b->comm)
        add_group(rest->page, b->comm->remote_group);
    else
        rest->page->flags |= JOB_WAIT_WIDE | (process.job.joint ? JOB_WAIT_FOREIGN : 0);
}

static void add_want(struct job_status *page, const struct blocked *b)
{
    struct job_envelope *want = &page->want[page->wants++];

    *want = (struct job_envelope){ .way = way_of(b), .peer = b->peer, .tag = b->tag, .count = b->count,
                                   .peer_world = -1 };
    if (b->comm) {
        want->ctx = b->comm->ctx;
        set_comm_name(want->comm_name, sizeof want->comm_name, b->comm);
    }
    if (want->way != JOB_BLOCKED_OTHERWISE)
        want->peer_world = proc_of(b);
    if (b->type)
        set_text(want->type_name, sizeof want->type_name, b->type);
}

static void on_pending(const struct blocked *b, void *arg)
{
    struct rest *rest = arg;
    struct job_status *page = rest->page;

    page->pending++;
    if (page->pending > 1 && page->wants < JOB_WANTS)
        add_want(page, b);
    add_peers(rest, b);
}

/* All pending requests must end, so it is enough to know of the first one: whom its peer may be, or who is in the
 * collective call. */
static void fill_peers_of_first(struct rest *rest, const struct blocked *b)
{
    rest->page->flags &= ~(uint32_t)(JOB_WAIT_WIDE | JOB_WAIT_FOREIGN);
    rest->is_outside = false;
    memset(rest->page->peers, 0, sizeof rest->page->peers);
    if (b->is_coll)
        add_group(rest->page, b->comm->group);
    else
        add_peers(rest, b);
}

void watch_fill_rest(struct job_status *page, const struct progress_long *wait, const struct blocked *b)
{
    struct rest rest = { .page = page };

    memset(page->peers, 0, sizeof page->peers);
    page->call_site = callsite_find();
    if (req_each_blocked(wait, on_pending, &rest))
        page->flags |= JOB_WAIT_ANY;
    else
        fill_peers_of_first(&rest, b);
    if (rest.is_outside)
        page->flags |= JOB_WAIT_OUTSIDE;
    if (init_has_threads())
        page->flags |= JOB_WAIT_THREADS;
    page->flags |= JOB_WAIT_WHOLE;
}

/* --- the queues --- */

struct queue {
    const struct job_status *page;
    struct job_envelope *best; /* JOB_STRAYS of them, the most similar first */
    int score[JOB_STRAYS];
    uint32_t count;
};

static int similarity(const struct job_status *page, const struct p2p_envelope *e)
{
    const bool is_same_peer = page->peer_world < 0 || e->proc < 0 || e->proc == page->peer_world;

    return 4 * is_same_peer + 2 * (e->ctx == page->ctx) + (page->tag < 0 || e->tag < 0 || e->tag == page->tag);
}

static void set_envelope(struct job_envelope *to, const struct p2p_envelope *e)
{
    *to = (struct job_envelope){ .way = JOB_RECEIVING, .peer = e->source, .tag = e->tag, .count = e->count,
                                 .ctx = e->ctx, .peer_world = e->proc };
    if (e->comm)
        set_comm_name(to->comm_name, sizeof to->comm_name, e->comm);
    if (e->type)
        set_text(to->type_name, sizeof to->type_name, e->type);
}

static void on_queued(const struct p2p_envelope *e, void *arg)
{
    struct queue *queue = arg;
    const int score = similarity(queue->page, e);
    int place = JOB_STRAYS;

    queue->count++;
    while (place > 0 && score > queue->score[place - 1])
        place--;
    if (place == JOB_STRAYS)
        return;
    for (int i = JOB_STRAYS - 1; i > place; i--) {
        queue->best[i] = queue->best[i - 1];
        queue->score[i] = queue->score[i - 1];
    }
    set_envelope(&queue->best[place], e);
    queue->score[place] = score;
}

/* What is waited for is posted, too. */
static bool is_wanted(const struct job_status *page, const struct p2p_envelope *e)
{
    if (page->way == JOB_RECEIVING && !page->sequence && page->ctx == e->ctx && page->peer == e->source &&
        page->tag == e->tag)
        return true;
    for (uint32_t i = 0; i < page->wants; i++)
        if (page->want[i].ctx == e->ctx && page->want[i].peer == e->source && page->want[i].tag == e->tag)
            return true;
    return false;
}

static void on_posted(const struct p2p_envelope *e, void *arg)
{
    const struct queue *queue = arg;

    if (!is_wanted(queue->page, e))
        on_queued(e, arg);
}

void watch_fill_queues(struct job_answer *answer, const struct job_status *page)
{
    struct queue strays = { .page = page, .best = answer->stray, .score = { -1, -1, -1, -1 } };
    struct queue posted = { .page = page, .best = answer->posted, .score = { -1, -1, -1, -1 } };

    p2p_each_unexpected(on_queued, &strays);
    p2p_each_posted(on_posted, &posted);
    answer->stray_count = strays.count;
    answer->posted_count = posted.count;
}
