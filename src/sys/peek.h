/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. Copying between the memory of this process and another one on the machine, without its help. */
#ifndef SYS_PEEK_H
#define SYS_PEEK_H

#include <stddef.h>
#include <stdint.h>

/* Allow every process of the same user to look into this one where a security module would refuse. */
void peek_allow(void);

/* Copy all `len` bytes; 0, or the errno of the failure (EPERM, ENOSYS: not allowed here; EFAULT: bad address;
 * ESRCH: the process is gone). */
int peek_read(int pid, void *local, uint64_t remote, size_t len);
int peek_write(int pid, const void *local, uint64_t remote, size_t len);

#endif
