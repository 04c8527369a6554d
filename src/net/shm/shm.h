/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/shm. Shared memory between the processes of one machine. */
#ifndef NET_SHM_SHM_H
#define NET_SHM_SHM_H

#include "net/net.h"

extern const struct net_ops shm_ops;

/* Where in a job segment for so many processes the transport's part ends. */
size_t shm_segment_end(int procs);
/* All that process `proc` has shared with others becomes as at first, in all lanes. It has ended, and the next one with
 * this number has not begun. */
void shm_segment_clear(const struct job_head *head, int fd, int procs, int proc);

#endif
