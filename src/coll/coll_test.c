/* SPDX-License-Identifier: BSD-3-Clause */
/* Every algorithm on simulated processes, compared with what the standard says for each of them: 1 to 64 processes with
 * all roots, lengths, types with gaps, in place, operators that commute and one that notices any wrong order; messages
 * eager or by rendezvous, in random orders. Some on thousands of processes. Counts and depths against the formulas at
 * the heads of the files. Memory that runs out.
 *
 *     coll_test [seed]
 */
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "coll/int_spare.h"
#include "coll/sim_call.h"

/* --- running one --- */

static void compare_all(const struct sim_call *t)
{
    for (int rank = 0; rank < t->size; rank++)
        sim_call_compare(t, rank);
}

static struct sim_counts run_test(struct sim_call *t, const struct sim_config *config)
{
    struct sim_counts counts;

    sim_call_prepare(t, config);
    if (sim_build(t->sim, t->algorithm->build, t->parameter))
        sim_call_fail(t, "no memory", 0);
    if (sim_run(t->sim, &counts))
        sim_call_fail(t, t->sim->trouble, 0);
    compare_all(t);
    sim_call_release(t);
    return counts;
}

/* --- all of them --- */

static void test_one(struct sim_call t, int kind)
{
    int node_of[64];
    struct coll_layout memory;
    const struct coll_layout *layout = sim_make_layout(kind, t.size, &memory, node_of);
    const struct coll_shape shape = sim_shape_of(&t, layout, sim_has_runs(layout, t.size));
    const struct sim_config config = { .size = t.size, .seed = sim_any(4) ? 1 + sim_any(1 << 30) : 0,
                                       .is_rendezvous = sim_any(2), .alpha = 1e-6, .beta = 1e-10, .layout = layout };

    if (!coll_why_not(t.algorithm, &shape))
        run_test(&t, &config);
}

static void test_size(const struct coll_algorithm *algorithm, enum coll_operation operation, int size)
{
    const bool is_small = size <= 9;
    const int rounds = is_small ? 1 + CHECK_CASES(5) : 1, roots = !sim_has_root(operation) ? 1 : is_small ? size : 2;

    for (int i = 0; i < rounds * roots; i++) {
        struct sim_call t = { .algorithm = algorithm, .operation = operation,
                              .parameter = sim_any_parameter(algorithm), .size = size };

        t.root = !sim_has_root(operation) ? 0 : is_small ? i % size : (int)sim_any((unsigned)size);
        t.count = sim_any_count(&t);
        t.is_wide = sim_any(2);
        t.is_in_place = operation != COLL_BARRIER && operation != COLL_BCAST &&
                        (algorithm->needs & COLL_NEEDS_IN_PLACE || sim_any(2));
        t.is_ordered = sim_is_reduction(operation) && sim_any(2);
        test_one(t, (int)sim_any(SIM_LAYOUTS));
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
    struct sim_call t = { .operation = operation, .size = size, .count = count };

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
        const int kind = cases[i].kind == 3 ? SIM_NODES_OF_NEIGHBOURS : 1 + (int)sim_any(3);
        const struct sim_config config = { .alpha = 1, .layout = sim_make_layout(kind, n, &layout, node_of) };
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
    struct sim_call t = { .algorithm = algorithm, .operation = operation, .parameter = algorithm->parameter,
                          .size = size, .count = 7, .is_wide = true,
                          .is_in_place = algorithm->needs & COLL_NEEDS_IN_PLACE };
    const struct coll_shape shape = sim_shape_of(&t, NULL, true);
    int rc = 1;

    if (coll_why_not(algorithm, &shape))
        return;
    sim_call_prepare(&t, &config);
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
    compare_all(&t);
    sim_call_release(&t);
}

/* What was built can run again, with other data in the same buffers. */
static void test_again(const struct coll_algorithm *algorithm, enum coll_operation operation, bool is_spread)
{
    static const int nodes[] = { 0, 0, 0, 1, 1, 2 };
    static const struct coll_layout layout = { 3, nodes };
    const struct sim_config config = { .size = 6, .seed = 5, .layout = is_spread ? &layout : NULL };
    struct sim_call t = { .algorithm = algorithm, .operation = operation, .parameter = algorithm->parameter, .size = 6,
                      .count = 7, .is_in_place = algorithm->needs & COLL_NEEDS_IN_PLACE };
    const struct coll_shape shape = sim_shape_of(&t, NULL, true);

    if (coll_why_not(algorithm, &shape) || t.is_in_place)
        return;
    sim_call_prepare(&t, &config);
    CHECK_INT(sim_build(t.sim, algorithm->build, t.parameter), 0);
    for (int round = 0; round < 3; round++) {
        for (int rank = 0; rank < t.size && operation != COLL_BCAST; rank++)
            memset(t.of[rank].recv, 0x77, t.of[rank].words[1] * sizeof(int64_t));
        CHECK_INT(sim_run(t.sim, NULL), 0);
        for (int rank = 0; rank < t.size; rank++) {
            struct sim_buffers *b = &t.of[rank];
            for (size_t i = 0; i < b->words[1]; i++) {
                if (b->want_recv[i] != SIM_CANARY)
                    CHECK_INT(b->recv[i], b->want_recv[i]);
            }
        }
    }
    sim_call_release(&t);
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
    printf("seed %llu\n", (unsigned long long)sim_seed(argc > 1 ? argv[1] : NULL));
    sim_call_init();
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
