/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: init, private. What its files share. */
#ifndef INIT_INT_INIT_H
#define INIT_INT_INIT_H

#include "init/init.h"
#include "p2p/lane.h"

/* Keep this rank's status page from now on, until progress_fini; a singleton has none. */
void init_watch(void);

/* Read the settings: 0, or an error of class MPI_ERR_OTHER. */
int notice_init(void);
/* Tell of a sender whose messages nobody receives, unless PARLEY_WARN=0. */
p2p_flooded_fn notice_flooded COLD;
/* With PARLEY_COUNTERS: print them, before p2p_fini. */
void notice_counters(void);

#endif
