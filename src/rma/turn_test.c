/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of room rma: the lock of a target. Guests come in only where readers are, keep writers out, and leave
 * tickets that are passed on or taken up again; and threads as processes of a window, in any order, many of them
 * guests. */
#include "rma/int_turn.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "base/check.h"

enum { RANKS = 4, TARGETS = 2, ROUNDS = 3000 };

static struct win_target targets[RANKS];
static struct win win = { .size = RANKS, .target = targets };
static const struct win_patience long_since;

static void open_window(void)
{
    static const struct progress_config config = { .local_ranks = RANKS, .has_fences = true };

    progress_init(&config);
    win.pair_mask = RANKS - 1;
    win.member_size = sizeof(struct win_member) + RANKS * sizeof(struct win_pair);
    win.control = aligned_alloc(CACHE_LINE, RANKS * ((win.member_size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE));
    win.member_size = (win.member_size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    CHECK(win.control);
    for (size_t i = 0; i < RANKS * win.member_size; i++)
        win.control[i] = 0;
    for (int rank = 0; rank < RANKS; rank++) { /* numbers go around */
        struct win_member *member = win_member(&win, rank);
        member->tickets = member->reading = member->writing = UINT32_MAX - (uint32_t)rank;
    }
}

static uint32_t ticket_of(int rank)
{
    return win_lock_ticket(&win, 0, rank);
}

static void check_is_free(uint32_t next)
{
    const struct win_member *member = win_member(&win, 0);

    CHECK(member->tickets == next && member->reading == next && member->writing == next);
}

/* A reader is inside, a writer waits, then two more readers. */
static void check_guests(void)
{
    const uint32_t inside = ticket_of(0), writer = ticket_of(1), first = ticket_of(2), second = ticket_of(3);

    CHECK(!win_lock_join(&win, 0, first, &long_since)); /* nobody is inside yet */
    CHECK(win_lock_enter(&win, 0, inside, true) && !win_lock_enter(&win, 0, writer, false));
    CHECK(win_lock_join(&win, 0, second, &long_since));
    CHECK(win_lock_join(&win, 0, first, &long_since));
    win_lock_leave(&win, 0, true);
    win_lock_leave(&win, 0, true);
    CHECK(!win_lock_enter(&win, 0, writer, false) && !win_lock_enter(&win, 0, second, true));
    CHECK(win_ticket_again(&win, 0, second) && !win_ticket_again(&win, 0, second));
    win_lock_leave(&win, 0, true);
    CHECK(win_lock_enter(&win, 0, writer, false));
    CHECK(!win_lock_join(&win, 0, second, &long_since)); /* not with a writer inside */
    CHECK(!win_lock_enter(&win, 0, second, true));
    win_lock_leave(&win, 0, false); /* the first one's ticket is passed on */
    CHECK(!win_ticket_again(&win, 0, first));
    CHECK(win_lock_enter(&win, 0, second, false));
    win_lock_leave(&win, 0, false);
    check_is_free(inside + 4);
}

/* All that is left is passed on at once, also by a reader who comes in. */
static void check_passing(void)
{
    const uint32_t inside = ticket_of(0), writer = ticket_of(1), first = ticket_of(2), second = ticket_of(3);

    CHECK(win_lock_enter(&win, 0, inside, true));
    CHECK(win_lock_join(&win, 0, first, &long_since) && win_lock_join(&win, 0, second, &long_since));
    win_lock_leave(&win, 0, true);
    win_lock_leave(&win, 0, true);
    win_lock_leave(&win, 0, true);
    CHECK(win_lock_enter(&win, 0, writer, false));
    win_lock_leave(&win, 0, false);
    check_is_free(inside + 4);
    CHECK(win_lock_try_read(&win, 0, 0));
    win_lock_leave(&win, 0, true);
    check_is_free(inside + 5);
}

/* The later ones are the more patient, until a writer has been in. */
static void check_patience(void)
{
    const uint32_t inside = ticket_of(0), writer = ticket_of(1), late = ticket_of(2), later = ticket_of(3);
    struct win_patience since;

    CHECK(win_lock_enter(&win, 0, inside, true) && win_lock_join(&win, 0, late, &long_since));
    since = win_patience(&win, 0);
    CHECK_INT(since.guests, 1);
    win_member(&win, 0)->guests = since.guests = 1000;
    CHECK(!win_lock_join(&win, 0, later, &since)); /* for more than an hour */
    win_lock_leave(&win, 0, true);
    win_lock_leave(&win, 0, true);
    CHECK(win_lock_enter(&win, 0, writer, false));
    CHECK_INT(win_patience(&win, 0).guests, 0);
    win_lock_leave(&win, 0, false);
    CHECK(win_lock_enter(&win, 0, later, true));
    win_lock_leave(&win, 0, true);
    check_is_free(inside + 4);
}

/* --- threads --- */

struct data {
    int first, second;
} data[TARGETS];

struct member {
    pthread_t thread;
    int rank, written;
    unsigned state;
    bool has_left[TARGETS];
    uint32_t left[TARGETS];
};

static unsigned next_random(struct member *own)
{
    own->state = own->state * 1664525 + 1013904223;
    return own->state >> 16;
}

static uint32_t take(struct member *own, int target)
{
    const bool is_again = own->has_left[target] && win_ticket_again(&win, target, own->left[target]);

    own->has_left[target] = false;
    return is_again ? own->left[target] : win_lock_ticket(&win, target, own->rank);
}

static void read_one(struct member *own, int target)
{
    const uint32_t ticket = take(own, target);

    while (!win_lock_enter(&win, target, ticket, true)) {
        own->has_left[target] = win_lock_join(&win, target, ticket, &long_since);
        own->left[target] = ticket;
        if (own->has_left[target])
            break;
        sched_yield();
    }
    CHECK_INT(data[target].second, data[target].first);
}

static void write_one(struct member *own, int target)
{
    const uint32_t ticket = take(own, target);

    while (!win_lock_enter(&win, target, ticket, false))
        sched_yield();
    data[target].first++;
    if (next_random(own) % 8 == 0)
        sched_yield();
    data[target].second++;
    own->written++;
    win_lock_leave(&win, target, false);
}

/* Who has one to read takes the other one, too, in any order. */
static void *run(void *arg)
{
    struct member *own = arg;

    for (int i = 0; i < ROUNDS; i++) {
        const int target = (int)(next_random(own) % TARGETS);

        if (next_random(own) % 3 == 0) {
            write_one(own, target);
            continue;
        }
        read_one(own, target);
        if (next_random(own) % 2)
            sched_yield();
        read_one(own, 1 - target);
        win_lock_leave(&win, target, true);
        win_lock_leave(&win, 1 - target, true);
    }
    return NULL;
}

static void check_threads(void)
{
    static struct member members[RANKS];
    int written = 0, found = 0;

    for (int rank = 0; rank < RANKS; rank++) {
        members[rank] = (struct member){ .rank = rank, .state = (unsigned)rank };
        CHECK(!pthread_create(&members[rank].thread, NULL, run, &members[rank]));
    }
    for (int rank = 0; rank < RANKS; rank++) {
        pthread_join(members[rank].thread, NULL);
        written += members[rank].written;
    }
    for (int target = 0; target < TARGETS; target++) {
        const struct win_member *member = win_member(&win, target);
        found += data[target].first;
        CHECK(member->tickets == member->reading && member->tickets == member->writing);
    }
    CHECK_INT(found, written);
}

int main(void)
{
    open_window();
    check_guests();
    check_passing();
    check_patience();
    check_threads();
    free(win.control);
    progress_fini();
    return 0;
}
