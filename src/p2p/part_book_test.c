/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of room p2p: bookkeeping of partitions against plain arrays of flags and bytes, in random cases.
 * Argument: seed (default 1). */
#include <limits.h>
#include <string.h>

#include "base/check.h"
#include "p2p/int_part.h"

enum { MOST = 300, ROUNDS = 2000, BYTES = 4000 };

static uint64_t random_state = 1;

static int below(int n)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((random_state >> 33) % (uint64_t)n);
}

/* --- marks --- */

enum { IDLE, READY, TAKEN };

static char model[MOST];

static struct part_run random_run(int count)
{
    const int first = below(count), most = below(4) ? 5 : count;

    return (struct part_run){ first, 1 + below(count - first < most ? count - first : most) };
}

static int first_ready(struct part_run run)
{
    for (int i = run.first; i < run.first + run.count; i++) {
        if (model[i] != IDLE)
            return i;
    }
    return -1;
}

static void mark_some(struct part_marks *m)
{
    const struct part_run run = random_run(m->count);
    int added = 0;

    CHECK_INT(part_marks_find(m, run), first_ready(run));
    for (int i = run.first; i < run.first + run.count; i++) {
        added += model[i] == IDLE;
        if (model[i] == IDLE)
            model[i] = READY;
    }
    CHECK_INT(part_marks_set(m, run), added);
}

/* The first that waits, and as many after it as wait too. */
static void take_some(struct part_marks *m)
{
    const int max = below(3) ? 1 + below(m->count) : INT_MAX;
    struct part_run run = { -1, -1 };
    int first = 0, count = 0;

    while (first < m->count && model[first] != READY)
        first++;
    while (first + count < m->count && count < max && model[first + count] == READY)
        count++;
    CHECK_INT(part_marks_next(m, max, &run), first < m->count);
    if (first == m->count)
        return;
    CHECK_INT(run.first, first);
    CHECK_INT(run.count, count);
    if (!below(5))
        return; /* no room: left for the next time */
    part_marks_take(m, run);
    memset(model + first, TAKEN, (size_t)count);
}

static void check_marks(void)
{
    uint64_t words[2 * (MOST / 64 + 1)];
    struct part_marks m;

    for (int round = 0; round < ROUNDS; round++) {
        const int count = 1 + below(MOST);
        CHECK(2 * part_words(count) <= ARRAY_LEN(words));
        part_marks_init(&m, count, words);
        for (int again = 0; again < 2; again++) {
            memset(model, IDLE, sizeof model);
            for (int step = 0; step < 2 * count; step++)
                below(2) ? mark_some(&m) : take_some(&m);
            part_marks_clear(&m);
        }
    }
}

static void check_marks_of_none(void)
{
    struct part_marks m;
    struct part_run run;
    uint64_t word;

    part_marks_init(&m, 0, &word);
    CHECK(!part_marks_next(&m, INT_MAX, &run));
}

/* --- missing bytes --- */

static bool is_there[BYTES];

static bool model_has(const struct part_fill *f, int partition)
{
    for (size_t i = 0; i < f->part_len; i++) {
        if (!is_there[(size_t)partition * f->part_len + i])
            return false;
    }
    return true;
}

/* The pieces of some other division of the same bytes, in any order. */
static void fill_by_pieces(struct part_fill *f, size_t piece)
{
    const size_t len = f->total_left, pieces = (len + piece - 1) / piece;
    size_t left = len;

    while (left) {
        const size_t from = (size_t)below((int)pieces) * piece, n = size_min(piece, len - from);
        if (is_there[from])
            continue;
        memset(is_there + from, true, n);
        part_fill_add(f, from, n);
        left -= n;
        CHECK_INT(f->total_left, left);
        for (int i = 0; i < 3; i++) {
            const int partition = below(f->count);
            CHECK_INT(part_fill_has(f, partition), model_has(f, partition));
        }
    }
    for (int i = 0; i < f->count; i++)
        CHECK(part_fill_has(f, i));
}

static void check_fill(void)
{
    _Atomic size_t words[MOST];
    struct part_fill f = { .left = words };

    for (int round = 0; round < ROUNDS / 4; round++) {
        f.count = 1 + below(40);
        f.part_len = 1 + (size_t)below(BYTES / f.count);
        for (int again = 0; again < 2; again++) {
            const size_t room = f.part_len * (size_t)f.count, len = again ? 1 + (size_t)below((int)room) : room;
            memset(is_there, false, len);
            memset(is_there + len, true, sizeof is_there - len);
            part_fill_clear(&f, len);
            CHECK(!part_fill_has(&f, below((int)((len - 1) / f.part_len + 1))));
            fill_by_pieces(&f, 1 + (size_t)below(again ? 100 : BYTES));
        }
    }
}

static void check_fill_of_nothing(void)
{
    _Atomic size_t word;
    struct part_fill f = { .left = &word, .count = 1 };

    part_fill_clear(&f, 0);
    part_fill_add(&f, 0, 0);
    CHECK_INT(f.total_left, 0);
    CHECK(part_fill_has(&f, 0));
}

int main(int argc, char **argv)
{
    if (argc > 1)
        random_state = strtoull(argv[1], NULL, 0);
    check_marks();
    check_marks_of_none();
    check_fill();
    check_fill_of_nothing();
    return 0;
}
