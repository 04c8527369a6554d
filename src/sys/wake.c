/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. Futexes and the expedited barriers (membarrier). Knows: nothing. */
#include "sys/wake.h"

#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static bool has_barrier;

void wake_sleep(_Atomic uint32_t *word, uint32_t value, uint64_t timeout_ns)
{
    const struct timespec timeout = { (time_t)(timeout_ns / 1000000000u), (long)(timeout_ns % 1000000000u) };

    syscall(SYS_futex, word, FUTEX_WAIT, value, &timeout, NULL, 0);
}

void wake_all(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void wake_one(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

bool wake_barrier_offered(void)
{
    const long wanted = MEMBARRIER_CMD_GLOBAL_EXPEDITED | MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED;
    const long offered = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);

    return offered > 0 && (offered & wanted) == wanted;
}

bool wake_barrier_init(void)
{
    has_barrier = !syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0);
    return has_barrier;
}

bool wake_barrier(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    return has_barrier && !syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
}

bool wake_barrier_own_init(void)
{
    return !syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
}

bool wake_barrier_own(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    return !syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}
