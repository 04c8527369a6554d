/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: sys. Mapping a part of the job segment (job.h) that is needed only now. */
#ifndef SYS_SHARE_H
#define SYS_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct job_head;

/* Map `size` bytes of the segment from `offset` on, a multiple of JOB_TRANSPORT_ALIGN, to read and write; memory is
 * taken where it is touched. A file that is too short is made longer, by whoever comes first. `head` is where the same
 * segment is mapped already: by it a descriptor is known that the program has closed and used for something else.
 * Forked children do not have it. NULL with errno (EBADF in that case). Unmap with munmap. Any thread. */
void *share_map(const struct job_head *head, int fd, size_t offset, size_t size);

/* Is the segment a memory file, with all the length that a file can have? Else it lies in a file system. */
bool share_is_memory_file(int fd);

/* Make the file reach to offset + size, whatever others do with it at the same time; a file in a file system, which may
 * be full one day, gets memory for these bytes at once. 0, or an errno: EBADF as above; EFBIG if the process's limit on
 * the size of files forbids it, ENOSPC. */
int share_reserve(const struct job_head *head, int fd, uint64_t offset, uint64_t size);
/* Nobody needs what is in these bytes, whole pages, any more: give the memory back. */
void share_release(const struct job_head *head, int fd, uint64_t offset, uint64_t size);

#endif
