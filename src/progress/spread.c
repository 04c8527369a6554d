/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: progress. Ranks that share processors, evenly. See int_spread.h.
 *
 * All say in the job segment where they are. Of the ranks on a processor the last one moves, after it has seen twice
 * that another processor has two less. Its mask is as before at once: the system may move it again. If that does, the
 * next move waits longer, twice as long each time. A processor that others than ranks use (others.c) is nobody's goal,
 * and who is there leaves at once for one that they do not use.
 * Knows: sys (the job segment, processors). Does not know: what is being waited for. */
#include "progress/int_spread.h"

#include <sched.h>

#include "progress/progress.h"
#include "sys/clock.h"
#include "sys/job.h"

enum {
    SEEN_MIN = 2,              /* looks in a row that must show a heap */
    PAUSE_MIN_NS = 2000000,    /* between two moves */
    PAUSE_MAX_NS = 512000000,
    CALM_NS = 100000000,       /* after that long it begins anew */
    BUSY_NS = 300000,          /* a move that takes so long was to a processor that somebody else uses */
    FRESH_MS = 20,             /* who has waited so long ago is still at work, even if it sleeps now */
};

/* Of this process; threads that wait at once may lose a look. */
static struct {
    _Atomic uint64_t next_ns;   /* no move before */
    _Atomic uint64_t pause_ns;  /* after the last one */
    _Atomic uint32_t seen;      /* looks in a row that have shown a heap */
} spread;

int spread_goal(const struct spread_count *count, int cpu, const struct cpus *allowed)
{
    int goal = cpu;

    for (int other = cpus_next(allowed, 0); other < SPREAD_CPUS; other = cpus_next(allowed, other + 1)) {
        if (count->ranks[other] < count->ranks[goal])
            goal = other;
    }
    return count->ranks[goal] + 1 < count->ranks[cpu] ? goal : -1;
}

/* Where a rank is; -1: not known, or it sleeps for long. */
static int cpu_of(const struct job_proc *place, uint64_t now)
{
    const uint32_t told = atomic_load_explicit(&place->cpu, memory_order_relaxed);
    const uint32_t age = (spread_stamp(now) - spread_stamp_of(told)) >> SPREAD_PLACE_BITS;
    const bool sleeps = atomic_load_explicit(&place->sleep, memory_order_relaxed);

    return sleeps && age > FRESH_MS ? -1 : spread_cpu_of(told);
}

/* Those of the first world on this machine. */
static void count_ranks(struct spread_count *count, int cpu, uint64_t now)
{
    *count = (struct spread_count){ .last = -1 };
    for (int proc = 0; proc < (int)progress.segment->size; proc++) {
        const int at = job_is_near(progress.segment, progress.proc, proc)
                           ? cpu_of(job_proc(progress.segment, proc), now) : -1;

        if (at >= 0 && at < SPREAD_CPUS)
            count->ranks[at]++;
        if (at == cpu)
            count->last = proc;
    }
    others_count(count);
}

bool progress_is_elsewhere(const struct job_proc *place)
{
    int own, other;

    if (!progress.segment)
        return false;
    own = spread_cpu_of(atomic_load_explicit(&job_proc(progress.segment, progress.proc)->cpu, memory_order_relaxed));
    other = spread_cpu_of(atomic_load_explicit(&place->cpu, memory_order_relaxed));
    return own >= 0 && other >= 0 && own != other;
}

/* The place of this rank, told to the others; -1: not known, or beyond what is counted. */
static int tell_cpu(uint64_t now)
{
    const int cpu = sched_getcpu();

    if (cpu < 0 || cpu >= SPREAD_CPUS)
        return -1;
    atomic_store_explicit(&job_proc(progress.segment, progress.proc)->cpu, spread_said(cpu, now),
                          memory_order_relaxed);
    return cpu;
}

static void set_pause(uint64_t pause, uint64_t now)
{
    atomic_store_explicit(&spread.pause_ns, pause, memory_order_relaxed);
    atomic_store_explicit(&spread.next_ns, now + pause, memory_order_relaxed);
}

/* From processor `cpu` to another one, on which no rank is if that `is_free`. A move was of no use if the next one
 * follows soon. */
static void move(int cpu, int goal, bool is_free, const struct cpus *allowed, uint64_t now)
{
    const uint64_t next = atomic_load_explicit(&spread.next_ns, memory_order_relaxed), before = clock_ns();
    uint64_t pause = 2 * atomic_load_explicit(&spread.pause_ns, memory_order_relaxed), after;

    if (now < next || !cpus_go(goal, allowed))
        return;
    if (now - next > CALM_NS || pause < PAUSE_MIN_NS)
        pause = PAUSE_MIN_NS;
    set_pause(pause < PAUSE_MAX_NS ? pause : PAUSE_MAX_NS, now);
    after = clock_ns();
    if (after - before > BUSY_NS && (is_free || others_have_run(before, after))) {
        others_found(goal, before, after);
        cpus_go(cpu, allowed);
    }
    tell_cpu(after);
}

/* Where this rank, if it is the last one on processor `cpu`, should go; -1: it may stay. */
static int find_goal(const struct spread_count *count, int cpu, struct cpus *allowed)
{
    if (count->last != progress.proc || count->ranks[cpu] < 2 || !cpus_allowed(allowed))
        return -1;
    return spread_goal(count, cpu, allowed);
}

/* Others use processor `cpu`: go to one that they do not use. */
static bool leave(int cpu, uint64_t now)
{
    struct spread_count count;
    struct cpus allowed;
    int goal = -1;

    count_ranks(&count, cpu, now);
    if (cpus_allowed(&allowed))
        goal = spread_goal(&count, cpu, &allowed);
    if (goal < 0 || others_use(goal) || !cpus_go(goal, &allowed))
        return false;
    tell_cpu(now);
    return true;
}

enum spread_verdict spread_judge(int cpu, uint64_t before, uint64_t now)
{
    if (cpu < 0 || cpu >= SPREAD_CPUS || !others_have_run(before, now))
        return SPREAD_UNKNOWN;
    if (!others_found(cpu, before, now))
        return SPREAD_ONCE;
    return tell_cpu(now) != cpu || leave(cpu, now) ? SPREAD_LEFT : SPREAD_STAYS;
}

void spread_look(uint64_t now)
{
    const int cpu = tell_cpu(now);
    struct spread_count count;
    struct cpus allowed;
    uint32_t seen = 0;
    int goal = -1;

    others_look(now);
    if (others_use(cpu)) {
        leave(cpu, now);
        return;
    }
    if (cpu >= 0) {
        count_ranks(&count, cpu, now);
        goal = find_goal(&count, cpu, &allowed);
    }
    if (goal >= 0)
        seen = atomic_load_explicit(&spread.seen, memory_order_relaxed) + 1;
    atomic_store_explicit(&spread.seen, seen, memory_order_relaxed);
    if (seen >= SEEN_MIN)
        move(cpu, goal, !count.ranks[goal], &allowed, now);
}
