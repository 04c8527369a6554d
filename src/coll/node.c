/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Rounds on a shelf: waiting for lines and steps, waking, telling who is waited for, and finding calls that
 * do not go together. Knows: shelf, progress. Does not know: what the calls do. */
#include <stdio.h>

#include "base/err.h"
#include "coll/int_call.h"
#include "coll/int_node.h"
#include "coll/spanning.h"
#include "obj/blocked.h"
#include "sys/clock.h"

/* --- whether --- */

enum { SHELF_TAG = -(1 << 30) - 32 }; /* below the tags of calls, above those of leaders (coll.h) */

/* What carries messages between the members: the communicator, or that of all of them. */
static struct comm *carrier(struct comm *comm)
{
    return comm->whole ? comm->whole : comm;
}

/* A member's rank there. */
static int rank_of(const struct comm *comm, int rank)
{
    return comm->whole ? group_rank_of(comm->whole->group, group_proc(comm->group, rank)) : rank;
}

/* To rank 0 and back: can all of them? */
static int agree(struct comm *comm, bool *can)
{
    const struct coll_block block = { can, sizeof *can, obj_type(MPI_BYTE) };
    int rc = 0;

    if (comm->rank)
        rc = coll_send(carrier(comm), SHELF_TAG, &block, rank_of(comm, 0));
    for (int rank = 1; comm->rank == 0 && rank < comm->size && !rc; rank++) {
        bool other = false; /* what comes may be an error */

        rc = coll_recv(carrier(comm), SHELF_TAG, &(struct coll_block){ &other, sizeof other, block.type },
                       rank_of(comm, rank));
        *can = *can && other;
    }
    return rc ? rc : coll_group_bcast(carrier(comm), comm->group, can, sizeof *can, SHELF_TAG, 0);
}

/* Rank 0 takes a shelf and tells the others. */
static bool ask(struct comm *comm)
{
    struct comm_shelf shelf = { 0 };
    bool can = true;

    if (comm->rank == 0)
        shelf = shelf_take(comm);
    if (coll_group_bcast(carrier(comm), comm->group, &shelf, sizeof shelf, SHELF_TAG, 0) || !shelf.number)
        return false;
    if (comm->rank)
        can = shelf_open(comm, shelf);
    if (!agree(comm, &can) && can)
        return true;
    comm->shelf = shelf;
    shelf_leave(comm);
    return false;
}

bool node_first(struct comm *comm)
{
    if (comm->is_inter || comm->size == 1 || !shelf_is_offered() || coll_spread_look(comm) || comm->spread ||
        !ask(comm))
        comm->shelf.number = -1;
    return comm->shelf.number > 0;
}

bool node_may_long(const struct comm *comm, size_t bytes)
{
    return comm->size <= node_flat_max() &&
           (bytes <= SHELF_INLINE || (shelf_has_cells(comm) && bytes <= NODE_LONG_MAX));
}

/* --- waiting --- */

enum {
    ELSEWHERE_NS = 1500,
    ELSEWHERE_LOOKS = 8, /* between two looks at the clock */
};

/* For the members next to end - 1; `next` is the first that has not come. */
struct wait {
    const struct node_call *call;
    int next, end;
    uint32_t round, step; /* step 0: the lines of the round, else that step in it */
    bool is_late;         /* they may be ahead, and in whatever call */
    bool is_bad;          /* `next` has come in another call */
};

static bool has_line(struct wait *wait)
{
    const struct node_call *call = wait->call;
    const struct shelf_line *line = shelf_line(call->comm, wait->next, wait->round);
    const uint64_t stamp = atomic_load_explicit(&line->stamp, memory_order_acquire); /* pairs with node_post */

    if (likely(stamp == ((uint64_t)wait->round << 32 | call->what)))
        wait->is_bad = !wait->is_late && shelf_bytes(line) != call->bytes;
    else if ((int32_t)((uint32_t)(stamp >> 32) - wait->round) < 0)
        return false;
    else
        wait->is_bad = !wait->is_late;
    return true;
}

/* Who has come to a step of a later round is done with this one; so far ahead is nobody that the step could be of
 * long ago, from before numbers have gone half way round: not all rounds have steps. */
static bool has_step(const struct wait *wait)
{
    const struct shelf_member *member = shelf_member(wait->call->comm, wait->next);
    const uint64_t step = atomic_load_explicit(&member->step, memory_order_acquire); /* pairs with node_step */
    const uint32_t ahead = (uint32_t)(step >> 32) - wait->round;

    return ahead ? ahead <= SHELF_SLOTS : (uint32_t)step >= wait->step;
}

static bool is_over(void *arg)
{
    struct wait *wait = arg;

    for (; wait->next < wait->end; wait->next++) {
        if (wait->step ? !has_step(wait) : !has_line(wait))
            return false;
        if (unlikely(wait->is_bad))
            return true;
    }
    return true;
}

/* Members on a node wait by messages with those on others, and some may lack the communicator, or leave with that. */
static bool is_over_or_broken(void *arg)
{
    struct wait *wait = arg;

    if (is_over(wait))
        return true;
    wait->is_bad = p2p_check_whole(wait->call->comm->whole);
    return wait->is_bad;
}

/* Are all who have not come on other processors than this member? */
static bool are_elsewhere(const struct wait *wait)
{
    struct wait one = *wait;

    for (; one.next < one.end; one.next++) {
        if (!(one.step ? has_step(&one) : has_line(&one)) &&
            !progress_is_elsewhere(shelf_proc(wait->call->comm, one.next)))
            return false;
    }
    return true;
}

/* All wait for all, and ranks share processors: the last one of a processor looks for those on others for about as long
 * as it would take to give this one to a rank that cannot go on either. */
static NOINLINE bool come_soon(struct wait *wait)
{
    uint64_t end;

    if (is_over(wait))
        return true;
    if (!are_elsewhere(wait))
        return false;
    end = clock_ns() + ELSEWHERE_NS;
    do {
        for (int i = 0; i < ELSEWHERE_LOOKS; i++) {
            if (is_over(wait))
                return true;
            cpu_relax();
        }
    } while (clock_ns() < end);
    return false;
}

/* Who sees this member asleep sees in `wants` whether waking it would be of use. */
static NOINLINE void wait_long(struct wait *wait)
{
    const struct comm *comm = wait->call->comm;
    _Atomic uint64_t *wants = &shelf_member(comm, comm->rank)->wants;

    /* relaxed: the store of the sleep word, which follows, releases it */
    atomic_store_explicit(wants, node_wants(wait->round, wait->step, wait->next, wait->end), memory_order_relaxed);
    progress_wait_look(likely(!comm->whole) ? is_over : is_over_or_broken, wait);
    atomic_store_explicit(wants, 0, memory_order_relaxed);
}

static ALWAYS_INLINE void wait_for(struct wait *wait)
{
    const bool is_for_all = !wait->next && wait->end == wait->call->comm->size;

    if (!is_for_all || !progress_is_oversubscribed() || !come_soon(wait))
        wait_long(wait);
}

bool node_describe_wait(const struct progress_long *told, struct blocked *out)
{
    const struct wait *wait = told->arg;
    const struct comm *comm;
    int peer;

    if (told->is_done != is_over && told->is_done != is_over_or_broken)
        return false;
    comm = carrier(wait->call->comm);
    peer = rank_of(wait->call->comm, wait->next < wait->end ? wait->next : 0);
    *out = (struct blocked){ .call = comm->coll_outer ? comm->coll_outer : comm->coll_call, .comm = comm,
                             .way = BLOCKED_RECEIVING, .is_coll = true, .sequence = comm->coll_sequence,
                             .peer = peer, .count = -1 };
    return true;
}

_Atomic int64_t *coll_shared_word(struct comm *comm)
{
    return node_has(comm) ? &shelf_head(comm)->word : NULL;
}

/* Of two who post at the same time one sees that both have only if both have a fence in between. Without, whoever has
 * posted what this one waits for next wakes it. */
void node_wake_sleeper(const struct node_call *call, int rank)
{
    const uint64_t wants = atomic_load_explicit(&shelf_member(call->comm, rank)->wants, memory_order_relaxed);
    struct wait wait = { .call = call, .round = (uint32_t)(wants >> NODE_WANTS_ROUND),
                         .step = (uint32_t)wants >> NODE_WANTS_STEP,
                         .next = (int)(wants >> NODE_WANTS_NEXT & NODE_WANTS_RANK),
                         .end = (int)(wants & NODE_WANTS_RANK), .is_late = true };

    if (!progress.has_fences && wait.end > wait.next)
        wait.end = wait.next + 1;
    if (wants && is_over(&wait))
        progress_wake_other(&shelf_proc(call->comm, rank)->sleep);
}

void node_wake_all(const struct node_call *call)
{
    const struct comm *comm = call->comm;

    for (int rank = 0; rank < comm->size; rank++) {
        if (rank != comm->rank)
            node_wake(call, rank);
    }
}

void node_await_late(const struct node_call *call, uint32_t round, int next, int end)
{
    struct wait wait = { .call = call, .next = next, .end = end, .is_late = true, .round = round };
    _Atomic uint32_t *late = &shelf_head(call->comm)->late;

    if (!is_over(&wait)) {
        node_wake_all(call); /* who has posted several rounds wakes others after the last one only: they may need the
                              * first one to come to this round at all */
        /* relaxed: before this process sleeps it orders them all, see progress_wake */
        atomic_fetch_add_explicit(late, 1, memory_order_relaxed);
        wait_long(&wait);
        atomic_fetch_sub_explicit(late, 1, memory_order_relaxed);
    }
}

/* Have all come at least to a round? */
static bool have_come(const struct node_call *call, uint32_t round)
{
    return is_over(&(struct wait){ .call = call, .end = call->comm->size, .is_late = true, .round = round });
}

/* The least of some distances up to this one that nobody is further behind; 0: somebody is. */
static uint32_t find_distance(const struct node_call *call, uint32_t most)
{
    for (uint32_t distance = most / 2;; distance += (most - distance + 1) / 2) {
        if (have_come(call, call->round - distance))
            return distance;
        if (distance == most)
            return 0;
    }
}

/* Where ranks share processors, who waits without need gives its own away, and where roots move on it may be the one
 * that the others wait for next. So there it goes on if that will do. */
void node_catch_up(struct node_call *call, uint32_t distance)
{
    struct comm *comm = call->comm;
    uint32_t found = progress_is_oversubscribed() ? find_distance(call, distance) : 0;

    if (!found) {
        found = distance / 2;
        node_await_late(call, call->round - found, 0, comm->size);
    }
    comm->shelf_known = call->round - found;
}

/* Who has come to a round is done with all that are NODE_AHEAD before it, and nobody is SHELF_SLOTS behind. Of all
 * cells half at least are older than NODE_AHEAD. */
uint32_t node_take_cell(struct node_call *call)
{
    struct comm *comm = call->comm;
    uint32_t cell, oldest = 0;

    for (cell = 0; cell < SHELF_CELLS; cell++) {
        const uint32_t age = call->round - comm->shelf_cell_round[cell];

        if (age >= NODE_AHEAD + (call->round - comm->shelf_known))
            break;
        if (age > call->round - comm->shelf_cell_round[oldest])
            oldest = cell;
    }
    if (unlikely(cell == SHELF_CELLS)) {
        node_catch_up(call, call->round - comm->shelf_cell_round[oldest] - NODE_AHEAD);
        cell = oldest;
    }
    comm->shelf_cell_round[cell] = call->round;
    return cell;
}

/* --- calls that do not go together --- */

struct words {
    char text[96];
};

static bool is_rooted(enum coll_operation operation)
{
    return (operation >= COLL_BCAST && operation <= COLL_SCATTERV) || operation == COLL_REDUCE;
}

/* "MPI_Bcast(root 0, 8 bytes)". Of members on a node, which do a part of a call, the root may be nothing that the user
 * has named. */
static struct words describe_call(const struct comm *comm, uint32_t what, uint64_t bytes)
{
    struct words words;
    const enum coll_operation operation = (enum coll_operation)(what >> NODE_WHAT_OP);
    const char *name = coll_name(operation, COLL_BLOCKING);
    const int root = (int)(what & NODE_WHAT_ROOT);
    char place[24] = "", size[32] = "";

    if (root != NODE_NO_ROOT && (!comm->whole || is_rooted(operation)))
        snprintf(place, sizeof place, "root %d", rank_of(comm, root));
    if (bytes)
        snprintf(size, sizeof size, "%s%llu bytes", *place ? ", " : "", (unsigned long long)bytes);
    snprintf(words.text, sizeof words.text, *place || *size ? "%s(%s%s)" : "%s", name, place, size);
    return words;
}

static COLD int disagree(const struct node_call *call, uint32_t round, int rank)
{
    const struct comm *comm = call->comm, *all = carrier(call->comm);
    const struct shelf_line *line = shelf_line(comm, rank, round);
    const uint32_t what = (uint32_t)atomic_load_explicit(&line->stamp, memory_order_relaxed);
    const bool is_first = comm->rank < rank;
    const struct words own = describe_call(comm, call->what, call->bytes),
                       other = describe_call(comm, what, shelf_bytes(line));
    int class = what == call->what ? MPI_ERR_TRUNCATE : MPI_ERR_ROOT;

    if ((what ^ call->what) >> NODE_WHAT_OP)
        class = MPI_ERR_OTHER;
    return err(class, "E0700: ranks disagree in collective call number %u on %s: rank %d calls %s, rank %d calls %s",
               all->coll_sequence, *all->name ? all->name : "a communicator",
               rank_of(comm, is_first ? comm->rank : rank), is_first ? own.text : other.text,
               rank_of(comm, is_first ? rank : comm->rank), is_first ? other.text : own.text);
}

/* --- rounds --- */

int node_begin(struct node_call *call, struct comm *comm, enum coll_operation op, int root, size_t bytes)
{
    /* a part of another call goes by that one's name */
    const enum coll_operation told = unlikely(comm->whole) ? comm->whole->spread->operation : op;

    *call = (struct node_call){ .comm = comm, .what = node_what(told, root), .bytes = bytes };
    call->tag = coll_begin(comm, op, coll_name(op, COLL_BLOCKING));
    return 0;
}

int node_await(struct node_call *call, uint32_t round, int next, int end)
{
    struct wait wait = { .call = call, .next = next, .end = end, .round = round };
    int rc;

    wait_for(&wait);
    if (likely(!wait.is_bad))
        return 0;
    rc = call->comm->whole ? p2p_check_whole(call->comm->whole) : 0;
    return rc ? rc : disagree(call, round, wait.next);
}

void node_step(struct node_call *call, uint32_t step)
{
    struct comm *comm = call->comm;

    /* release pairs with has_step */
    atomic_store_explicit(&shelf_member(comm, comm->rank)->step, (uint64_t)call->round << 32 | step,
                          memory_order_release);
    progress_fence();
}

void node_await_step(struct node_call *call, uint32_t step, int next, int end)
{
    struct wait wait = { .call = call, .next = next, .end = end, .round = call->round, .step = step };

    wait_for(&wait);
}

void node_meet_step(struct node_call *call, uint32_t step)
{
    node_step(call, step);
    node_await_step(call, step, 0, call->comm->size);
    node_wake_all(call);
}
