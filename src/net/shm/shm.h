/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/shm. Shared memory between the processes of one machine. */
#ifndef NET_SHM_SHM_H
#define NET_SHM_SHM_H

#include "net/net.h"

extern const struct net_ops shm_ops;

/* Bytes the job segment must have for the transport. */
size_t shm_segment_needed(int procs);

#endif
