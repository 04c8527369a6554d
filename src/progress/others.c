/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: progress. Others than ranks on the processors. See int_spread.h.
 *
 * A rank that yields has its processor again after a while. If the while was long, somebody has computed there: a
 * rank, or somebody else. All ranks say whether they wait, and when they have last done something else for some time.
 * If none has during the yield, it was somebody else. If that happens again soon, the processor counts as used by
 * others for USED_MS; once, it was perhaps a service of the system that had something to do. Where ranks did compute
 * nothing can be said, and nothing is.
 *
 * Knows: sys (the job segment, processors). Does not know: what is done about it. */
#include <sched.h>

#include "progress/int_spread.h"
#include "progress/progress.h"
#include "sys/job.h"

enum {
    WORK_NS = 200000,   /* less than that between two waits is no work */
    USED_MS = 200,
    AGAIN_MS = 30,      /* so soon after the first time the second one counts … */
    COUNTED_MS = 1000,  /* … and so soon after that it counts again at once */
    OLDER_MS = 10,
    BITS = 64,
};

/* Of this process; what others have said is looked at now and then. */
static struct {
    _Atomic uint64_t left_ns;                  /* when the last wait ended */
    _Atomic uint64_t worked_ns;                /* when it has last come from work */
    _Atomic uint64_t used[SPREAD_CPUS / BITS]; /* processors, a bit each */
    _Atomic bool has_used;
} others;

static void say(uint64_t word)
{
    atomic_store_explicit(&job_proc(progress.segment, progress.proc)->worked, word, memory_order_relaxed);
}

void others_wait_begins(uint64_t now)
{
    uint64_t worked = atomic_load_explicit(&others.worked_ns, memory_order_relaxed);

    if (now - atomic_load_explicit(&others.left_ns, memory_order_relaxed) > WORK_NS)
        worked = now;
    atomic_store_explicit(&others.worked_ns, worked, memory_order_relaxed);
    say(progress.is_threaded ? 0 : worked << SPREAD_WORKED); /* other threads may do anything */
}

void others_wait_ends(uint64_t now)
{
    atomic_store_explicit(&others.left_ns, now, memory_order_relaxed);
    say(progress.is_threaded ? 0 : now << SPREAD_WORKED | SPREAD_OUT);
}

void others_end(void)
{
    say(0);
    atomic_store_explicit(&others.left_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&others.has_used, false, memory_order_relaxed);
}

/* Has this rank worked between `since` and `now`, or may it have? */
static bool has_worked(const struct job_proc *place, uint64_t since, uint64_t now)
{
    const uint64_t word = atomic_load_explicit(&place->worked, memory_order_relaxed), time = word >> SPREAD_WORKED;

    if (!word)
        return true;
    return word & SPREAD_OUT ? now > time + WORK_NS : time > since;
}

/* Of the first world on this machine; the others are somebody else. */
static bool is_counted(int proc)
{
    return job_is_near(progress.segment, progress.proc, proc);
}

bool others_have_run(uint64_t since, uint64_t now)
{
    for (int proc = 0; proc < (int)progress.segment->size; proc++) {
        if (proc != progress.proc && is_counted(proc) && has_worked(job_proc(progress.segment, proc), since, now))
            return false;
    }
    return true;
}

static uint32_t said_by(int proc)
{
    return is_counted(proc) ? atomic_load_explicit(&job_proc(progress.segment, proc)->used_cpu, memory_order_relaxed)
                            : 0;
}

/* Has a rank said so less than `ms` before `now`? That is perhaps a somewhat older look at the clock than its own. */
static bool is_fresh(uint32_t said, uint64_t now, uint32_t ms)
{
    const uint32_t ago = spread_stamp(now + UINT64_C(1000000) * OLDER_MS) - spread_stamp_of(said);

    return said && ago < (ms + OLDER_MS) << SPREAD_PLACE_BITS;
}

/* Has a rank found others there before `since`, not long ago? What ranks have found at the same time is one time. */
static bool was_before(const struct job_proc *place, int cpu, uint64_t since)
{
    const uint32_t once = atomic_load_explicit(&place->once_cpu, memory_order_relaxed);
    const uint32_t ago = spread_stamp(since) - spread_stamp_of(once);

    return spread_cpu_of(once) == cpu && ago > 0 && ago < AGAIN_MS << SPREAD_PLACE_BITS;
}

/* Has a rank said, not long ago, that others use it? */
static bool uses(uint32_t said, int cpu, uint64_t now)
{
    return spread_cpu_of(said) == cpu && is_fresh(said, now, COUNTED_MS);
}

bool others_found(int cpu, uint64_t since, uint64_t now)
{
    struct job_proc *own = job_proc(progress.segment, progress.proc);
    const uint32_t said = spread_said(cpu, now);
    bool is_again = false;

    for (int proc = 0; proc < (int)progress.segment->size && !is_again; proc++)
        is_again = uses(said_by(proc), cpu, now) ||
                   (is_counted(proc) && was_before(job_proc(progress.segment, proc), cpu, since));
    atomic_store_explicit(&own->once_cpu, said, memory_order_relaxed);
    if (is_again) {
        atomic_store_explicit(&own->used_cpu, said, memory_order_relaxed);
        others_look(now);
    }
    return is_again;
}

void others_look(uint64_t now)
{
    uint64_t used[SPREAD_CPUS / BITS] = { 0 };
    bool has_used = false;

    for (int proc = 0; proc < (int)progress.segment->size; proc++) {
        const uint32_t said = said_by(proc);
        const int cpu = spread_cpu_of(said);

        if (is_fresh(said, now, USED_MS) && cpu >= 0 && cpu < SPREAD_CPUS) {
            used[cpu / BITS] |= UINT64_C(1) << cpu % BITS;
            has_used = true;
        }
    }
    for (int i = 0; i < SPREAD_CPUS / BITS; i++)
        atomic_store_explicit(&others.used[i], used[i], memory_order_relaxed);
    atomic_store_explicit(&others.has_used, has_used, memory_order_relaxed);
}

static bool has_used(void)
{
    return atomic_load_explicit(&others.has_used, memory_order_relaxed);
}

bool others_use(int cpu)
{
    return has_used() && cpu >= 0 && cpu < SPREAD_CPUS &&
           atomic_load_explicit(&others.used[cpu / BITS], memory_order_relaxed) >> cpu % BITS & 1;
}

bool others_are_here(void)
{
    return has_used() && others_use(sched_getcpu());
}

void others_count(struct spread_count *count)
{
    for (int cpu = 0; has_used() && cpu < SPREAD_CPUS; cpu++) {
        if (others_use(cpu))
            count->ranks[cpu] += SPREAD_USED;
    }
}
