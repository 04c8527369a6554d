/* SPDX-License-Identifier: BSD-3-Clause */
/* Example sort: what the ranks tell each other. All functions are called by every rank of MPI_COMM_WORLD;
 * running out of memory ends the job. */
#ifndef SORT_EXCHANGE_H
#define SORT_EXCHANGE_H

#include "lines.h"

/* `l` is sorted. Afterwards it holds this rank's share of all lines, as one sorted run per rank; returns
 * the number of the first line of each run and behind the last the count (see lines_merge()), to be freed. */
size_t *exchange_lines(struct lines *l, int rank, int ranks);

/* Sum of `bytes` over the ranks below this one. */
unsigned long long exchange_bytes_before(unsigned long long bytes, int rank, int ranks);

/* Is the first line of every rank at or behind the last line of the ranks below it? Each rank answers for
 * itself. */
bool exchange_is_ordered(const struct lines *l, int rank, int ranks);

#endif
