/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared memory: alignment, every byte used once, neighbours joined, wrong frees, several processes at once. */
#include "p4/forks.h"

#include "p4/arena.h"

enum { ARENA = 4 << 20, SLOTS = 200, STEPS = 20000, PROCESSES = 4 };

static unsigned random_state = 1;

static unsigned next_random(void)
{
    random_state = random_state * 1664525u + 1013904223u;
    return random_state >> 8;
}

static void test_wrong_uses(void)
{
    size_t bytes = 0;
    char *volatile a, *volatile b; /* CHECK_FAILS jumps */
    int local;

    CHECK_FAILS(p4_shmalloc(10), "p4_shmalloc before p4_initenv");
    open_arena(ARENA);
    p4_shfree(NULL);
    CHECK_FAILS(p4_shfree(&local), "does not point to a block");
    a = p4_shmalloc(100);
    b = p4_shmalloc(0);
    CHECK(a && b && a != b);
    CHECK(arena_is_block(a, &bytes) && bytes == 100);
    CHECK(arena_is_block(b, &bytes) && bytes == 0);
    CHECK(!arena_is_block(a + 64, &bytes) && !arena_is_block(&local, &bytes));
    CHECK_FAILS(p4_shfree(a + 64), "E0651: p4_shfree: the pointer");
    CHECK_FAILS(p4_shfree(a + 1), "does not point to a block");
    memset(a, 7, 100);
    p4_shfree(a);
    CHECK_INT(a[0] + a[99], 14); /* readable, as programs expect */
    CHECK_FAILS(p4_shfree(a), "freed before");
    CHECK(!arena_is_block(a, &bytes));
    p4_shfree(b);
    a = p4_shmalloc(64);
    b = p4_shmalloc(64);
    memset(a, 1, 64 + 24);
    CHECK_FAILS(p4_shfree(a), "written in front of its block or behind its end");
    munmap(p4_own.arena, ARENA);
}

static void test_exhaustion(void)
{
    size_t room;
    char *all, *half;

    open_arena(ARENA);
    room = arena_room();
    CHECK(room > ARENA - 4096);
    CHECK(!p4_shmalloc((int)room + 1));
    CHECK(strstr(failure, "E0650: p4_shmalloc: no room"));
    CHECK(!p4_shmalloc(-1) && !p4_shmalloc(INT_MAX));
    all = p4_shmalloc((int)room);
    CHECK(all && arena_room() == 0 && !p4_shmalloc(0));
    p4_shfree(all);
    half = p4_shmalloc(ARENA / 2);
    CHECK(half && !p4_shmalloc(ARENA / 2));
    p4_shfree(half);
    CHECK_INT(arena_room(), room);
    munmap(p4_own.arena, ARENA);
    open_arena(128); /* too small for anything */
    CHECK(!p4_shmalloc(1) && arena_room() == 0);
}

/* Random blocks, each filled with its own pattern, which must be there when it is freed. */
static void use_blocks(void)
{
    struct {
        unsigned char *p;
        int len, value;
    } slots[SLOTS] = { 0 };

    random_state = 77u + (unsigned)p4_own.id;
    for (int step = 0; step < STEPS + SLOTS; step++) {
        const int i = step < STEPS ? (int)(next_random() % SLOTS) : step - STEPS;

        if (slots[i].p) {
            for (int b = 0; b < slots[i].len; b++)
                CHECK_INT(slots[i].p[b], slots[i].value);
            p4_shfree(slots[i].p);
            slots[i].p = NULL;
        } else if (step < STEPS) {
            slots[i].len = (int)(next_random() % 16 ? next_random() % 300 : next_random() % 9000);
            slots[i].value = (int)(next_random() & 255);
            slots[i].p = (unsigned char *)p4_shmalloc(slots[i].len);
            CHECK(slots[i].p && (uintptr_t)slots[i].p % 64 == 0);
            memset(slots[i].p, slots[i].value, (size_t)slots[i].len);
        }
    }
}

static char **mailbox;
static p4_barrier_monitor_t *barrier;

/* A block goes round and is freed by another process than took it. */
static void pass_blocks(void)
{
    for (int round = 0; round < 100; round++) {
        mailbox[p4_own.id] = p4_shmalloc(500);
        p4_barrier(barrier, PROCESSES);
        p4_shfree(mailbox[(p4_own.id + 1) % PROCESSES]);
        p4_barrier(barrier, PROCESSES);
    }
}

/* Each has a pointer of its own at first. */
static void sync_pointer(void)
{
    int *p = NULL;

    for (int round = 0; round < 50; round++) {
        if (p4_own.id == 0) {
            p = (int *)(void *)p4_shmalloc(sizeof *p);
            *p = round;
        }
        p4_cluster_shmem_sync(&p);
        CHECK_INT(*p, round);
        p4_barrier(barrier, PROCESSES);
        if (p4_own.id == PROCESSES - 1)
            p4_shfree(p);
    }
}

int main(void)
{
    size_t room;

    test_wrong_uses();
    test_exhaustion();
    open_arena(ARENA);
    room = arena_room();
    use_blocks();
    CHECK_INT(arena_room(), room);
    in_processes(PROCESSES, use_blocks);
    CHECK_INT(arena_room(), room);
    mailbox = (char **)(void *)p4_shmalloc(PROCESSES * sizeof *mailbox);
    barrier = (p4_barrier_monitor_t *)(void *)p4_shmalloc(sizeof *barrier);
    p4_barrier_init(barrier);
    in_processes(PROCESSES, pass_blocks);
    in_processes(PROCESSES, sync_pointer);
    p4_shfree(mailbox);
    p4_shfree(barrier);
    CHECK_INT(arena_room(), room);
    return 0;
}
