/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: what an agent has to know of the job, as bytes: the programs and those options that matter where ranks are
 * started, which rank is where, the environment and the directory that mpiexec was called in. */
#ifndef LAUNCH_JOB_TEXT_H
#define LAUNCH_JOB_TEXT_H

#include "channel.h"

/* What an agent gets besides options, nodes and ranks. */
struct orders {
    uint64_t token[2];
    int slots;           /* places in the segment */
    int *node_of;        /* each rank's */
    uint32_t hold;       /* job_head.hold */
    const char *folder;  /* of mpiexec */
    struct strings environment;
};

/* The job as the agent on that node gets it. */
void job_text_write(const struct job *job, int node, struct bytes *bytes);

/* Fill in job->options, job->nodes, job->size and the orders, which point into `data` from now on. False: that is no
 * job. */
bool job_text_read(struct job *job, struct orders *orders, char *data, size_t size);

/* Processes that are started later, as agents get them. */
struct world_text {
    const struct world *world; /* its number, places and programs; when read: the reader's */
    const int *node_of;        /* of each process */
    bool is_new;               /* they are to be started, by … */
    int parent, call;          /* … this rank, with the call of this number there */
    /* when read, of each place: */
    uint32_t *tenant;
    uint32_t (*contexts)[2];
};

void job_text_write_world(const struct job *job, const struct world_text *text, struct bytes *bytes);
/* What it gets is its own, but for texts in `data`, which become those of the world (its `request`). False: that is
 * none. */
bool job_text_read_world(const struct job *job, struct world_text *text, char *data, size_t size);

/* Would NAME=VALUE of this machine mean something on another one, or has the user named it? */
bool job_text_travels(const struct options *options, const char *variable);

/* The directory that we are in, as the user's shell calls it, if that is right: the name may lead to the same files on
 * another machine. */
char *job_text_folder(void);

#endif
