/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Shelves: words in the job segment that the members of one communicator share, so that a collective call
 * need not send messages. The area behind the transports' part of the segment holds, for n processes,
 *
 *   offset       size               what
 *   0            1 page             struct shelf_book: which shelves are taken
 *   4096         256 * pages(n)     the shelves: n lines each, in whole pages
 *
 * All of it starts as zeroes and is touched when a communicator takes a shelf. */
#ifndef COLL_SHELF_H
#define COLL_SHELF_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "obj/blocked.h"
#include "obj/comm.h"
#include "progress/progress.h"
#include "sys/job.h"

enum { SHELVES = 256 };

/* What a member tells the others: the number of the last round that it has come to, and, of the first member in a
 * tree, that all have come to. Numbers go around. */
struct shelf_line {
    _Atomic uint32_t arrived;
    _Atomic uint32_t released;
} ALIGNED(CACHE_LINE);

struct shelf_book {
    _Atomic uint64_t taken[SHELVES / 64];
    struct {
        _Atomic uint32_t users;     /* members that have not left yet */
        _Atomic uint32_t round;     /* the last number used in it */
    } shelf[SHELVES];
};

_Static_assert(sizeof(struct shelf_book) <= JOB_PAGE, "the book is one page");

/* Take a shelf for the members of a communicator, in one of them, which tells it to the others. `number` is 0 if there
 * is none left, else 1 or more. Any thread. */
struct comm_shelf shelf_take(int members);
/* Rank 0 has taken this one for the communicator, or none; from now on the communicator has it. */
void shelf_open(struct comm *comm, struct comm_shelf shelf);
/* This member will not use it again. The last one frees it. */
void shelf_leave(struct comm_shelf shelf);
/* What a wait for members is about. False: it is none. */
bool shelf_describe_wait(const struct progress_long *told, struct blocked *out) COLD;
/* A barrier on the communicator's shelf. Blocks. */
void shelf_barrier(struct comm *comm);

#endif
