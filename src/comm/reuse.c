/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: comm. Contexts that are used again. A process hands out all the numbers that it has first; then it asks those
 * who were members of its communicators which of them have ended there, and what has ended everywhere may be used
 * again, the oldest first. Nobody tells anything before he is asked: each keeps ranges of numbers, by whose they are,
 * so communicators that come and go cost no message.
 *
 * Who tells that a communicator has ended has no operation on it any more, nor ever will; what has come for it and
 * nobody has received is dropped then, and what he hears of that context from then on is of the next one.
 *
 *   ended    our numbers, of communicators that have ended here; `members`: the others that these had
 *   told     our numbers that others have told of; `members`: how many have
 *   free     those of which as many have told as there were members, and those taken in vain
 *   books    numbers of others, of communicators that have ended here
 *
 * Asked and told in parcels of the library's own communicator. Locks: `reuse.lock`, under which nothing is sent and no
 * other one taken. */
#include <pthread.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "comm/int_comm.h"
#include "comm/spans.h"
#include "p2p/p2p.h"
#include "p2p/parcel.h"
#include "sys/clock.h"

enum {
    ASK_SELDOM = 16,        /* a new question when this part of the range has been taken since the last one */
    SPANS_TOLD = 1024,      /* in one parcel */
    ROUND_NS = 20000000,    /* to wait for answers before those who have answered are asked again, … */
    PAUSE_NS = 1000000,     /* … and after all have */
};
#define PATIENCE_NS UINT64_C(10000000000) /* until there are said to be none */

enum { PARCEL_ASK, PARCEL_TELL, PARCEL_MORE }; /* more is told of */

struct book {
    struct book *next;
    int owner;
    bool is_asked;          /* and has not been answered */
    struct spans spans;
};

static struct {
    pthread_mutex_t lock;
    struct spans ended, told, free;
    struct book *books;
    uint64_t *members;      /* a bit for each process that was in one of ours that has ended; NULL: none so far */
    uint64_t *awaited;      /* and that has not answered yet; behind those */
    int procs, waiting;     /* for so many answers */
    struct { int first, step, size; } last;  /* the last of their groups, if it was a stride */
    uint32_t taken, range;  /* since the last question; from when on the next one may be asked */
    bool is_open, has_news, is_polled;
    _Atomic int asked;      /* books that are */
} reuse = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* --- what has ended --- */

static size_t words(void)
{
    return ((size_t)reuse.procs + 63) / 64;
}

static bool is_of_own_world(int proc)
{
    return proc >= comm_world.first && proc < comm_world.first + comm_world.size;
}

static struct book *book_of(int owner)
{
    struct book *book = reuse.books;

    while (book && book->owner != owner)
        book = book->next;
    if (book)
        return book;
    book = mem_zalloc(sizeof *book);
    if (!book)
        return NULL;
    book->owner = owner;
    book->next = reuse.books;
    reuse.books = book;
    return book;
}

/* False: one is of another world, which may have gone before it is asked. */
static bool mark(const struct group *group)
{
    for (int rank = 0; rank < group->size; rank++) {
        const int proc = group_proc(group, rank);
        if (!is_of_own_world(proc))
            return false;
        if (proc != comm_world.proc)
            reuse.members[proc / 64] |= UINT64_C(1) << proc % 64;
    }
    return true;
}

/* Will they all be asked? */
static bool note_members(const struct comm *comm)
{
    const struct group *group = comm->group;

    if (!reuse.members)
        reuse.members = mem_zalloc(2 * words() * sizeof *reuse.members);
    if (!reuse.members)
        return false;
    reuse.awaited = reuse.members + words();
    if (comm->is_inter && !mark(comm->remote_group))
        return false;
    if (!group->list && group->first == reuse.last.first && group->step == reuse.last.step &&
        group->size == reuse.last.size)
        return true;
    if (!mark(group))
        return false;
    reuse.last.first = group->first;
    reuse.last.step = group->step;
    reuse.last.size = group->list ? 0 : group->size;
    return true;
}

static bool is_ours(uint32_t ctx)
{
    return ctx < P2P_CTX_ABROAD && !p2p_is_foreign_ctx(ctx);
}

void comm_reuse_ended(const struct comm *comm)
{
    const uint32_t number = comm->ctx / 2;
    const int owner = is_ours(comm->ctx) ? comm_ctx_owner(number) : -1;
    const int members = comm->size + (comm->is_inter ? comm->remote_size : 0);
    struct book *book;

    if (owner < 0 || !is_of_own_world(owner))
        return;
    pthread_mutex_lock(&reuse.lock);
    if (owner != comm_world.proc) {
        book = reuse.is_open ? book_of(owner) : NULL;
        if (book)
            spans_add(&book->spans, (struct span){ number, 1, 1 });
    } else if (members == 1 || (reuse.is_open && note_members(comm))) {
        spans_add(&reuse.ended, (struct span){ number, 1, (uint32_t)members - 1 });
        reuse.has_news = true;
    }
    pthread_mutex_unlock(&reuse.lock);
}

void comm_reuse_unused(uint32_t number, uint32_t count)
{
    pthread_mutex_lock(&reuse.lock);
    spans_add(&reuse.free, (struct span){ number, count, 0 });
    pthread_mutex_unlock(&reuse.lock);
}

/* --- what is free --- */

/* Where a range begins or ends: what changes there. */
struct edge {
    uint32_t at, told, wanted; /* wanted: one more than the other members; 0: not of ours that have ended */
};

static int by_place(const void *a, const void *b)
{
    const struct edge *p = a, *q = b;

    return (p->at > q->at) - (p->at < q->at);
}

static struct edge *add_edges(struct edge *edge, const struct spans *list, bool is_told)
{
    for (uint32_t i = 0; i < list->size; i++) {
        const struct span *span = &list->span[i];
        const uint32_t told = is_told ? span->members : 0, wanted = is_told ? 0 : span->members + 1;

        *edge++ = (struct edge){ span->first, told, wanted };
        *edge++ = (struct edge){ span->first + span->count, -told, -wanted };
    }
    return edge;
}

/* What all have told of goes from the two lists to the third one. */
static void find_free(void)
{
    const size_t count = 2 * ((size_t)reuse.ended.size + reuse.told.size);
    struct edge *edges = count ? mem_alloc(count * sizeof *edges) : NULL, *end = edges;
    uint32_t told = 0, wanted = 0;

    if (!edges)
        return;
    end = add_edges(end, &reuse.ended, false);
    add_edges(end, &reuse.told, true);
    qsort(edges, count, sizeof *edges, by_place);
    reuse.ended.size = reuse.told.size = 0;
    for (size_t i = 0; i + 1 < count; i++) {
        const uint32_t first = edges[i].at, len = edges[i + 1].at - first;

        told += edges[i].told;
        wanted += edges[i].wanted;
        if (!len)
            continue;
        if (wanted && told == wanted - 1) {
            spans_add(&reuse.free, (struct span){ first, len, 0 });
            continue;
        }
        if (wanted)
            spans_add(&reuse.ended, (struct span){ first, len, wanted - 1 });
        if (told)
            spans_add(&reuse.told, (struct span){ first, len, told });
    }
    mem_free(edges);
    reuse.has_news = false;
}

/* --- asking --- */

static void answered(int proc)
{
    const uint64_t bit = UINT64_C(1) << proc % 64;

    if (reuse.waiting && reuse.awaited[proc / 64] & bit) {
        reuse.awaited[proc / 64] &= ~bit;
        reuse.waiting--;
    }
}

/* One who is to be asked: who has not answered the last question will answer that one. False: nobody. */
static bool next_to_ask(int *proc)
{
    bool is_found = false;

    pthread_mutex_lock(&reuse.lock);
    for (; reuse.members && *proc < reuse.procs && !is_found; ++*proc) {
        const uint64_t bit = UINT64_C(1) << *proc % 64;

        is_found = reuse.members[*proc / 64] & ~reuse.awaited[*proc / 64] & bit;
        if (!is_found)
            continue;
        reuse.awaited[*proc / 64] |= bit;
        reuse.waiting++;
    }
    pthread_mutex_unlock(&reuse.lock);
    --*proc;
    return is_found;
}

static int ask_one(int proc)
{
    int rc = p2p_lost_rank(&comm_own, proc);

    if (rc)
        return rc;
    p2p_box_lock(&comm_own);
    rc = p2p_parcel_send(&comm_own, proc, PARCEL_ASK, NULL, 0, NULL, NULL);
    p2p_box_unlock(&comm_own);
    return rc;
}

/* Those that cannot be asked will not answer. */
static void ask(void)
{
    for (int proc = 0; next_to_ask(&proc); proc++) {
        if (likely(!ask_one(proc)))
            continue;
        pthread_mutex_lock(&reuse.lock);
        answered(proc);
        pthread_mutex_unlock(&reuse.lock);
    }
}

/* --- the other end --- */

/* One that is asked is answered here, without a lane's lock. */
static struct book *next_asked(void)
{
    struct book *book;

    pthread_mutex_lock(&reuse.lock);
    for (book = reuse.books; book && !book->is_asked; book = book->next)
        ;
    if (book) {
        struct book *copy = mem_alloc(sizeof *copy);
        if (copy) {
            *copy = *book;
            book->spans = (struct spans){ .span = NULL };
            book->is_asked = false;
            atomic_fetch_sub_explicit(&reuse.asked, 1, memory_order_relaxed);
        }
        book = copy;
    }
    pthread_mutex_unlock(&reuse.lock);
    return book;
}

static bool is_in_book(uint32_t ctx, void *arg)
{
    const struct spans *list = arg;
    const struct span wanted = { ctx / 2, 1, 0 };
    uint32_t low = 0, high = list->size;

    while (low < high) { /* the first one behind it */
        const uint32_t middle = low + (high - low) / 2;
        if (list->span[middle].first <= wanted.first)
            low = middle + 1;
        else
            high = middle;
    }
    return low && wanted.first - list->span[low - 1].first < list->span[low - 1].count;
}

/* Without memory they are not used again. */
static void tell(struct book *book)
{
    const struct spans *list = &book->spans;
    uint32_t told = 0, count;

    spans_tidy(&book->spans);
    p2p_forget_ended(is_in_book, &book->spans);
    p2p_box_lock(&comm_own);
    do {
        count = list->size - told < SPANS_TOLD ? list->size - told : SPANS_TOLD;
        p2p_parcel_send(&comm_own, book->owner, told + count < list->size ? PARCEL_MORE : PARCEL_TELL,
                        list->span + told, count * sizeof(struct span), NULL, NULL);
        told += count;
    } while (told < list->size);
    p2p_box_unlock(&comm_own);
    spans_clear(&book->spans);
    mem_free(book);
}

static int poll_asked(void *arg)
{
    struct book *book;
    int events = 0;

    (void)arg;
    while (unlikely(atomic_load_explicit(&reuse.asked, memory_order_relaxed)) && (book = next_asked())) {
        tell(book);
        progress_work(-1);
        events++;
    }
    return events;
}

/* --- parcels --- */

struct coming {
    int proc;
    uint32_t kind;
    size_t len;
    struct span span[];
};

static void *begin(void *arg, int rank, uint32_t word, size_t len, void **token)
{
    struct coming *in = mem_alloc(sizeof *in + len);

    (void)arg;
    if (!in)
        return NULL;
    *in = (struct coming){ .proc = rank, .kind = word, .len = len };
    *token = in;
    return in->span;
}

static void has_been_asked(int proc)
{
    struct book *book = book_of(proc);

    if (!book || book->is_asked)
        return;
    if (!reuse.is_polled)
        progress_add(poll_asked, &reuse);
    reuse.is_polled = true;
    book->is_asked = true;
    atomic_fetch_add_explicit(&reuse.asked, 1, memory_order_relaxed);
    progress_work(1);
}

static void has_been_told(const struct coming *in)
{
    for (size_t i = 0; i < in->len / sizeof in->span[0]; i++)
        spans_add(&reuse.told, in->span[i]);
    if (in->kind == PARCEL_TELL)
        answered(in->proc);
    reuse.has_news = true;
    if (reuse.told.size > SPANS_MOST / 4)
        find_free();
}

static void end(void *arg, void *token, int rc)
{
    struct coming *in = token;

    (void)arg;
    pthread_mutex_lock(&reuse.lock);
    if (!rc && in->kind == PARCEL_ASK)
        has_been_asked(in->proc);
    else if (!rc)
        has_been_told(in);
    pthread_mutex_unlock(&reuse.lock);
    mem_free(in);
    progress_notify();
}

static void lost(void *arg, int rank)
{
    (void)arg;
    pthread_mutex_lock(&reuse.lock);
    if (reuse.waiting)
        answered(rank);
    pthread_mutex_unlock(&reuse.lock);
}

/* --- taking --- */

/* With the lock. */
static uint32_t take(int first, int end_lane)
{
    uint32_t number = spans_take(&reuse.free, first, end_lane);

    if (!number && reuse.has_news) {
        find_free();
        number = spans_take(&reuse.free, first, end_lane);
    }
    reuse.taken++;
    return number;
}

static bool is_in_number(uint32_t ctx, void *arg)
{
    return ctx / 2 == *(const uint32_t *)arg;
}

/* What has come for the one before goes: others may use it before this process knows of it itself. */
static uint32_t cleared(uint32_t number)
{
    if (number)
        p2p_forget_ended(is_in_number, &number);
    return number;
}

uint32_t comm_reuse_take(int first, int end_lane)
{
    uint32_t number;
    bool is_to_ask;

    pthread_mutex_lock(&reuse.lock);
    number = take(first, end_lane);
    is_to_ask = !number && reuse.is_open && reuse.taken > reuse.range / ASK_SELDOM;
    if (is_to_ask)
        reuse.taken = 0;
    pthread_mutex_unlock(&reuse.lock);
    if (is_to_ask)
        ask();
    return cleared(number);
}

/* All have answered, or enough. */
static bool have_answered(void *arg)
{
    const uint64_t *until = arg;
    bool is_over;

    pthread_mutex_lock(&reuse.lock);
    if (reuse.has_news)
        find_free();
    is_over = !reuse.waiting || !spans_are_empty(&reuse.free);
    pthread_mutex_unlock(&reuse.lock);
    return is_over || clock_ns() >= *until;
}

static bool is_time(void *arg)
{
    const uint64_t *until = arg;

    return clock_ns() >= *until;
}

static bool is_hopeful(void)
{
    bool is;

    pthread_mutex_lock(&reuse.lock);
    is = reuse.is_open && reuse.members && reuse.ended.size;
    pthread_mutex_unlock(&reuse.lock);
    return is;
}

/* Others may be behind, and have yet to end what this process has ended; so they are asked again and again. */
uint32_t comm_reuse_await(void)
{
    const uint64_t until = clock_ns() + PATIENCE_NS;
    uint32_t number = 0;

    while (!number && clock_ns() < until && is_hopeful()) {
        uint64_t round = clock_ns() + ROUND_NS;

        ask();
        progress_wait_until(have_answered, &round);
        pthread_mutex_lock(&reuse.lock);
        number = take(0, NET_LANES);
        pthread_mutex_unlock(&reuse.lock);
        round = clock_ns() + PAUSE_NS;
        if (!number)
            progress_wait_until(is_time, &round);
    }
    return cleared(number);
}

/* --- the beginning and the end --- */

static const struct p2p_parcel_sink sink = { begin, end, lost };

int comm_reuse_open(int procs, uint32_t range)
{
    const int rc = p2p_box_open(&comm_own, &sink, NULL);

    reuse.procs = procs;
    reuse.range = reuse.taken = range;
    reuse.is_open = !rc;
    return rc;
}

/* What is on its way is left alone, at the end of the process. */
static void close_box(void)
{
    if (reuse.is_open && !p2p_box_pending(&comm_own))
        p2p_box_close(&comm_own);
    reuse.is_open = false;
    mem_free(reuse.members); /* of a process that was alone: none */
    reuse.members = reuse.awaited = NULL;
    reuse.last.size = reuse.waiting = 0;
}

void comm_reuse_pause(void)
{
    close_box();
}

void comm_reuse_close(void)
{
    struct book *next;

    close_box();
    if (reuse.is_polled)
        progress_remove(poll_asked, &reuse);
    reuse.is_polled = false;
    for (struct book *book = reuse.books; book; book = next) {
        next = book->next;
        spans_clear(&book->spans);
        mem_free(book);
    }
    reuse.books = NULL;
    spans_clear(&reuse.ended);
    spans_clear(&reuse.told);
    spans_clear(&reuse.free);
}
