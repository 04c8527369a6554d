/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/device. A transport that wraps another one (config.inner) and has a device which matches: the model of
 * match/offload, driven at random. Messages go by its list of receives, everything else through its queue in order.
 * For tests: what hardware that matches would do to the rest of the library, at its worst. */
#ifndef NET_DEVICE_DEVICE_H
#define NET_DEVICE_DEVICE_H

#include "match/offload/model.h"
#include "net/net.h"

/* What the device must know of the records that it carries (net_config.device_user). */
struct device_user {
    /* Is it a message that receives are matched with? Then what the device needs of it. */
    bool (*is_message)(struct net_head head, const void *payload, uint32_t len, struct model_arrival *out);
    /* A receive in the device has taken this one; placed: its payload lies in the buffer. 0 or NET_AGAIN. */
    int (*taken)(void *arg, unsigned slot, bool is_placed, int proc, struct net_head head, const void *payload,
                 uint32_t len);
    /* A remove has found its entry. */
    void (*removed)(void *arg, unsigned slot);
    void *arg;
};

extern const struct net_ops device_shm_ops;

/* The shadow of the device behind an open net of this kind; it goes with the net. */
struct offload *device_offload(struct net *net);

#endif
