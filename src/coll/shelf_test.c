/* SPDX-License-Identifier: BSD-3-Clause */
/* Shelves: taking and leaving them, and the barrier on one between processes that share memory, flat and as a tree,
 * with fewer and with more processors than processes. */
#include "coll/shelf.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "coll/coll.h"
#include "obj/blocked.h"
#include "progress/progress.h"
#include "sys/wake.h"

enum { MAX_RANKS = 70, ROUNDS = 300 };

static struct coll_config config = { .segment_fd = -1 };      /* of a job segment … */
static char *memory;                    /* … its head and processes */
static struct shelf_book *book;         /* behind them */
static _Atomic int *counts;             /* rounds that each rank has come to */

static void *map_shared(int fd, size_t size, size_t offset)
{
    void *start = mmap(NULL, size, PROT_READ | PROT_WRITE, fd < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED, fd,
                       (off_t)offset);

    CHECK(start != MAP_FAILED);
    return start;
}

static void map(int procs)
{
    const size_t offset = job_transport_offset(procs);
    const int fd = memfd_create("segment", MFD_CLOEXEC);

    close(config.segment_fd);
    CHECK_INT(ftruncate(fd, (off_t)(offset + JOB_PAGE)), 0);
    memory = map_shared(fd, offset, 0);
    counts = map_shared(-1, JOB_PAGE, 0);
    book = map_shared(fd, JOB_PAGE, offset);
    config = (struct coll_config){ (struct job_head *)(void *)memory, fd, offset, procs };
    coll_fini();
    CHECK_INT(coll_init(&config), 0);
}

static struct comm make_comm(struct group *group)
{
    return (struct comm){ .rank = group->rank, .size = group->size, .group = group, .remote_group = group,
                          .coll_call = "MPI_Barrier" };
}

/* Nobody leaves a round before all have come to it. */
static int run_rank(int rank, int size, struct comm_shelf shelf, bool is_crowded)
{
    const struct progress_config waiting = { .sleep_word = &job_proc(memory, rank)->sleep, .local_ranks = size,
                                            .cpus = is_crowded ? 1 : size, .has_fences = is_crowded,
                                            .is_oversubscribed = is_crowded };
    struct group *group;
    struct comm comm;

    CHECK_INT(coll_init(&config), 0); /* forked children do not have what is shared */
    wake_barrier_init();
    progress_init(&waiting);
    CHECK_INT(group_create_stride(size, 0, 1, rank, &group), 0);
    comm = make_comm(group);
    shelf_open(&comm, shelf);
    for (int round = 1; round <= ROUNDS; round++) {
        atomic_store(&counts[rank], round);
        if (round % 64 == rank % 64)
            usleep(200); /* the others sleep */
        shelf_barrier(&comm);
        for (int other = 0; other < size; other++)
            CHECK(atomic_load(&counts[other]) >= round);
    }
    coll_comm_close(&comm);
    group_unref(group);
    progress_fini();
    return 0;
}

static void test_barrier(int size, bool is_crowded, uint32_t first_round)
{
    struct comm_shelf shelf;

    map(size);
    atomic_store(&book->shelf[0].round, first_round);
    shelf = shelf_take(size);
    CHECK_INT(shelf.number, 1);
    CHECK_INT(shelf.round, first_round);
    for (int rank = 0; rank < size; rank++) {
        if (!fork())
            _exit(run_rank(rank, size, shelf, is_crowded));
    }
    for (int rank = 0; rank < size; rank++) {
        int status;
        CHECK(wait(&status) > 0);
        CHECK_INT(status, 0);
    }
    CHECK_INT(book->taken[0], 0);
    CHECK_INT(book->shelf[0].round, (uint32_t)(first_round + ROUNDS));
}

/* All are there once; then none is left, until the last user of one leaves. */
static void test_take(void)
{
    struct comm_shelf shelf;

    map(2);
    for (int i = 0; i < SHELVES; i++) {
        shelf = shelf_take(2);
        CHECK_INT(shelf.number, i + 1);
    }
    CHECK_INT(shelf_take(2).number, 0);
    shelf = (struct comm_shelf){ 77, 5 };
    shelf_leave(shelf);
    CHECK_INT(shelf_take(2).number, 0);
    shelf_leave(shelf);
    shelf = shelf_take(3);
    CHECK_INT(shelf.number, 77);
    CHECK_INT(shelf.round, 5);
    coll_fini();
    CHECK_INT(shelf_take(2).number, 0);
}

/* A wait is told of with the first rank that has not come. */
static bool is_told;

static void look(struct progress_long *wait)
{
    struct blocked b;

    CHECK(coll_describe_wait(wait, &b));
    CHECK(!strcmp(b.call, "MPI_Barrier") && b.is_coll && b.way == BLOCKED_RECEIVING);
    CHECK_INT(b.peer, 1);
    is_told = true;
}

static void leave(struct progress_long *wait)
{
    CHECK(is_told && wait);
}

static void test_told(void)
{
    static const struct progress_watch watch = { look, leave };
    const struct progress_config waiting = { .local_ranks = 2, .cpus = 2 };
    struct group *group;
    struct comm comm;

    map(2);
    progress_init(&waiting);
    progress_set_watch(&watch);
    CHECK_INT(group_create_stride(2, 0, 1, 0, &group), 0);
    comm = make_comm(group);
    shelf_open(&comm, shelf_take(2));
    if (!fork()) {
        CHECK_INT(coll_init(&config), 0);
        shelf_open(&comm, comm.shelf);
        usleep(100000);
        atomic_store(&comm.shelf_lines[1].arrived, 1);
        _exit(0);
    }
    shelf_barrier(&comm); /* nobody wakes us: the sleep has a limit */
    CHECK(is_told);
    CHECK(!coll_describe_wait(&(struct progress_long){ NULL }, &(struct blocked){ 0 }));
    group_unref(group);
    progress_fini();
    CHECK(wait(NULL) > 0);
}

int main(void)
{
    test_take();
    for (int size = 2; size <= 9; size++)
        test_barrier(size, size % 2, 0);
    test_barrier(4, true, UINT32_MAX - 100); /* numbers go around */
    test_barrier(17, false, 0);              /* a tree of two floors */
    test_barrier(MAX_RANKS, true, 0);        /* also when crowded */
    test_told();
    return 0;
}
