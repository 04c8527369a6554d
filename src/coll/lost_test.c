/* SPDX-License-Identifier: BSD-3-Clause */
/* A process ends in the middle of a collective operation, and the others go on: every algorithm on a few simulated
 * processes, each process at each of its steps. Nobody waits for ever, and whoever has no error has the right result.
 *
 *     lost_test [seed]
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "coll/int_spare.h"
#include "coll/sim_call.h"

static struct {
    long runs, succeeded, failed; /* processes but the one that has ended */
} seen;

/* False: it was over before its end came. */
static bool run(struct sim_call *t, const struct sim_config *config)
{
    bool is_dead;

    sim_call_prepare(t, config);
    CHECK_INT(sim_build(t->sim, t->algorithm->build, t->parameter), 0);
    if (sim_run(t->sim, NULL))
        sim_call_fail(t, t->sim->trouble, 0);
    for (int rank = 0; rank < t->size; rank++) {
        const struct sim_rank *r = &t->sim->ranks[rank];

        if (r->is_dead)
            continue;
        seen.failed += r->sched.error != 0;
        seen.succeeded += !r->sched.error;
        if (!r->sched.error)
            sim_call_compare(t, rank);
    }
    seen.runs++;
    is_dead = t->sim->ranks[config->mortal - 1].is_dead;
    sim_call_release(t);
    return is_dead;
}

/* One call, with every end that a process can have in it. */
static void end_anywhere(struct sim_call t, int kind)
{
    int node_of[64];
    struct coll_layout memory;
    const struct coll_layout *layout = sim_make_layout(kind, t.size, &memory, node_of);
    const struct coll_shape shape = sim_shape_of(&t, layout, sim_has_runs(layout, t.size));
    struct sim_config config = { .size = t.size, .seed = sim_any(4) ? 1 + sim_any(1 << 30) : 0,
                                 .is_rendezvous = sim_any(2), .alpha = 1e-6, .beta = 1e-10, .layout = layout };

    if (coll_why_not(t.algorithm, &shape))
        return;
    for (config.mortal = 1; config.mortal <= t.size; config.mortal++) {
        config.lifetime = 0;
        while (run(&t, &config))
            config.lifetime++;
    }
}

static void test_operation(const struct coll_algorithm *algorithm, enum coll_operation operation)
{
    static const int sizes[] = { 2, 3, 4, 5, 8 };

    for (int i = 0; i < (int)ARRAY_LEN(sizes) * 2; i++) {
        struct sim_call t = { .algorithm = algorithm, .operation = operation, .size = sizes[i / 2],
                              .parameter = sim_any_parameter(algorithm) };

        t.root = sim_has_root(operation) ? (int)sim_any((unsigned)t.size) : 0;
        t.count = 1 + (int)sim_any(5);
        t.is_in_place = operation != COLL_BARRIER && operation != COLL_BCAST &&
                        (algorithm->needs & COLL_NEEDS_IN_PLACE || sim_any(2));
        t.is_ordered = sim_is_reduction(operation) && sim_any(2);
        end_anywhere(t, i % 2 ? 1 + (int)sim_any(SIM_LAYOUTS - 1) : SIM_ONE_NODE);
    }
}

int main(int argc, char **argv)
{
    long live;

    alarm(300); /* an endless loop is a failure */
    printf("seed %llu\n", (unsigned long long)sim_seed(argc > 1 ? argv[1] : NULL));
    sim_call_init();
    live = mem_live();
    for (int i = 0; i < coll_algorithm_count; i++) {
        for (int operation = 0; operation < COLL_NEIGHBOR_ALLGATHER; operation++) {
            if (coll_algorithms[i].operations >> operation & 1)
                test_operation(&coll_algorithms[i], (enum coll_operation)operation);
        }
    }
    printf("%ld runs, %ld processes with a result, %ld with an error\n", seen.runs, seen.succeeded, seen.failed);
    CHECK(seen.succeeded && seen.failed);
    spare_drop();
    CHECK_INT(mem_live(), live);
    return 0;
}
