/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. Where in its machine a process sits: the parts of each kind that it is bound to. Read when somebody asks,
 * since a process may move. */
#ifndef SYS_SITE_H
#define SYS_SITE_H

#include <stdint.h>

#include "sys/hwpart.h"

enum {
    SITE_UNKNOWN = -2, /* nothing tells of such parts here */
    SITE_SEVERAL = -1, /* it may run on several of them, or beside them */
};

/* A part is named by its first processor. Processes of different machines have the same names for different parts. */
struct site {
    int16_t first[HWPARTS]; /* or SITE_UNKNOWN, SITE_SEVERAL */
    int16_t count[HWPARTS]; /* processors of that part; 0 if there is none */
};

/* That of process `pid` of this machine, by the affinity of all its threads. /sys is asked first, about a dozen small
 * files; hwloc if that knows no cores, or if the user has told hwloc of another machine. With PARLEY_MACHINE it is a
 * machine that is not there, and `number` says on which of its processors. Error: MPI_ERR_OTHER for a wrong
 * PARLEY_MACHINE. Any thread. */
int site_find(int pid, int number, struct site *site);

/* Is PARLEY_MACHINE set, so that site_find looks at `number` only? */
bool site_is_made_up(void);

/* Below `root`, for a process with these processors. */
void site_of_cpus(const char *root, const struct cpus *cpus, struct site *site);

/* A machine that is not there: "Package:2 L3Cache:4 Core:4", each thing so often in each one before. Processor `number`
 * of it, counted round and round. False: not of this form, or more than CPUS_MAX processors. */
bool site_of_text(const char *text, int number, struct site *site);

#endif
