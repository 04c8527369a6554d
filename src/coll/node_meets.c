/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Nonblocking and persistent barriers through shared memory: each member counts in a word of its own those
 * that it has begun, and one is over when all words have come to its number. So it is over for all at the same time:
 * when one member has seen the end, all who look see it, without anything that another one still has to do. Several may
 * be under way, and members need not be in MPI meanwhile.
 *
 * Nonblocking ones begin in one order at all members and share a word. Persistent ones may be started in any order, so
 * each has a word to itself; who has made as many as there are words uses messages for those that follow. Words are not
 * given again: a member does not know which requests another one has freed. Knows: shelf, progress. Does not know:
 * requests. */
#include "coll/node.h"
#include "progress/progress.h"

static bool has_begun(const struct comm *comm, int rank, int word, uint32_t number)
{
    const _Atomic uint32_t *begun = &shelf_member(comm, rank)->meets[word];

    /* acquire pairs with node_meets_begin; numbers go around */
    return (int32_t)(atomic_load_explicit(begun, memory_order_acquire) - number) >= 0;
}

bool node_meets_over(const struct comm *comm, int word, uint32_t number, int *next)
{
    while (*next < comm->size && has_begun(comm, *next, word, number))
        ++*next;
    return *next == comm->size;
}

uint32_t node_meets_begin(const struct comm *comm, int word)
{
    _Atomic uint32_t *begun = &shelf_member(comm, comm->rank)->meets[word];
    const uint32_t number = atomic_load_explicit(begun, memory_order_relaxed) + 1; /* nobody else writes it */
    int next = 0;

    atomic_store_explicit(begun, number, memory_order_release);
    /* Of those who come last at the same time at least one sees all the others. */
    atomic_thread_fence(memory_order_seq_cst);
    if (!node_meets_over(comm, word, number, &next))
        return number;
    for (int rank = 0; rank < comm->size; rank++) {
        if (rank != comm->rank)
            progress_wake_seen(&shelf_proc(comm, rank)->sleep);
    }
    return number;
}
