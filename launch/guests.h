/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec: guests, processes of other jobs that are or were connected with ours. They have places in our segment as
 * processes of another machine have, and all machines of the job agree about these places: mpiexec gives them, and
 * tells the agents, who say when they know. Nobody hears of a guest before all do. */
#ifndef LAUNCH_GUESTS_H
#define LAUNCH_GUESTS_H

#include "bonds.h"

/* The place of a process of theirs; -1: it has none. */
int guests_find(const struct job *job, const struct bond *bond, uint32_t home);
/* So many of theirs have a place or can get one. What is known of whom our processes have communicators with should be
 * new (far_ask_links). */
int guests_room(struct job *job, const struct bond *bond);
/* Those members that have no place get one, as soon as far_has_admitted(*number). The place of the first member; -1:
 * there is no room. As guests_room; and no spawning has places in view (spawning_holds_places). */
int guests_admit(struct job *job, struct bond *bond, const char *members, int count, uint32_t *number);
/* The process there has ended: another one may be at its home. */
void guests_retire(struct job *job, const struct bond *bond, int place);
/* All that have a place; the caller's, by mem_free. */
struct frame_guest *guests_list(struct job *job, int *count);

#endif
