/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §12.3.4: all ranks combine random data with the memory of all at once, with one operator, by all calls of the
 * family, with and without gaps on each side. The result is that of the same operations one after the other (operators
 * that give the same in any order), which each rank computes by itself; MPI_REPLACE leaves one of the values. What
 * MPI_NO_OP reads then is that. */
#include <stdbool.h>
#include <stddef.h>

#include "flavors.h"

enum { PLACES = 40, CALLS = 20, MOST = 6, WIDEST = 32, OPS = 13, OPS_OF_TYPE = 3 };

enum { ARITHMETIC = 1, ORDER = 2, BITS = 4, TRUTH = 8, INDEX = 16 };

struct short_int {
    short value;
    int index;
};

struct double_int {
    double value;
    int index;
};

static const struct operator {
    MPI_Op op;
    int group; /* 0: with every type */
} operators[OPS] = {
    { MPI_SUM, ARITHMETIC }, { MPI_PROD, ARITHMETIC }, { MPI_MAX, ORDER }, { MPI_MIN, ORDER }, { MPI_BAND, BITS },
    { MPI_BOR, BITS },       { MPI_BXOR, BITS },       { MPI_LAND, TRUTH }, { MPI_LOR, TRUTH }, { MPI_LXOR, TRUTH },
    { MPI_MAXLOC, INDEX },   { MPI_MINLOC, INDEX },    { MPI_REPLACE, 0 },
};

enum shape { ANY, BOOLS, FLOATS, DOUBLES, LONG_DOUBLES, COMPLEXES, INT_PAIRS, SHORT_PAIRS, DOUBLE_PAIRS };

static const struct basis {
    MPI_Datatype type;
    size_t size; /* in memory */
    int groups;
    enum shape shape;
} bases[] = {
    { MPI_INT8_T, 1, ARITHMETIC | ORDER | BITS | TRUTH, ANY },
    { MPI_SHORT, 2, ARITHMETIC | ORDER | BITS | TRUTH, ANY },
    { MPI_INT, 4, ARITHMETIC | ORDER | BITS | TRUTH, ANY },
    { MPI_LONG_LONG, 8, ARITHMETIC | ORDER | BITS | TRUTH, ANY },
    { MPI_UINT16_T, 2, ARITHMETIC | ORDER | BITS | TRUTH, ANY },
    { MPI_UNSIGNED, 4, ARITHMETIC | ORDER | BITS | TRUTH, ANY },
    { MPI_UINT64_T, 8, ARITHMETIC | ORDER | BITS | TRUTH, ANY },
    { MPI_AINT, 8, ARITHMETIC | ORDER | BITS, ANY },
    { MPI_BYTE, 1, BITS, ANY },
    { MPI_CHAR, 1, 0, ANY },
    { MPI_C_BOOL, 1, TRUTH, BOOLS },
    { MPI_FLOAT, 4, ARITHMETIC | ORDER, FLOATS },
    { MPI_DOUBLE, 8, ARITHMETIC | ORDER, DOUBLES },
    { MPI_LONG_DOUBLE, 16, ARITHMETIC | ORDER, LONG_DOUBLES },
    { MPI_C_DOUBLE_COMPLEX, 16, ARITHMETIC, COMPLEXES },
    { MPI_2INT, 8, INDEX, INT_PAIRS },
    { MPI_SHORT_INT, sizeof(struct short_int), INDEX, SHORT_PAIRS },
    { MPI_DOUBLE_INT, sizeof(struct double_int), INDEX, DOUBLE_PAIRS },
};

enum { BASES = sizeof bases / sizeof bases[0] };

/* A value whose sums and products are exact in any order. */
static void choose_value(const struct basis *b, MPI_Op op, uint64_t *state, unsigned char *out)
{
    const uint64_t any = test_random(state);
    const int number = op == MPI_PROD ? (any & 1 ? 1 : -1) : (int)(any % 31) - 15;

    memset(out, 0, b->size);
    switch (b->shape) {
    case ANY: memcpy(out, &any, b->size); break;
    case BOOLS: out[0] = any & 1; break;
    case FLOATS: memcpy(out, &(float){ (float)number }, 4); break;
    case DOUBLES: memcpy(out, &(double){ number }, 8); break;
    case LONG_DOUBLES: *(long double *)(void *)out = number; break;
    case COMPLEXES: memcpy(out, (double[2]){ number, op == MPI_PROD ? 0 : number + 1 }, 16); break;
    case INT_PAIRS: memcpy(out, (int[2]){ number, (int)(any >> 40) % 100 }, 8); break;
    case SHORT_PAIRS:
        memcpy(out, &(short){ (short)number }, sizeof(short));
        memcpy(out + offsetof(struct short_int, index), &(int){ (int)(any >> 40) % 100 }, sizeof(int));
        break;
    case DOUBLE_PAIRS:
        memcpy(out, &(double){ number }, sizeof(double));
        memcpy(out + offsetof(struct double_int, index), &(int){ (int)(any >> 40) % 100 }, sizeof(int));
        break;
    }
}

enum call { ACCUMULATE, GET_ACCUMULATE, RACCUMULATE, RGET_ACCUMULATE, FETCH, CALLS_KNOWN };

/* One call, as its rank chooses it and all others know it. */
struct choice {
    enum call call;
    int target, first, count, target_stride, origin_stride, result_stride;
    _Alignas(16) unsigned char value[MOST][WIDEST];
};

static void choose(const struct basis *b, MPI_Op op, int ranks, uint64_t *state, struct choice *c)
{
    c->call = (enum call)test_below(state, CALLS_KNOWN);
    c->target = (int)test_below(state, (size_t)ranks);
    c->count = c->call == FETCH ? 1 : 1 + (int)test_below(state, MOST);
    c->target_stride = 1 + (int)test_below(state, 2);
    c->origin_stride = 1 + (int)test_below(state, 3);
    c->result_stride = 1 + (int)test_below(state, 2);
    c->first = (int)test_below(state, (size_t)(PLACES - c->count * c->target_stride + 1));
    for (int i = 0; i < c->count; i++)
        choose_value(b, op, state, c->value[i]);
}

static MPI_Datatype layout(const struct basis *b, int count, int stride)
{
    MPI_Datatype type;

    CHECK_OK(MPI_Type_vector(count, 1, stride, b->type, &type));
    CHECK_OK(MPI_Type_commit(&type));
    return type;
}

static void make_call(const struct window *w, const struct basis *b, MPI_Op op, const struct choice *c)
{
    static _Alignas(16) unsigned char origin[3 * MOST * WIDEST], result[2 * MOST * WIDEST];
    MPI_Datatype origin_type = layout(b, c->count, c->origin_stride);
    MPI_Datatype target_type = layout(b, c->count, c->target_stride);
    MPI_Datatype result_type = layout(b, c->count, c->result_stride);
    const MPI_Aint disp = window_disp(w, c->target, (size_t)c->first * b->size);
    const bool is_bare = c->origin_stride == 1;
    MPI_Datatype plain = is_bare ? b->type : origin_type;
    const int plain_count = is_bare ? c->count : 1, rank = c->target;
    MPI_Request request = MPI_REQUEST_NULL;

    for (int i = 0; i < c->count; i++)
        memcpy(origin + (size_t)(i * c->origin_stride) * b->size, c->value[i], b->size);
    if (c->call == ACCUMULATE)
        CHECK_OK(MPI_Accumulate(origin, plain_count, plain, rank, disp, 1, target_type, op, w->win));
    else if (c->call == GET_ACCUMULATE)
        CHECK_OK(MPI_Get_accumulate(origin, plain_count, plain, result, 1, result_type, rank, disp, 1, target_type, op,
                                    w->win));
    else if (c->call == RACCUMULATE)
        CHECK_OK(MPI_Raccumulate(origin, plain_count, plain, rank, disp, 1, target_type, op, w->win, &request));
    else if (c->call == RGET_ACCUMULATE)
        CHECK_OK(MPI_Rget_accumulate(origin, plain_count, plain, result, 1, result_type, rank, disp, 1, target_type, op,
                                     w->win, &request));
    else
        CHECK_OK(MPI_Fetch_and_op(c->value[0], result, b->type, rank, disp, op, w->win));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Win_flush_local(rank, w->win)); /* the buffers are used again */
    CHECK_OK(MPI_Type_free(&origin_type));
    CHECK_OK(MPI_Type_free(&target_type));
    CHECK_OK(MPI_Type_free(&result_type));
}

/* --- the model: memory of all ranks --- */

struct model {
    unsigned char *memory;                        /* of each place of each rank */
    unsigned char (*replaced)[WIDEST];            /* MPI_REPLACE: what may stand there, … */
    int *replacements;                            /* … so many for each place */
    int room;
};

static unsigned char *place_of(const struct model *m, const struct basis *b, int rank, int place)
{
    return m->memory + (size_t)(rank * PLACES + place) * b->size;
}

static void apply(struct model *m, const struct basis *b, MPI_Op op, const struct choice *c)
{
    for (int i = 0; i < c->count; i++) {
        const int place = c->first + i * c->target_stride, n = c->target * PLACES + place;
        if (op == MPI_REPLACE)
            memcpy(m->replaced[n * m->room + m->replacements[n]++], c->value[i], b->size);
        else
            CHECK_OK(MPI_Reduce_local(c->value[i], place_of(m, b, c->target, place), 1, b->type, op));
    }
}

static uint64_t state_of(uint64_t phase, int rank)
{
    return test_key(test_seed, phase, (uint64_t)rank);
}

/* Do the data of two items agree? */
static bool same(const struct basis *b, const void *x, const void *y)
{
    const double *const a = x, *const c = y;
    char packed[2][WIDEST];
    int at[2] = { 0, 0 };

    if (b->shape == COMPLEXES) /* zeroes have signs */
        return a[0] == c[0] && a[1] == c[1];
    CHECK_OK(MPI_Pack(x, 1, b->type, packed[0], WIDEST, &at[0], MPI_COMM_SELF));
    CHECK_OK(MPI_Pack(y, 1, b->type, packed[1], WIDEST, &at[1], MPI_COMM_SELF));
    return memcmp(packed[0], packed[1], (size_t)at[0]) == 0;
}

static bool is_right(const struct model *m, const struct basis *b, int rank, int place, const void *found)
{
    const int n = rank * PLACES + place;

    for (int i = 0; i < m->replacements[n]; i++)
        if (same(b, found, m->replaced[n * m->room + i]))
            return true;
    return m->replacements[n] == 0 && same(b, found, place_of(m, b, rank, place));
}

static void begin(struct model *m, const struct window *w, const struct basis *b, MPI_Op op, uint64_t phase)
{
    const size_t places = (size_t)(w->ranks * PLACES);

    m->room = w->ranks * CALLS * MOST;
    m->memory = aligned_alloc(16, (places * b->size + 15) / 16 * 16);
    m->replaced = op == MPI_REPLACE ? calloc(places * (size_t)m->room, sizeof *m->replaced) : NULL;
    m->replacements = calloc(places, sizeof *m->replacements);
    for (int rank = 0; rank < w->ranks; rank++) {
        uint64_t state = state_of(phase, rank + 1000);
        for (int place = 0; place < PLACES; place++)
            choose_value(b, op, &state, place_of(m, b, rank, place));
    }
    memcpy(w->mem, place_of(m, b, w->rank, 0), PLACES * b->size);
}

static void finish(struct model *m)
{
    free(m->memory);
    free(m->replaced);
    free(m->replacements);
}

/* --- what must hold --- */

static void read_some(const struct window *w, const struct model *m, const struct basis *b, uint64_t phase)
{
    uint64_t state = state_of(phase, w->rank + 2000);

    for (int n = 0; n < 3; n++) {
        const int rank = (int)test_below(&state, (size_t)w->ranks), stride = 1 + (int)test_below(&state, 3);
        const int place = (int)test_below(&state, PLACES - 2 * 3);
        const MPI_Aint disp = window_disp(w, rank, (size_t)place * b->size);
        _Alignas(16) unsigned char found[2 * WIDEST], one[WIDEST];
        MPI_Datatype type = layout(b, 2, stride);

        CHECK_OK(MPI_Get_accumulate(NULL, 0, MPI_BYTE, found, 2, b->type, rank, disp, 1, type, MPI_NO_OP, w->win));
        CHECK_OK(MPI_Fetch_and_op(NULL, one, b->type, rank, disp, MPI_NO_OP, w->win));
        CHECK_OK(MPI_Win_flush(rank, w->win));
        CHECK(is_right(m, b, rank, place, found) && is_right(m, b, rank, place + stride, found + b->size) &&
                  is_right(m, b, rank, place, one),
              "MPI_NO_OP reads something else than is there");
        CHECK_OK(MPI_Type_free(&type));
    }
}

static void run_phase(const struct window *w, const struct basis *b, const struct operator *o, uint64_t phase)
{
    struct model m;
    struct choice c;
    uint64_t state;

    begin(&m, w, b, o->op, phase);
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    CHECK_OK(MPI_Win_sync(w->win));
    CHECK_OK(MPI_Barrier(w->comm));
    state = state_of(phase, w->rank);
    for (int i = 0; i < CALLS; i++) {
        choose(b, o->op, w->ranks, &state, &c);
        make_call(w, b, o->op, &c);
    }
    CHECK_OK(MPI_Win_flush_all(w->win));
    CHECK_OK(MPI_Barrier(w->comm));
    CHECK_OK(MPI_Win_sync(w->win));
    for (int rank = 0; rank < w->ranks; rank++) {
        state = state_of(phase, rank);
        for (int i = 0; i < CALLS; i++) {
            choose(b, o->op, w->ranks, &state, &c);
            apply(&m, b, o->op, &c);
        }
    }
    for (int place = 0; place < PLACES; place++)
        CHECK(is_right(&m, b, w->rank, place, w->mem + (size_t)place * b->size),
              "%s, type %d, operator %d: place %d is wrong", flavor_names[w->flavor], (int)(b - bases),
              (int)(o - operators), place);
    read_some(w, &m, b, phase);
    CHECK_OK(MPI_Win_unlock_all(w->win));
    CHECK_OK(MPI_Barrier(w->comm));
    finish(&m);
}

static void run_type(const struct window *w, const struct basis *b, uint64_t phase)
{
    uint64_t state = test_key(test_seed, phase, 77);

    for (int i = 0; i < OPS_OF_TYPE;) {
        const struct operator *o = &operators[test_below(&state, OPS)];
        if (!o->group || o->group & b->groups)
            run_phase(w, b, o, phase * OPS_OF_TYPE + (uint64_t)i++);
    }
}

int main(int argc, char **argv)
{
    struct window w;

    test_begin(&argc, &argv);
    for (int flavor = 0; flavor < FLAVORS; flavor++) {
        window_open(&w, (enum flavor)flavor, PLACES * WIDEST, MPI_COMM_WORLD);
        for (int i = 0; i < BASES; i++)
            run_type(&w, &bases[i], (uint64_t)(flavor * BASES + i));
        window_close(&w);
    }
    return test_end();
}
