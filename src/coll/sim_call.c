/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: coll, for tests. Calls of every operation for simulated processes: what each of them brings, and what the
 * standard says that it gets. Knows: the simulation. Does not know: algorithms. */
#include "coll/sim_call.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"

static uint64_t state = 1;

uint64_t sim_seed(const char *text)
{
    state = text ? strtoull(text, NULL, 10) : (uint64_t)time(NULL) * 2654435761u + (uint64_t)getpid();
    state = state ? state : 1;
    return state;
}

uint64_t sim_any(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
}

/* --- operators and types --- */

static struct op *in_order, *commuting;
static struct type *wide; /* an int64_t, and a gap of as many bytes */

/* A run of ranks, first << 32 | last; two runs combine only if the second follows the first. */
static void join_runs(void *in, void *inout, int *len, MPI_Datatype *handle)
{
    const size_t stride = (size_t)obj_type(*handle)->extent / sizeof(int64_t);
    const int64_t *left = in;
    int64_t *right = inout;

    for (size_t i = 0; i < (size_t)*len * stride; i += stride) {
        const bool follows = (int32_t)left[i] + 1 == (int32_t)(right[i] >> 32) && left[i] >= 0 && right[i] >= 0;
        right[i] = follows ? (left[i] & ~(int64_t)UINT32_MAX) | (int32_t)right[i] : -1;
    }
}

static void add_up(void *in, void *inout, int *len, MPI_Datatype *handle)
{
    const size_t stride = (size_t)obj_type(*handle)->extent / sizeof(int64_t);

    for (size_t i = 0; i < (size_t)*len * stride; i += stride)
        ((int64_t *)inout)[i] += ((int64_t *)in)[i];
}

static int64_t run(int first, int last)
{
    return (int64_t)first << 32 | last;
}

static size_t stride(const struct sim_call *t)
{
    return t->is_wide ? 2 : 1;
}

static struct type *type_of(const struct sim_call *t)
{
    return t->is_wide ? wide : obj_type(MPI_INT64_T);
}

static int64_t value(int rank, int peer, int i)
{
    return (int64_t)rank * 1000000007 + peer * 10007 + i;
}

static bool is_varying(enum coll_operation operation)
{
    return operation == COLL_GATHERV || operation == COLL_SCATTERV || operation == COLL_ALLGATHERV ||
           operation == COLL_ALLTOALLV || operation == COLL_ALLTOALLW || operation == COLL_REDUCE_SCATTER;
}

/* Items between two ranks in alltoall, else of the block of `rank`. */
static int count_at(const struct sim_call *t, int rank, int peer)
{
    if (!is_varying(t->operation))
        return t->count;
    if (t->operation == COLL_ALLTOALLV || t->operation == COLL_ALLTOALLW)
        return t->count ? (rank + peer + t->count) % 3 : 0;
    return t->count ? (rank * 5 + t->count) % 4 : 0;
}

/* Where the block of `rank` begins: one after the other, or from the end with gaps. */
static int place_at(const struct sim_call *t, const struct sim_buffers *b, int rank)
{
    return b->displs ? b->displs[rank] : rank * t->count;
}

static int64_t operand(const struct sim_call *t, int rank, int i)
{
    return t->is_ordered ? run(rank, rank) : (int64_t)((uint64_t)rank * rank * 2654435761u % 1000003) + i;
}

/* Of the ranks [0, end). */
static int64_t reduced(const struct sim_call *t, int end, int i)
{
    return t->is_ordered ? run(0, end - 1) : t->sums[end] + (int64_t)end * i;
}

static void make(struct sim_call *t, int rank, size_t send_items, size_t recv_items)
{
    struct sim_buffers *b = &t->of[rank];

    b->words[0] = (send_items + 1) * stride(t);
    b->words[1] = (recv_items + 1) * stride(t);
    b->send = mem_alloc(2 * (b->words[0] + b->words[1]) * sizeof(int64_t));
    CHECK(b->send);
    b->recv = b->send + b->words[0];
    b->want_send = b->recv + b->words[1];
    b->want_recv = b->want_send + b->words[0];
    for (size_t i = 0; i < b->words[0] + b->words[1]; i++)
        b->send[i] = SIM_CANARY;
}

static void expect_what_is(struct sim_buffers *b)
{
    memcpy(b->want_send, b->send, (b->words[0] + b->words[1]) * sizeof(int64_t));
}

/* Counts, displacements and types for all peers of `rank`; returns the items that the blocks take up. */
static int lay_out(struct sim_call *t, int rank)
{
    struct sim_buffers *b = &t->of[rank];
    int at = 1;

    if (!is_varying(t->operation))
        return t->size * t->count;
    b->counts = mem_alloc((size_t)t->size * 2 * sizeof(int));
    b->types = mem_alloc((size_t)t->size * sizeof(MPI_Datatype));
    CHECK(b->counts && b->types);
    b->displs = b->counts + t->size;
    for (int i = 0; i < t->size; i++) {
        const int peer = t->operation == COLL_REDUCE_SCATTER ? i : t->size - 1 - i;
        const bool is_alltoall = t->operation == COLL_ALLTOALLV || t->operation == COLL_ALLTOALLW;

        b->counts[peer] = is_alltoall ? count_at(t, rank, peer) : count_at(t, peer, 0);
        b->displs[peer] = at;
        b->types[peer] = (MPI_Datatype)obj_handle(&type_of(t)->obj);
        at += b->counts[peer] + (t->operation != COLL_REDUCE_SCATTER);
    }
    return at;
}

static struct coll_data blocks(const struct sim_call *t, const struct sim_buffers *b, int64_t *buf)
{
    struct coll_data data = COLL_SAME(buf, t->count, type_of(t));

    if (is_varying(t->operation))
        data = COLL_VARYING(buf, b->counts, b->displs, type_of(t));
    return data;
}

/* --- what goes in, and what is to come out --- */

static void set(const struct sim_call *t, int64_t *buf, int item, int64_t what)
{
    buf[(size_t)item * stride(t)] = what;
}

static void set_bcast(struct sim_call *t, int rank, struct coll_args *args)
{
    struct sim_buffers *b = &t->of[rank];

    make(t, rank, (size_t)t->count, 0);
    for (int i = 0; rank == t->root && i < t->count; i++)
        set(t, b->send, i, value(rank, 0, i));
    args->send = COLL_SAME(b->send, t->count, type_of(t));
    if (t->is_wide && rank % 2 && t->count) /* another type with the same signature */
        args->send = COLL_SAME(b->send, 1, type_of(t)), args->send.count = t->count;
    expect_what_is(b);
    for (int i = 0; i < t->count; i++)
        set(t, b->want_send, i, value(t->root, 0, i));
}

static void set_gather(struct sim_call *t, int rank, struct coll_args *args)
{
    struct sim_buffers *b = &t->of[rank];
    const bool is_root = t->operation == COLL_ALLGATHER || t->operation == COLL_ALLGATHERV || rank == t->root;
    const bool in_place = t->is_in_place && is_root;
    const int own = count_at(t, rank, 0), items = is_root ? lay_out(t, rank) : 0;

    make(t, rank, (size_t)own, (size_t)items);
    for (int i = 0; i < own; i++)
        set(t, in_place ? b->recv : b->send, (in_place ? place_at(t, b, rank) : 0) + i, value(rank, 0, i));
    args->send = COLL_SAME(in_place ? MPI_IN_PLACE : b->send, own, type_of(t));
    args->recv = blocks(t, b, b->recv);
    expect_what_is(b);
    for (int peer = 0; is_root && peer < t->size; peer++) {
        for (int i = 0; i < count_at(t, peer, 0); i++)
            set(t, b->want_recv, place_at(t, b, peer) + i, value(peer, 0, i));
    }
}

static void set_scatter(struct sim_call *t, int rank, struct coll_args *args)
{
    struct sim_buffers *b = &t->of[rank];
    const bool is_root = rank == t->root;
    const int own = count_at(t, rank, 0), items = is_root ? lay_out(t, rank) : 0;

    make(t, rank, (size_t)items, (size_t)own);
    for (int peer = 0; is_root && peer < t->size; peer++) {
        for (int i = 0; i < count_at(t, peer, 0); i++)
            set(t, b->send, place_at(t, b, peer) + i, value(peer, 1, i));
    }
    args->send = blocks(t, b, b->send);
    args->recv = COLL_SAME(t->is_in_place && is_root ? MPI_IN_PLACE : b->recv, own, type_of(t));
    expect_what_is(b);
    for (int i = 0; i < own && !(t->is_in_place && is_root); i++)
        set(t, b->want_recv, i, value(rank, 1, i));
}

static void set_alltoall(struct sim_call *t, int rank, struct coll_args *args)
{
    struct sim_buffers *b = &t->of[rank];
    const int items = lay_out(t, rank);
    int64_t *from;

    make(t, rank, (size_t)items, (size_t)items);
    from = t->is_in_place ? b->recv : b->send;
    for (int peer = 0; peer < t->size; peer++) {
        for (int i = 0; i < count_at(t, rank, peer); i++)
            set(t, from, place_at(t, b, peer) + i, value(rank, peer, i));
    }
    args->send = blocks(t, b, b->send);
    args->recv = blocks(t, b, b->recv);
    expect_what_is(b);
    for (int peer = 0; peer < t->size; peer++) {
        for (int i = 0; i < count_at(t, rank, peer); i++)
            set(t, b->want_recv, place_at(t, b, peer) + i, value(peer, rank, i));
        if (t->operation == COLL_ALLTOALLW)
            b->displs[peer] *= (int)type_of(t)->extent;
    }
    if (t->operation == COLL_ALLTOALLW) {
        args->send = COLL_MIXED(b->send, b->counts, b->displs, b->types);
        args->recv = COLL_MIXED(b->recv, b->counts, b->displs, b->types);
    }
    if (t->is_in_place)
        args->send.buf = MPI_IN_PLACE;
}

/* Operands and the results are in one place, or not; `end` is the number of ranks in the result, 0: there is none. */
static void set_reduction(struct sim_call *t, int rank, struct coll_args *args)
{
    struct sim_buffers *b = &t->of[rank];
    const bool is_rooted = t->operation == COLL_REDUCE, is_scan = t->operation == COLL_SCAN;
    const bool in_place = t->is_in_place && (!is_rooted || rank == t->root);
    const int end = is_rooted && rank != t->root ? 0 : is_scan ? rank + 1
                                                     : t->operation == COLL_EXSCAN ? rank : t->size;

    make(t, rank, (size_t)t->count, (size_t)t->count);
    for (int i = 0; i < t->count; i++)
        set(t, in_place ? b->recv : b->send, i, operand(t, rank, i));
    args->send = COLL_SAME(in_place ? MPI_IN_PLACE : b->send, t->count, type_of(t));
    args->recv = COLL_SAME(b->recv, t->count, type_of(t));
    expect_what_is(b);
    for (int i = 0; end && i < t->count; i++)
        set(t, b->want_recv, i, reduced(t, end, i));
}

static void set_reduce_scatter(struct sim_call *t, int rank, struct coll_args *args)
{
    struct sim_buffers *b = &t->of[rank];
    const int items = lay_out(t, rank), first = b->displs ? 1 : 0;
    const int own = count_at(t, rank, 0), place = place_at(t, b, rank) - first;

    make(t, rank, (size_t)items, (size_t)items);
    for (int i = 0; i < items - first; i++)
        set(t, t->is_in_place ? b->recv : b->send, i, operand(t, rank, i));
    args->recv = is_varying(t->operation) ? COLL_PACKED(b->recv, b->counts, type_of(t))
                                          : COLL_SAME(b->recv, t->count, type_of(t));
    args->send = COLL_SAME(t->is_in_place ? MPI_IN_PLACE : b->send, t->count, type_of(t));
    expect_what_is(b);
    for (int i = 0; i < own; i++)
        set(t, b->want_recv, i, reduced(t, t->size, place + i));
}

static void set_up(struct sim_call *t, int rank)
{
    struct coll_args *args = &t->sim->ranks[rank].args;

    *args = (struct coll_args){ .operation = t->operation, .root = t->root };
    switch (t->operation) {
    case COLL_BARRIER: make(t, rank, 0, 0); expect_what_is(&t->of[rank]); return;
    case COLL_BCAST: set_bcast(t, rank, args); return;
    case COLL_GATHER:
    case COLL_GATHERV:
    case COLL_ALLGATHER:
    case COLL_ALLGATHERV: set_gather(t, rank, args); return;
    case COLL_SCATTER:
    case COLL_SCATTERV: set_scatter(t, rank, args); return;
    case COLL_ALLTOALL:
    case COLL_ALLTOALLV:
    case COLL_ALLTOALLW: set_alltoall(t, rank, args); return;
    default: break;
    }
    args->op = t->is_ordered ? in_order : commuting;
    if (t->operation == COLL_REDUCE_SCATTER || t->operation == COLL_REDUCE_SCATTER_BLOCK)
        set_reduce_scatter(t, rank, args);
    else
        set_reduction(t, rank, args);
}

/* --- running one --- */

void sim_call_fail(const struct sim_call *t, const char *what, int rank)
{
    const struct sim_config *config = &t->sim->config;
    char trouble[512];

    snprintf(trouble, sizeof trouble,
             "%s %s:%ld, %d ranks, root %d, count %d%s%s%s, layout %d, seed %llu%s, end of %d after %d: %s at rank %d",
             coll_name(t->operation, COLL_BLOCKING), t->algorithm->name, t->parameter, t->size, t->root, t->count,
             t->is_wide ? ", with gaps" : "", t->is_in_place ? ", in place" : "", t->is_ordered ? ", ordered" : "",
             config->layout ? config->layout->nodes : 0, (unsigned long long)config->seed,
             config->is_rendezvous ? ", rendezvous" : "", config->mortal - 1, config->lifetime, what, rank);
    CHECK_TEXT(trouble, "");
}

void sim_call_compare(const struct sim_call *t, int rank)
{
    const struct sim_buffers *b = &t->of[rank];

    if (memcmp(b->send, b->want_send, b->words[0] * sizeof(int64_t)))
        sim_call_fail(t, "wrong buffer to send", rank);
    if (memcmp(b->recv, b->want_recv, b->words[1] * sizeof(int64_t)))
        sim_call_fail(t, "wrong result", rank);
}

void sim_call_release(struct sim_call *t)
{
    for (int rank = 0; rank < t->size; rank++) {
        mem_free(t->of[rank].send);
        mem_free(t->of[rank].counts);
        mem_free(t->of[rank].types);
    }
    mem_free(t->of);
    mem_free(t->sums);
    sim_destroy(t->sim);
}

void sim_call_prepare(struct sim_call *t, const struct sim_config *config)
{
    t->sim = sim_create(config);
    t->of = mem_zalloc((size_t)t->size * sizeof *t->of);
    t->sums = mem_zalloc(((size_t)t->size + 1) * sizeof *t->sums);
    CHECK(t->of && t->sums);
    for (int rank = 0; rank < t->size; rank++)
        t->sums[rank + 1] = t->sums[rank] + (t->is_ordered ? 0 : operand(t, rank, 0));
    for (int rank = 0; rank < t->size; rank++)
        set_up(t, rank);
}

/* --- what may vary --- */

void sim_call_init(void)
{
    type_init();
    op_init();
    CHECK_INT(op_create(join_runs, false, &in_order), 0);
    CHECK_INT(op_create(add_up, true, &commuting), 0);
    CHECK_INT(type_resized(obj_type(MPI_INT64_T), 0, 16, false, &wide), 0);
    CHECK_INT(type_commit(wide), 0);
}

static int any_node(int kind, int width, int rank)
{
    switch (kind) {
    case SIM_NODES_OF_NEIGHBOURS: return (rank + 1) / width;
    case SIM_NODES_IN_TURNS: return rank % width;
    default: return (int)sim_any((unsigned)width);
    }
}

/* One node; nodes of a few neighbouring ranks, not all of one size; nodes that take turns; ranks anywhere. Numbered by
 * first ranks. */
const struct coll_layout *sim_make_layout(int kind, int size, struct coll_layout *layout, int *node_of)
{
    const int width = 1 + (int)sim_any(kind == SIM_ANY_NODES ? 12 : 5);
    int number[65];

    if (kind == SIM_ONE_NODE)
        return NULL;
    memset(number, -1, sizeof number);
    layout->nodes = 0;
    for (int rank = 0; rank < size; rank++) {
        const int node = any_node(kind, width, rank);

        if (number[node] < 0)
            number[node] = layout->nodes++;
        node_of[rank] = number[node];
    }
    layout->node_of = node_of;
    return layout;
}

bool sim_has_runs(const struct coll_layout *layout, int size)
{
    int rank = 1;

    while (layout && rank < size && layout->node_of[rank] >= layout->node_of[rank - 1])
        rank++;
    return !layout || rank >= size;
}

struct coll_shape sim_shape_of(const struct sim_call *t, const struct coll_layout *layout, bool runs)
{
    return (struct coll_shape){ .operation = t->operation, .ranks = t->size, .nodes = layout ? layout->nodes : 1,
                                .is_commutative = !t->is_ordered, .is_in_place = t->is_in_place,
                                .has_runs = runs };
}

long sim_any_parameter(const struct coll_algorithm *algorithm)
{
    if (!algorithm->parameter_name)
        return 0;
    if (!strcmp(algorithm->parameter_name, "segment") || !strcmp(algorithm->parameter_name, "most"))
        return 1 + (long)sim_any(64);
    return algorithm->least + (long)sim_any(7);
}

bool sim_has_root(enum coll_operation operation)
{
    return (operation >= COLL_BCAST && operation <= COLL_SCATTERV) || operation == COLL_REDUCE;
}

bool sim_is_reduction(enum coll_operation operation)
{
    return operation >= COLL_REDUCE && operation <= COLL_EXSCAN;
}

/* Lengths: none, one item, fewer than there are ranks, and several for each. */
int sim_any_count(const struct sim_call *t)
{
    const unsigned vectors = 1U << COLL_BCAST | 1U << COLL_REDUCE | 1U << COLL_ALLREDUCE | 1U << COLL_SCAN |
                             1U << COLL_EXSCAN;
    const bool is_vector = vectors >> t->operation & 1;

    switch (sim_any(4)) {
    case 0: return (int)sim_any(2);
    case 1: return is_vector ? 1 + (int)sim_any((unsigned)t->size) : 1;
    default: return is_vector ? 2 * t->size + (int)sim_any(9) : 1 + (int)sim_any(4);
    }
}
