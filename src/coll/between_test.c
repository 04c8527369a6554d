/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations on intercommunicators on simulated processes: two sides of 1 to 64, some of thousands; both sides have the
 * root, blocks of one size and of many, an operator that commutes and one that notices any wrong order; messages eager
 * or by rendezvous, in random orders. What arrives is compared with what the standard says (MPI 5.0 §6.2.3), and the
 * number of messages with the head of between.c.
 *
 *     between_test [seed]
 */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "coll/int_spare.h"
#include "coll/sim.h"

enum { CANARY = 0x5a5a5a5a, MOST = 3 };

static uint64_t state;

static uint64_t any(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
}

/* --- operators --- */

static struct op *in_order, *commuting;

static int64_t run(int first, int last)
{
    return (int64_t)first << 32 | last;
}

/* Runs of ranks; two combine only if the second follows the first. */
static void join_runs(void *in, void *inout, int *len, MPI_Datatype *handle)
{
    const int64_t *left = in;
    int64_t *right = inout;

    (void)handle;
    for (int i = 0; i < *len; i++) {
        const bool follows = (int32_t)left[i] + 1 == (int32_t)(right[i] >> 32) && left[i] >= 0 && right[i] >= 0;
        right[i] = follows ? (left[i] & ~(int64_t)UINT32_MAX) | (int32_t)right[i] : -1;
    }
}

static void add_up(void *in, void *inout, int *len, MPI_Datatype *handle)
{
    (void)handle;
    for (int i = 0; i < *len; i++)
        ((int64_t *)inout)[i] += ((int64_t *)in)[i];
}

/* --- one test --- */

struct test {
    enum coll_operation operation;
    int size[2];            /* of the two sides */
    int side, root;         /* of rooted ones: where it is */
    int count;              /* of blocks of one size */
    bool is_ordered;
    struct sim *sim;
    struct one {
        int64_t *send, *recv;
        int *numbers;       /* counts to or from the other side, then places */
        MPI_Datatype *types;
    } *of;                  /* by process */
};


/* Elements that go from a process to one of the other side. */
static int count_between(const struct test *t, int from, int to)
{
    const bool varies = t->operation == COLL_GATHERV || t->operation == COLL_SCATTERV ||
                        t->operation == COLL_ALLGATHERV || t->operation == COLL_ALLTOALLV ||
                        t->operation == COLL_ALLTOALLW;
    const int of = t->operation == COLL_SCATTERV ? to : from;

    if (!varies)
        return t->count;
    return t->operation == COLL_ALLTOALLV || t->operation == COLL_ALLTOALLW ? (from * 3 + to) % (MOST + 1)
                                                                            : of % (MOST + 1);
}

/* Does every process get the same from one? */
static bool is_one(const struct test *t)
{
    return t->operation == COLL_BCAST || t->operation == COLL_ALLGATHER || t->operation == COLL_ALLGATHERV;
}

static int64_t element(const struct test *t, int side, int from, int to, int k)
{
    return (((int64_t)side << 40 | (int64_t)from << 20 | (is_one(t) ? 0 : to)) << 4) + k + 1;
}

static bool is_rooted(enum coll_operation operation)
{
    return operation >= COLL_BCAST && operation <= COLL_SCATTERV ? true : operation == COLL_REDUCE;
}

static int64_t operand(const struct test *t, int rank, int k)
{
    return t->is_ordered ? run(rank, rank) : (int64_t)rank * 1000 + k;
}

/* Of a whole side. */
static int64_t combined(const struct test *t, int side, int k)
{
    const int64_t n = t->size[side];

    return t->is_ordered ? run(0, (int)n - 1) : n * (n - 1) / 2 * 1000 + n * k;
}

/* Elements of reduce_scatter for one process; each side has them all. */
static int share(const struct test *t, int side, int rank)
{
    const int other = t->size[!side];

    if (t->operation == COLL_REDUCE_SCATTER_BLOCK)
        return other;
    return rank ? other - rank % 2 : other + t->size[side] / 2; /* the first one takes what the odd ones lack */
}

static int first_of_share(const struct test *t, int side, int rank)
{
    int first = 0;

    for (int r = 0; r < rank; r++)
        first += share(t, side, r);
    return first;
}

static struct coll_data data_of(const struct test *t, int64_t *buf, const struct one *one, int peers)
{
    switch (t->operation) {
    case COLL_GATHERV:
    case COLL_SCATTERV:
    case COLL_ALLGATHERV:
    case COLL_ALLTOALLV: return COLL_VARYING(buf, one->numbers, one->numbers + peers, obj_type(MPI_INT64_T));
    case COLL_ALLTOALLW: return COLL_MIXED(buf, one->numbers, one->numbers + peers, one->types);
    default: return COLL_SAME(buf, t->count, obj_type(MPI_INT64_T));
    }
}

/* Counts and places of blocks that lie MOST elements apart; in bytes for alltoallw. */
static void set_numbers(const struct test *t, struct one *one, int rank, int peers, bool is_send)
{
    const int unit = t->operation == COLL_ALLTOALLW ? (int)sizeof(int64_t) : 1;

    for (int peer = 0; peer < peers; peer++) {
        one->numbers[peer] = is_send ? count_between(t, rank, peer) : count_between(t, peer, rank);
        one->numbers[peers + peer] = peer * MOST * unit;
        one->types[peer] = MPI_INT64_T;
    }
}

static bool is_varying(const struct test *t)
{
    return data_of(t, NULL, &(struct one){ 0 }, 0).counts.p || t->operation == COLL_ALLTOALLW ||
           t->operation == COLL_GATHERV || t->operation == COLL_SCATTERV || t->operation == COLL_ALLGATHERV ||
           t->operation == COLL_ALLTOALLV;
}

/* Where the block of a peer begins in a buffer for all of them. */
static int place(const struct test *t, int peer)
{
    return peer * (is_varying(t) ? MOST : t->count);
}

static void fill_blocks(const struct test *t, struct one *one, int side, int rank, int peers)
{
    for (int peer = 0; peer < peers; peer++)
        for (int k = 0; k < count_between(t, rank, peer); k++)
            one->send[place(t, peer) + k] = element(t, side, rank, peer, k);
}

static void set_rooted(const struct test *t, struct coll_args *args, struct one *one, int side, int rank)
{
    const int peers = t->size[!side];
    const bool is_root = side == t->side && rank == t->root;
    const bool goes_out = t->operation == COLL_BCAST || t->operation == COLL_SCATTER || t->operation == COLL_SCATTERV;

    args->root = is_root ? MPI_ROOT : side == t->side ? MPI_PROC_NULL : t->root;
    if (args->root == MPI_PROC_NULL)
        return;
    if (t->operation == COLL_REDUCE) {
        for (int k = 0; k < t->count; k++)
            one->send[k] = operand(t, rank, k);
        args->send = COLL_SAME(one->send, t->count, obj_type(MPI_INT64_T));
        args->recv = COLL_SAME(one->recv, t->count, obj_type(MPI_INT64_T));
    } else if (t->operation == COLL_BCAST) {
        if (is_root)
            fill_blocks(t, one, side, rank, 1);
        args->send = COLL_SAME(is_root ? one->send : one->recv, t->count, obj_type(MPI_INT64_T));
    } else if (is_root) {
        set_numbers(t, one, rank, peers, goes_out);
        if (goes_out)
            fill_blocks(t, one, side, rank, peers);
        *(goes_out ? &args->send : &args->recv) = data_of(t, goes_out ? one->send : one->recv, one, peers);
    } else if (goes_out) {
        args->recv = COLL_SAME(one->recv, count_between(t, t->root, rank), obj_type(MPI_INT64_T));
    } else {
        for (int k = 0; k < count_between(t, rank, t->root); k++)
            one->send[k] = element(t, side, rank, t->root, k);
        args->send = COLL_SAME(one->send, count_between(t, rank, t->root), obj_type(MPI_INT64_T));
    }
}

static void set_reduction(const struct test *t, struct coll_args *args, struct one *one, int side, int rank)
{
    const bool scatters = t->operation != COLL_ALLREDUCE;
    const int count = scatters ? first_of_share(t, side, t->size[side]) : t->count;

    for (int k = 0; k < count; k++)
        one->send[k] = operand(t, rank, k);
    args->send = COLL_SAME(one->send, scatters ? share(t, side, rank) : count, obj_type(MPI_INT64_T));
    args->recv = COLL_SAME(one->recv, scatters ? share(t, side, rank) : count, obj_type(MPI_INT64_T));
    if (t->operation == COLL_REDUCE_SCATTER) {
        for (int r = 0; r < t->size[side]; r++)
            one->numbers[r] = share(t, side, r);
        args->recv = COLL_PACKED(one->recv, one->numbers, obj_type(MPI_INT64_T));
    }
}

static void set_all_to_all(const struct test *t, struct coll_args *args, struct one *one, int side, int rank)
{
    const int peers = t->size[!side];
    struct one *out = &(struct one){ .numbers = one->numbers + 2 * peers, .types = one->types };

    set_numbers(t, one, rank, peers, false);
    args->recv = data_of(t, one->recv, one, peers);
    fill_blocks(t, one, side, rank, is_one(t) ? 1 : peers);
    if (is_one(t)) {
        args->send = COLL_SAME(one->send, count_between(t, rank, 0), obj_type(MPI_INT64_T));
        return;
    }
    out->send = one->send;
    set_numbers(t, out, rank, peers, true);
    args->send = data_of(t, one->send, out, peers);
}

/* Room for what this process sends or receives at the most. */
static size_t words_of(const struct test *t, int side)
{
    const size_t blocks = (size_t)t->size[!side] * MOST, shares = (size_t)t->size[0] * (size_t)t->size[1] + 64;

    switch (t->operation) {
    case COLL_BARRIER: return 1;
    case COLL_BCAST:
    case COLL_REDUCE:
    case COLL_ALLREDUCE: return MOST;
    case COLL_REDUCE_SCATTER:
    case COLL_REDUCE_SCATTER_BLOCK: return shares;
    default: return blocks + MOST;
    }
}

static void set_up(struct test *t, int side, int rank)
{
    const int at = side ? t->size[0] + rank : rank, most = t->size[0] > t->size[1] ? t->size[0] : t->size[1];
    struct one *one = &t->of[at];
    struct coll_args *args = &t->sim->ranks[at].args;
    const size_t words = words_of(t, side);
    const bool has_lists = is_varying(t) || t->operation == COLL_REDUCE_SCATTER;

    one->send = mem_zalloc(words * sizeof *one->send);
    one->recv = mem_alloc(words * sizeof *one->recv);
    one->numbers = mem_zalloc(has_lists || t->operation >= COLL_GATHER ? 4 * (size_t)most * sizeof *one->numbers : 8);
    one->types = mem_zalloc((size_t)most * sizeof *one->types);
    CHECK(one->send && one->recv && one->numbers && one->types);
    for (size_t i = 0; i < words; i++)
        one->recv[i] = CANARY;
    *args = (struct coll_args){ .operation = t->operation };
    if (t->operation >= COLL_REDUCE && t->operation <= COLL_REDUCE_SCATTER)
        args->op = t->is_ordered ? in_order : commuting;
    if (is_rooted(t->operation))
        set_rooted(t, args, one, side, rank);
    else if (args->op)
        set_reduction(t, args, one, side, rank);
    else if (t->operation != COLL_BARRIER)
        set_all_to_all(t, args, one, side, rank);
}

/* --- what must be there --- */

static void compare_block(const struct test *t, const int64_t *at, int from_side, int from, int to)
{
    for (int k = 0; k < count_between(t, from, to); k++)
        CHECK_INT(at[k], element(t, from_side, from, to, k));
}

static void compare_rooted(const struct test *t, const struct one *one, int side, int rank)
{
    const bool is_root = side == t->side && rank == t->root;
    const bool goes_out = t->operation == COLL_BCAST || t->operation == COLL_SCATTER || t->operation == COLL_SCATTERV;

    if (goes_out ? side == t->side : !is_root)
        CHECK_INT(one->recv[0], CANARY);
    else if (t->operation == COLL_REDUCE)
        for (int k = 0; k < t->count; k++)
            CHECK_INT(one->recv[k], combined(t, !side, k));
    else if (goes_out)
        compare_block(t, one->recv, t->side, t->root, rank);
    else
        for (int peer = 0; peer < t->size[!side]; peer++)
            compare_block(t, one->recv + place(t, peer), !side, peer, rank);
}

static void compare(const struct test *t, int side, int rank)
{
    const struct one *one = &t->of[side ? t->size[0] + rank : rank];

    if (t->operation == COLL_BARRIER)
        return;
    if (is_rooted(t->operation)) {
        compare_rooted(t, one, side, rank);
    } else if (t->operation == COLL_ALLREDUCE) {
        for (int k = 0; k < t->count; k++)
            CHECK_INT(one->recv[k], combined(t, !side, k));
    } else if (t->operation >= COLL_REDUCE_SCATTER_BLOCK) {
        for (int k = 0; k < share(t, side, rank); k++)
            CHECK_INT(one->recv[k], combined(t, !side, first_of_share(t, side, rank) + k));
    } else {
        for (int peer = 0; peer < t->size[!side]; peer++)
            compare_block(t, one->recv + place(t, peer), !side, peer, rank);
    }
}

/* As the head of between.c says. */
static long messages_of(const struct test *t)
{
    const long n = t->size[0], m = t->size[1], other = t->size[!t->side];

    switch (t->operation) {
    case COLL_BCAST:
    case COLL_REDUCE: return other;
    case COLL_GATHER:
    case COLL_GATHERV:
    case COLL_SCATTER:
    case COLL_SCATTERV: return other;
    case COLL_BARRIER:
    case COLL_ALLREDUCE:
    case COLL_REDUCE_SCATTER:
    case COLL_REDUCE_SCATTER_BLOCK: return 2 * (n - 1) + 2 * (m - 1) + 2;
    default: return 2 * n * m;
    }
}

static int log2_of(int n)
{
    int log = 0;

    while (1 << log < n)
        log++;
    return log;
}

/* Messages one after the other, at the most; those that hand out one by one are so many more. */
static int depth_of(const struct test *t)
{
    const int n = log2_of(t->size[0]), m = log2_of(t->size[1]), most = n > m ? n : m;

    switch (t->operation) {
    case COLL_BCAST:
    case COLL_REDUCE: return 1 + log2_of(t->size[!t->side]);
    case COLL_BARRIER:
    case COLL_ALLREDUCE: return 2 * most + 1;
    case COLL_REDUCE_SCATTER:
    case COLL_REDUCE_SCATTER_BLOCK: return most + 2;
    default: return INT_MAX;
    }
}

static void play(struct test t)
{
    const struct sim_config config = { .size = t.size[0], .remote = t.size[1],
                                       .seed = any(4) ? 1 + any(1 << 30) : 0, .is_rendezvous = any(2),
                                       .alpha = 1e-6, .beta = 1e-10 };
    struct sim_counts counts;

    t.sim = sim_create(&config);
    t.of = mem_zalloc((size_t)t.sim->all * sizeof *t.of);
    CHECK(t.of);
    for (int side = 0; side < 2; side++)
        for (int rank = 0; rank < t.size[side]; rank++)
            set_up(&t, side, rank);
    CHECK_INT(sim_build(t.sim, coll_inter, 0), 0);
    if (sim_run(t.sim, &counts)) {
        fprintf(stderr, "operation %d, %d and %d processes: %s\n", (int)t.operation, t.size[0], t.size[1],
                t.sim->trouble);
        exit(1);
    }
    for (int side = 0; side < 2; side++)
        for (int rank = 0; rank < t.size[side]; rank++)
            compare(&t, side, rank);
    CHECK_INT(counts.messages, messages_of(&t));
    CHECK(counts.depth <= depth_of(&t));
    for (int i = 0; i < t.sim->all; i++) {
        mem_free(t.of[i].send);
        mem_free(t.of[i].recv);
        mem_free(t.of[i].numbers);
        mem_free(t.of[i].types);
    }
    mem_free(t.of);
    sim_destroy(t.sim);
}

static void play_operation(enum coll_operation operation, int n, int m)
{
    for (int side = 0; side < (is_rooted(operation) ? 2 : 1); side++) {
        const struct test t = { .operation = operation, .size = { n, m }, .side = side,
                                .root = (int)any((uint64_t)(side ? m : n)), .count = (int)any(MOST + 1),
                                .is_ordered = any(2) };
        play(t);
    }
}

static void play_all(int n, int m)
{
    for (int operation = COLL_BARRIER; operation <= COLL_REDUCE_SCATTER; operation++)
        play_operation((enum coll_operation)operation, n, m);
}

int main(int argc, char **argv)
{
    static const int some[][2] = { { 1, 64 }, { 64, 1 }, { 64, 64 }, { 33, 17 }, { 13, 64 }, { 31, 32 } };
    static const int many[][2] = { { 1000, 1 }, { 1, 1000 }, { 1000, 4096 }, { 4096, 777 } };
    static const enum coll_operation trees[] = { COLL_BARRIER, COLL_BCAST, COLL_REDUCE, COLL_ALLREDUCE };
    long live;

    alarm(300); /* an endless loop is a failure */
    state = argc > 1 ? strtoull(argv[1], NULL, 10) : (uint64_t)time(NULL) * 2654435761u + (uint64_t)getpid();
    state = state ? state : 1;
    printf("seed %llu\n", (unsigned long long)state);
    type_init();
    op_init();
    CHECK_INT(op_create(join_runs, false, &in_order), 0);
    CHECK_INT(op_create(add_up, true, &commuting), 0);
    live = mem_live();
    for (int n = 1; n <= 9; n++)
        for (int m = 1; m <= 9; m++)
            for (int round = 0; round < 3; round++)
                play_all(n, m);
    for (size_t i = 0; i < ARRAY_LEN(some); i++)
        play_all(some[i][0], some[i][1]);
    for (size_t i = 0; i < ARRAY_LEN(many); i++)
        for (size_t k = 0; k < ARRAY_LEN(trees); k++)
            play_operation(trees[k], many[i][0], many[i][1]);
    spare_drop();
    CHECK_INT(mem_live(), live);
    return 0;
}
