/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: what follows from a view of all ranks: who is missing in a collective call, which ranks wait for each other,
 * who waits for somebody that has left, and for whom that is still at work; what to do. Each only as far as it is
 * sure. Messages that are nearly what is waited for: hang_near.c. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "hang.h"

enum { ROOTS_MAX = 8, PLACES_MAX = 8, CYCLES_MAX = 8, CYCLE_SHOWN = 16 };

/* What advice fits. */
struct advice {
    bool is_missing, is_mismatch, is_near, is_sending, is_receiving, is_gone, is_any,
        is_window;
};

struct why {
    struct text *text;
    const struct hang_view *view;
    struct advice advice;
    bool *mark, *other; /* scratch, by rank */
    bool *is_named;     /* it has been told where this rank is */
    int *order;
};

static const struct job_status *status_of(const struct why *why, int rank)
{
    return &why->view->page[rank].status;
}

static void begin(const struct why *why)
{
    text_add(why->text, "    * ");
}

/* "    * ranks 0-2 wait" */
static void begin_waiting(const struct why *why, const bool *mark)
{
    begin(why);
    text_add(why->text, hang_add_ranks(why->text, mark, why->view) == 1 ? " waits" : " wait");
}

static bool is_marked(const struct why *why, const bool *mark)
{
    for (int i = 0; i < why->view->size; i++)
        if (mark[i])
            return true;
    return false;
}

/* --- collective calls --- */

/* Calls that no member leaves before all have entered it. */
static bool is_meeting(const char *call)
{
    static const char *const others[] = { "MPI_Bcast",   "MPI_Gather",   "MPI_Gatherv", "MPI_Reduce",
                                          "MPI_Scatter", "MPI_Scatterv", "MPI_Scan",    "MPI_Exscan" };

    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (!strcmp(call, others[i]))
            return false;
    return strncmp(call, "MPI_Neighbor", 12) != 0;
}

/* What a rank has not done that is not in the call. One that computes may do so for a reduction, in it. */
static const char *not_done(const char *call)
{
    return strstr(call, "educe") || strstr(call, "can") ? "not done its part in" : "not entered";
}

static bool is_in_call(const struct why *why, int rank, const struct job_status *call)
{
    const struct job_status *status = status_of(why, rank);

    return why->view->page[rank].is_blocked && status->sequence == call->sequence && status->ctx == call->ctx;
}

static bool is_member(const struct why *why, int rank, const struct job_status *call)
{
    return why->view->size <= JOB_SET_RANKS && call->flags & JOB_WAIT_WHOLE && call->peers[rank / 64] >> rank % 64 & 1;
}

/* Does somebody in the call wait for this rank? */
static bool is_awaited(const struct why *why, int rank, const struct job_status *call)
{
    for (int i = 0; i < why->view->size; i++)
        if (is_in_call(why, i, call) && status_of(why, i)->peer_world == rank)
            return true;
    return false;
}

/* How many collective calls a rank has begun on the communicator of `call`; -1: not known. */
static int64_t calls_of(const struct why *why, int rank, const struct job_status *call)
{
    const struct page_view *page = &why->view->page[rank];
    const bool has_left = page->state == JOB_FINALISED || page->state == JOB_EXITED;

    if (page->is_blocked && page->status.ctx == call->ctx && page->status.sequence)
        return (int64_t)page->status.sequence;
    if ((has_left || (page->is_blocked && page->has_answer)) && page->answer.ctx == call->ctx)
        return (int64_t)page->answer.sequence;
    return -1;
}

/* What a rank has called as its call of that number; NULL: not known. */
static const char *own_call(const struct why *why, int rank, const struct job_status *call)
{
    const struct page_view *page = &why->view->page[rank];
    const bool has_left = page->state == JOB_FINALISED || page->state == JOB_EXITED;

    if (is_in_call(why, rank, call))
        return page->status.call_name;
    if (page->answer.ctx != call->ctx || !*page->answer.call_name)
        return NULL;
    if (has_left)
        return page->answer.sequence == call->sequence ? page->answer.call_name : NULL;
    return page->has_answer && page->is_blocked ? page->answer.call_name : NULL;
}

/* Ranks that have called something else where others are in `call`. */
static bool add_mismatch(struct why *why, const struct job_status *call)
{
    bool is_told = false;

    for (int i = 0; i < why->view->size; i++) {
        const char *name = own_call(why, i, call);
        if (!name || !strcmp(name, call->call_name) || (!is_in_call(why, i, call) && !is_awaited(why, i, call)))
            continue;
        if (!is_told) {
            memset(why->mark, 0, (size_t)why->view->size * sizeof *why->mark);
            for (int j = 0; j < why->view->size; j++)
                why->mark[j] = is_in_call(why, j, call) && !strcmp(status_of(why, j)->call_name, call->call_name);
            begin(why);
            text_add(why->text, "different calls as number %llu of the collective calls on %s: %s by ",
                     (unsigned long long)call->sequence, call->comm_name, call->call_name);
            hang_add_ranks(why->text, why->mark, why->view);
        }
        text_add(why->text, ", %s by ", name);
        hang_add_rank(why->text, why->view, i);
        is_told = true;
    }
    if (is_told)
        text_add(why->text, "\n");
    why->advice.is_mismatch |= is_told;
    return is_told;
}

static void add_past(struct why *why, int rank, const struct job_status *call)
{
    begin(why);
    hang_add_rank(why->text, why->view, rank);
    text_add(why->text, " has left %s on %s, in which others wait for it: it is ", call->call_name, call->comm_name);
    hang_add_place(why->text, why->view, rank);
    text_add(why->text, "\n");
    why->advice.is_mismatch = why->is_named[rank] = true;
}

static char *place_of(const struct why *why, int rank)
{
    struct text text = { 0 };

    hang_add_place(&text, why->view, rank);
    return text.data;
}

/* Those that are left, when more would be too much: the table has them. */
static void add_missing_rest(struct why *why, const struct job_status *call)
{
    begin(why);
    text_add(why->text, hang_add_ranks(why->text, why->mark, why->view) == 1 ? " has" : " have");
    text_add(why->text, " %s it either: see above\n", not_done(call->call_name));
    for (int i = 0; i < why->view->size; i++)
        why->is_named[i] |= why->mark[i];
}

/* Ranks that do the same are told of in one line. */
static void add_missing_together(struct why *why, const struct job_status *call)
{
    int lines = 0;

    for (int i = 0; i < why->view->size; i++) {
        char *place;
        if (!why->mark[i])
            continue;
        if (lines++ == PLACES_MAX) {
            add_missing_rest(why, call);
            return;
        }
        place = place_of(why, i);
        memset(why->other, 0, (size_t)why->view->size * sizeof *why->other);
        for (int j = i; j < why->view->size; j++) {
            char *other = why->mark[j] ? place_of(why, j) : NULL;
            why->other[j] = other && !strcmp(place, other);
            why->is_named[j] |= why->other[j];
            why->mark[j] &= !why->other[j];
            mem_free(other);
        }
        begin(why);
        if (hang_add_ranks(why->text, why->other, why->view) == 1)
            text_add(why->text, " has %s %s on %s: it is %s\n", not_done(call->call_name), call->call_name,
                     call->comm_name, place);
        else
            text_add(why->text, " have %s %s on %s: they are %s\n", not_done(call->call_name), call->call_name,
                     call->comm_name, place);
        why->advice.is_missing = true;
        mem_free(place);
    }
}

/* Members that are not in the call. Whoever is waited for has not done its part; and in a call that all leave together
 * nobody outside can have been in it then. Of processes of other jobs nothing is known. */
static void add_missing(struct why *why, const struct job_status *call)
{
    bool is_certain = false;

    memset(why->mark, 0, (size_t)why->view->size * sizeof *why->mark);
    for (int i = 0; i < why->view->size; i++) {
        const int64_t calls = calls_of(why, i, call);
        if (is_in_call(why, i, call) || why->view->page[i].world < 0)
            continue;
        why->mark[i] = is_awaited(why, i, call);
        if (why->mark[i] && calls >= (int64_t)call->sequence) {
            add_past(why, i, call);
            why->mark[i] = false;
        } else if (is_member(why, i, call) && calls >= 0 && calls < (int64_t)call->sequence) {
            why->mark[i] = true;
        }
        is_certain |= why->mark[i];
    }
    for (int i = 0; is_certain && is_meeting(call->call_name) && i < why->view->size; i++)
        why->mark[i] |= is_member(why, i, call) && !is_in_call(why, i, call) && why->view->page[i].world >= 0 &&
                        calls_of(why, i, call) < (int64_t)call->sequence;
    add_missing_together(why, call);
}

/* All members are in it, and for ever. */
static bool is_complete(const struct why *why, const struct job_status *call)
{
    for (int i = 0; i < why->view->size; i++)
        if (is_member(why, i, call) && !(is_in_call(why, i, call) && why->view->node[i].is_stuck))
            return false;
    return why->view->size <= JOB_SET_RANKS && call->flags & JOB_WAIT_WHOLE && !(call->flags & JOB_WAIT_FOREIGN);
}

static bool is_first_of_call(const struct why *why, int rank)
{
    if (!why->view->page[rank].is_blocked || !status_of(why, rank)->sequence)
        return false;
    for (int i = 0; i < rank; i++)
        if (is_in_call(why, i, status_of(why, rank)))
            return false;
    return true;
}

static void add_collectives(struct why *why)
{
    for (int i = 0; i < why->view->size; i++) {
        const struct job_status *call = status_of(why, i);
        if (!is_first_of_call(why, i) || add_mismatch(why, call))
            continue;
        if (!is_complete(why, call)) {
            add_missing(why, call);
            continue;
        }
        begin(why);
        text_add(why->text, "all members of %s are in %s and wait for each other: roots or counts differ between "
                 "them\n", call->comm_name, call->call_name);
        why->advice.is_mismatch = true;
    }
}

/* --- deadlocks and ranks that are gone --- */

static void note_way(struct why *why, int rank)
{
    const struct job_status *status = status_of(why, rank);

    why->advice.is_sending |= status->way == JOB_SENDING;
    why->advice.is_receiving |= status->way == JOB_RECEIVING && !status->sequence && status->tag != JOB_NO_VALUE;
    why->advice.is_window |= status->way == JOB_RECEIVING && !status->sequence && status->tag == JOB_NO_VALUE;
}

/* Of the first world the number will do. */
static void add_short(const struct why *why, int place)
{
    if (why->view->page[place].world)
        hang_add_rank(why->text, why->view, place);
    else
        text_add(why->text, "%d", why->view->page[place].rank);
}

static void add_next(const struct why *why, int place)
{
    text_add(why->text, " -> ");
    add_short(why, place);
}

static void add_cycles(struct why *why)
{
    int told = 0;

    for (int i = 0; i < why->view->size && told < CYCLES_MAX; i++) {
        const int length = waits_cycle(why->view->node, why->view->size, i, why->order);
        if (!length || why->order[0] != i)
            continue;
        told++;
        begin(why);
        text_add(why->text, "deadlock: ");
        add_short(why, i);
        for (int j = 1; j < length; j++) {
            note_way(why, why->order[j]);
            if (j < CYCLE_SHOWN || j == length - 1)
                add_next(why, why->order[j]);
            else if (j == CYCLE_SHOWN)
                text_add(why->text, " -> ...");
        }
        note_way(why, i);
        add_next(why, i);
        text_add(why->text, " (each waits for the next)\n");
    }
}

static void add_gone(struct why *why)
{
    for (int gone = 0; gone < why->view->size; gone++) {
        const enum job_state state = why->view->page[gone].state;
        if (state != JOB_FINALISED && state != JOB_EXITED)
            continue;
        for (int i = 0; i < why->view->size; i++)
            why->mark[i] = waits_next(why->view->node, why->view->size, i) == gone && !status_of(why, i)->sequence;
        if (!is_marked(why, why->mark))
            continue;
        begin_waiting(why, why->mark);
        text_add(why->text, " for ");
        hang_add_rank(why->text, why->view, gone);
        text_add(why->text, ", which is ");
        hang_add_place(why->text, why->view, gone);
        text_add(why->text, "\n");
        why->advice.is_gone = true;
    }
}

/* Those that any of several could wake, and none of these ever will. */
static void add_any(struct why *why)
{
    for (int i = 0; i < why->view->size; i++)
        why->mark[i] = why->view->node[i].is_stuck && status_of(why, i)->way == JOB_RECEIVING &&
                       waits_next(why->view->node, why->view->size, i) == WAIT_ANYONE;
    if (!is_marked(why, why->mark))
        return;
    begin_waiting(why, why->mark);
    text_add(why->text, " for a message from any of several ranks, and all of these wait for ever themselves or are "
             "done\n");
    why->advice.is_any = true;
}

static void add_own(struct why *why)
{
    for (int i = 0; i < why->view->size; i++) {
        if (!why->view->node[i].is_stuck || waits_next(why->view->node, why->view->size, i) != WAIT_NOBODY)
            continue;
        begin(why);
        hang_add_rank(why->text, why->view, i);
        text_add(why->text, " waits for itself\n");
        why->advice.is_sending |= status_of(why, i)->way == JOB_SENDING;
    }
}

/* --- who is still at work --- */

static void add_roots(struct why *why)
{
    const struct hang_view *view = why->view;
    int told = 0;

    for (int root = 0; root < view->size && told < ROOTS_MAX; root++) {
        if (view->node[root].state != WAIT_ACTS || why->is_named[root] ||
            !waits_find_waiting(view->node, view->size, root, why->mark, why->order))
            continue;
        begin_waiting(why, why->mark);
        text_add(why->text, ", directly or through others, for ");
        hang_add_rank(why->text, view, root);
        text_add(why->text, ", which is ");
        hang_add_place(why->text, view, root);
        text_add(why->text, "\n");
        told++;
    }
}

/* --- ranks of other clients --- */

/* Does a blocked rank wait for this one of another client? */
static bool is_for(const struct why *why, int rank, int number)
{
    const struct job_status *status = status_of(why, rank);
    bool is = status->peer_world == number;

    for (uint32_t i = 0; i < status->wants && i < JOB_WANTS; i++)
        is = is || status->want[i].peer_world == number;
    return why->view->page[rank].is_blocked && is;
}

/* All that is known of them is that somebody waits for them. */
static void add_foreign(struct why *why)
{
    const struct hang_view *view = why->view;
    const int first = view->joint ? (int)view->joint->slots : 0, end = view->joint ? joint_numbers(view->joint) : 0;
    int told = 0;

    for (int number = first; number < end && told < ROOTS_MAX; number++) {
        for (int i = 0; i < view->size; i++)
            why->mark[i] = is_for(why, i, number);
        if (!is_marked(why, why->mark))
            continue;
        begin_waiting(why, why->mark);
        text_add(why->text, " for rank %d, ", joint_rank(view->joint, number));
        hang_add_foreign(why->text, view, number);
        text_add(why->text, ", whose mpiexec knows what it does (kill -QUIT)\n");
        told++;
    }
    for (int i = 0; i < view->size; i++)
        why->mark[i] = view->page[i].is_blocked && status_of(why, i)->flags & JOB_WAIT_FOREIGN &&
                       status_of(why, i)->peer_world < 0 && status_of(why, i)->way == JOB_RECEIVING;
    if (!is_marked(why, why->mark))
        return;
    begin_waiting(why, why->mark);
    text_add(why->text, " for a message from any of several ranks, some of them in other clients\n");
}

/* --- what to do --- */

static void add_advice(const struct why *why)
{
    const struct advice *advice = &why->advice;
    const char *text = NULL;

    if (!why->view->stuck)
        return;
    if (advice->is_mismatch)
        text = "all members of a communicator must make the same collective calls in the same order, with the same "
               "root";
    else if (advice->is_missing)
        text = "a collective call ends when every member of the communicator makes it; look for one that leaves early";
    else if (advice->is_window)
        text = "epochs of windows end in pairs: MPI_Win_start waits for MPI_Win_post, MPI_Win_wait for "
               "MPI_Win_complete, MPI_Win_lock for MPI_Win_unlock of those who hold the lock";
    else if (advice->is_near)
        text = "a message meets its receive when communicator, source and tag agree: compare the two sides";
    else if (advice->is_gone)
        text = "there are more receives than messages, or more sends than receives; compare how often each side goes "
               "round";
    else if (advice->is_any)
        text = "everybody waits and nobody sends: look for a message that was never sent, or to another rank";
    else if (advice->is_sending && advice->is_receiving)
        text = "compare the order and the tags of sends and receives on both sides";
    else if (advice->is_sending)
        text = "these sends wait for their receives, and each rank receives only after its send: use MPI_Sendrecv, "
               "or MPI_Irecv first";
    else if (advice->is_receiving)
        text = "each rank receives before it sends: let one send first, or use MPI_Sendrecv, or MPI_Irecv first";
    if (text)
        text_add(why->text, "    %s\n", text);
}

void hang_add_why(struct text *text, const struct hang_view *view)
{
    const size_t size = (size_t)view->size;
    struct why why = { .text = text, .view = view };

    why.mark = need(size * sizeof *why.mark);
    why.other = need(size * sizeof *why.other);
    why.is_named = need(size * sizeof *why.is_named);
    why.order = need((size + 1) * sizeof *why.order);
    add_collectives(&why);
    add_cycles(&why);
    add_gone(&why);
    add_any(&why);
    add_own(&why);
    add_roots(&why);
    add_foreign(&why);
    why.advice.is_near = hang_add_near(text, view);
    add_advice(&why);
    mem_free(why.mark);
    mem_free(why.other);
    mem_free(why.is_named);
    mem_free(why.order);
}
