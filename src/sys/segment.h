/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. Making the job segment (sys/job.h): mpiexec does it, or, under a launcher of somebody else, the lowest
 * rank of the machine. */
#ifndef SYS_SEGMENT_H
#define SYS_SEGMENT_H

#include <stdbool.h>

#include "sys/job.h"

/* What the maker knows. */
struct segment_plan {
    int size;             /* ranks, all on this machine … */
    int nodes;            /* … and treated as if they sat on so many, in rows of equal length; 0 as 1 */
    int spare;            /* places wished for processes that are started later */
    int apps;             /* programs, at least 1 */
    int errhandler;       /* enum job_errhandler */
    int cpus;             /* processors for all of them; 0: told later */
    const char *launcher; /* name and version, for messages; cut at 63 bytes */
};

enum { SEGMENT_WHY = 400 };

/* An empty file for so many processes, long enough for good, without a name anywhere: in memory, or, where the system
 * has no memory files (memfd_create: old kernels, some sandboxes), in /dev/shm or a directory for temporary files;
 * then what ranks may need is reserved. The descriptor (closed at exec), or -1 with a line of cause and perhaps one of
 * remedy in `why`. */
int segment_open(int slots, bool *is_memory, char why[SEGMENT_WHY]);

/* The same, sealed against shrinking, with its head filled, a random token and ranks 0 to size - 1 of the first world;
 * *head is its first job_transport_offset(slots) bytes, mapped, the caller's. head->slots tells whether the spare
 * places are there: they are not where there are no memory files, or a limit forbids a file of that length. */
int segment_make(const struct segment_plan *plan, struct job_head **head, char why[SEGMENT_WHY]);

/* Map the first `size` bytes of it. NULL with errno. */
void *segment_map(int fd, size_t size);

#endif
