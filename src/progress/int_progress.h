/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: progress. What its files share. */
#ifndef PROGRESS_INT_PROGRESS_H
#define PROGRESS_INT_PROGRESS_H

#include "progress/progress.h"

/* nap.c. Before it announces its sleep, a thread asks for the turn; then it may nap until it is woken by its sleep
 * word, something has come through a descriptor, another thread's nap has ended since, or the time is over. */
uint32_t nap_turn(void);
void nap(uint32_t turn, uint64_t limit_ns);
/* No descriptors any more. */
void nap_end(void);

#endif
