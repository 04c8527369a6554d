/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Shelves and the barrier on them. Two ways:
 *
 *   flat    every member writes its line and waits until all lines tell of this round: one hop, and one change of
 *           context for each rank where ranks share processors. size - 1 lines read by each
 *   tree    a member waits for the lines of up to 8 others, writes its own, and waits for the word of the first
 *           member, who writes it when all have come: log8(size) hops and one more
 *
 * Who sleeps is woken by who sees the round complete.
 * Knows: progress, sys (the segment). Does not know: messages. */
#include "coll/shelf.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/err.h"
#include "base/setting.h"
#include "coll/int_call.h"
#include "obj/blocked.h"
#include "progress/progress.h"
#include "sys/share.h"

enum {
    FLAT_MAX = 16,          /* members, with a processor for each … */
    FLAT_MAX_CROWDED = 64,  /* … and without */
    FAN_OUT = 8,
};

static struct {
    struct job_head *segment;
    struct shelf_book *book;        /* NULL: there are no shelves */
    char *lines;
    int procs;
} area;

static struct setting shared_coll = {
    .name = "SHARED_COLL",
    .help = "1: short collective calls by words in shared memory; 0: by messages only",
    .kind = SETTING_INT,
    .value = 1,
    .min = 0,
    .max = 1,
};

/* Bytes of one shelf. */
static size_t shelf_size(int procs)
{
    return ((size_t)procs * sizeof(struct shelf_line) + JOB_PAGE - 1) / JOB_PAGE * JOB_PAGE;
}

static size_t area_size(int procs)
{
    return JOB_PAGE + SHELVES * shelf_size(procs);
}

int coll_init(const struct coll_config *config)
{
    const size_t size = area_size(config->procs);
    const int rc = setting_read(&shared_coll);
    char *memory;

    if (rc || !shared_coll.value)
        return rc;
    memory = share_map(config->segment, config->segment_fd, config->offset, size);
    if (!memory)
        return err(MPI_ERR_NO_MEM, "no address space for %zu KB shared for collective calls: %s", size >> 10,
                   strerror(errno));
    area.segment = config->segment;
    area.book = (struct shelf_book *)(void *)memory;
    area.lines = memory + JOB_PAGE;
    area.procs = config->procs;
    return 0;
}

void coll_fini(void)
{
    if (area.book)
        munmap(area.book, area_size(area.procs));
    area.book = NULL;
    sched_close();
}

static struct shelf_line *lines_of(struct comm_shelf shelf)
{
    return (struct shelf_line *)(uintptr_t)(area.lines + shelf_size(area.procs) * (size_t)(shelf.number - 1));
}

/* --- taking and leaving --- */

/* Set the lowest free bit; -1: none. */
static int take_bit(_Atomic uint64_t *word)
{
    uint64_t taken = atomic_load_explicit(word, memory_order_relaxed);

    while (~taken) {
        const int bit = __builtin_ctzll(~taken);
        /* acquire pairs with shelf_leave: the round that the last users left */
        if (atomic_compare_exchange_weak_explicit(word, &taken, taken | UINT64_C(1) << bit, memory_order_acquire,
                                                  memory_order_relaxed))
            return bit;
    }
    return -1;
}

/* The members before these may have been fewer: no line may seem to be ahead. Who is told of the shelf sees this. */
static struct comm_shelf prepare(int i, int members)
{
    const uint32_t round = atomic_load_explicit(&area.book->shelf[i].round, memory_order_relaxed);
    const struct comm_shelf shelf = { i + 1, round };
    struct shelf_line *lines = lines_of(shelf);

    atomic_store_explicit(&area.book->shelf[i].users, (uint32_t)members, memory_order_relaxed);
    for (int rank = 0; rank < members; rank++) {
        atomic_store_explicit(&lines[rank].arrived, round, memory_order_relaxed);
        atomic_store_explicit(&lines[rank].released, round, memory_order_relaxed);
    }
    return shelf;
}

struct comm_shelf shelf_take(int members)
{
    for (int i = 0; area.book && i < SHELVES / 64; i++) {
        const int bit = take_bit(&area.book->taken[i]);

        if (bit >= 0)
            return prepare(64 * i + bit, members);
    }
    return (struct comm_shelf){ 0 };
}

void shelf_open(struct comm *comm, struct comm_shelf shelf)
{
    comm->shelf = shelf;
    if (shelf.number)
        comm->shelf_lines = lines_of(shelf);
    else
        comm->shelf.number = -1;
}

void shelf_leave(struct comm_shelf shelf)
{
    const int i = shelf.number - 1;
    _Atomic uint32_t *users = &area.book->shelf[i].users;

    if (atomic_fetch_sub_explicit(users, 1, memory_order_acq_rel) != 1) /* who is last comes after all others */
        return;
    atomic_store_explicit(&area.book->shelf[i].round, shelf.round, memory_order_relaxed);
    atomic_fetch_and_explicit(&area.book->taken[i / 64], ~(UINT64_C(1) << i % 64), memory_order_release);
}

void coll_comm_close(struct comm *comm)
{
    if (comm->shelf.number > 0 && area.book)
        shelf_leave(comm->shelf);
}

/* --- waiting --- */

/* For the lines next to end - 1; `next` is the first that has not come. */
struct wait {
    struct comm *comm;
    const struct shelf_line *lines;
    int next, end;
    uint32_t round;
    bool is_release; /* for the first line's `released`, not for `arrived` */
};

static bool has_come(const struct wait *wait)
{
    const struct shelf_line *line = &wait->lines[wait->next];
    /* acquire pairs with the stores in `arrive` and `release` */
    const uint32_t round =
        atomic_load_explicit(wait->is_release ? &line->released : &line->arrived, memory_order_acquire);

    return (int32_t)(round - wait->round) >= 0;
}

static bool is_over(void *arg)
{
    struct wait *wait = arg;

    while (wait->next < wait->end && has_come(wait))
        wait->next++;
    return wait->next == wait->end;
}

bool shelf_describe_wait(const struct progress_long *told, struct blocked *out)
{
    const struct wait *wait = told->arg;

    if (told->is_done != is_over)
        return false;
    *out = (struct blocked){ .call = wait->comm->coll_outer ? wait->comm->coll_outer : wait->comm->coll_call,
                             .comm = wait->comm, .way = BLOCKED_RECEIVING, .is_coll = true,
                             .sequence = wait->comm->coll_sequence,
                             .peer = wait->next < wait->end ? wait->next : 0, .count = -1 };
    return true;
}

static _Atomic uint32_t *sleep_word(const struct comm *comm, int rank)
{
    return &job_proc(area.segment, group_proc(comm->group, rank))->sleep;
}

/* Those that sleep, because this round was not complete. */
static void wake_members(const struct comm *comm)
{
    progress_fence();
    for (int rank = 0; rank < comm->size; rank++) {
        if (rank != comm->rank)
            progress_wake_seen(sleep_word(comm, rank));
    }
}

/* --- the barrier --- */

static void flat(struct comm *comm)
{
    struct shelf_line *lines = comm->shelf_lines;
    struct wait all = { .comm = comm, .lines = lines, .end = comm->size, .round = comm->shelf.round };

    atomic_store_explicit(&lines[comm->rank].arrived, all.round, memory_order_release); /* pairs with has_come */
    progress_wait_look(is_over, &all);
    wake_members(comm);
}

static void tree(struct comm *comm)
{
    struct shelf_line *lines = comm->shelf_lines;
    const int first = FAN_OUT * comm->rank + 1, end = first + FAN_OUT;
    const uint32_t round = comm->shelf.round;
    struct wait below = { .comm = comm, .lines = lines, .next = first < comm->size ? first : comm->size,
                          .end = end < comm->size ? end : comm->size, .round = round };
    struct wait release = { .comm = comm, .lines = lines, .end = 1, .round = round, .is_release = true };

    progress_wait_look(is_over, &below);
    if (comm->rank) {
        atomic_store_explicit(&lines[comm->rank].arrived, round, memory_order_release); /* pairs with has_come */
        progress_wake(sleep_word(comm, (comm->rank - 1) / FAN_OUT));
        progress_wait_look(is_over, &release);
    } else {
        atomic_store_explicit(&lines[comm->rank].released, round, memory_order_release); /* pairs with has_come */
        wake_members(comm);
    }
}

void shelf_barrier(struct comm *comm)
{
    const int flat_max = progress_is_oversubscribed() ? FLAT_MAX_CROWDED : FLAT_MAX;

    comm->shelf.round++;
    if (comm->size <= flat_max)
        flat(comm);
    else
        tree(comm);
}
