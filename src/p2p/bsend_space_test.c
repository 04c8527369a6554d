/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of the space of buffered messages, against the model of the standard (MPI 5.0 §3.6.1): a circular queue in
 * which a message takes its length and MPI_BSEND_OVERHEAD, and from whose head goes what has gone. Messages of random
 * lengths end in random order; whatever the model takes must be taken, no message may touch another, and nothing may
 * be written outside of the buffer. */
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "p2p/int_bsend_space.h"

enum { GUARD = 64, ENTRIES = 64, ROUNDS = 400, STEPS = 400 };

static uint64_t random_state = 1;

static size_t below(size_t n)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (size_t)(random_state >> 33) % n;
}

struct entry {
    size_t at, size;               /* in the model's buffer */
    bool is_live;
    struct bsend_segment *segment; /* while live */
    size_t len;
    unsigned char fill;
};

/* The queue: count entries from head on, in a ring. */
static struct model {
    size_t size;
    struct entry queue[ENTRIES];
    int head, count;
} model;

static struct entry *entry_at(int i)
{
    return &model.queue[(model.head + i) % ENTRIES];
}

static void model_drop_ended(void)
{
    while (model.count && !entry_at(0)->is_live) {
        model.head = (model.head + 1) % ENTRIES;
        model.count--;
    }
}

/* Where the model puts `size` bytes; false: it overflows. */
static bool model_find(size_t size, size_t *at)
{
    const struct entry *first, *last;
    size_t tail;

    model_drop_ended();
    *at = 0;
    if (!model.count)
        return size <= model.size;
    first = entry_at(0);
    last = entry_at(model.count - 1);
    tail = last->at + last->size;
    if (first->at < tail) { /* not wrapped: behind the tail, or at the start */
        if (model.size - tail >= size) {
            *at = tail;
            return true;
        }
        return first->at >= size;
    }
    *at = tail;
    return first->at - tail >= size;
}

static void check_content(const struct entry *e)
{
    for (size_t i = 0; i < e->len; i++)
        CHECK_INT((unsigned char)e->segment->data[i], e->fill);
}

static void end_entry(struct bsend_space *space, struct entry *e)
{
    check_content(e);
    bsend_space_give(space, e->segment);
    e->is_live = false;
}

/* Some message that is still there; mostly the oldest. */
static void end_some(struct bsend_space *space, bool in_order)
{
    for (int i = 0; i < model.count; i++) {
        struct entry *e = entry_at(i);
        if (e->is_live && (in_order || below(3) == 0)) {
            end_entry(space, e);
            return;
        }
    }
}

static bool lies_inside(const struct bsend_space *space, const struct bsend_segment *segment, size_t len)
{
    const char *start = space->address, *first = (const char *)segment;

    CHECK_INT((uintptr_t)segment % BSEND_ALIGN, 0);
    if (first < start || first >= start + space->size)
        return false;
    CHECK(segment->data + len <= start + space->size);
    return true;
}

static int outside;

static void begin_some(struct bsend_space *space, size_t longest)
{
    const size_t len = below(longest);
    struct bsend_segment *segment;
    struct entry *e;
    size_t at;

    if (model.count == ENTRIES || !model_find(len + MPI_BSEND_OVERHEAD, &at))
        return;
    CHECK(bsend_space_has(space, len));
    segment = bsend_space_take(space, len);
    CHECK(segment);
    outside += !lies_inside(space, segment, len);
    e = entry_at(model.count++);
    *e = (struct entry){ at, len + MPI_BSEND_OVERHEAD, true, segment, len, (unsigned char)below(256) };
    memset(segment->data, e->fill, len);
}

static void run(size_t size, size_t longest, bool in_order)
{
    unsigned char *memory = mem_alloc(size + 2 * GUARD + BSEND_ALIGN);
    unsigned char *buffer = memory + GUARD + below(BSEND_ALIGN);
    struct bsend_space space;

    memset(memory, 0xA5, size + 2 * GUARD + BSEND_ALIGN);
    bsend_space_init(&space, buffer, size);
    model = (struct model){ .size = size };
    for (int i = 0; i < STEPS; i++) {
        if (below(2))
            begin_some(&space, longest);
        else
            end_some(&space, in_order);
    }
    while (model_drop_ended(), model.count)
        end_some(&space, true);
    CHECK(list_is_empty(&space.segments) && space.last == &space.segments);
    CHECK_INT(space.free, size);
    for (int i = 0; i < GUARD; i++)
        CHECK(buffer[-1 - i] == 0xA5 && buffer[size + (size_t)i] == 0xA5);
    mem_free(memory);
}

static void test_model(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        const size_t size = 1 + below(20000);
        run(size, 1 + below(size), false);
    }
    CHECK(outside > 0); /* or it has not been tried */
    for (int i = 0; i < ROUNDS; i++)
        run(1 + below(20000), 1 + below(3000), true);
}

/* Exactly as much as the standard says, for one message and for many. */
static void test_exact(void)
{
    enum { LEN = 100, COUNT = 10 };
    static char buffer[COUNT * (LEN + MPI_BSEND_OVERHEAD) + 1];
    struct bsend_segment *segments[COUNT];
    struct bsend_space space;

    bsend_space_init(&space, buffer + 1, sizeof buffer - 1);
    for (int i = 0; i < COUNT; i++) {
        CHECK(bsend_space_has(&space, LEN) && (i < COUNT - 1 || !bsend_space_has(&space, LEN + 1)));
        segments[i] = bsend_space_take(&space, LEN);
        CHECK(lies_inside(&space, segments[i], LEN));
    }
    CHECK(!bsend_space_has(&space, 0));
    for (int i = 0; i < COUNT; i++)
        bsend_space_give(&space, segments[i]);
    CHECK_INT(space.free, sizeof buffer - 1);
}

/* A program that does not reckon with MPI_BSEND_OVERHEAD has as many messages as find a place, and not one more. */
static void test_more(void)
{
    enum { LEN = 40, MOST = 100 };
    static char buffer[2000];
    struct bsend_segment *segments[MOST];
    struct bsend_space space;
    int count = 0;

    bsend_space_init(&space, buffer, sizeof buffer);
    for (int round = 0; round < 2; round++) {
        while (count < MOST && (segments[count] = bsend_space_take(&space, LEN))) {
            CHECK(lies_inside(&space, segments[count], LEN));
            memset(segments[count++]->data, 'x', LEN);
        }
        CHECK(count >= 10 && count < MOST && space.free < MPI_BSEND_OVERHEAD);
        CHECK(!bsend_space_has(&space, 0));
        while (count)
            bsend_space_give(&space, segments[--count]);
        CHECK_INT(space.free, sizeof buffer);
        CHECK(bsend_space_has(&space, sizeof buffer - MPI_BSEND_OVERHEAD));
    }
}

static void test_small(void)
{
    char byte;
    struct bsend_space space;

    bsend_space_init(&space, NULL, 0);
    CHECK(!bsend_space_has(&space, 0));
    bsend_space_init(&space, &byte, 1);
    CHECK(!bsend_space_has(&space, 0) && !bsend_space_has(&space, (size_t)-1));
}

static void test_automatic(void)
{
    struct bsend_segment *segments[2];
    struct bsend_space space;

    bsend_space_init(&space, MPI_BUFFER_AUTOMATIC, 5);
    CHECK(bsend_space_has(&space, 1000000) && space.size == 0 && space.address == MPI_BUFFER_AUTOMATIC);
    for (int i = 0; i < 2; i++)
        segments[i] = bsend_space_take(&space, 1000000);
    memset(segments[1]->data, 1, 1000000);
    for (int i = 0; i < 2; i++)
        bsend_space_give(&space, segments[i]);
    mem_fail_after(0);
    CHECK(!bsend_space_take(&space, 1));
    mem_fail_after(-1);
}

/* The pieces are too small, and there is no memory: nothing changes. */
static void test_no_memory(void)
{
    enum { LEN = 10000, COUNT = 4 };
    static char buffer[COUNT * (LEN + MPI_BSEND_OVERHEAD)];
    struct bsend_segment *segments[COUNT], *large;
    struct bsend_space space;

    bsend_space_init(&space, buffer, sizeof buffer);
    for (int i = 0; i < COUNT; i++)
        segments[i] = bsend_space_take(&space, LEN);
    bsend_space_give(&space, segments[0]);
    bsend_space_give(&space, segments[2]);
    mem_fail_after(0);
    CHECK(bsend_space_has(&space, 2 * LEN) && !bsend_space_take(&space, 2 * LEN));
    mem_fail_after(-1);
    CHECK_INT(space.free, 2 * (LEN + MPI_BSEND_OVERHEAD));
    large = bsend_space_take(&space, 2 * LEN);
    CHECK(large && !lies_inside(&space, large, 2 * LEN));
    bsend_space_give(&space, large);
    bsend_space_give(&space, segments[1]);
    bsend_space_give(&space, segments[3]);
}

int main(void)
{
    test_model();
    test_exact();
    test_more();
    test_small();
    test_automatic();
    test_no_memory();
    CHECK_INT(mem_live(), 0);
    return 0;
}
