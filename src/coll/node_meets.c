/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Nonblocking barriers through shared memory: each member counts in a word of its own those that it has
 * begun, and one is over when all words have come to its number. So it is over for all at the same time: when one
 * member has seen the end, all who look see it, without anything that another one still has to do. Several may be under
 * way, and members need not be in MPI meanwhile. Knows: shelf, progress. Does not know: requests. */
#include "coll/node.h"
#include "progress/progress.h"

static bool has_begun(const struct comm *comm, int rank, uint32_t number)
{
    /* acquire pairs with node_meets_begin; numbers go around */
    return (int32_t)(atomic_load_explicit(&shelf_member(comm, rank)->meets, memory_order_acquire) - number) >= 0;
}

bool node_meets_over(const struct comm *comm, uint32_t number, int *next)
{
    while (*next < comm->size && has_begun(comm, *next, number))
        ++*next;
    return *next == comm->size;
}

uint32_t node_meets_begin(struct comm *comm)
{
    const uint32_t number = ++comm->shelf_meets;
    int next = 0;

    atomic_store_explicit(&shelf_member(comm, comm->rank)->meets, number, memory_order_release);
    /* Of those who come last at the same time at least one sees all the others. */
    atomic_thread_fence(memory_order_seq_cst);
    if (!node_meets_over(comm, number, &next))
        return number;
    for (int rank = 0; rank < comm->size; rank++) {
        if (rank != comm->rank)
            progress_wake_seen(&shelf_proc(comm, rank)->sleep);
    }
    return number;
}
