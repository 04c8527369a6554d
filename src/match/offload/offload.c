/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: match/offload. The shadow's side of the rules: which receives the device may hold, who has which slot, and the
 * number of messages handled. Knows the device by its table only. */
#include "match/offload/offload.h"

#include <assert.h>

#include "base/err.h"
#include "base/mem.h"

/* Of an entry in the device. */
enum slot_state {
    SLOT_FREE,
    SLOT_HELD,        /* posted there and in the shadow */
    SLOT_CANCELLING,  /* the same, and a remove is on its way */
    SLOT_LEAVING,     /* gone from the shadow, a remove is on its way */
};

struct offload_slot {
    struct match_entry *recv;
    enum slot_state state;
    bool is_taken;    /* LEAVING because a message has taken it */
};

static unsigned bucket_of(uint32_t ctx, uint64_t key)
{
    const uint64_t mixed = (key ^ ((uint64_t)ctx << 32 | ctx)) * UINT64_C(0x9e3779b97f4a7c15);

    return (unsigned)(mixed >> 56) % OFFLOAD_BUCKETS;
}

static bool is_exact(const struct match_entry *recv)
{
    return recv->mask == UINT64_MAX;
}

int offload_init(struct offload *offload, struct offload_device *device)
{
    const unsigned count = device->ops->slots(device);

    *offload = (struct offload){ .device = device, .slot_count = count, .free_count = count };
    assert(count && count <= OFFLOAD_SLOTS_MAX);
    offload->slots = mem_zalloc((count + 1) * sizeof *offload->slots);
    offload->free = mem_alloc(count * sizeof *offload->free);
    if (!offload->slots || !offload->free) {
        offload_fini(offload);
        return err(MPI_ERR_NO_MEM, "no memory for a list of %u receives in a device", count);
    }
    for (unsigned i = 0; i < count; i++)
        offload->free[i] = (uint16_t)(count - i);
    return 0;
}

void offload_fini(struct offload *offload)
{
    mem_free(offload->slots);
    mem_free(offload->free);
    offload->slots = NULL;
    offload->free = NULL;
}

/* Rule 1; what the buckets do not tell apart counts as overlapping. */
static bool is_clear_of_soft(const struct offload *offload, const struct match_entry *recv, uint32_t ctx)
{
    const unsigned context = bucket_of(ctx, 0);

    if (!is_exact(recv))
        return !offload->soft_all[context];
    return !offload->soft_wild[context] && !offload->soft_exact[bucket_of(ctx, recv->node.key)];
}

static void count_soft(struct offload *offload, const struct match_entry *recv, uint32_t ctx, uint32_t step)
{
    const unsigned context = bucket_of(ctx, 0);

    offload->soft_all[context] += step;
    if (is_exact(recv))
        offload->soft_exact[bucket_of(ctx, recv->node.key)] += step;
    else
        offload->soft_wild[context] += step;
}

/* Every command carries the number. */
static uint16_t tell(struct offload *offload)
{
    return offload->told = offload->handled;
}

unsigned offload_post(struct offload *offload, struct match_entry *recv, const struct offload_tag *tag,
                      bool is_eligible)
{
    const struct offload_device_ops *ops = offload->device->ops;
    unsigned slot;

    if (!is_eligible || !offload->free_count || !is_clear_of_soft(offload, recv, tag->ctx) ||
        !ops->has_room(offload->device)) {
        offload->counters.spilled += is_eligible;
        count_soft(offload, recv, tag->ctx, 1);
        return OFFLOAD_SOFT;
    }
    slot = offload->free[--offload->free_count];
    offload->slots[slot] = (struct offload_slot){ recv, SLOT_HELD, false };
    ops->append(offload->device, slot, tag, tell(offload));
    offload->counters.appended++;
    if (offload->slot_count - offload->free_count > offload->counters.high)
        offload->counters.high = offload->slot_count - offload->free_count;
    return slot;
}

static void slot_free(struct offload *offload, unsigned slot)
{
    offload->slots[slot] = (struct offload_slot){ NULL, SLOT_FREE, false };
    offload->free[offload->free_count++] = (uint16_t)slot;
}

void offload_unpost(struct offload *offload, unsigned slot, const struct match_entry *recv, uint32_t ctx)
{
    struct offload_slot *held = &offload->slots[slot];

    if (slot == OFFLOAD_TAKEN)
        return;
    if (slot == OFFLOAD_SOFT) {
        count_soft(offload, recv, ctx, (uint32_t)-1);
        return;
    }
    assert(held->recv == recv && (held->state == SLOT_HELD || held->state == SLOT_CANCELLING));
    if (held->state == SLOT_HELD)
        offload->device->ops->remove(offload->device, slot, tell(offload));
    *held = (struct offload_slot){ NULL, SLOT_LEAVING, false };
    offload->counters.raced++;
}

void offload_cancel(struct offload *offload, unsigned slot)
{
    struct offload_slot *held = &offload->slots[slot];

    if (held->state != SLOT_HELD)
        return;
    held->state = SLOT_CANCELLING;
    offload->device->ops->remove(offload->device, slot, tell(offload));
}

struct match_entry *offload_taken(struct offload *offload, unsigned slot)
{
    struct offload_slot *held = &offload->slots[slot];
    struct match_entry *recv = held->recv;

    offload->counters.taken++;
    if (held->state == SLOT_HELD)
        slot_free(offload, slot);
    else
        *held = (struct offload_slot){ NULL, SLOT_LEAVING, true };
    return recv;
}

struct match_entry *offload_removed(struct offload *offload, unsigned slot)
{
    struct match_entry *recv = offload->slots[slot].recv;

    slot_free(offload, slot);
    return recv;
}

void offload_remove_failed(struct offload *offload, unsigned slot)
{
    assert(offload->slots[slot].state == SLOT_LEAVING);
    offload->counters.lost += !offload->slots[slot].is_taken;
    slot_free(offload, slot);
}

void offload_handled(struct offload *offload)
{
    offload->handled++;
}

void offload_sync(struct offload *offload)
{
    struct offload_device *device = offload->device;

    if (offload->told != offload->handled && offload->free_count < offload->slot_count &&
        device->ops->has_room(device))
        device->ops->sync(device, tell(offload));
}
