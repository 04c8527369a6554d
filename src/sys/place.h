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

/* Processes of other jobs (struct job_abroad). Have there been any? */
bool place_has_abroad(void);
/* NULL: the process is of this job. */
struct job_abroad *place_abroad(int proc);
/* What it is called by all processes of all jobs, which number it differently. Names are in the order of numbers within
 * a job. */
uint64_t place_name(int proc);
/* The other way round; -1: it has no place here. */
int place_find(uint64_t name);
/* What one process tells another one of a third, which the other's job may not know yet. */
struct place_card {
    uint64_t job;          /* token[0] */
    uint32_t home, tenant; /* place in its job, which so many have had before */
    uint32_t node, appnum; /* machine there */
    uint32_t size;         /* bytes of its address, which is that of TCP */
    unsigned char address[JOB_ADDRESS_SIZE];
};
/* Of a process of this job or of another one that has a place here. There is a segment. */
struct place_card place_card(int proc);
/* Has it a place here? */
bool place_knows(const struct place_card *card);

/* The place of a process by its bond and its place at home; -1: there is none. */
int place_find_home(struct job_head *head, uint64_t bond, uint32_t home);

#endif
