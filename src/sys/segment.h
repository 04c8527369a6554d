/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. Making the job segment (sys/job.h): mpiexec does it, or, under a launcher of somebody else, the lowest
 * rank of the machine. */
#ifndef SYS_SEGMENT_H
#define SYS_SEGMENT_H

#include <stdbool.h>

#include "sys/job.h"

/* What the maker knows. */
struct segment_plan {
    int size;             /* ranks, all on this machine */
    int apps;             /* programs, at least 1 */
    int errhandler;       /* enum job_errhandler */
    int cpus;             /* processors for all of them; 0: told later */
    const char *launcher; /* name and version, for messages; cut at 63 bytes */
};

enum { SEGMENT_WHY = 400 };

/* An empty file for so many ranks, long enough for good, without a name anywhere: in memory, or, where the system has
 * no memory files (memfd_create: old kernels, some sandboxes), in /dev/shm or a directory for temporary files; then
 * what ranks may need is reserved. The descriptor (closed at exec), or -1 with a line of cause and perhaps one of
 * remedy in `why`. */
int segment_open(int ranks, bool *is_memory, char why[SEGMENT_WHY]);

/* The same, sealed against shrinking, with its head filled, a random token and local ranks 0 to size - 1; *head is its
 * first job_transport_offset(size) bytes, mapped, the caller's. */
int segment_make(const struct segment_plan *plan, struct job_head **head, char why[SEGMENT_WHY]);

/* Map the first `size` bytes of it. NULL with errno. */
void *segment_map(int fd, size_t size);

#endif
