/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4. Clocks of p4 programs. All are monotonic and begin with p4_initenv (or with the first call before
 * it); processes forked later go on with their parent's. */

#include <limits.h>

#include "p4/int_p4.h"
#include "sys/clock.h"

static uint64_t since_start_ns(void)
{
    if (!p4_own.start_ns)
        p4_own.start_ns = clock_ns();
    return clock_ns() - p4_own.start_ns;
}

/* Wraps after 24 days, as an int of milliseconds must: to 0, so that it never is negative. */
int p4_clock(void)
{
    return (int)(since_start_ns() / 1000000 % INT_MAX);
}

p4_usc_time_t p4_ustimer(void)
{
    return since_start_ns() / 1000;
}

p4_usc_time_t p4_usrollover(void)
{
    return ULONG_MAX;
}

double p4_usclock(void)
{
    return (double)since_start_ns() * 1e-9;
}
