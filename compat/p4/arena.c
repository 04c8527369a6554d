/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4. The allocator of the shared arena. Knows locks; nothing of messages or processes.
 *
 *   struct arena | block | block | ... | end
 *
 * A block is a head of one unit (64 bytes) and its payload, in units; neighbours find each other by their lengths, so
 * two free ones never lie side by side. Free blocks are in lists by the power of two of their length. The links lie in
 * the heads: a payload stays as it was when its block has been given back. */
#include "p4/arena.h"

enum {
    UNIT = ARENA_ALIGN,
    LISTS = 48,
    LOOKS = 32,  /* blocks of its own length class that an allocation looks at before it takes a longer one */
    MARK_USED = 0x70344155,
    MARK_FREE = 0x70344146,
    MARK_END = 0x70344145,
};

struct block {
    uint32_t mark;
    size_t units;         /* with the head */
    size_t units_before;  /* of the neighbour in front; 0: there is none */
    size_t bytes;         /* as asked for */
    struct block *next, *prev; /* in its list, while it is free */
};

struct arena {
    p4_lock_t lock;
    struct arena_shared shared;
    struct block *first; /* the lowest; NULL: nothing has been made yet */
    struct block *end;   /* behind the last; has no payload */
    uint64_t filled;     /* bit i: lists[i] is not empty */
    struct block *lists[LISTS];
};

static struct arena *arena(void)
{
    return p4_own.arena;
}

static struct block *block_after(struct block *block)
{
    return (struct block *)(void *)((char *)block + block->units * UNIT);
}

static struct block *block_before(struct block *block)
{
    return (struct block *)(void *)((char *)block - block->units_before * UNIT);
}

/* Blocks of list i have 2^i to 2^(i+1)-1 units. */
static int list_of(size_t units)
{
    return 63 - __builtin_clzll(units);
}

static void list_add(struct block *block)
{
    const int i = list_of(block->units);

    block->mark = MARK_FREE;
    block->prev = NULL;
    block->next = arena()->lists[i];
    if (block->next)
        block->next->prev = block;
    arena()->lists[i] = block;
    arena()->filled |= 1ull << i;
}

static void list_remove(struct block *block)
{
    const int i = list_of(block->units);

    if (block->prev)
        block->prev->next = block->next;
    else
        arena()->lists[i] = block->next;
    if (block->next)
        block->next->prev = block->prev;
    if (!arena()->lists[i])
        arena()->filled &= ~(1ull << i);
}

/* One free block, and the end behind it. The mapping is all zero at first; who comes first makes it, with the lock. */
static void make(void)
{
    const size_t head = (sizeof(struct arena) + UNIT - 1) / UNIT * UNIT;
    struct block *first = (struct block *)(void *)((char *)arena() + head);

    if (p4_own.arena_size < head + 4 * UNIT)
        return;
    first->units = (p4_own.arena_size - head) / UNIT - 1;
    arena()->first = first;
    arena()->end = block_after(first);
    arena()->end->mark = MARK_END;
    arena()->end->units_before = first->units;
    list_add(first);
}

static void enter(void)
{
    p4_lock(&arena()->lock);
    if (!arena()->first)
        make();
}

static void leave(void)
{
    p4_unlock(&arena()->lock);
}

struct arena_shared *arena_shared(void)
{
    return &arena()->shared;
}

/* A free block of at least `units`; NULL if there is none. Blocks of the next class are all long enough. */
static struct block *find(size_t units)
{
    const int own = list_of(units);
    const uint64_t longer = arena()->filled & ~((2ull << own) - 1);
    int looks = 0;

    for (struct block *b = arena()->lists[own]; b; b = b->next) {
        if (b->units >= units)
            return b;
        if (longer && ++looks == LOOKS)
            break;
    }
    return longer ? arena()->lists[__builtin_ctzll(longer)] : NULL;
}

/* Take `block` off its list and make what is left behind its first `units` a free block. */
static void cut(struct block *block, size_t units)
{
    const size_t rest = block->units - units;
    struct block *after;

    list_remove(block);
    block->mark = MARK_USED;
    if (rest < 2)
        return;
    block->units = units;
    after = block_after(block);
    after->units_before = units;
    after->units = rest;
    block_after(after)->units_before = rest;
    list_add(after);
}

void *arena_alloc(size_t bytes)
{
    const size_t units = size_max(bytes / UNIT + (bytes % UNIT != 0) + 1, 2);
    struct block *block;

    if (!arena() || bytes >= p4_own.arena_size)
        return NULL;
    enter();
    block = find(units);
    if (block) {
        cut(block, units);
        block->bytes = bytes;
    }
    leave();
    return block ? (char *)block + UNIT : NULL;
}

/* Join `block` with the free ones beside it and put it on its list. */
static void join(struct block *block)
{
    struct block *after = block_after(block);

    if (after->mark == MARK_FREE) {
        list_remove(after);
        block->units += after->units;
        after->mark = 0;
    }
    if (block->units_before && block_before(block)->mark == MARK_FREE) {
        struct block *before = block_before(block);

        list_remove(before);
        before->units += block->units;
        block->mark = 0;
        block = before;
    }
    block_after(block)->units_before = block->units;
    list_add(block);
}

/* What keeps the block of payload `p` from being freed; NULL: nothing. With the lock. */
static const char *fault_of(const void *p)
{
    const char *first = (const char *)arena()->first, *end = (const char *)arena()->end;
    struct block *block = (struct block *)((uintptr_t)p - UNIT);

    if (!first || (uintptr_t)p % UNIT || (const char *)p < first + UNIT || (const char *)p >= end)
        return "it does not point to a block of the shared memory";
    if (block->mark == MARK_FREE)
        return "it has been freed before";
    if (block->mark != MARK_USED)
        return "it does not point to the beginning of a block, or has been freed before";
    if ((const char *)block_after(block) > end || block_after(block)->units_before != block->units)
        return "something was written in front of its block or behind its end";
    return NULL;
}

const char *arena_free(void *p)
{
    const char *fault;

    if (!arena())
        return "there is no shared memory before p4_initenv";
    enter();
    fault = fault_of(p);
    if (!fault)
        join((struct block *)((uintptr_t)p - UNIT));
    leave();
    return fault;
}

bool arena_is_block(const void *p, size_t *bytes)
{
    const char *start = (const char *)arena();
    bool is_block;

    if (!start || (const char *)p < start || (const char *)p >= start + p4_own.arena_size)
        return false;
    enter();
    is_block = !fault_of(p);
    if (is_block)
        *bytes = ((const struct block *)((uintptr_t)p - UNIT))->bytes;
    leave();
    return is_block;
}

size_t arena_room(void)
{
    size_t units = 1;

    if (!arena())
        return 0;
    enter();
    if (arena()->filled)
        for (const struct block *b = arena()->lists[63 - __builtin_clzll(arena()->filled)]; b; b = b->next)
            units = size_max(units, b->units);
    leave();
    return (units - 1) * UNIT;
}
