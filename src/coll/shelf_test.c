/* SPDX-License-Identifier: BSD-3-Clause */
/* Shelves: taking, telling and leaving them. */
#include "coll/shelf.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "coll/coll.h"

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
    config = (struct coll_config){ (struct job_head *)(void *)memory, fd, offset, procs };
    coll_fini();
    CHECK_INT(coll_init(&config), 0);
}

static struct comm make_comm(int size)
{
    return (struct comm){ .size = size };
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
    struct comm comm = make_comm(2), world = make_comm(3);

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
}

/* No address space: nothing is taken. */
static void test_no_space(void)
{
    struct rlimit limit = { 1 << 20, RLIM_INFINITY };
    struct comm comm = make_comm(2);

    map(2);
    CHECK_INT(setrlimit(RLIMIT_AS, &limit), 0);
    CHECK_INT(shelf_take(&comm).number, 0);
    CHECK(!shelf_open(&comm, (struct comm_shelf){ SHELF_WORLD + 1, 0 }));
    CHECK_INT(err_class(coll_world_open(&comm)), MPI_ERR_NO_MEM);
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
    test_no_space();
    return 0;
}
