/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. Parcels: bytes for a library function at another process of a communicator, taken in whenever somebody
 * polls there and never matched. They are what letters are (p2p/letter.h), but belong to a communicator: who has opened
 * its box at the other process gets them. A box is opened at all processes before anything is sent. */
#ifndef P2P_PARCEL_H
#define P2P_PARCEL_H

#include <stddef.h>
#include <stdint.h>

#include "p2p/letter.h"

struct comm;

/* All are called from polls and sends, with the lane's lock; they may send parcels, but not poll or wait. */
struct p2p_parcel_sink {
    /* A parcel of `len` bytes has come, or is on its way: memory for it. In order of arrival, which is that of sending
     * for one sender. NULL: there is none; asked again later. `end` is given what is stored in *token, which is that
     * memory if nothing is. */
    void *(*begin)(void *arg, int rank, uint32_t word, size_t len, void **token);
    /* All bytes are there; with rc other than 0 they are not, and never will be. In no particular order. */
    void (*end)(void *arg, void *token, int rc);
    /* This rank is lost (p2p_lost_rank): nothing more begins, and what is sent to it is forgotten. Called with every
     * poll from then on. NULL: nobody wants to know. */
    void (*lost)(void *arg, int rank);
};

/* Error: MPI_ERR_NO_MEM. `sink` stays. */
int p2p_box_open(struct comm *comm, const struct p2p_parcel_sink *sink, void *arg);
/* Nothing is on its way to it or from it. It may not have been opened. */
void p2p_box_close(struct comm *comm);

/* Send; as p2p_letter_send. */
int p2p_parcel_send(struct comm *comm, int rank, uint32_t word, const void *data, size_t len, p2p_letter_gone *gone,
                    void *arg);
/* Parcels that have not gone, and that are on their way in. With the lock. */
unsigned p2p_box_pending(const struct comm *comm);

/* Where a parcel to this process will come from. */
struct progress_hint p2p_box_hint(const struct comm *comm, int rank);

/* For what the user of a box shares with its sink: that of the communicator's lane. Does nothing with one thread;
 * recursive. */
void p2p_box_lock(const struct comm *comm);
void p2p_box_unlock(const struct comm *comm);

#endif
