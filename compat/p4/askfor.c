/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4. The monitor that deals out problems from a pool which the program keeps. Knows the general
 * monitor; what a problem is, only the program's functions know. One queue: those who found the pool empty. */
#include <stdbool.h>

#include "p4/int_p4.h"

enum { EXHAUSTED = 1 };

int p4_askfor_init(p4_askfor_monitor_t *af)
{
    af->pgdone = 0;
    af->pbdone = 0;
    af->leaving = 0;
    return p4_moninit(&af->m, 1);
}

/* All others are asleep: nobody is left who could add a problem. */
static bool is_last(p4_askfor_monitor_t *af, int nprocs)
{
    return af->m.first.count >= nprocs - 1;
}

/* Inside the monitor, until a problem is found (true), or the round or everything is over. A round ends for all at
 * once, when its last process has come: who is woken before that, by an update that came too late, sleeps again. */
static bool look_for_problem(p4_askfor_monitor_t *af, int nprocs, int (*getprob)(void *), void *problem)
{
    while (!af->pgdone && !af->leaving) {
        if (!af->pbdone && getprob(problem) == 0)
            return true;
        if (is_last(af, nprocs)) {
            af->pbdone = af->pbdone ? af->pbdone : EXHAUSTED;
            af->leaving = 1;
        } else {
            p4_mdelay(&af->m, 0);
        }
    }
    return false;
}

/* Who leaves lets a sleeper go, who leaves the same way; the last one makes the next round possible. */
int p4_askfor(p4_askfor_monitor_t *af, int nprocs, int (*getprob)(void *), void *problem, void (*reset)(void))
{
    int result = 0;

    p4_menter(&af->m);
    if (!look_for_problem(af, nprocs, getprob, problem)) {
        result = af->pgdone ? -1 : af->pbdone;
        if (!af->pgdone && af->m.first.count == 0) {
            reset();
            af->pbdone = 0;
            af->leaving = 0;
        }
    }
    p4_mcontinue(&af->m, 0);
    return result;
}

int p4_update(p4_askfor_monitor_t *af, int (*putprob)(void *), void *problem)
{
    int is_added;

    p4_menter(&af->m);
    is_added = putprob(problem);
    if (is_added)
        p4_mcontinue(&af->m, 0);
    else
        p4_mexit(&af->m);
    return is_added;
}

void p4_probend(p4_askfor_monitor_t *af, int code)
{
    p4_menter(&af->m);
    af->pbdone = code;
    p4_mexit(&af->m);
}

void p4_progend(p4_askfor_monitor_t *af)
{
    p4_menter(&af->m);
    af->pgdone = 1;
    p4_mcontinue(&af->m, 0);
}
