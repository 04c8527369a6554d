/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. What the two ways of parcels share: letter.c within a job, parcel_abroad.c between clients of IMPI. */
#ifndef P2P_INT_PARCEL_H
#define P2P_INT_PARCEL_H

#include "p2p/int_p2p.h"
#include "p2p/parcel.h"

/* Guarded by the lane's lock. */
struct p2p_box {
    struct channel *channel;      /* NULL: nobody wants letters yet */
    struct list moving;
    struct list offered;          /* where requests stand that wait for the receiver */
    unsigned *count;              /* of moving */
    unsigned parcels_moving;      /* that, but for letters */
    const struct p2p_parcel_sink *parcels; /* NULL: the box of letters */
    void *arg;
};


/* As p2p_parcel_send, to a process of another client; with the lock. */
int parcel_send_abroad(struct p2p_box *box, struct peer *peer, uint32_t word, const void *data, size_t len,
                       p2p_letter_gone *gone, void *arg);

#endif
