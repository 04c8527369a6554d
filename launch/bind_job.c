/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: binding for a job. What need not be known is not looked at: for a job of one rank, or one with more threads
 * than processors, nothing of the machine is read. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bind.h"
#include "launch.h"

/* The machine as far as mpiexec may use it and the options let the ranks do so. */
static void read_machine(const struct binding *binding, const struct cpus *allowed, struct topology *topology)
{
    if (binding->only)
        for (int cpu = 0; (cpu = cpus_next(binding->only, cpu)) < CPUS_MAX; cpu++)
            if (!cpus_has(allowed, cpu))
                die(EXIT_USAGE, "E0101: -cpu-set %s: processor %d is not there, or not among those that mpiexec may "
                    "use", binding->only_text, cpu);
    topology_read(topology, "", binding->only ? binding->only : allowed,
                  binding->to_kind == TOPOLOGY_L2 || binding->map_kind == TOPOLOGY_L2 ||
                      binding->rank_kind == TOPOLOGY_L2);
}

int bind_ranks(const struct binding *binding)
{
    struct topology topology;
    struct cpus allowed;
    int ranks = 1;

    if (binding->map == BIND_MAP_PER && cpus_allowed(&allowed)) {
        read_machine(binding, &allowed, &topology);
        ranks = binding->map_count * topology.objects[binding->map_kind];
        topology_free(&topology);
    }
    return ranks;
}

/* What OpenMP will start in each rank, as far as one number says it; the most of all programs. */
static int threads_of(const struct options *options)
{
    int threads = 1;

    for (int i = 0; i < options->app_count; i++) {
        const char *text = program_variable(&options->apps[i], "OMP_NUM_THREADS");
        const int own = text ? atoi(text) : 1;
        if (own > threads)
            threads = own;
    }
    return threads;
}

static bool is_asked(const struct binding *binding)
{
    return binding->to != BIND_SHARE || binding->map != BIND_MAP_SHARE || binding->width || binding->only ||
           binding->has_threads || binding->is_shown;
}

/* Ranks are told where all of them are, so that they can say who is near whom. */
static void tell_ranks(struct job *job)
{
    for (int rank = 0; rank < job->size; rank++) {
        const struct cpus *mask = &job->masks[rank];

        if (!is_far(job, rank) && cpus_next(mask, JOB_BOUND_CPUS) == CPUS_MAX)
            memcpy(job_proc(job->head, rank)->bound, mask->word, JOB_BOUND_CPUS / 8);
    }
}

/* The plan is for the ranks of this machine, in their order. */
static struct cpus *give_masks(const struct job *job, const struct bind_plan *plan)
{
    struct cpus *masks = need((size_t)job->size * sizeof *masks);

    for (int rank = 0, place = 0; rank < job->size; rank++)
        if (!is_far(job, rank))
            masks[rank] = plan->masks[place++];
    return masks;
}

static void show(const struct job *job, const struct topology *topology, const struct bind_plan *plan)
{
    int *names = need((size_t)job->size * sizeof *names), count = 0;

    for (int rank = 0; rank < job->size; rank++)
        if (!is_far(job, rank))
            names[count++] = rank;
    bind_show(topology, plan, names, count);
    mem_free(names);
}

void bind_job(struct job *job)
{
    const struct binding *binding = &job->options.binding;
    const int threads = threads_of(&job->options), ranks = ranks_here(job);
    struct topology topology;
    struct bind_plan plan;
    struct cpus allowed;
    int count;

    job->head->cpus = 1;
    if (!cpus_allowed(&allowed))
        return; /* the system tells nothing, so nothing can be asked of it */
    job->head->cpus = (uint32_t)(count = cpus_count(&allowed));
    if (!is_asked(binding) && (ranks <= 1 || (long long)ranks * threads > count))
        return;
    if (ranks == 0)
        return; /* all are on other machines */
    read_machine(binding, &allowed, &topology);
    bind_make(binding, &topology, ranks, threads, cpus_within_quota(count), &plan);
    if (binding->is_shown)
        show(job, &topology, &plan);
    job->head->cpus = (uint32_t)plan.cpus;
    if (plan.masks) {
        job->masks = give_masks(job, &plan);
        tell_ranks(job);
    }
    bind_free(&plan);
    job->is_bound_as_asked = binding->to != BIND_SHARE || binding->width || binding->only;
    topology_free(&topology);
}
