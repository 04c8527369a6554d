/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: when there is a report of who waits for whom. Once a second the status pages of the ranks are looked at,
 * which wakes nobody. When some have waited long enough and the graph says that they may wait for ever, and also when
 * somebody wants a report, the ranks are asked what lies in their queues. A moment later all is read again, and told.
 *
 * Proof that a rank's wait is not about to end: between two looks of ours the rank has looked at everything at least
 * twice, the second time all of it after our first look, and nothing has moved. So nothing that others had stored
 * before was left to be taken; and if that holds for all whom it could hear from, they have stored nothing since. */
#include "hang.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "sys/bell.h"

#define LOOK_SECONDS   1.0
#define ASK_SECONDS    0.4   /* a rank answers within its longest sleep, a tenth of a second */
#define STEP_SECONDS   0.005
#define SETTLED_SECONDS 0.25 /* before that, somebody may just be on the way to sleep */
#define FAR_SECONDS    1.5   /* an agent answers, with what it has */
#define FAR_SETTLED_SECONDS 2.0 /* and a message may be on its way between machines */

/* What a rank's page said when it was first seen in its present state. */
struct last_look {
    uint32_t lock, looks;
    int64_t moved_ns, since_ns;
    bool is_blocked;
    bool is_asleep; /* when it was asked, and it had not said what it waits for: it does that when it wakes up */
    bool is_told; /* this very wait has been reported without being asked for */
};

struct hang {
    struct last_look *last; /* by rank */
    unsigned wanted;        /* reports that are being made: bits of enum hang_purpose */
    bool is_looking;        /* agents are to look before the ranks are asked */
    int64_t give_up_ns;     /* time to report with the answers that there are */
    struct source **askers;
    int asker_count;
};

static struct hang *hang_of(struct job *job)
{
    if (!job->hang) {
        job->hang = need(sizeof *job->hang);
        job->hang->last = need(job->head->slots * sizeof *job->hang->last);
    }
    return job->hang;
}

void hang_forget(struct job *job, int rank)
{
    if (job->hang)
        job->hang->last[rank] = (struct last_look){ 0 };
    hang_far_forget(job, rank);
}

/* --- the graph --- */

/* Has its wait been the same since the last look, and has it found nothing in all places? */
static bool is_proved(const struct page_view *page, const struct last_look *last, int64_t now, double seconds)
{
    const struct job_status *status = &page->status;

    return page->is_blocked && !page->has_more_threads && status->flags & JOB_WAIT_WHOLE && last->is_blocked &&
           status->lock == last->lock && status->moved_ns == last->moved_ns && status->looks - last->looks >= 2 &&
           (double)(now - status->moved_ns) >= seconds * 1e9;
}

static void add_need(struct wait_node *node, int rank, const uint64_t *set)
{
    if (node->need_count < WAIT_NEEDS)
        node->need[node->need_count++] = (struct wait_need){ rank, set };
}

/* Who could be any of several: those named, as far as there was room. */
static const uint64_t *set_of(const struct hang_view *view, const struct job_status *status)
{
    return status->flags & JOB_WAIT_WIDE || view->size > JOB_SET_RANKS ? NULL : status->peers;
}

static bool may_return(const struct hang_view *view, const struct job_status *status)
{
    return status->flags & JOB_WAIT_RETURN &&
           (status->peer_world < 0 ||
            (!hang_is_foreign(view, status->peer_world) && view->page[status->peer_world].state == JOB_FINALISED));
}

/* That `peer` does something; of any of several if that is -1. Those of other clients may do so at any time. */
static void add_need_of(const struct hang_view *view, const struct job_status *status, int peer, const uint64_t *set,
                        struct wait_node *node)
{
    if (!hang_is_foreign(view, peer) && (peer >= 0 || !(status->flags & JOB_WAIT_FOREIGN)))
        add_need(node, peer >= 0 ? peer : WAIT_ANYONE, set);
}

/* All that must happen before it can go on; none: something else may end its wait. */
static void add_needs(const struct hang_view *view, const struct job_status *status, struct wait_node *node)
{
    const uint64_t *set = set_of(view, status);

    if (may_return(view, status))
        return;
    if (status->threads > 1) { /* what the others wait for is not known */
        if (!view->joint)
            add_need(node, WAIT_ANYONE, NULL);
        return;
    }
    if (status->flags & JOB_WAIT_ANY) {
        if (!(status->flags & JOB_WAIT_OUTSIDE))
            add_need_of(view, status, -1, set, node);
        return;
    }
    if (status->way != JOB_BLOCKED_OTHERWISE)
        add_need_of(view, status, status->peer_world, set, node);
    for (uint32_t i = 0; i < status->wants && i < JOB_WANTS; i++)
        if (status->want[i].peer_world >= 0)
            add_need_of(view, status, status->want[i].peer_world, NULL, node);
}

static void make_node(const struct hang_view *view, int rank)
{
    const struct page_view *page = &view->page[rank];
    struct wait_node *node = &view->node[rank];

    *node = (struct wait_node){ .state = WAIT_ACTS };
    if (page->is_abroad)
        return;
    if (page->state == JOB_FINALISED || page->state == JOB_EXITED || page->state == JOB_NONE)
        node->state = WAIT_GONE;
    if (!page->is_blocked)
        return;
    node->state = WAIT_BLOCKED;
    add_needs(view, &page->status, node);
}

/* Find those that wait for ever. Whose wait is not proved counts as acting for that. */
static void find_stuck(struct job *job, struct hang_view *view, double seconds)
{
    const struct hang *hang = hang_of(job);
    int64_t last_moved = 0;

    for (int i = 0; i < view->size; i++) {
        view->page[i].is_proved = is_proved(&view->page[i], &hang->last[i], view->now, seconds);
        make_node(view, i);
        if (view->node[i].state == WAIT_BLOCKED && !view->page[i].is_proved)
            view->node[i].state = WAIT_ACTS;
    }
    waits_find_stuck(view->node, view->size);
    for (int i = 0; i < view->size; i++) {
        if (view->page[i].is_blocked)
            view->node[i].state = WAIT_BLOCKED;
        if (!view->node[i].is_stuck)
            continue;
        view->stuck++;
        if (view->page[i].status.moved_ns > last_moved)
            last_moved = view->page[i].status.moved_ns;
    }
    view->quiet = (double)(view->now - last_moved) / 1e9;
}

/* --- looking --- */

/* What has not changed keeps its first look. */
void hang_remember(struct job *job, const struct hang_view *view)
{
    struct hang *hang = hang_of(job);

    for (int i = 0; i < view->size; i++) {
        const struct page_view *page = &view->page[i];
        struct last_look *last = &hang->last[i];
        if (page->is_blocked && last->is_blocked && page->status.lock == last->lock &&
            page->status.moved_ns == last->moved_ns)
            continue;
        if (!page->is_blocked || page->status.since_ns != last->since_ns)
            last->is_told = false;
        last->since_ns = page->status.since_ns;
        last->is_blocked = page->is_blocked;
        last->lock = page->status.lock;
        last->looks = page->status.looks;
        last->moved_ns = page->status.moved_ns;
    }
}

bool hang_is_suspicious(const struct job *job, double seconds)
{
    const int64_t before = now_ns() - (int64_t)(seconds * 1e9);

    for (int i = 0; i < job->used; i++) {
        const struct job_proc *proc = job_proc(job->head, i);
        if (!is_far(job, i) && atomic_load_explicit(&proc->state, memory_order_relaxed) == JOB_INITIALISED &&
            proc->status.way != JOB_NOT_BLOCKED &&
            atomic_load_explicit(&proc->status.moved_ns, memory_order_relaxed) <= before)
            return true;
    }
    return false;
}

/* Stuck, and none of them has been told of. */
static bool is_news(const struct hang *hang, const struct hang_view *view)
{
    for (int i = 0; i < view->size; i++)
        if (view->node[i].is_stuck && hang->last[i].is_told)
            return false;
    return view->stuck > 0;
}

static void set_timer(struct job *job)
{
    const double part = job->options.hang_report / 4;

    timer_set(job, TIMER_HANG, part < LOOK_SECONDS ? part : LOOK_SECONDS);
}

void hang_start(struct job *job)
{
    if (job->options.hang_report > 0)
        timer_set(job, TIMER_HANG, job->options.hang_report);
}

void hang_look(struct job *job)
{
    struct hang_view *view;
    struct hang *hang;
    bool is_suspicious;

    if (job->is_ending)
        return;
    set_timer(job);
    if ((job->hang && job->hang->wanted) || hang_far_is_waiting(job))
        return;
    is_suspicious = hang_is_suspicious(job, job->options.hang_report) || hang_far_is_suspicious(job);
    hang_far_look(job, is_suspicious, false);
    if (!is_suspicious)
        return;
    hang = hang_of(job);
    view = pages_read(job, false);
    find_stuck(job, view, job->options.hang_report);
    hang_remember(job, view);
    if (is_news(hang, view))
        hang_want(job, HANG_UNASKED);
    pages_free(view);
}

/* --- asking --- */

/* A collective call in which somebody waits for `rank`, if it is not in it itself. */
static const struct job_status *missed_in(const struct hang_view *view, int rank)
{
    const struct job_status *own = &view->page[rank].status, *found = NULL;

    for (int i = 0; i < view->size; i++) {
        const struct job_status *status = &view->page[i].status;
        if (!view->page[i].is_blocked || !status->sequence ||
            (view->page[rank].is_blocked && own->sequence == status->sequence && own->ctx == status->ctx))
            continue;
        if (status->peer_world == rank)
            return status;
        if (!found && status->flags & JOB_WAIT_WHOLE && rank < JOB_SET_RANKS &&
            status->peers[rank / 64] >> rank % 64 & 1)
            found = status;
    }
    return found;
}

void hang_put_question(struct job *job, int rank, uint64_t ctx, uint64_t sequence)
{
    struct job_proc *proc = job_proc(job->head, rank);

    proc->question.ctx = ctx;
    proc->question.sequence = sequence;
    atomic_fetch_add_explicit(&proc->question.number, 1, memory_order_release); /* pairs with the rank's look */
    hang_of(job)->last[rank].is_asleep = proc->status.way == JOB_NOT_BLOCKED &&
                                         atomic_load_explicit(&proc->sleep, memory_order_relaxed);
    bell_wake(-1, job->head, &proc->sleep);
}

static void ask(struct job *job, const struct hang_view *view, int rank)
{
    const struct job_status *missed = missed_in(view, rank);
    const uint64_t ctx = missed ? missed->ctx : 0, sequence = missed ? missed->sequence : 0;

    if (is_far(job, rank))
        hang_far_ask(job, rank, ctx, sequence);
    else
        hang_put_question(job, rank, ctx, sequence);
}

void hang_await_answers(struct job *job)
{
    hang_of(job)->give_up_ns = now_ns() + (int64_t)(ASK_SECONDS * 1e9);
    timer_set(job, TIMER_ANSWERS, STEP_SECONDS);
}

static void ask_all(struct job *job)
{
    struct hang_view *view = pages_read(job, false);
    struct hang *hang = hang_of(job);

    hang->is_looking = false;
    hang_remember(job, view);
    for (int i = 0; i < view->size; i++)
        if (view->page[i].state == JOB_INITIALISED)
            ask(job, view, i);
    hang_far_look(job, true, true);
    hang->give_up_ns = now_ns() + (int64_t)((job->links ? FAR_SECONDS : ASK_SECONDS) * 1e9);
    timer_set(job, TIMER_ANSWERS, STEP_SECONDS);
    pages_free(view);
}

static void tell_askers(struct job *job, const char *text)
{
    struct hang *hang = job->hang;

    for (int i = 0; i < hang->asker_count; i++)
        control_reply(job, hang->askers[i], text);
    hang->asker_count = 0;
}

/* The report is out, or there is none; now what has waited for it. */
static void go_on(struct job *job)
{
    const unsigned wanted = job->hang->wanted;

    job->hang->wanted = 0;
    if (wanted & HANG_SIGNAL)
        signals_quit(job);
    if (wanted & HANG_LIMIT)
        job_limit(job);
}

void hang_want(struct job *job, enum hang_purpose purpose)
{
    struct hang *hang = hang_of(job);
    const bool is_asking = hang->wanted;

    hang->wanted |= purpose;
    if (is_asking)
        return;
    hang->is_looking = true;
    hang->give_up_ns = now_ns() + (int64_t)(FAR_SECONDS * 1e9);
    hang_far_look(job, true, false);
    if (hang_far_is_waiting(job))
        timer_set(job, TIMER_ANSWERS, STEP_SECONDS);
    else
        ask_all(job);
}

/* Have all that wait answered, and looked around often enough? */
static bool is_answered(struct job *job)
{
    const struct hang *hang = job->hang;

    if (now_ns() >= hang->give_up_ns)
        return true;
    if (hang_far_is_waiting(job))
        return false;
    for (int i = 0; i < job->used; i++) {
        const struct job_proc *proc = job_proc(job->head, i);
        const struct job_status *status = &proc->status;
        if (!is_far(job, i) && hang->last[i].is_asleep && status->way == JOB_NOT_BLOCKED)
            return false;
        if (is_far(job, i) || !hang->last[i].is_blocked || status->way == JOB_NOT_BLOCKED ||
            atomic_load_explicit(&proc->state, memory_order_relaxed) != JOB_INITIALISED)
            continue;
        if (atomic_load_explicit(&proc->answer.number, memory_order_relaxed) !=
                atomic_load_explicit(&proc->question.number, memory_order_relaxed) ||
            atomic_load_explicit(&status->looks, memory_order_relaxed) - hang->last[i].looks < 2)
            return false;
    }
    return true;
}

static bool has_mpi(const struct hang_view *view)
{
    for (int i = 0; i < view->size; i++)
        if (view->page[i].state >= JOB_INITIALISED && view->page[i].state != JOB_EXITED)
            return true;
    return false;
}

static void mark_told(struct hang *hang, const struct hang_view *view)
{
    for (int i = 0; i < view->size; i++)
        hang->last[i].is_told |= view->node[i].is_stuck;
}

static void print(struct job *job, const char *report)
{
    struct text text = { 0 };

    text_add(&text, "parley: mpiexec: %s", report);
    forward_print(job, text.data);
    mem_free(text.data);
}

/* Tell all who want it. What nobody has asked for is told only if it is still so. */
static void tell(struct job *job, const struct hang_view *view)
{
    struct hang *hang = job->hang;
    const bool is_wanted = hang->wanted & (HANG_SIGNAL | (job->options.quiet ? 0 : HANG_LIMIT)) && has_mpi(view);
    const bool is_unasked = hang->wanted & HANG_UNASKED && is_news(hang, view) && !job->options.quiet;
    char *report = hang_text(view);

    if (is_wanted || is_unasked)
        print(job, report);
    if (hang->wanted & HANG_UNASKED)
        mark_told(hang, view);
    tell_askers(job, report);
    mem_free(report);
}

/* All has come that a report is made of. */
static void report(struct job *job)
{
    struct hang_view *view = pages_read(job, true);

    find_stuck(job, view, job->links ? FAR_SETTLED_SECONDS : SETTLED_SECONDS);
    tell(job, view);
    pages_free(view);
    go_on(job);
}

/* Have the agents looked, or had the time to? */
static bool is_looked(const struct job *job)
{
    return !hang_far_is_waiting(job) || now_ns() >= job->hang->give_up_ns;
}

void hang_answers(struct job *job)
{
    struct hang *hang = job->hang;

    if (!hang || (!hang->wanted && !job->root))
        return;
    if (hang->is_looking ? !is_looked(job) : !is_answered(job))
        timer_set(job, TIMER_ANSWERS, STEP_SECONDS);
    else if (hang->is_looking)
        ask_all(job);
    else if (job->root)
        hang_there_answered(job);
    else
        report(job);
}

void hang_want_for(struct job *job, struct source *asker)
{
    struct hang *hang = hang_of(job);

    hang->askers = need_more(hang->askers, ((size_t)hang->asker_count + 1) * sizeof(struct source *));
    hang->askers[hang->asker_count++] = asker;
    hang_want(job, HANG_ASKED);
}
