/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. Copying between the memory of this process and another one on the machine, without its help. */
#ifndef SYS_PEEK_H
#define SYS_PEEK_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/* Allow every process of the same user to look into this one where a security module would refuse. */
void peek_allow(void);

/* Does PARLEY_SINGLE_COPY leave it to us to copy in this way? */
bool peek_is_wanted(void);

/* Copy all `len` bytes; 0, or the errno of the failure (peek_is_refused: not allowed here; EFAULT: bad address;
 * ESRCH: the process is gone). */
int peek_read(int pid, void *local, uint64_t remote, size_t len);
int peek_write(int pid, const void *local, uint64_t remote, size_t len);

/* Does that mean that the other process is out of reach, whatever the address? It may come to be so: a process changes
 * its user, what others may see of it (PR_SET_DUMPABLE), or which calls of the system it may make. */
static inline bool peek_is_refused(int failed)
{
    return failed == EPERM || failed == EACCES || failed == ENOSYS;
}

/* How many times as long as a copy within the process one by the system takes, 64 KB in pages of the usual size: 2 or 3
 * where calls of the system are cheap, 8 and more where a hypervisor or a sandbox makes them dear. Measured once, in 50
 * us or so; 0: the system does not copy, or there is no memory. Thread-safe. */
float peek_price(void);

/* Is it dear? From so many times on two copies within processes are faster. Measured: 2 to 3 where it is cheap, 8 to 9
 * where it is dear. */
static inline bool peek_is_dear(void)
{
    return peek_price() > 5;
}

enum { PEEK_PIECES = 256 }; /* a call takes no more pieces on a side; the system's own limit is higher */

/* Pieces of memory of both processes that have the same length in all, in this order. The arrays are used up. */
struct peek_list {
    struct iovec here[PEEK_PIECES], there[PEEK_PIECES];
    size_t here_count, there_count;
};

/* Copy all of it, to here or to there; as peek_read. */
int peek_read_list(int pid, struct peek_list *list);
int peek_write_list(int pid, struct peek_list *list);

#endif
