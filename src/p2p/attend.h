/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. A thread of the library's that polls the lane P2P_LANE_APART while the program computes, and in a joint
 * job (IMPI) the first one, so that what others ask for by parcels there is done. */
#ifndef P2P_ATTEND_H
#define P2P_ATTEND_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct comm;
struct joint;

/* Shall far processes of the communicator be served so by one of that lane? The same in all processes. Error: the
 * setting cannot be read. */
int attend_wanted(const struct comm *comm, bool *is_apart);
/* To processes of other clients of IMPI there is one way, in the first lane. Shall they be served so, too? Then several
 * threads are in that lane, and so in the engine. The setting has been read. */
bool attend_is_for_clients(const struct joint *joint);
/* A communicator of that lane, or of several clients, is there that is to be served; it goes, and none of its locks is
 * held. */
void attend_begin(const struct comm *comm);
void attend_end(const struct comm *comm);
/* Nobody is left, or none will end any more. */
void attend_fini(void);

/* Is there such a thread now? */
bool attend_is_there(void);

/* How often the program has looked for what comes there. */
extern _Atomic uint32_t attend_looks;
static inline void attend_look(void)
{
    atomic_store_explicit(&attend_looks, atomic_load_explicit(&attend_looks, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

/* What more is done with each poll; it returns how much there was. What it has left to be tried again is counted here,
 * and told. */
typedef int attend_again_fn(void);
void attend_also(attend_again_fn *function);
extern _Atomic unsigned attend_unfinished;
void attend_soon(void);

#endif
