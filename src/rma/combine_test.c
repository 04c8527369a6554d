/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of room rma: combining with memory in pieces, whatever the layout, the type, the operator and the address,
 * against one element after the other; stripes that are taken on the way, by whom does not wait; threads that want one
 * stripe. */
#include "rma/combine.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "rma/stripe.h"

enum { BYTES = 40000, MOST = 3000, CASES = 3000, THREADS = 4, TURNS = 20000 };

static _Alignas(64) unsigned char memory[BYTES], expected[BYTES], from[BYTES], old[BYTES], old_expected[BYTES];
static struct win_target target;
static struct win win = { .size = 1, .target = &target };
static uint64_t state = 1;

static size_t below(size_t n)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (size_t)(state >> 33) % n;
}

static const struct {
    MPI_Datatype type;
    MPI_Op ops[4];
} choices[] = {
    { MPI_INT8_T, { MPI_SUM, MPI_REPLACE, MPI_NO_OP, MPI_MAX } },
    { MPI_UINT16_T, { MPI_SUM, MPI_BXOR, MPI_NO_OP, MPI_PROD } },
    { MPI_INT, { MPI_SUM, MPI_REPLACE, MPI_BAND, MPI_LXOR } },
    { MPI_INT64_T, { MPI_SUM, MPI_REPLACE, MPI_BOR, MPI_MIN } },
    { MPI_INTEGER16, { MPI_SUM, MPI_REPLACE, MPI_BOR, MPI_NO_OP } },
    { MPI_DOUBLE, { MPI_SUM, MPI_REPLACE, MPI_NO_OP, MPI_MAX } },
    { MPI_SHORT_INT, { MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP, MPI_MINLOC } },
    { MPI_2INT, { MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP, MPI_MINLOC } },
    { MPI_DOUBLE_INT, { MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP, MPI_MINLOC } },
};

/* Layouts of `count` elements: in a row or with gaps. */
static struct type *layout(struct type *element, MPI_Count count)
{
    const MPI_Count gap = (MPI_Count)below(3);
    struct type *type;

    CHECK_INT(type_vector(MPI_COMBINER_VECTOR, (const MPI_Count[]){ count, 1, 1 + gap }, element, true, &type), 0);
    return type;
}

/* What has to come out. */
static void compute(const struct combine *c, const struct op *op, struct type *element, MPI_Count count)
{
    const size_t size = (size_t)element->size;
    char *const packed = malloc(size * (size_t)count), *const there = malloc(size * (size_t)count);
    unsigned char *const place = expected + (c->address - (uintptr_t)memory);
    _Alignas(16) char a[TYPE_ELEMENT_MAX], b[TYPE_ELEMENT_MAX];

    type_pack(c->type, place, 1, 0, there, size * (size_t)count);
    type_unpack(c->result.type, old_expected, 1, 0, there, size * (size_t)count);
    if (op->obj.predefined != (uintptr_t)MPI_NO_OP)
        type_pack(c->from.type, from, 1, 0, packed, size * (size_t)count);
    for (MPI_Count i = 0; i < count && op->obj.predefined != (uintptr_t)MPI_NO_OP; i++) {
        type_unpack(element, a, 1, 0, packed + (size_t)i * size, size);
        type_unpack(element, b, 1, 0, there + (size_t)i * size, size);
        op_reduce(op, a, b, 1, element);
        type_pack(element, b, 1, 0, there + (size_t)i * size, size);
    }
    type_unpack(c->type, place, 1, 0, there, size * (size_t)count);
    free(packed);
    free(there);
}

/* All of it, a stripe being taken now and then, in which case nothing may be lost or done twice. */
static void run(struct combine *c)
{
    while (true) {
        const struct stripe stripe = stripe_of(&win, 0, c->address + below(20000));
        const bool is_taken = below(2) && stripe_try(stripe);
        const size_t at = c->at;
        const int rc = combine_run(c);

        CHECK(rc == 0 || (rc == COMBINE_LATER && is_taken && c->at >= at && c->at < c->end));
        if (is_taken)
            stripe_unlock(stripe);
        if (!rc)
            break;
    }
    CHECK(c->at == c->end);
}

/* Other contents from time to time; if they are to be numbers, of bytes that make finite ones at any place. */
static void fill(bool are_numbers)
{
    if (!are_numbers && below(20))
        return;
    for (size_t i = 0; i < BYTES; i++) {
        memory[i] = expected[i] = (unsigned char)(are_numbers ? 1 + below(0x3f) : below(256));
        from[i] = (unsigned char)(are_numbers ? 1 + below(0x3f) : below(256));
    }
}

static void one_case(void)
{
    const size_t i = below(ARRAY_LEN(choices));
    struct type *const element = obj_type(choices[i].type);
    const struct op *const op = obj_op(choices[i].ops[below(4)]);
    const MPI_Count count = 1 + (MPI_Count)below(below(4) ? 30 : MOST / (size_t)element->size);
    struct type *types[3];
    struct combine c = { .win = &win, .way = WIN_WAY_DIRECT, .op = op, .element = element, .count = 1 };

    if (!element->is_supported)
        return;
    fill(element == obj_type(MPI_DOUBLE) || element == obj_type(MPI_DOUBLE_INT));
    for (int k = 0; k < 3; k++)
        types[k] = layout(element, count);
    win.is_mapped = below(2);
    c.type = types[0];
    c.from = (struct win_data){ from, 1, types[1] };
    c.result = (struct win_data){ old, 1, types[2] };
    c.address = (uintptr_t)memory + below(4096 * 3);
    if (below(4))
        c.address &= ~UINT64_C(15);
    c.end = (size_t)types[0]->size;
    compute(&c, op, element, count);
    run(&c);
    CHECK(!memcmp(memory, expected, BYTES) && !memcmp(old, old_expected, BYTES));
    for (int k = 0; k < 3; k++)
        type_unref(types[k]);
}

static void check_cases(void)
{
    for (int i = 0; i < CASES; i++)
        one_case();
}

static void check_swap(void)
{
    struct type *const type = obj_type(MPI_INTEGER16);
    const struct type *const small = obj_type(MPI_SHORT);
    struct combine c = { .win = &win, .way = WIN_WAY_DIRECT, .element = type, .address = (uintptr_t)memory,
                         .from = { from, 1, type }, .result = { old, 1, type } };
    short there = 5, value = 6, compare = 7, before;

    memset(memory, 1, 16);
    memset(from, 2, 16);
    memset(expected, 3, 16);
    CHECK_INT(combine_swap_striped(&c, expected), 0);
    CHECK(memory[3] == 1 && old[3] == 1);
    CHECK_INT(combine_swap_striped(&c, memory), 0);
    CHECK(memory[3] == 2 && old[3] == 1);
    CHECK(stripe_try(stripe_of(&win, 0, c.address)));
    CHECK_INT(combine_swap_striped(&c, memory), COMBINE_LATER);
    stripe_unlock(stripe_of(&win, 0, c.address));
    combine_swap(small, &there, &value, &compare, &before);
    CHECK(there == 5 && before == 5);
    combine_swap(small, &there, &value, &there, &before);
    CHECK(there == 6 && before == 5);
}

static void *many_turns(void *arg)
{
    double *const sum = arg;
    const struct stripe stripe = stripe_of(&win, 0, (uintptr_t)sum);

    for (int i = 0; i < TURNS; i++) {
        stripe_lock(stripe, "MPI_Accumulate");
        (*sum)++;
        stripe_unlock(stripe);
    }
    return NULL;
}

static void check_threads(void)
{
    pthread_t threads[THREADS];
    double sum = 0;

    progress_set_threaded(true);
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, many_turns, &sum), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    progress_set_threaded(false);
    CHECK(sum == (double)THREADS * TURNS);
}

int main(void)
{
    type_init();
    op_init();
    progress_init(&(struct progress_config){ .local_ranks = 1 });
    win.member_size = sizeof(struct win_member);
    win.control = mem_alloc_aligned(CACHE_LINE, win.member_size);
    memset(win.control, 0, win.member_size);
    check_cases();
    check_swap();
    check_threads();
    mem_free(win.control);
    progress_fini();
    type_fini();
    return 0;
}
