/* SPDX-License-Identifier: BSD-3-Clause */
/* One collective call of the model test from its random choice to the check: buffers with guards and gaps, the
 * arguments that describe them, and afterwards every byte of both buffers against an image of what must be there. */
#ifndef TESTS_COLL_PLAY_H
#define TESTS_COLL_PLAY_H

#include "plain.h"

#include <limits.h>

enum { GUARD = 48 };

static const char *const form_names[FORMS] = {
    "MPI_%s", "MPI_I%s", "MPI_%s_init", "MPI_%s_c", "MPI_I%s_c", "MPI_%s_init_c",
};

/* A buffer with guards: what MPI gets is `at`. `want` is the image of all its bytes after the call. */
struct area {
    unsigned char *start, *at, *want;
    size_t len;
};

/* Where the blocks of one direction lie and how MPI is told. Kept until the call is complete. */
struct side {
    const struct layout *layout; /* of all blocks, unless MIXED */
    const struct layout *layouts[MOST_BLOCKS];
    MPI_Aint at[MOST_BLOCKS];    /* bytes from the buffer's address to that of the block */
    MPI_Aint lo, hi;             /* bytes that all of them touch */
    int counts[MOST_BLOCKS], displs[MOST_BLOCKS];
    MPI_Count counts_large[MOST_BLOCKS];
    MPI_Aint displs_large[MOST_BLOCKS];
    MPI_Datatype types[MOST_BLOCKS];
    struct area area;
};

struct play {
    char name[200];
    struct meaning m;
    enum form form;
    uint64_t state;   /* of the choices that are this process's own */
    struct side give, get;
    struct args args;
    MPI_Request request;
    bool is_missing;  /* the library has not this function */
};

/* ---- layouts and places of the blocks -------------------------------------------------------------------- */

static inline const struct layout *play_layout(struct play *p, uint64_t *state)
{
    const struct meaning *m = &p->m;
    const struct layout *l;

    if (m->operation->is_fold && !folds[m->fold].is_users)
        return &layouts[m->kind][PLAIN];
    do
        l = &layouts[m->kind][test_below(state, LAYOUTS)];
    while (l->cells > m->step);
    return l;
}

/* Put block `b` at the end of what is there already. The address is a multiple of 16 or, among blocks that are
 * displaced by extents, of the extent. */
static inline void side_append(struct side *s, const struct blocks *blocks, int b, enum shape shape)
{
    const struct layout *l = s->layouts[b];
    const MPI_Aint items = blocks->cells[b] / l->cells, unit = shape == MIXED ? 16 : l->extent;
    const MPI_Aint last = items ? (items - 1) * l->extent : 0;
    MPI_Aint at = s->hi - l->lo;

    at = (at + unit - 1) / unit * unit;
    s->at[b] = at;
    if (items) {
        s->lo = at + l->lo < s->lo ? at + l->lo : s->lo;
        s->hi = at + last + l->hi > s->hi ? at + last + l->hi : s->hi;
    }
}

/* In random order with gaps; then everything is moved so that some displacements are negative. */
static inline void side_scatter(struct play *p, struct side *s, const struct blocks *blocks, enum shape shape)
{
    const MPI_Aint unit = shape == MIXED ? 16 : s->layout->extent;
    int order[MOST_BLOCKS], b, i;
    MPI_Aint back;

    for (i = 0; i < blocks->n; i++) {
        const int j = (int)test_below(&p->state, (size_t)i + 1);

        order[i] = order[j];
        order[j] = i;
    }
    for (i = 0; i < blocks->n; i++) {
        b = order[i];
        side_append(s, blocks, b, shape);
        s->hi += unit * (MPI_Aint)test_below(&p->state, 3);
    }
    back = (MPI_Aint)test_below(&p->state, 4) * unit;
    for (b = 0; b < blocks->n; b++)
        s->at[b] -= back;
    s->lo -= back;
    s->hi -= back;
}

/* Blocks of one size follow each other by extents, also where their bytes interleave. */
static inline void side_row(struct side *s, const struct blocks *blocks)
{
    int b;

    for (b = 0; b < blocks->n; b++) {
        const MPI_Aint items = blocks->cells[b] / s->layout->cells, at = b * items * s->layout->extent;

        s->at[b] = at;
        if (!items)
            continue;
        s->lo = at + s->layout->lo < s->lo ? at + s->layout->lo : s->lo;
        s->hi = at + (items - 1) * s->layout->extent + s->layout->hi;
    }
}

static inline void side_tell(struct side *s, const struct blocks *blocks, enum shape shape)
{
    int b;

    for (b = 0; b < blocks->n; b++) {
        const struct layout *l = s->layouts[b];

        s->counts[b] = blocks->cells[b] / l->cells;
        s->counts_large[b] = s->counts[b];
        s->displs_large[b] = shape == MIXED ? s->at[b] : s->at[b] / l->extent;
        s->displs[b] = (int)s->displs_large[b];
        s->types[b] = l->type;
    }
}

static inline void side_plan(struct play *p, struct side *s, const struct blocks *blocks, enum shape shape)
{
    int b;

    for (b = 0; b < blocks->n; b++)
        s->layouts[b] = shape == MIXED ? play_layout(p, &p->state) : s->layout;
    if (shape >= VARYING)
        side_scatter(p, s, blocks, shape);
    else
        side_row(s, blocks);
    side_tell(s, blocks, shape);
}

/* ---- buffers --------------------------------------------------------------------------------------------- */

static inline void area_make(struct area *a, MPI_Aint lo, MPI_Aint hi)
{
    const MPI_Aint before = (GUARD - lo + 15) / 16 * 16;

    a->len = (size_t)(before + hi + GUARD);
    a->start = test_alloc(a->len);
    a->want = test_alloc(a->len);
    a->at = a->start + before;
}

/* Write the cells of a block to the buffer or to the image of what must be there. */
static inline void play_write(const struct play *p, struct side *s, unsigned char *at, int b, int cells,
                              const struct origin *from)
{
    unsigned char cell[CELL_BYTES];
    int i;

    for (i = 0; i < cells; i++)
        if (plain_cell(&p->m, from, i, cell))
            layout_put(s->layouts[b], at + s->at[b], i, cell);
}

/* What this process has to give where it is to be found: in the send buffer, or in place. */
static inline void play_fill_given(struct play *p)
{
    const struct blocks *give = &p->m.give;
    struct side *s = p->give.area.start ? &p->give : &p->get;
    const bool is_own_block = p->m.is_in_place && p->m.operation->get > ONE && p->m.operation->give == ONE;
    int b;

    for (b = 0; b < give->n; b++)
        play_write(p, s, s->area.at, is_own_block ? p->m.place->rank : b, give->cells[b], &give->from[b]);
}

/* Contents of both buffers and their images, others in every round of a persistent call. */
static inline void play_fill(struct play *p, int round)
{
    struct side *const sides[2] = { &p->give, &p->get };
    const struct blocks *get = &p->m.get;
    struct area *a = &p->get.area;
    int i;

    p->m.contents = test_key(p->m.key, (uint64_t)round, 95);
    for (i = 0; i < 2; i++)
        if (sides[i]->area.start)
            memset(sides[i]->area.start, TEST_CANARY, sides[i]->area.len);
    play_fill_given(p);
    for (i = 0; i < 2; i++)
        if (sides[i]->area.start)
            memcpy(sides[i]->area.want, sides[i]->area.start, sides[i]->area.len);
    for (i = 0; i < get->n; i++)
        play_write(p, &p->get, a->want + (a->at - a->start), i, get->cells[i], &get->from[i]);
}

/* The rest of an operand that lay where the shorter result is now: the standard does not say. */
static inline void play_forget_operand(struct play *p)
{
    struct area *a = &p->get.area;
    unsigned char cell[CELL_BYTES];
    int i;

    for (i = p->m.get.cells[0]; p->m.is_in_place && i < p->m.total; i++) {
        layout_get(p->get.layout, a->at, i, cell);
        layout_put(p->get.layout, a->want + (a->at - a->start), i, cell);
    }
}

/* ---- arguments ------------------------------------------------------------------------------------------- */

/* In what is not significant here: in a group what would be noticed (a root alone, or everybody in place, has these
 * arguments); on the root's side of an intercommunicator no data. */
static inline void play_no_arguments(struct args *a, enum place_kind kind)
{
    a->send = a->recv = NULL;
    a->sendtype = a->recvtype = kind == GROUP ? MPI_DATATYPE_NULL : MPI_BYTE;
    a->sendtypes = a->recvtypes = NULL;
    a->large.sendcount = a->large.recvcount = a->small.sendcount = a->small.recvcount = kind == GROUP ? -1 : 0;
}

static inline void play_give_arguments(struct play *p)
{
    struct args *a = &p->args;
    struct side *s = &p->give;

    a->send = s->area.at;
    a->sendtype = s->layout->type;
    a->sendtypes = s->types;
    a->large.sendcount = a->small.sendcount = s->counts[0];
    a->small.sendcounts = s->counts;
    a->large.sendcounts = s->counts_large;
    a->small.sdispls = s->displs;
    a->large.sdispls = a->small.sdispls_aint = a->large.sdispls_aint = s->displs_large;
}

static inline void play_get_arguments(struct play *p)
{
    struct args *a = &p->args;
    struct side *s = &p->get;

    a->recv = s->area.at;
    a->recvtype = s->layout->type;
    a->recvtypes = s->types;
    a->large.recvcount = a->small.recvcount = s->counts[0];
    a->small.recvcounts = s->counts;
    a->large.recvcounts = s->counts_large;
    a->small.rdispls = s->displs;
    a->large.rdispls = a->small.rdispls_aint = a->large.rdispls_aint = s->displs_large;
}

/* Count and type of a reduction are those of all processes, whoever has which buffer. */
static inline void play_fold_arguments(struct play *p)
{
    struct args *a = &p->args;
    struct side *s = &p->get;
    int rank, before;

    a->recvtype = s->layout->type;
    if (p->m.operation->plan == plan_reduce_scatter) {
        for (rank = 0; rank < p->m.place->size; rank++) {
            s->counts[rank] = plain_part(&p->m, rank, &before) / s->layout->cells;
            s->counts_large[rank] = s->counts[rank];
        }
        a->small.recvcounts = s->counts;
        a->large.recvcounts = s->counts_large;
        return;
    }
    if (p->m.get.n)
        s->counts[0] = p->m.get.cells[0] / s->layout->cells;
    else
        s->counts[0] = p->m.most * p->m.step / s->layout->cells;
    a->large.recvcount = a->small.recvcount = s->counts[0];
}

static inline void play_arguments(struct play *p)
{
    const struct meaning *m = &p->m;
    struct args *a = &p->args;

    play_no_arguments(a, m->place->kind);
    if (p->give.area.start)
        play_give_arguments(p);
    if (m->get.is_used)
        play_get_arguments(p);
    if (m->operation->is_fold)
        play_fold_arguments(p);
    if (m->operation->plan == plan_bcast && m->give.is_used) {
        a->recv = p->give.area.at;
        a->recvtype = a->sendtype;
        a->large.recvcount = a->small.recvcount = a->small.sendcount;
    }
    if (m->is_in_place && m->operation->plan == plan_scatter)
        a->recv = MPI_IN_PLACE;
    else if (m->is_in_place)
        a->send = MPI_IN_PLACE;
    a->op = fold_ops[m->fold];
    a->root = m->root;
    if (m->place->kind == SIDES && m->place->side == m->root_side)
        a->root = plain_is_root(m) ? MPI_ROOT : MPI_PROC_NULL;
    a->comm = m->place->comm;
    a->info = MPI_INFO_NULL;
}

/* ---- the choice ------------------------------------------------------------------------------------------ */

/* Mostly few cells, sometimes many. */
static inline int play_cells(uint64_t *state, int peers)
{
    const size_t turn = test_below(state, 32);
    const int most = turn < 14 ? 4 : turn < 26 ? 60 : turn < 31 ? 900 : MOST_CELLS;

    return (int)test_below(state, (size_t)most + 1) / (most > 60 ? peers : 1);
}

static inline void play_choose(struct play *p, uint64_t *state)
{
    struct meaning *m = &p->m;
    const struct place *place = m->place;
    const size_t peers = (size_t)(place->kind == GROUP ? place->size : test_size);

    m->fold = (enum fold)test_below(state, FOLDS);
    m->kind = (enum kind)test_below(state, KINDS);
    if (m->operation->is_fold)
        m->kind = folds[m->fold].kind;
    m->step = 1 + (int)test_below(state, 2);
    m->most = play_cells(state, (int)peers);
    m->root = (int)test_below(state, 1 << 20);
    m->root_side = (int)test_below(state, 2);
    m->is_in_place = test_below(state, 3) == 0 && m->operation->has_place && place->kind == GROUP;
    if (place->kind != SIDES)
        m->root_side = 0;
    m->root %= m->root_side == place->side ? place->size : place->peers;
}

/* In place means the root's own part; the others call as always. In MPI_Scatter it has no receive buffer, else no
 * send buffer. */
static inline void play_place(struct meaning *m)
{
    if (m->operation->has_root && !plain_is_root(m))
        m->is_in_place = false;
    if (m->is_in_place && m->operation->plan == plan_scatter)
        m->get = (struct blocks){ 0 };
}

static inline void play_describe(struct play *p)
{
    const struct meaning *m = &p->m;
    char name[64];
    const char *shown = m->operation->name;
    int n;

    snprintf(name, sizeof name, "%s", shown);
    if (p->form % 3 == NONBLOCKING)
        name[0] = (char)(name[0] + 'a' - 'A');
    n = snprintf(p->name, sizeof p->name, form_names[p->form], name);
    n += snprintf(p->name + n, sizeof p->name - (size_t)n, " on %s, %s, most %d", m->place->name,
                  cell_kinds[m->kind].name, m->most * m->step);
    if (m->operation->has_root)
        n += snprintf(p->name + n, sizeof p->name - (size_t)n, ", root %d", m->root);
    if (m->operation->is_fold)
        n += snprintf(p->name + n, sizeof p->name - (size_t)n, ", %s", folds[m->fold].name);
    snprintf(p->name + n, sizeof p->name - (size_t)n, "%s, from %s to %s", m->is_in_place ? ", in place" : "",
             p->give.layout->name, p->get.layout->name);
}

/* Plan the call: all that follows from `key` is the same at every process of the communicator. */
static inline void play_plan(struct play *p, const struct operation *o, enum form form, const struct place *place,
                             uint64_t key)
{
    uint64_t state = key;
    struct meaning *m = &p->m;

    memset(p, 0, sizeof *p);
    p->form = form;
    p->request = MPI_REQUEST_NULL;
    p->state = key ^ test_key((uint64_t)test_rank, 3, 96);
    *m = (struct meaning){ .operation = o, .place = place, .key = key };
    play_choose(p, &state);
    o->plan(m);
    play_place(m);
    p->give.layout = play_layout(p, o->is_fold ? &state : &p->state);
    p->get.layout = o->is_fold ? p->give.layout : play_layout(p, &p->state);
    play_describe(p);
    side_plan(p, &p->give, &m->give, o->give);
    side_plan(p, &p->get, &m->get, o->get);
    if (m->is_in_place && m->total) { /* the operand is longer than the result */
        const MPI_Aint items = m->total / p->get.layout->cells;

        p->get.lo = p->give.lo;
        p->get.hi = items ? p->give.hi : p->get.hi;
    }
    if (m->give.is_used && !(m->is_in_place && o->plan != plan_scatter))
        area_make(&p->give.area, p->give.lo, p->give.hi);
    if (m->get.is_used)
        area_make(&p->get.area, p->get.lo, p->get.hi);
    play_arguments(p);
}

/* ---- running it ------------------------------------------------------------------------------------------ */

/* Which case or round of the program it is, for the text of a failure. */
static char play_label[32];

#define PLAY_FAIL(p, format, ...) \
    test_fail(__FILE__, __LINE__, (p)->name, "(%s) " format, play_label, __VA_ARGS__)

static inline void play_check_code(struct play *p, const char *what, int code)
{
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int len;

    if (code == MPI_SUCCESS)
        return;
    MPI_Error_string(code, text, &len);
    PLAY_FAIL(p, "%s failed: %.600s", what, text);
}

/* Call the function: a blocking call is done afterwards, a nonblocking one under way, a persistent one made. */
static inline void play_call(struct play *p)
{
    const int code = p->m.operation->call(&p->args, p->form, &p->request);

    p->is_missing = code != MPI_SUCCESS && test_class(code) == MPI_ERR_UNSUPPORTED_OPERATION;
    if (!p->is_missing)
        play_check_code(p, "it", code);
}

static inline void play_check_area(struct play *p, const struct area *a, const char *which)
{
    size_t i;

    if (!a->start || memcmp(a->start, a->want, a->len) == 0)
        return;
    for (i = 0; a->start[i] == a->want[i]; i++)
        ;
    PLAY_FAIL(p, "%s buffer, byte %ld (of %zu, with guards): expected 0x%02x, got 0x%02x%s", which,
              (long)(a->start + i - a->at), a->len, a->want[i], a->start[i],
              a->want[i] == TEST_CANARY ? "; nothing was to be written there" : "");
}

static inline void play_check(struct play *p)
{
    if (p->is_missing)
        return;
    if (p->m.operation->is_fold && p->m.get.n && p->m.total)
        play_forget_operand(p);
    play_check_area(p, &p->give.area, "send");
    play_check_area(p, &p->get.area, "receive");
}

static inline void play_free(struct play *p)
{
    if (p->request != MPI_REQUEST_NULL)
        play_check_code(p, "MPI_Request_free", MPI_Request_free(&p->request));
    free(p->give.area.start);
    free(p->give.area.want);
    free(p->get.area.start);
    free(p->get.area.want);
}

#endif
