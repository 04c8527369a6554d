/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. On which node (machine) of the job a process is, for all who choose a way to it. */
#ifndef SYS_PLACE_H
#define SYS_PLACE_H

#include "sys/job.h"

/* Where that is written; it stays. NULL: nowhere, and all are on node 0. No other thread asks meanwhile. */
void place_open(struct job_head *head);
/* Are processes of the job on more than one node? */
bool place_is_spread(void);
/* Of a process of the job, by its number. */
int place_node(int proc);

#endif
