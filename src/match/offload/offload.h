/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: match/offload. Receives that a device matches: some of the posted receives stand in its list as well, and it
 * gives messages to them by itself. The software's own queue (match.h) stays complete: it is the shadow.
 *
 * What makes this difficult is that both match at the same time. A message that the device found no receive for is
 * on its way to the software while the receive it belongs to is on its way to the device, where a later message may
 * be the first to meet it. The rules:
 *
 * 1. An entry may stand in the device only if every older posted receive that could take one of its messages does.
 * 2. The device counts the messages that it hands up as unexpected. Every command carries how many of these the
 *    software has completely handled. An entry matches nothing until a command comes whose number is the device's own;
 *    then all entries that came before that command do.
 * 3. An unexpected message goes through the shadow, in order. If its receive stands in the device, a remove follows,
 *    and only then the number is raised: so this remove always finds its entry.
 * 4. A user's cancel is a remove that waits for its answer: if the device says that the entry was taken, so it is.
 * 5. If no other command carries the number, a sync does.
 *
 * What does not fit into the device stays in the shadow alone and takes part as before, so nothing is ever refused.
 * Constant time; all with the lock of the lane. */
#ifndef MATCH_OFFLOAD_OFFLOAD_H
#define MATCH_OFFLOAD_OFFLOAD_H

#include <stddef.h>

#include "match/match.h"

enum {
    OFFLOAD_SOFT = 0,        /* instead of a slot: the receive stands in the shadow only */
    OFFLOAD_TAKEN = 0xffff,  /* the device has given it its message */
    OFFLOAD_SLOTS_MAX = 4096,
    OFFLOAD_BUCKETS = 256,
};

/* What the device holds of a receive. */
struct offload_tag {
    uint64_t key, mask;      /* as in match_entry */
    void *buf;               /* for the message */
    size_t len;              /* bytes; a longer message is not placed there but handed up with the match */
    uint32_t ctx;            /* match_ctx.id */
};

/* A device. Slots are 1 to ops->slots(device). Commands are carried out in order, later; there is always room for a
 * remove, which is given once at most for each entry. `handled` is rule 2's number, modulo 65536. */
struct offload_device {
    const struct offload_device_ops *ops;
};

struct offload_device_ops {
    unsigned (*slots)(const struct offload_device *device);
    /* Can one more append or sync be given now? */
    bool (*has_room)(const struct offload_device *device);
    void (*append)(struct offload_device *device, unsigned slot, const struct offload_tag *tag, uint16_t handled);
    /* Answered by offload_removed, or offload_remove_failed when a message has taken the entry before. */
    void (*remove)(struct offload_device *device, unsigned slot, uint16_t handled);
    void (*sync)(struct offload_device *device, uint16_t handled);
};

struct offload_counters {
    uint64_t appended;       /* receives given to the device */
    uint64_t spilled;        /* not given although the device could hold such: no slot, no room, or rule 1 */
    uint64_t taken;          /* matched there */
    uint64_t raced;          /* taken back because the software matched them first */
    uint64_t lost;           /* of these, those that the device matched as well: must be 0 */
    uint64_t high;           /* most slots in use at a time */
};

struct offload_slot;

/* The software's side of one device. */
struct offload {
    struct offload_device *device;
    struct offload_slot *slots;
    uint16_t *free;          /* a stack of slots */
    unsigned free_count, slot_count;
    uint16_t handled;        /* unexpected messages, rule 2 */
    uint16_t told;           /* the number that the last command carried */
    /* Posted receives that are not in the device: exact ones by context and key, those with wildcards and all of them
     * by context. Two that fall into one bucket keep each other out of the device, no more. */
    uint32_t soft_exact[OFFLOAD_BUCKETS], soft_wild[OFFLOAD_BUCKETS], soft_all[OFFLOAD_BUCKETS];
    struct offload_counters counters;
};

/* Errors: MPI_ERR_NO_MEM. */
int offload_init(struct offload *offload, struct offload_device *device);
void offload_fini(struct offload *offload);

/* `recv` has been posted to the shadow of `tag->ctx`. With `is_eligible` it is given to the device if the rules allow:
 * its slot, to be kept with the receive; else OFFLOAD_SOFT. Not eligible is what the device cannot do, and a receive
 * that a message may reach past the device. */
unsigned offload_post(struct offload *offload, struct match_entry *recv, const struct offload_tag *tag,
                      bool is_eligible);
/* It has left the shadow, matched by software or dropped; `slot` as above, or OFFLOAD_TAKEN. */
void offload_unpost(struct offload *offload, unsigned slot, const struct match_entry *recv, uint32_t ctx);

/* Ask for it back; offload_removed says that it worked. Nothing happens the second time. */
void offload_cancel(struct offload *offload, unsigned slot);

/* Events, in the order in which the device makes them. */
/* A message has taken this entry; the receive, to be taken out of the shadow as OFFLOAD_TAKEN. */
struct match_entry *offload_taken(struct offload *offload, unsigned slot);
/* Answer to a remove. A receive that was cancelled, to be taken out of the shadow as OFFLOAD_TAKEN; or NULL. */
struct match_entry *offload_removed(struct offload *offload, unsigned slot);
void offload_remove_failed(struct offload *offload, unsigned slot);
/* An unexpected message has been through the shadow (rule 3), and offload_unpost has been called if it must. */
void offload_handled(struct offload *offload);
/* At the end of a round of events: tell the device what is handled, if some of its entries may wait for that. */
void offload_sync(struct offload *offload);

#endif
