/* SPDX-License-Identifier: BSD-3-Clause */
/* The heap: ranges of two processes, gaps that are used again, memory that goes back, and why there may be none. */
#include "rma/heap.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "sys/segment.h"

static struct job_head *head;
static int fd;

static void open_as(int proc)
{
    const struct rma_config config = { head, fd, 100000, proc, 2 };

    heap_open(&config);
}

static void make_segment(void)
{
    const struct segment_plan plan = { .size = 2, .apps = 1, .launcher = "test" };
    char why[SEGMENT_WHY];

    fd = segment_make(&plan, &head, why);
    CHECK(fd >= 0);
}

static void test_gaps(void)
{
    const uint64_t first = heap_take(1), second = heap_take(3 * HEAP_ALIGN), third = heap_take(10);

    CHECK(first >= 100000 && first % HEAP_ALIGN == 0);
    CHECK_INT(second, first + HEAP_ALIGN);
    CHECK_INT(third, second + 3 * HEAP_ALIGN);
    heap_give(second);
    CHECK_INT(heap_take(4 * HEAP_ALIGN), third + HEAP_ALIGN);
    CHECK_INT(heap_take(HEAP_ALIGN + 1), second);
    CHECK_INT(heap_take(HEAP_ALIGN), second + 2 * HEAP_ALIGN);
    heap_give(first);
    CHECK_INT(heap_take(1), first);
    heap_close();
}

/* What is there is seen by the other process, is zero at first, and is zero again when it has been given back. */
static void test_memory(void)
{
    struct stat before, after;
    uint64_t at, other;
    char *here, *there;

    open_as(1);
    other = heap_take(1);
    heap_close();
    open_as(0);
    at = heap_take(1 << 20);
    CHECK(at != other);
    here = heap_map(at, 1 << 20);
    there = heap_map(at, 1 << 20);
    CHECK(here && there && here != there);
    CHECK_INT(here[12345], 0);
    memset(here, 7, 1 << 20);
    CHECK_INT(there[(1 << 20) - 1], 7);
    CHECK_INT(fstat(fd, &before), 0);
    heap_give(at);
    CHECK_INT(fstat(fd, &after), 0);
    CHECK(after.st_blocks <= before.st_blocks - 2048);
    CHECK_INT(heap_take(1), at);
    CHECK_INT(there[0], 0);
    heap_unmap(here, 1 << 20);
    heap_unmap(there, 1 << 20);
    heap_unmap(NULL, 1);
    heap_close();
}

static void test_none(void)
{
    struct rlimit limit, old;

    open_as(0);
    CHECK_INT(heap_take(UINT64_MAX), 0);
    CHECK_INT(heap_take(UINT64_C(1) << 40), 0);
    CHECK_INT(errno, ENOMEM);
    mem_fail_after(0);
    CHECK_INT(heap_take(1), 0);
    CHECK_INT(errno, ENOMEM);
    mem_fail_after(-1);
    CHECK_INT(getrlimit(RLIMIT_FSIZE, &old), 0);
    limit = (struct rlimit){ 1 << 20, old.rlim_max };
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &limit), 0); /* a soft one stands aside */
    CHECK(heap_take(1 << 20) != 0);
    CHECK_INT(getrlimit(RLIMIT_FSIZE, &limit), 0);
    CHECK_INT(limit.rlim_cur, 1 << 20);
    limit.rlim_max = 1 << 20;
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &limit), 0); /* for good, if this is not root */
    CHECK_INT(heap_take(1 << 30), 0);
    CHECK_INT(errno, EFBIG);
    heap_close();
    CHECK_INT(heap_take(1), 0); /* there is no segment */
    CHECK(!heap_proc(0));
    CHECK_INT(mem_live(), 0);
}

int main(void)
{
    make_segment();
    open_as(0);
    test_gaps();
    open_as(0);
    test_memory();
    test_none();
    return 0;
}
