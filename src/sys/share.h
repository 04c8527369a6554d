/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. Mapping a part of the job segment (job.h) that is needed only now. */
#ifndef SYS_SHARE_H
#define SYS_SHARE_H

#include <stddef.h>

struct job_head;

/* Map `size` bytes of the segment from `offset` on, a multiple of JOB_TRANSPORT_ALIGN, to read and write; memory is
 * taken where it is touched. A file that is too short is made longer, by whoever comes first. `head` is where the same
 * segment is mapped already: by it a descriptor is known that the program has closed and used for something else.
 * Forked children do not have it. NULL with errno (EBADF in that case). Unmap with munmap. Any thread. */
void *share_map(const struct job_head *head, int fd, size_t offset, size_t size);

#endif
