/* SPDX-License-Identifier: BSD-3-Clause */
/* Every algorithm on simulated processes, compared with what the standard says for each of them: 1 to 64 processes with
 * all roots, lengths, types with gaps, in place, operators that commute and one that notices any wrong order; messages
 * eager or by rendezvous, in random orders. Some on thousands of processes. Counts and depths against the formulas at
 * the heads of the files. Memory that runs out.
 *
 *     coll_test [seed]
 */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "coll/int_spare.h"
#include "coll/sim.h"

enum { CANARY = 0x5a5a5a5a, MOST_NAME = 40 };

static uint64_t state = 1;

static uint64_t any(uint64_t below)
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

/* --- one call --- */

struct test {
    const struct coll_algorithm *algorithm;
    enum coll_operation operation;
    long parameter;
    int size, root;
    int count;           /* items of a block */
    bool is_wide, is_in_place, is_ordered;
    struct sim *sim;
    struct buffers *of;  /* by ranks */
    int64_t *sums;       /* of the operands of the ranks before each */
};

struct buffers {
    int64_t *send, *recv, *want_send, *want_recv;
    size_t words[2];
    int *counts, *displs;
    MPI_Datatype *types;
};

static size_t stride(const struct test *t)
{
    return t->is_wide ? 2 : 1;
}

static struct type *type_of(const struct test *t)
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
static int count_at(const struct test *t, int rank, int peer)
{
    if (!is_varying(t->operation))
        return t->count;
    if (t->operation == COLL_ALLTOALLV || t->operation == COLL_ALLTOALLW)
        return t->count ? (rank + peer + t->count) % 3 : 0;
    return t->count ? (rank * 5 + t->count) % 4 : 0;
}

/* Where the block of `rank` begins: one after the other, or from the end with gaps. */
static int place_at(const struct test *t, const struct buffers *b, int rank)
{
    return b->displs ? b->displs[rank] : rank * t->count;
}

static int64_t operand(const struct test *t, int rank, int i)
{
    return t->is_ordered ? run(rank, rank) : (int64_t)((uint64_t)rank * rank * 2654435761u % 1000003) + i;
}

/* Of the ranks [0, end). */
static int64_t reduced(const struct test *t, int end, int i)
{
    return t->is_ordered ? run(0, end - 1) : t->sums[end] + (int64_t)end * i;
}

static void make(struct test *t, int rank, size_t send_items, size_t recv_items)
{
    struct buffers *b = &t->of[rank];

    b->words[0] = (send_items + 1) * stride(t);
    b->words[1] = (recv_items + 1) * stride(t);
    b->send = mem_alloc(2 * (b->words[0] + b->words[1]) * sizeof(int64_t));
    CHECK(b->send);
    b->recv = b->send + b->words[0];
    b->want_send = b->recv + b->words[1];
    b->want_recv = b->want_send + b->words[0];
    for (size_t i = 0; i < b->words[0] + b->words[1]; i++)
        b->send[i] = CANARY;
}

static void expect_what_is(struct buffers *b)
{
    memcpy(b->want_send, b->send, (b->words[0] + b->words[1]) * sizeof(int64_t));
}

/* Counts, displacements and types for all peers of `rank`; returns the items that the blocks take up. */
static int lay_out(struct test *t, int rank)
{
    struct buffers *b = &t->of[rank];
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

static struct coll_data blocks(const struct test *t, const struct buffers *b, int64_t *buf)
{
    struct coll_data data = COLL_SAME(buf, t->count, type_of(t));

    if (is_varying(t->operation))
        data = COLL_VARYING(buf, b->counts, b->displs, type_of(t));
    return data;
}

/* --- what goes in, and what is to come out --- */

static void set(const struct test *t, int64_t *buf, int item, int64_t what)
{
    buf[(size_t)item * stride(t)] = what;
}

static void set_bcast(struct test *t, int rank, struct coll_args *args)
{
    struct buffers *b = &t->of[rank];

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

static void set_gather(struct test *t, int rank, struct coll_args *args)
{
    struct buffers *b = &t->of[rank];
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

static void set_scatter(struct test *t, int rank, struct coll_args *args)
{
    struct buffers *b = &t->of[rank];
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

static void set_alltoall(struct test *t, int rank, struct coll_args *args)
{
    struct buffers *b = &t->of[rank];
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
static void set_reduction(struct test *t, int rank, struct coll_args *args)
{
    struct buffers *b = &t->of[rank];
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

static void set_reduce_scatter(struct test *t, int rank, struct coll_args *args)
{
    struct buffers *b = &t->of[rank];
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

static void set_up(struct test *t, int rank)
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

static COLD void fail(const struct test *t, const char *what, int rank)
{
    fprintf(stderr, "%s %s:%ld, %d ranks, root %d, count %d%s%s%s, layout %d, seed %llu%s: %s at rank %d\n",
            coll_name(t->operation, COLL_BLOCKING), t->algorithm->name, t->parameter, t->size, t->root, t->count,
            t->is_wide ? ", with gaps" : "", t->is_in_place ? ", in place" : "", t->is_ordered ? ", ordered" : "",
            t->sim->config.layout ? t->sim->config.layout->nodes : 0, (unsigned long long)t->sim->config.seed,
            t->sim->config.is_rendezvous ? ", rendezvous" : "", what, rank);
    exit(1);
}

static void compare(const struct test *t)
{
    for (int rank = 0; rank < t->size; rank++) {
        const struct buffers *b = &t->of[rank];
        if (memcmp(b->send, b->want_send, b->words[0] * sizeof(int64_t)))
            fail(t, "wrong buffer to send", rank);
        if (memcmp(b->recv, b->want_recv, b->words[1] * sizeof(int64_t)))
            fail(t, "wrong result", rank);
    }
}

static void release(struct test *t)
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

static void prepare(struct test *t, const struct sim_config *config)
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

static struct sim_counts run_test(struct test *t, const struct sim_config *config)
{
    struct sim_counts counts;

    prepare(t, config);
    if (sim_build(t->sim, t->algorithm->build, t->parameter))
        fail(t, "no memory", 0);
    if (sim_run(t->sim, &counts))
        fail(t, t->sim->trouble, 0);
    compare(t);
    release(t);
    return counts;
}

/* --- all of them --- */

static struct coll_shape shape_of(const struct test *t, const struct coll_layout *layout, bool runs)
{
    return (struct coll_shape){ .operation = t->operation, .ranks = t->size, .nodes = layout ? layout->nodes : 1,
                                .is_commutative = !t->is_ordered, .is_in_place = t->is_in_place,
                                .has_runs = runs };
}

static bool is_reduction(enum coll_operation operation)
{
    return operation >= COLL_REDUCE && operation <= COLL_EXSCAN;
}

enum { ONE_NODE, NODES_OF_NEIGHBOURS, NODES_IN_TURNS, ANY_NODES, LAYOUTS };

static int any_node(int kind, int width, int rank)
{
    switch (kind) {
    case NODES_OF_NEIGHBOURS: return (rank + 1) / width;
    case NODES_IN_TURNS: return rank % width;
    default: return (int)any((unsigned)width);
    }
}

/* One node; nodes of a few neighbouring ranks, not all of one size; nodes that take turns; ranks anywhere. Numbered by
 * first ranks. */
static const struct coll_layout *make_layout(int kind, int size, struct coll_layout *layout, int *node_of)
{
    const int width = 1 + (int)any(kind == ANY_NODES ? 12 : 5);
    int number[65];

    if (kind == ONE_NODE)
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

static bool has_runs(const struct coll_layout *layout, int size)
{
    int rank = 1;

    while (layout && rank < size && layout->node_of[rank] >= layout->node_of[rank - 1])
        rank++;
    return !layout || rank >= size;
}

static void test_one(struct test t, int kind)
{
    int node_of[64];
    struct coll_layout memory;
    const struct coll_layout *layout = make_layout(kind, t.size, &memory, node_of);
    const struct coll_shape shape = shape_of(&t, layout, has_runs(layout, t.size));
    const struct sim_config config = { .size = t.size, .seed = any(4) ? 1 + any(1 << 30) : 0, .is_rendezvous = any(2),
                                       .alpha = 1e-6, .beta = 1e-10, .layout = layout };

    if (!coll_why_not(t.algorithm, &shape))
        run_test(&t, &config);
}

static long any_parameter(const struct coll_algorithm *algorithm)
{
    if (!algorithm->parameter_name)
        return 0;
    if (!strcmp(algorithm->parameter_name, "segment") || !strcmp(algorithm->parameter_name, "most"))
        return 1 + (long)any(64);
    return algorithm->least + (long)any(7);
}

static bool has_root(enum coll_operation operation)
{
    return (operation >= COLL_BCAST && operation <= COLL_SCATTERV) || operation == COLL_REDUCE;
}

/* Lengths: none, one item, fewer than there are ranks, and several for each. */
static int any_count(const struct test *t)
{
    const unsigned vectors = 1U << COLL_BCAST | 1U << COLL_REDUCE | 1U << COLL_ALLREDUCE | 1U << COLL_SCAN |
                             1U << COLL_EXSCAN;
    const bool is_vector = vectors >> t->operation & 1;

    switch (any(4)) {
    case 0: return (int)any(2);
    case 1: return is_vector ? 1 + (int)any((unsigned)t->size) : 1;
    default: return is_vector ? 2 * t->size + (int)any(9) : 1 + (int)any(4);
    }
}

static void test_size(const struct coll_algorithm *algorithm, enum coll_operation operation, int size)
{
    const bool is_small = size <= 9;
    const int rounds = is_small ? 6 : 1, roots = !has_root(operation) ? 1 : is_small ? size : 2;

    for (int i = 0; i < rounds * roots; i++) {
        struct test t = { .algorithm = algorithm, .operation = operation, .parameter = any_parameter(algorithm),
                          .size = size };

        t.root = !has_root(operation) ? 0 : is_small ? i % size : (int)any((unsigned)size);
        t.count = any_count(&t);
        t.is_wide = any(2);
        t.is_in_place = operation != COLL_BARRIER && operation != COLL_BCAST &&
                        (algorithm->needs & COLL_NEEDS_IN_PLACE || any(2));
        t.is_ordered = is_reduction(operation) && any(2);
        test_one(t, (int)any(LAYOUTS));
    }
}

static void test_all(int from, int to)
{
    for (int i = 0; i < coll_algorithm_count; i++) {
        for (int operation = 0; operation < COLL_NEIGHBOR_ALLGATHER; operation++) {
            if (!(coll_algorithms[i].operations >> operation & 1))
                continue;
            for (int size = from; size <= to; size++)
                test_size(&coll_algorithms[i], (enum coll_operation)operation, size);
        }
    }
}

/* --- counts --- */

static int log_of(int n, int radix)
{
    int rounds = 0;

    for (int64_t reach = 1; reach < n; reach *= radix)
        rounds++;
    return rounds;
}

/* By the clock of `config`. */
static struct sim_counts counts_with(struct sim_config config, const char *name, enum coll_operation operation,
                                     int size, int count)
{
    struct coll_choice choice;
    struct test t = { .operation = operation, .size = size, .count = count };

    CHECK(coll_find_algorithm(operation, name, strlen(name), &choice));
    t.algorithm = choice.algorithm;
    t.parameter = choice.parameter;
    config.size = size;
    return run_test(&t, &config);
}

/* Time is in rounds: a process sends and receives a message in each. */
static struct sim_counts counts_of(const char *name, enum coll_operation operation, int size, int count)
{
    return counts_with((struct sim_config){ .alpha = 1 }, name, operation, size, count);
}

/* With what is usual on a network. */
static double time_of(const char *name, enum coll_operation operation, int size, int count)
{
    const struct sim_config config = { .alpha = 1e-6, .beta = 1e-9, .gamma = 1e-10 };

    return counts_with(config, name, operation, size, count).time;
}

#define CHECK_COUNTS(name, operation, n, count, messages_, rounds) \
    do { \
        const struct sim_counts c = counts_of(name, COLL_##operation, n, count); \
        CHECK_INT(c.messages, messages_); \
        CHECK_INT(c.time, rounds); \
    } while (0)

static void test_counts(int n)
{
    const int log2n = log_of(n, 2), m = 8 * n;
    const bool is_power = !(n & (n - 1));

    CHECK_COUNTS("dissemination", BARRIER, n, 0, (long)n * log2n, log2n);
    CHECK_INT(counts_of("tree:4", COLL_BARRIER, n, 0).messages, 2 * (n - 1));
    CHECK(counts_of("tree:4", COLL_BARRIER, n, 0).depth <= 2 * log_of(n, 4));
    CHECK_COUNTS("tree:2", BCAST, n, 1, n - 1, log2n);
    CHECK(counts_of("tree:5", COLL_BCAST, n, 1).depth <= log_of(n, 5));
    CHECK_COUNTS("chain:8", BCAST, n, 20, 20 * (n - 1), n > 1 ? n - 2 + 20 : 0);
    CHECK_COUNTS("linear", GATHER, n, 1, n - 1, n - 1);
    CHECK_INT(counts_of("throttled", COLL_GATHER, n, 1).messages, 2 * (n - 1));
    CHECK_COUNTS("binomial", GATHER, n, 1, n - 1, log2n);
    CHECK_COUNTS("binomial", SCATTER, n, 1, n - 1, log2n);
    CHECK_COUNTS("pairs:1", ALLGATHER, n, 1, (long)n * (n - 1), n - 1);
    CHECK_COUNTS("ring", ALLGATHER, n, 1, (long)n * (n - 1), n - 1);
    CHECK_COUNTS("packed", ALLGATHERV, n, 1, (long)n * log2n, log2n);
    CHECK_COUNTS("pairs:1", ALLTOALL, n, 1, (long)n * (n - 1), n - 1);
    CHECK_COUNTS("bruck", ALLTOALL, n, 1, (long)n * log2n, log2n);
    CHECK_COUNTS("linear", REDUCE, n, 1, n - 1, n - 1);
    CHECK_COUNTS("binomial", REDUCE, n, 1, n - 1, log2n);
    CHECK_COUNTS("chain:8", REDUCE, n, 20, 20 * (n - 1), n > 1 ? n - 2 + 20 : 0);
    CHECK_COUNTS("ring", ALLREDUCE, n, m, 2L * n * (n - 1), 2 * (n - 1));
    CHECK_COUNTS("reduce_bcast", ALLREDUCE, n, 1, 2 * (n - 1), 2 * log2n);
    CHECK_INT(counts_of("linear", COLL_REDUCE_SCATTER_BLOCK, n, 1).messages, (long)n * (n - 1));
    CHECK_COUNTS("pairs", REDUCE_SCATTER_BLOCK, n, 1, (long)n * (n - 1), n > 1 ? n - 1 : 0);
    CHECK_COUNTS("ring", REDUCE_SCATTER_BLOCK, n, 1, (long)n * (n - 1), n - 1);
    CHECK_COUNTS("chain", SCAN, n, 1, n - 1, n - 1);
    CHECK_COUNTS("chain:8", EXSCAN, n, 20, 20 * (n - 1), n > 1 ? n - 2 + 20 : 0);
    CHECK(counts_of("doubling", COLL_SCAN, n, 1).depth <= log2n);
    CHECK(counts_of("dissemination", COLL_ALLGATHER, n, 1).depth == log2n);
    if (n % 2 == 0)
        CHECK_COUNTS("neighbors", ALLGATHER, n, 1, (long)n * n / 2, n / 2);
    if (!is_power)
        return;
    CHECK_COUNTS("doubling", ALLGATHER, n, 1, (long)n * log2n, log2n);
    CHECK_COUNTS("doubling", ALLREDUCE, n, 1, (long)n * log2n, log2n);
    CHECK_COUNTS("halving", ALLREDUCE, n, m, 2L * n * log2n, 2 * log2n);
    CHECK_COUNTS("halving", REDUCE_SCATTER_BLOCK, n, 1, (long)n * log2n, log2n);
    CHECK_INT(counts_of("halving", COLL_ALLREDUCE, n, m).most_bytes, 2L * 8 * m / n * (n - 1));
    CHECK(counts_of("scatter_ring", COLL_BCAST, n, m).time <= log2n + n - 1);
    CHECK_INT(counts_of("scatter_doubling", COLL_BCAST, n, m).time, 2 * log2n);
}

/* Pairs of numbers below `h` that differ by a power of two. */
static int partners(int h)
{
    int pairs = 0;

    for (int distance = 1; distance < h; distance += distance)
        pairs += h - distance;
    return pairs;
}

/* Of two-level algorithms, whatever the layout. */
static void test_far(int n)
{
    static const struct {
        enum coll_operation operation;
        int kind;     /* of the number of messages between h nodes: */
    } cases[] = {
        { COLL_BCAST, 0 }, { COLL_GATHER, 0 }, { COLL_SCATTER, 0 }, { COLL_REDUCE, 0 },             /* h - 1 */
        { COLL_BARRIER, 1 },                                                                       /* h log2 h */
        { COLL_ALLGATHER, 2 }, { COLL_ALLTOALL, 2 }, { COLL_REDUCE_SCATTER_BLOCK, 2 },              /* h (h - 1) */
        { COLL_REDUCE_SCATTER, 2 }, { COLL_ALLGATHERV, 2 }, { COLL_SCATTERV, 0 }, { COLL_ALLTOALLV, 2 },
        { COLL_ALLTOALLW, 2 },
        { COLL_SCAN, 3 }, { COLL_EXSCAN, 3 },                   /* each with the one at each distance before, if any */
    };
    struct coll_layout layout;
    int node_of[64];

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const int kind = cases[i].kind == 3 ? NODES_OF_NEIGHBOURS : 1 + (int)any(3);
        const struct sim_config config = { .alpha = 1, .layout = make_layout(kind, n, &layout, node_of) };
        const int h = layout.nodes, expected[] = { h - 1, h * log_of(h, 2), h * (h - 1), partners(h) };
        const struct sim_counts counts = counts_with(config, "two_level", cases[i].operation, n, 3);

        CHECK_INT(counts.far_messages, expected[cases[i].kind]);
        if (cases[i].operation != COLL_SCATTERV) /* blocks of other nodes may all be empty */
            CHECK((counts.far_bytes > 0) == (h > 1 && cases[i].operation != COLL_BARRIER));
    }
}

/* The model of costs has to agree with what the algorithms are for. */
static void test_costs(void)
{
    const int n = 32, large = 1 << 17;

    CHECK(time_of("halving", COLL_ALLREDUCE, n, large) < time_of("doubling", COLL_ALLREDUCE, n, large));
    CHECK(time_of("doubling", COLL_ALLREDUCE, n, 1) < time_of("halving", COLL_ALLREDUCE, n, 1));
    CHECK(time_of("chain", COLL_BCAST, n, large) < time_of("tree", COLL_BCAST, n, large));
    CHECK(time_of("double_tree", COLL_BCAST, n, large) < time_of("pipelined", COLL_BCAST, n, large));
    CHECK(time_of("bruck", COLL_ALLTOALL, n, 1) < time_of("pairs", COLL_ALLTOALL, n, 1));
}

/* --- many --- */

static void test_many(int n)
{
    const int log2n = log_of(n, 2);

    CHECK_COUNTS("dissemination", BARRIER, n, 0, (long)n * log2n, log2n);
    CHECK_COUNTS("tree", BCAST, n, 2, n - 1, log2n);
    CHECK_COUNTS("binomial", REDUCE, n, 2, n - 1, log2n);
    CHECK_COUNTS("binomial", GATHER, n, 1, n - 1, log2n);
    CHECK_COUNTS("reduce_bcast", ALLREDUCE, n, 1, 2 * (n - 1), 2 * log2n);
    CHECK(counts_of("doubling", COLL_ALLREDUCE, n, 2).depth <= log2n + 1);
    CHECK(counts_of("halving", COLL_ALLREDUCE, n, 64).depth <= 2 * log2n);
    CHECK(counts_of("doubling", COLL_EXSCAN, n, 1).depth <= log2n + 1);
    CHECK(counts_of("double_tree:8", COLL_BCAST, n, 4).depth <= log2n + 1);
}

/* --- failures --- */

/* Whoever has no memory says so, and nothing is kept. */
static void test_no_memory(const struct coll_algorithm *algorithm, enum coll_operation operation, int size)
{
    const struct sim_config config = { .size = size, .seed = 1 };
    struct test t = { .algorithm = algorithm, .operation = operation, .parameter = algorithm->parameter, .size = size,
                      .count = 7, .is_wide = true, .is_in_place = algorithm->needs & COLL_NEEDS_IN_PLACE };
    const struct coll_shape shape = shape_of(&t, NULL, true);
    int rc = 1;

    if (coll_why_not(algorithm, &shape))
        return;
    prepare(&t, &config);
    for (long n = 0; rc; n++) {
        long live;

        spare_drop();
        live = mem_live();
        mem_fail_after(n);
        rc = sim_build(t.sim, algorithm->build, t.parameter);
        mem_fail_after(-1);
        if (rc) {
            CHECK_INT(err_class(rc), MPI_ERR_NO_MEM);
            spare_drop();
            CHECK_INT(mem_live(), live);
        }
    }
    CHECK_INT(sim_run(t.sim, NULL), 0);
    compare(&t);
    release(&t);
}

/* What was built can run again, with other data in the same buffers. */
static void test_again(const struct coll_algorithm *algorithm, enum coll_operation operation, bool is_spread)
{
    static const int nodes[] = { 0, 0, 0, 1, 1, 2 };
    static const struct coll_layout layout = { 3, nodes };
    const struct sim_config config = { .size = 6, .seed = 5, .layout = is_spread ? &layout : NULL };
    struct test t = { .algorithm = algorithm, .operation = operation, .parameter = algorithm->parameter, .size = 6,
                      .count = 7, .is_in_place = algorithm->needs & COLL_NEEDS_IN_PLACE };
    const struct coll_shape shape = shape_of(&t, NULL, true);

    if (coll_why_not(algorithm, &shape) || t.is_in_place)
        return;
    prepare(&t, &config);
    CHECK_INT(sim_build(t.sim, algorithm->build, t.parameter), 0);
    for (int round = 0; round < 3; round++) {
        for (int rank = 0; rank < t.size && operation != COLL_BCAST; rank++)
            memset(t.of[rank].recv, 0x77, t.of[rank].words[1] * sizeof(int64_t));
        CHECK_INT(sim_run(t.sim, NULL), 0);
        for (int rank = 0; rank < t.size; rank++) {
            struct buffers *b = &t.of[rank];
            for (size_t i = 0; i < b->words[1]; i++) {
                if (b->want_recv[i] != CANARY)
                    CHECK_INT(b->recv[i], b->want_recv[i]);
            }
        }
    }
    release(&t);
}

/* The simulation itself notices what an algorithm must not do. */
static void wait_for_nobody(struct sched *s, const struct coll_args *args)
{
    (void)args;
    sched_recv(s, coll_byte_block(NULL, 0), (s->comm->rank + 1) % s->comm->size, 0, AT_ONCE);
}

static void send_too_much(struct sched *s, const struct coll_args *args)
{
    static char bytes[2];

    (void)args;
    if (s->comm->rank)
        sched_recv(s, coll_byte_block(bytes, 1), 0, 0, AT_ONCE);
    else
        sched_send(s, coll_byte_block(bytes, 2), 1, 0, AT_ONCE);
}

/* Both send before they receive: fine only while somebody stores messages. */
static void send_first(struct sched *s, const struct coll_args *args)
{
    const int peer = 1 - s->comm->rank;

    (void)args;
    sched_recv(s, coll_byte_block(NULL, 0), peer, 0, AFTER(sched_send(s, coll_byte_block(NULL, 0), peer, 0, AT_ONCE)));
}

static int trouble_of(coll_build_fn *build, bool is_rendezvous)
{
    const struct sim_config config = { .size = 2, .is_rendezvous = is_rendezvous };
    struct sim *sim = sim_create(&config);
    int rc;

    CHECK_INT(sim_build(sim, build, 0), 0);
    rc = sim_run(sim, NULL);
    CHECK_INT(!*sim->trouble, !rc);
    sim_destroy(sim);
    return rc;
}

static void test_simulation(void)
{
    CHECK_INT(trouble_of(wait_for_nobody, false), MPI_ERR_INTERN);
    CHECK_INT(trouble_of(send_too_much, false), MPI_ERR_INTERN);
    CHECK_INT(trouble_of(send_first, false), 0);
    CHECK_INT(trouble_of(send_first, true), MPI_ERR_INTERN);
}

int main(int argc, char **argv)
{
    long live;

    alarm(300); /* an endless loop is a failure */
    state = argc > 1 ? strtoull(argv[1], NULL, 10) : (uint64_t)time(NULL) * 2654435761u + (uint64_t)getpid();
    state = state ? state : 1;
    printf("seed %llu\n", (unsigned long long)state);
    type_init();
    op_init();
    CHECK_INT(op_create(join_runs, false, &in_order), 0);
    CHECK_INT(op_create(add_up, true, &commuting), 0);
    CHECK_INT(type_resized(obj_type(MPI_INT64_T), 0, 16, false, &wide), 0);
    CHECK_INT(type_commit(wide), 0);
    live = mem_live();
    test_simulation();
    test_all(1, 64);
    for (int i = 0; i < coll_algorithm_count; i++) {
        for (int operation = 0; operation < COLL_NEIGHBOR_ALLGATHER; operation++) {
            if (!(coll_algorithms[i].operations >> operation & 1))
                continue;
            test_no_memory(&coll_algorithms[i], (enum coll_operation)operation, 5);
            test_no_memory(&coll_algorithms[i], (enum coll_operation)operation, 8);
            test_again(&coll_algorithms[i], (enum coll_operation)operation, false);
            test_again(&coll_algorithms[i], (enum coll_operation)operation, true);
        }
    }
    for (int n = 1; n <= 33; n++)
        test_counts(n);
    for (int n = 1; n <= 64; n++)
        test_far(n);
    test_costs();
    test_many(1000);
    test_many(4096);
    test_many(10007);
    spare_drop();
    CHECK_INT(mem_live(), live);
    return 0;
}
