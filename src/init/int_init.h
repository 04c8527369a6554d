/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: init, private. What its files share. */
#ifndef INIT_INT_INIT_H
#define INIT_INT_INIT_H

#include "init/init.h"

/* Keep this rank's status page from now on, until progress_fini; a singleton has none. */
void init_watch(void);

#endif
