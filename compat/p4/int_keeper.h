/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4, inside. What belongs to the keeper's process alone. */
#ifndef P4_INT_KEEPER_H
#define P4_INT_KEEPER_H

#include "p4/int_start.h"

/* Of the process at `place` of this host. */
struct job_proc *keeper_proc(int place);

#endif
