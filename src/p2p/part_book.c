/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. Bookkeeping of partitions (MPI 5.0 §4): marks of the sender, missing bytes of the receiver.
 * Knows: numbers only. Does not know: requests, transports, locks. */
#include "p2p/int_part.h"

enum { BITS = 64 };

size_t part_words(int count)
{
    return ((size_t)count + BITS - 1) / BITS;
}

void part_marks_init(struct part_marks *m, int count, uint64_t *words)
{
    m->ready = (_Atomic uint64_t *)words;
    m->taken = words + part_words(count);
    m->count = count;
    part_marks_clear(m);
}

void part_marks_clear(struct part_marks *m)
{
    for (size_t i = 0; i < part_words(m->count); i++) {
        atomic_store_explicit(&m->ready[i], 0, memory_order_relaxed);
        m->taken[i] = 0;
    }
    m->low = 0;
}

/* The bits of `run` in the word of its first partition; `run` becomes the rest. */
static uint64_t split(struct part_run *run)
{
    const int from = run->first % BITS, count = run->count < BITS - from ? run->count : BITS - from;

    run->first += count;
    run->count -= count;
    return (count == BITS ? ~UINT64_C(0) : (UINT64_C(1) << count) - 1) << from;
}

int part_marks_find(const struct part_marks *m, struct part_run run)
{
    while (run.count) {
        const int word = run.first / BITS;
        const uint64_t found = split(&run) & atomic_load_explicit(&m->ready[word], memory_order_relaxed);
        if (found)
            return word * BITS + __builtin_ctzll(found);
    }
    return -1;
}

int part_marks_set(struct part_marks *m, struct part_run run)
{
    int added = 0;

    while (run.count) {
        const int word = run.first / BITS;
        const uint64_t bits = split(&run);
        /* release pairs with part_marks_next: what the user has written is there */
        const uint64_t before = atomic_fetch_or_explicit(&m->ready[word], bits, memory_order_release);
        added += __builtin_popcountll(bits & ~before);
    }
    return added;
}

/* Ready and not taken, of the 64 partitions of a word. */
static uint64_t waiting_in(const struct part_marks *m, int word)
{
    return atomic_load_explicit(&m->ready[word], memory_order_acquire) & ~m->taken[word];
}

/* How many partitions from `first` on are waiting, at most `max`. */
static int run_length(const struct part_marks *m, int first, int max)
{
    int count = 0;

    while (count < max && first + count < m->count) {
        const int at = first + count, from = at % BITS;
        const uint64_t gap = ~(waiting_in(m, at / BITS) >> from);
        const int ones = gap ? __builtin_ctzll(gap) : BITS; /* zeros come in from above: not beyond the word */
        count += ones;
        if (ones < BITS - from)
            break;
    }
    return count < max ? count : max;
}

bool part_marks_next(struct part_marks *m, int max, struct part_run *run)
{
    const int words = (int)part_words(m->count);

    while (m->low < words && m->taken[m->low] == ~UINT64_C(0))
        m->low++;
    for (int word = m->low; word < words; word++) {
        const uint64_t waiting = waiting_in(m, word);
        if (!waiting)
            continue;
        run->first = word * BITS + __builtin_ctzll(waiting);
        run->count = run_length(m, run->first, max);
        return true;
    }
    return false;
}

void part_marks_take(struct part_marks *m, struct part_run run)
{
    while (run.count) {
        const int word = run.first / BITS;
        m->taken[word] |= split(&run);
    }
}

void part_fill_clear(struct part_fill *f, size_t len)
{
    f->total_left = len;
    for (int i = 0; i < f->count; i++) {
        const size_t here = size_min(len, f->part_len);
        atomic_store_explicit(&f->left[i], here, memory_order_relaxed);
        len -= here;
    }
}

void part_fill_add(struct part_fill *f, size_t offset, size_t len)
{
    f->total_left -= len;
    while (len) {
        const size_t at = offset / f->part_len, here = size_min(len, (at + 1) * f->part_len - offset);
        const size_t left = atomic_load_explicit(&f->left[at], memory_order_relaxed);
        atomic_store_explicit(&f->left[at], left - here, memory_order_release); /* pairs with part_fill_has */
        offset += here;
        len -= here;
    }
}

bool part_fill_has(const struct part_fill *f, int partition)
{
    return !atomic_load_explicit(&f->left[partition], memory_order_acquire);
}
