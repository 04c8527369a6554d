/* SPDX-License-Identifier: BSD-3-Clause */
/* Shelves: taking, telling and leaving them. */
#include "coll/shelf.h"
#include "coll/spanning.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "coll/coll.h"
#include "sys/place.h"

static struct coll_config config = { .segment_fd = -1 };      /* of a job segment … */
static char *memory;                    /* … its head and processes */

static void *map_shared(int fd, size_t size, size_t offset)
{
    void *start = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);

    CHECK(start != MAP_FAILED);
    return start;
}

static void map(int procs)
{
    const size_t offset = job_transport_offset(procs);
    const int fd = memfd_create("segment", MFD_CLOEXEC);

    close(config.segment_fd);
    CHECK_INT(ftruncate(fd, (off_t)offset), 0); /* it is made longer */
    memory = map_shared(fd, offset, 0);
    config = (struct coll_config){ (struct job_head *)(void *)memory, fd, offset, procs, NULL };
    config.segment->slots = (uint32_t)procs;
    coll_fini();
    CHECK_INT(coll_init(&config), 0);
}

static struct comm make_comm(int size)
{
    return (struct comm){ .size = size };
}

static struct comm make_world(int size)
{
    struct comm world = { .size = size };

    CHECK_INT(group_create_stride(size, 0, 1, 0, &world.group), 0);
    return world;
}

/* All are there once; then none is left, until the last user of one leaves. */
static void test_take(void)
{
    static struct comm comms[SHELVES + 1];
    struct comm comm = make_comm(2), other = make_comm(2);

    map(2);
    for (int number = SHELF_WORLD + 1; number <= SHELVES; number++) {
        comms[number] = make_comm(2);
        CHECK_INT(shelf_take(&comms[number]).number, number);
        memset(shelf_line(&comms[number], 1, SHELF_SLOTS - 1)->data, number, SHELF_INLINE);
        CHECK_INT(comms[number].shelf_short >> COLL_GATHER & 1, shelf_has_cells(&comms[number]));
        CHECK(comms[number].shelf_short >> COLL_EXSCAN & 1);
        if (shelf_has_cells(&comms[number]))
            memset(shelf_cell(&comms[number], 0, 0), number, (size_t)2 * SHELF_CELLS * SHELF_CELL);
    }
    for (int number = SHELF_WORLD + 1; number <= SHELVES; number++) { /* none lies over another */
        CHECK_INT(shelf_line(&comms[number], 1, SHELF_SLOTS - 1)->data[SHELF_INLINE - 1], number % 256);
        CHECK_INT(shelf_head(&comms[number])->late, 0);
    }
    CHECK_INT(shelf_take(&comm).number, 0);
    CHECK(shelf_open(&other, (struct comm_shelf){ 77, 5 }));
    shelf_leave(&other);
    CHECK_INT(shelf_take(&comm).number, 0);
    comms[77].shelf.round = 5;
    shelf_leave(&comms[77]);
    CHECK_INT(comms[77].shelf.number, -1);
    CHECK_INT(comms[77].shelf_short, 0);
    CHECK_INT(shelf_take(&comm).number, 77);
    CHECK_INT(comm.shelf.round, 5);
    coll_fini();
    CHECK(!shelf_is_offered());
    CHECK_INT(shelf_take(&other).number, 0);
}

/* Lines of those who come later are never ahead, and the communicator of all has the first shelf without asking. */
static void test_lines(void)
{
    struct comm comm = make_comm(2), world = make_world(3);

    map(3);
    CHECK_INT(shelf_take(&comm).number, SHELF_WORLD + 1);
    for (int slot = 0; slot < SHELF_SLOTS; slot++)
        atomic_store(&shelf_member(&comm, 2)->line[slot].stamp, UINT64_C(8) << 32);
    for (int member = 0; member < 2; member++) {
        CHECK(shelf_open(&comm, (struct comm_shelf){ SHELF_WORLD + 1, 7 }));
        shelf_leave(&comm);
    }
    comm = make_comm(3);
    CHECK_INT(shelf_take(&comm).number, SHELF_WORLD + 1);
    for (int rank = 0; rank < 3; rank++) {
        for (uint32_t round = 0; round < SHELF_SLOTS; round++)
            CHECK(atomic_load(&shelf_line(&comm, rank, round)->stamp) >> 32 == 7);
    }
    CHECK_INT(coll_world_open(&world), 0);
    CHECK_INT(world.shelf.number, SHELF_WORLD);
    coll_comm_close(&world);
    CHECK_INT(shelf_take(&world).number, SHELF_WORLD + 2); /* nobody else gets that */
    group_unref(world.group);
}

/* Who is where: nodes get their numbers in the order of their first members. */
static void test_nodes(void)
{
    static const uint32_t nodes[] = { 7, 3, 7, 7, 3 };
    static const int expected[] = { 0, 1, 0, 0, 1 };
    struct comm world = make_world(5);
    int rc = 1;

    map(5);
    config.segment->is_spread = 1;
    place_open(config.segment);
    for (int proc = 0; proc < 5; proc++)
        job_place(config.segment, proc)->node = nodes[proc];
    for (long n = 0; rc; n++) {
        const long live = mem_live();

        mem_fail_after(n);
        rc = coll_spread_look(&world);
        mem_fail_after(-1);
        CHECK(!rc || (err_class(rc) == MPI_ERR_NO_MEM && mem_live() == live));
    }
    CHECK_INT(world.spread->layout.nodes, 2);
    for (int rank = 0; rank < 5; rank++)
        CHECK_INT(world.spread->layout.node_of[rank], expected[rank]);
    CHECK(!world.spread->has_runs);
    CHECK_INT(world.spread->most, 3);
    CHECK_INT(world.spread->here.size, 3);
    coll_spread_drop(&world);
    CHECK_INT(coll_world_open(&world), 0); /* it looks itself */
    CHECK_INT(world.shelf.number, 0);
    CHECK_INT(world.spread->layout.nodes, 2);
    coll_comm_close(&world);
    group_unref(world.group);
    world = make_world(2);
    job_place(config.segment, 1)->node = 7;
    CHECK_INT(coll_spread_look(&world), 0);
    CHECK(!world.spread && world.is_placed);
    group_unref(world.group);
}

/* No address space: nothing is taken. */
static void test_no_space(void)
{
    struct rlimit limit = { 1 << 20, RLIM_INFINITY };
    struct comm comm = make_comm(2), world = make_world(2);

    map(2);
    CHECK_INT(setrlimit(RLIMIT_AS, &limit), 0);
    CHECK_INT(shelf_take(&comm).number, 0);
    CHECK(!shelf_open(&comm, (struct comm_shelf){ SHELF_WORLD + 1, 0 }));
    CHECK_INT(err_class(coll_world_open(&world)), MPI_ERR_NO_MEM);
    limit.rlim_cur = RLIM_INFINITY;
    CHECK_INT(setrlimit(RLIMIT_AS, &limit), 0);
    CHECK_INT(shelf_take(&comm).number, SHELF_WORLD + 1);
}

/* Two processes of a job have different settings. */
static void set_and_check(const char *name, const char *value, const char *expected)
{
    const int procs = 2;
    char text[MPI_MAX_ERROR_STRING];
    int rc;

    map(procs);
    coll_fini();
    setenv(name, value, 1);
    rc = coll_init(&config);
    CHECK_INT(err_id(rc), 735);
    err_text(rc, text, sizeof text);
    CHECK(strstr(text, expected) != NULL);
    CHECK(!shelf_is_offered());
    coll_fini();
    unsetenv(name);
    CHECK_INT(coll_init(&config), 0);
    CHECK(shelf_is_offered());
}

static void test_settings(void)
{
    set_and_check("PARLEY_SHARED_COLL", "0", "MPI_Barrier goes by messages in this process and through shared");
    set_and_check("PARLEY_COLL_BCAST", "tree", "MPI_Bcast goes by messages in this process and through shared");
    set_and_check("PARLEY_REPRODUCIBLE", "1", "MPI_Barrier goes by messages");
}

int main(void)
{
    test_settings();
    test_take();
    test_lines();
    test_nodes();
    test_no_space();
    return 0;
}
