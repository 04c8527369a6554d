/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Shelves: memory in the job segment that the members of one communicator share, so that a collective call
 * need not send messages. All of them are on one machine; each machine of a job has a segment of its own. The area
 * behind the transports' part of the segment holds, for n processes,
 *
 *   offset             size                       what
 *   0                  64 KB                      struct shelf_book: which shelves are taken
 *   64 KB              32 * (pages + n * 848 KB)  the first shelves: struct shelf_head and n struct shelf_member in
 *                                                 whole pages, then SHELF_CELLS cells and then SHELF_TRAYS trays of
 *                                                 each member
 *   behind them        224 * pages                the others, without cells
 *
 * All of it starts as zeroes, memory is taken where it is touched, and a shelf is mapped by who uses it. The first one
 * is that of MPI_COMM_WORLD, from its beginning on. Communicators without cells share in short calls only.
 *
 * A member uses its lines in turn, line r % SHELF_SLOTS in round r, and of its cells any that is free where it needs
 * one; the line tells which. So roots that move on take the same few cells again, and wait for nobody. Nothing is
 * reset: who writes knows that all others are done with the round that this was last used in. Numbers of rounds go
 * around. Trays are for blocks longer than a cell, of one round and for one reader (node_trays.c). */
#ifndef COLL_SHELF_H
#define COLL_SHELF_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "obj/comm.h"
#include "sys/job.h"

enum {
    SHELVES = 256,
    SHELVES_WITH_CELLS = 32,
    SHELF_WORLD = 1,        /* number of that of MPI_COMM_WORLD */
    SHELF_SLOTS = 64,
    SHELF_CELLS = COMM_CELLS, /* of a member */
    SHELF_INLINE = 560,     /* bytes of data that a line takes: eight cache lines behind the first */
    SHELF_CELL = 36864,     /* bytes of a cell; no power of two: cells would share sets of a cache */
    SHELF_TRAYS = COMM_TRAYS, /* of a member */
    SHELF_TRAY = 139264,    /* bytes of a tray: 128 KB and a bit */
    SHELF_MEETS = 16,       /* words of a member, a cache line: that of MPI_Ibarrier, one for each persistent barrier */
};

/* What a member says in a round. The stamp is stored last: the round in the upper half, what is called in the lower.
 * Few bytes lie in one cache line with it. More lie behind rather than in a cell, since of lines there are more: a
 * member gets further ahead of the others. */
struct shelf_line {
    _Atomic uint64_t stamp;
    uint64_t told;              /* bytes of the call, the same at all members, or 0; and which cell: shelf_told */
    unsigned char data[SHELF_INLINE];
} ALIGNED(CACHE_LINE);

struct shelf_member {
    struct shelf_line line[SHELF_SLOTS];
    _Atomic uint64_t step ALIGNED(CACHE_LINE);  /* how far it has come inside a round: the round in the upper half */
    _Atomic uint64_t wants ALIGNED(CACHE_LINE); /* what it waits for (node.c); 0: nothing here */
    /* Barriers that it has begun (node_meets.c): nonblocking ones, and each of the first persistent ones. */
    _Atomic uint32_t meets[SHELF_MEETS] ALIGNED(CACHE_LINE);
};

struct shelf_head {
    _Atomic uint32_t late; /* members that wait for others to come to a round at all */
    _Atomic int64_t word;  /* of whoever has made the communicator: coll_shared_word */
} ALIGNED(CACHE_LINE);

struct shelf_book {
    _Atomic uint32_t calls;             /* which calls go by shelves, as the first process has said; 0: none has */
    _Atomic uint64_t taken[SHELVES / 64];
    struct {
        _Atomic uint32_t users;     /* members that have not left yet */
        _Atomic uint32_t round;     /* the last number used in it; 0: it is as new */
    } shelf[SHELVES];
};

_Static_assert(sizeof(struct shelf_book) <= JOB_PAGE, "the book is one page");

/* Are there shelves in this job? The same in all its processes. */
bool shelf_is_offered(void);
/* Take and open a shelf for the members of a communicator, in one of them, which tells it to the others. `number` is 0
 * if there is none left or no address space, else 1 or more. Any thread. */
struct comm_shelf shelf_take(struct comm *comm);
/* That one has been taken for the communicator. False: no address space. */
bool shelf_open(struct comm *comm, struct comm_shelf shelf);
/* `size` bytes of memory of this process alone that stay with the communicator's shelf; always as many. NULL: none. */
char *shelf_scratch(struct comm *comm, size_t size);
/* This member will not use the communicator's shelf again. The last one frees it. */
void shelf_leave(struct comm *comm);

static inline struct shelf_head *shelf_head(const struct comm *comm)
{
    return (struct shelf_head *)(void *)comm->shelf_memory;
}

static inline struct shelf_member *shelf_member(const struct comm *comm, int rank)
{
    return (struct shelf_member *)(void *)(comm->shelf_memory + sizeof(struct shelf_head)) + rank;
}

static inline struct shelf_line *shelf_line(const struct comm *comm, int rank, uint32_t round)
{
    return &shelf_member(comm, rank)->line[round % SHELF_SLOTS];
}

enum { SHELF_CELL_BITS = 8 };

static inline uint64_t shelf_told(uint64_t bytes, uint32_t cell)
{
    return bytes << SHELF_CELL_BITS | cell;
}

static inline uint64_t shelf_bytes(const struct shelf_line *line)
{
    return line->told >> SHELF_CELL_BITS;
}

/* The cell that goes with a line which its member has opened with one; only if shelf_has_cells. */
static inline char *shelf_cell(const struct comm *comm, int rank, uint32_t round)
{
    const uint32_t cell = (uint32_t)shelf_line(comm, rank, round)->told % SHELF_CELLS;

    return comm->shelf_cells + ((size_t)rank * SHELF_CELLS + cell) * SHELF_CELL;
}

/* A tray of a member, if there are cells. */
static inline char *shelf_tray(const struct comm *comm, int rank, int tray)
{
    return comm->shelf_cells + (size_t)comm->size * SHELF_CELLS * SHELF_CELL +
           ((size_t)rank * SHELF_TRAYS + (size_t)tray) * SHELF_TRAY;
}

static inline bool shelf_has_cells(const struct comm *comm)
{
    return comm->shelf.number <= SHELVES_WITH_CELLS;
}

/* What others wake a member by, and its process. */
struct job_proc *shelf_proc(const struct comm *comm, int rank);

#endif
