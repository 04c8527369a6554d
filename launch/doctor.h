/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec --doctor: what this machine offers and what will be used of it, on one screen.
 *
 *   doctor.c        the list, in order, and what follows from each line
 *   doctor_probe.c  trying what the system lets us do
 *   doctor_path.c   other MPIs that could be taken for this one
 *   doctor_net.c    which network would carry messages to other machines
 *   doctor_hosts.c  other machines, with reach.c */
#ifndef LAUNCH_DOCTOR_H
#define LAUNCH_DOCTOR_H

#include <stdbool.h>

#include "base/base.h"
#include "sys/segment.h"

/* Of a line: as it should be; works, but less well or not as one may think; no job can run. */
enum doctor_mark { DOCTOR_OK, DOCTOR_NOTE, DOCTOR_FAIL };

/* One line: what, its value, what follows; behind a newline, what to do. */
void doctor_say(enum doctor_mark mark, const char *what, const char *value, const char *follows, ...)
    PRINTF_LIKE(4, 5);

/* Two processes that share a file, as ranks do. Each number is 0, or the errno of what was refused. */
struct doctor_pair {
    bool has_file, is_memory;
    char why[SEGMENT_WHY]; /* there is no file; cause, and behind a newline what to do. Then the rest is not tried */
    int process;           /* no process: likewise */
    int wake;            /* one has woken the other */
    int read, write;     /* of the other's memory */
};

void doctor_probe_pair(struct doctor_pair *pair);

/* What else mpiexec cannot do without; the name of the first thing refused, with errno, or NULL. */
const char *doctor_probe_launcher(void);

/* Lines about mpiexec, mpirun and mpicc in PATH, and libraries in LD_LIBRARY_PATH. */
void doctor_paths(void);

/* A line about the network between machines. */
void doctor_networks(void);

struct options;

/* Lines about the hosts that the options name, this machine left out. */
void doctor_hosts(const struct options *options);

/* Print all, of this machine and those that the options name, or only of the latter; the exit code. */
int doctor_run(const struct options *options);

#endif
