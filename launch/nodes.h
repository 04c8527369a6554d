/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: the machines of a job, its nodes, and which rank is on which. Whoever reads hosts fills this in (nodes.c);
 * whoever starts ranks on other machines uses it. */
#ifndef LAUNCH_NODES_H
#define LAUNCH_NODES_H

#include <stdbool.h>

#include "hosts.h"

struct app;
struct job;
struct strings;

struct node {
    const char *name;   /* as messages have it; %h of output patterns */
    const char *target; /* what the remote shell is given: [USER@]NAME */
    int slots;          /* 0: not said */
    int ranks;          /* of the command line that are on it; 0: only of the node of mpiexec itself */
    bool is_here;       /* mpiexec runs on it and starts its ranks itself */
};

/* job->nodes, by their numbers. */
struct nodes {
    struct node *at;
    int count; /* at least 1 */
    int here;  /* the one that is_here: there is exactly one, though it may have no ranks */
    bool is_spread;     /* processes are on several of them, or may be later */
    struct hosts hosts; /* that processes can be started on … */
    int *of_host;       /* … and the node of each */
};

/* Fill in job->nodes and `node` of the ranks of the command line, which are there (worlds_fill). Ends mpiexec when the
 * hosts cannot be had as they are wanted. */
void nodes_place(struct job *job);

enum { NODES_WHY = 400 };

/* The nodes of processes that `rank` wants to be started, by the same rules, on what other processes have left;
 * `node_of` has room for all of the programs' ranks. A program may be wanted on some hosts only (wanted_hosts). False:
 * that cannot be; `why` says so. */
bool nodes_place_more(const struct job *job, int rank, const struct app *apps, int app_count, int *node_of,
                      char why[NODES_WHY]);

/* A line for each node with its ranks; for each host with its slots. */
void nodes_show(struct job *job);
void nodes_show_hosts(struct job *job);

/* The command that starts mpiexec --agent on the node and connects us with its stdin, stdout and stderr: the words of
 * the remote shell, the target, and one word for the shell there. */
void nodes_command(const struct job *job, const struct node *node, struct strings *words);

#endif
