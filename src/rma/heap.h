/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: rma. Memory that the processes of a window share: ranges of the job segment's file, behind all else in it. Each
 * process has a part of the file of its own and gives out ranges of that, so nobody has to ask anybody; the file is as
 * long as its last range, and memory is taken where it is touched. Any thread. */
#ifndef RMA_HEAP_H
#define RMA_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rma/rma.h"

enum { HEAP_ALIGN = JOB_TRANSPORT_ALIGN };

/* Where ranges come from. */
void heap_open(const struct rma_config *config);
/* All ranges have been given back. */
void heap_close(void);

/* A range of `size` bytes for this process to tell to others: its offset in the file, a multiple of HEAP_ALIGN. 0, with
 * errno, if there is none. */
uint64_t heap_take(uint64_t size);
/* The one that took it gives it back; others may have it mapped but do not look at it. */
void heap_give(uint64_t offset);

/* Map a range that somebody has taken; forked children have it, too. NULL with errno. */
void *heap_map(uint64_t offset, uint64_t size);
void heap_unmap(void *start, uint64_t size);

/* The status page and the like of a process of the job. */
struct job_proc *heap_proc(int proc);

#endif
