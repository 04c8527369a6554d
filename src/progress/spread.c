/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: progress. Ranks that share processors, evenly. See int_spread.h.
 *
 * All say in the job segment where they are. Of the ranks on a processor the last one moves, after it has seen twice
 * that another processor has two less. Its mask is as before at once: the system may move it again. If that does, the
 * next move waits longer, twice as long each time. Where others than ranks use the processors, the system knows better:
 * who has to wait for the other processor goes back, and neither he nor who yields for long after a move moves for a
 * while. (A long yield alone shows nothing: the others may be copying much.)
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
    BUSY_NS = 300000,          /* a move that takes so long was to a processor that somebody else uses … */
    BUSY_PAUSE_NS = 1000000000, /* … and the next one waits so long */
    FRESH_MS = 20,             /* who has waited so long ago is still at work, even if it sleeps now */
    CPU_BITS = 11,             /* of what is told; above: when, in ms */
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

static uint32_t stamp_of(uint64_t now)
{
    return (uint32_t)(now / 1000000) << CPU_BITS;
}

/* Its processor's number and one; 0: not known. */
static uint32_t place_of(uint32_t told)
{
    return told & ((1U << CPU_BITS) - 1);
}

/* Where a rank is; -1: not known, or it sleeps for long. */
static int cpu_of(const struct job_proc *place, uint64_t now)
{
    const uint32_t told = atomic_load_explicit(&place->cpu, memory_order_relaxed);
    const uint32_t age = (stamp_of(now) - (told & ~0U << CPU_BITS)) >> CPU_BITS;
    const bool sleeps = atomic_load_explicit(&place->sleep, memory_order_relaxed);

    return sleeps && age > FRESH_MS ? -1 : (int)place_of(told) - 1;
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
}

bool progress_is_elsewhere(const struct job_proc *place)
{
    uint32_t own, other;

    if (!progress.segment)
        return false;
    own = place_of(atomic_load_explicit(&job_proc(progress.segment, progress.proc)->cpu, memory_order_relaxed));
    other = place_of(atomic_load_explicit(&place->cpu, memory_order_relaxed));
    return own && other && own != other;
}

/* The place of this rank, told to the others; -1: not known, or beyond what is counted. */
static int tell_cpu(uint64_t now)
{
    const int cpu = sched_getcpu();

    if (cpu < 0 || cpu >= SPREAD_CPUS)
        return -1;
    atomic_store_explicit(&job_proc(progress.segment, progress.proc)->cpu, stamp_of(now) | (uint32_t)(cpu + 1),
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
    uint64_t pause = 2 * atomic_load_explicit(&spread.pause_ns, memory_order_relaxed);

    if (now < next || !cpus_go(goal, allowed))
        return;
    if (now - next > CALM_NS || pause < PAUSE_MIN_NS)
        pause = PAUSE_MIN_NS;
    pause = pause < PAUSE_MAX_NS ? pause : PAUSE_MAX_NS;
    if (is_free && clock_ns() - before > BUSY_NS) {
        cpus_go(cpu, allowed);
        pause = BUSY_PAUSE_NS;
    }
    set_pause(pause, now);
    tell_cpu(now);
}

void spread_foreign(uint64_t now)
{
    const uint64_t pause = atomic_load_explicit(&spread.pause_ns, memory_order_relaxed);
    const uint64_t next = atomic_load_explicit(&spread.next_ns, memory_order_relaxed);

    if (pause && now < next && now - (next - pause) < CALM_NS)
        set_pause(BUSY_PAUSE_NS, now);
}

/* Where this rank, the last one on processor `cpu`, should go; -1: it may stay. */
static int find_goal(const struct spread_count *count, int cpu, struct cpus *allowed)
{
    if (count->last != progress.proc || count->ranks[cpu] < 2 || !cpus_allowed(allowed))
        return -1;
    return spread_goal(count, cpu, allowed);
}

void spread_look(uint64_t now)
{
    const int cpu = tell_cpu(now);
    struct spread_count count;
    struct cpus allowed;
    uint32_t seen = 0;
    int goal = -1;

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
