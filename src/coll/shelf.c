/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll. Shelves: where they lie, who has one. What is done on them: node_*.c.
 * Knows: sys (the segment). Does not know: waiting, messages. */
#include "coll/shelf.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/setting.h"
#include "coll/clients.h"
#include "coll/int_node.h"
#include "coll/int_spare.h"
#include "coll/spanning.h"
#include "sys/share.h"

static struct {
    struct job_head *segment;
    struct shelf_book *book;        /* NULL: there are no shelves */
    int fd, procs;
    size_t offset;                  /* of the book; the shelves follow */
} area;

static struct setting shared_coll = {
    .name = "SHARED_COLL",
    .help = "1: blocking collective calls on one machine by shared memory; 0: by messages only; the same in all ranks",
    .topic = "collectives",
    .kind = SETTING_INT,
    .value = 1,
    .min = 0,
    .max = 1,
    .must_agree = true,
};
SETTING_LISTED(shared_coll);

/* Bytes of cells and trays of a member. */
enum { CELLS_SIZE = SHELF_CELLS * SHELF_CELL + SHELF_TRAYS * SHELF_TRAY };

/* Bytes of the lines of one shelf. */
static size_t lines_size(int procs)
{
    const size_t used = sizeof(struct shelf_head) + (size_t)procs * sizeof(struct shelf_member);

    return (used + JOB_PAGE - 1) / JOB_PAGE * JOB_PAGE;
}

static size_t shelf_size(int procs, int number)
{
    return lines_size(procs) + (number <= SHELVES_WITH_CELLS ? (size_t)procs * CELLS_SIZE : 0);
}

static size_t shelf_offset(int procs, int number)
{
    const int with_cells = number - 1 < SHELVES_WITH_CELLS ? number - 1 : SHELVES_WITH_CELLS;

    return area.offset + JOB_TRANSPORT_ALIGN + (size_t)with_cells * shelf_size(procs, 1) +
           (size_t)(number - 1 - with_cells) * shelf_size(procs, SHELVES);
}

size_t coll_segment_end(const struct coll_config *config)
{
    return config->offset + JOB_TRANSPORT_ALIGN + SHELVES_WITH_CELLS * shelf_size(config->procs, 1) +
           (SHELVES - SHELVES_WITH_CELLS) * shelf_size(config->procs, SHELVES);
}

/* What may go by a shelf without cells. */
enum {
    WITHOUT_CELLS = 1 << COLL_BCAST | 1 << COLL_REDUCE | 1 << COLL_ALLREDUCE | 1 << COLL_SCAN | 1 << COLL_EXSCAN,
};

static void close_book(void)
{
    if (area.book)
        munmap(area.book, sizeof *area.book);
    area.book = NULL;
}

/* Do all processes take the same calls to shelves? Else some would wait for lines and others for messages. The first
 * one says it, a bit for each operation. */
static int agree(void)
{
    const uint32_t own = 1U << 31 | (shared_coll.value ? ~coll_by_messages : 0);
    uint32_t said = 0;
    int operation;

    /* relaxed: nothing else goes with it */
    if (atomic_compare_exchange_strong_explicit(&area.book->calls, &said, own, memory_order_relaxed,
                                                memory_order_relaxed) || said == own)
        return 0;
    operation = __builtin_ctz(said ^ own);
    return err(MPI_ERR_OTHER,
               "E0735: %s goes %s in this process and %s in another one of the job; PARLEY_SHARED_COLL, "
               "PARLEY_REPRODUCIBLE and PARLEY_COLL_... must be the same in all",
               coll_name((enum coll_operation)operation, COLL_BLOCKING),
               own >> operation & 1 ? "through shared memory" : "by messages",
               own >> operation & 1 ? "by messages" : "through shared memory");
}

int coll_init(const struct coll_config *config)
{
    int rc = coll_choice_init();

    setting_reset(&shared_coll, 1, NULL);
    if (config->joint)
        clients_open(config->joint, config->procs);
    if (!rc)
        rc = setting_read(&shared_coll);
    return rc || !config->segment ? rc : coll_share(config);
}

int coll_share(const struct coll_config *config)
{
    int rc;

    area.book = share_map(config->segment, config->segment_fd, config->offset, sizeof *area.book);
    if (!area.book)
        return err(MPI_ERR_NO_MEM, "no address space for what collective calls share: %s", strerror(errno));
    rc = agree();
    if (rc || !shared_coll.value)
        close_book();
    area.segment = config->segment;
    area.fd = config->segment_fd;
    area.offset = config->offset;
    area.procs = config->procs;
    return rc;
}

void coll_fini(void)
{
    close_book();
    sched_close();
    spare_drop();
    coll_choice_fini();
}

bool shelf_is_offered(void)
{
    return area.book != NULL;
}

struct job_proc *shelf_proc(const struct comm *comm, int rank)
{
    return job_proc(area.segment, group_proc(comm->group, rank));
}

/* --- mapping --- */

/* What is mapped begins at a multiple of JOB_TRANSPORT_ALIGN before it. */
static size_t before(int number)
{
    return shelf_offset(area.procs, number) % JOB_TRANSPORT_ALIGN;
}

bool shelf_open(struct comm *comm, struct comm_shelf shelf)
{
    const size_t offset = shelf_offset(area.procs, shelf.number), skip = before(shelf.number);
    char *memory = share_map(area.segment, area.fd, offset - skip, skip + shelf_size(area.procs, shelf.number));

    if (!memory)
        return false;
    comm->shelf = shelf;
    comm->shelf_known = shelf.round;
    comm->shelf_meets = 0;
    comm->shelf_memory = memory + skip;
    comm->shelf_cells = comm->shelf_memory + lines_size(area.procs);
    memset(&comm->shelf_trays, 0, sizeof comm->shelf_trays);
    for (int i = 0; i < SHELF_CELLS; i++)
        comm->shelf_cell_round[i] = shelf.round - 2 * SHELF_SLOTS; /* long ago */
    comm->shelf_short = comm->size <= node_flat_max() ? ~coll_by_messages : 0;
    if (!shelf_has_cells(comm)) /* as node_call.c has it */
        comm->shelf_short &= WITHOUT_CELLS;
    return true;
}

static void unmap(struct comm *comm)
{
    const size_t skip = before(comm->shelf.number);

    if (comm->shelf_memory)
        munmap(comm->shelf_memory - skip, skip + shelf_size(area.procs, comm->shelf.number));
    comm->shelf_memory = NULL;
}

/* --- taking and leaving --- */

/* Set the lowest free bit that is not `reserved`; -1: none. */
static int take_bit(_Atomic uint64_t *word, uint64_t reserved)
{
    uint64_t taken = atomic_load_explicit(word, memory_order_relaxed);

    while (~(taken | reserved)) {
        const int bit = __builtin_ctzll(~(taken | reserved));
        /* acquire pairs with shelf_leave: the round that the last users left */
        if (atomic_compare_exchange_weak_explicit(word, &taken, taken | UINT64_C(1) << bit, memory_order_acquire,
                                                  memory_order_relaxed))
            return bit;
    }
    return -1;
}

/* The members before these may have been fewer: no line may seem to be ahead. Who is told of the shelf sees this. One
 * that nobody has had is left as it is, all zeroes. */
static void prepare(struct comm *comm)
{
    const uint64_t stamp = (uint64_t)comm->shelf.round << 32;

    for (int rank = 0; rank < comm->size; rank++) {
        struct shelf_member *member = shelf_member(comm, rank);

        for (int slot = 0; slot < SHELF_SLOTS; slot++)
            atomic_store_explicit(&member->line[slot].stamp, stamp, memory_order_relaxed);
        atomic_store_explicit(&member->step, stamp, memory_order_relaxed);
        for (int word = 0; word < SHELF_MEETS; word++)
            atomic_store_explicit(&member->meets[word], 0, memory_order_relaxed);
    }
}

static void give_back(int number)
{
    atomic_fetch_and_explicit(&area.book->taken[(number - 1) / 64], ~(UINT64_C(1) << (number - 1) % 64),
                              memory_order_release); /* pairs with take_bit */
}

static int take_number(void)
{
    for (int i = 0; area.book && i < SHELVES / 64; i++) {
        const int bit = take_bit(&area.book->taken[i], i ? 0 : UINT64_C(1) << (SHELF_WORLD - 1));

        if (bit >= 0)
            return 64 * i + bit + 1;
    }
    return 0;
}

struct comm_shelf shelf_take(struct comm *comm)
{
    struct comm_shelf shelf = { take_number(), 0 };

    if (!shelf.number)
        return shelf;
    shelf.round = atomic_load_explicit(&area.book->shelf[shelf.number - 1].round, memory_order_relaxed);
    if (!shelf_open(comm, shelf)) {
        give_back(shelf.number);
        return (struct comm_shelf){ 0 };
    }
    atomic_store_explicit(&area.book->shelf[shelf.number - 1].users, (uint32_t)comm->size, memory_order_relaxed);
    if (shelf.round)
        prepare(comm);
    return shelf;
}

int coll_world_open(struct comm *world)
{
    const int rc = coll_spread_find(world);

    if (rc)
        return rc;
    if (!area.book || world->size == 1 || world->spread || shelf_open(world, (struct comm_shelf){ SHELF_WORLD, 0 }))
        return 0;
    return err(MPI_ERR_NO_MEM, "no address space for %zu KB that collective calls on MPI_COMM_WORLD share: %s",
               shelf_size(area.procs, SHELF_WORLD) >> 10, strerror(errno));
}

char *shelf_scratch(struct comm *comm, size_t size)
{
    if (!comm->shelf_scratch)
        comm->shelf_scratch = mem_alloc(size);
    return comm->shelf_scratch;
}

void shelf_leave(struct comm *comm)
{
    const struct comm_shelf shelf = comm->shelf;

    unmap(comm);
    mem_free(comm->shelf_scratch);
    comm->shelf_scratch = NULL;
    mem_free(comm->shelf_trials);
    comm->shelf_trials = NULL;
    comm->shelf.number = -1;
    comm->shelf_short = 0;
    if (shelf.number == SHELF_WORLD)
        return;
    if (atomic_fetch_sub_explicit(&area.book->shelf[shelf.number - 1].users, 1, memory_order_acq_rel) != 1)
        return;
    /* who is last comes after all others */
    atomic_store_explicit(&area.book->shelf[shelf.number - 1].round, shelf.round ? shelf.round : 1,
                          memory_order_relaxed);
    give_back(shelf.number);
}

void coll_comm_close(struct comm *comm)
{
    kept_drop(comm);
    if (comm->shelf.number > 0 && area.book)
        shelf_leave(comm);
    coll_spread_drop(comm);
}
