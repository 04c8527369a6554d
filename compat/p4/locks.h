/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: compat/p4. Waiting for a word in shared memory: what locks, monitors and barriers stand on. */
#ifndef P4_LOCKS_H
#define P4_LOCKS_H

#include <stdatomic.h>
#include <stdint.h>

#include "p4/int_p4.h"

/* Return when *word is no longer `value`: looks at it for a few microseconds, then sleeps. Who changes it calls
 * wake_all (sys/wake.h). Does not return when the run is being ended. */
void locks_wait_change(_Atomic uint32_t *word, uint32_t value);

#endif
