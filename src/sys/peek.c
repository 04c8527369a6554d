/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. process_vm_readv and process_vm_writev, repeated until all is copied. */
#include "sys/peek.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/uio.h>

void peek_allow(void)
{
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
}

/* Both calls copy page by page and stop at the first bad one: what they return is what was copied. */
static int copy(int pid, char *local, uint64_t remote, size_t len,
                ssize_t (*call)(pid_t, const struct iovec *, unsigned long, const struct iovec *, unsigned long,
                                unsigned long))
{
    while (len) {
        const struct iovec here = { local, len }, there = { (void *)(uintptr_t)remote, len };
        const ssize_t done = call(pid, &here, 1, &there, 1, 0);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return done < 0 ? errno : EFAULT;
        local += done;
        remote += (uint64_t)done;
        len -= (size_t)done;
    }
    return 0;
}

int peek_read(int pid, void *local, uint64_t remote, size_t len)
{
    return copy(pid, local, remote, len, process_vm_readv);
}

int peek_write(int pid, const void *local, uint64_t remote, size_t len)
{
    return copy(pid, (char *)(uintptr_t)local, remote, len, process_vm_writev);
}
