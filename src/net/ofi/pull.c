/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: net/ofi. What libfabric has done: its completions are read, cells become free, and what has come is put into
 * the inbox of its lane, where it lies in the buffer that it came into until the lane has handed it on.
 * Knows: base, progress (waking), libfabric. The hub's lock is held everywhere here. */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "net/ofi/int_ofi.h"
#include "progress/progress.h"

/* --- buffers --- */

void ofi_break(struct ofi_hub *hub, const char *what, ssize_t rc, const char *more)
{
    if (hub->is_broken)
        return;
    hub->is_broken = true;
    snprintf(hub->why, sizeof hub->why, "%s: %s%s%s", what, ofi_library_text(hub->found.library, rc),
             *more ? ": " : "", more);
    progress_notify();
}

static int post_buffer(struct ofi_hub *hub, struct ofi_buffer *buffer)
{
    const struct iovec piece = { buffer->memory.at, buffer->memory.size };
    void *desc = buffer->memory.mr ? buffer->memory.mr->desc : NULL;
    const struct fab_msg msg = {
        .iov = &piece, .desc = &desc, .count = 1, .address = UINT64_MAX, .context = buffer,
    };

    return (int)hub->ep->msg->recvmsg(hub->ep, &msg, FAB_MULTI_RECV);
}

void ofi_post_buffers(struct ofi_hub *hub)
{
    for (int i = 0; i < OFI_BUFFERS && !hub->is_broken; i++) {
        struct ofi_buffer *buffer = &hub->buffers[i];
        int rc;
        if (buffer->is_posted || !list_is_empty(&buffer->parcels))
            continue;
        rc = post_buffer(hub, buffer);
        if (rc == -EAGAIN)
            return;
        if (rc)
            ofi_break(hub, "a buffer cannot be given to it", rc, "");
        buffer->is_posted = !rc;
    }
}

/* --- parcels --- */

bool ofi_parcel_move(struct ofi_parcel *parcel)
{
    if (!parcel->buffer)
        return true;
    parcel->own = mem_alloc(parcel->size);
    if (!parcel->own)
        return false;
    memcpy(parcel->own, parcel->at, parcel->size);
    parcel->at = parcel->own;
    parcel->buffer = NULL;
    list_remove(&parcel->buffer_link);
    return true;
}

void ofi_parcels_free(struct ofi_hub *hub, struct list *parcels)
{
    LIST_FOR_EACH_SAFE(link, parcels) {
        struct ofi_parcel *parcel = CONTAINER_OF(link, struct ofi_parcel, link);
        list_remove(link);
        list_remove(&parcel->buffer_link);
        mem_free(parcel->own);
        mem_pool_put(&hub->parcels, parcel);
    }
}

/* The buffer is full, and what nobody has taken yet lies in it: other lanes' threads may be long in coming. */
static void move_out(struct ofi_buffer *buffer)
{
    LIST_FOR_EACH_SAFE(link, &buffer->parcels) {
        struct ofi_parcel *parcel = CONTAINER_OF(link, struct ofi_parcel, buffer_link);
        if (!parcel->is_taken && !ofi_parcel_move(parcel))
            return;
    }
}

/* Is that a frame of this job and for this process? */
static bool is_ours(struct ofi_hub *hub, const struct ofi_frame *frame, size_t size)
{
    uint32_t from;

    if (size < OFI_FRAME_SIZE || le32toh(frame->len) > size - OFI_FRAME_SIZE)
        return false;
    from = le32toh(frame->from);
    if (from >= (uint32_t)hub->procs || frame->lane >= NET_LANES)
        return false;
    if (!hub->stamps[from])
        hub->stamps[from] = ofi_stamp(hub->segment, (int)from, hub->proc);
    return le64toh(frame->stamp) == hub->stamps[from];
}

/* False: there is no memory now. What is not ours is dropped. */
static bool sort_in(struct ofi_hub *hub, struct ofi_buffer *buffer, const struct fab_entry *entry, int lane)
{
    struct ofi_frame frame = { 0 };
    struct ofi_parcel *parcel;

    memcpy(&frame, entry->buf, size_min(entry->len, sizeof frame));
    if (!is_ours(hub, &frame, entry->len))
        return true;
    parcel = mem_pool_get(&hub->parcels);
    if (!parcel)
        return false;
    *parcel = (struct ofi_parcel){ .buffer = buffer, .at = entry->buf, .size = (uint32_t)entry->len };
    list_append(&buffer->parcels, &parcel->buffer_link);
    list_append(&hub->inbox[frame.lane], &parcel->link);
    if (frame.lane != lane)
        progress_notify();
    return true;
}

/* --- completions --- */

/* False: there is no memory now, and it is to be taken later. */
static bool take_entry(struct ofi_hub *hub, const struct fab_entry *entry, int lane)
{
    struct ofi_op *op = entry->context;
    struct ofi_buffer *buffer = (struct ofi_buffer *)(void *)op;

    if (!op)
        return true;
    if (op->is_cell) {
        ofi_posted(hub, (struct ofi_cell *)(void *)op);
        return true;
    }
    if (entry->flags & FAB_RECV && !sort_in(hub, buffer, entry, lane))
        return false;
    if (entry->flags & FAB_MULTI_RECV)
        buffer->is_posted = false;
    return true;
}

/* An operation has failed. */
static void take_error(struct ofi_hub *hub)
{
    struct fab_error error = { 0 };
    char text[OFI_TEXT_SIZE / 2] = "";
    const struct ofi_op *op;
    const char *more = NULL;

    if (hub->cq->ops->readerr(hub->cq, &error, 0) < 0)
        return;
    op = error.context;
    if (error.prov_errno && hub->cq->ops->strerror)
        more = hub->cq->ops->strerror(hub->cq, error.prov_errno, error.err_data, text, sizeof text);
    if (!more)
        more = "";
    if (!op) {
        ofi_break(hub, "something has failed", -error.err, more);
    } else if (op->is_cell) {
        struct ofi_cell *cell = (struct ofi_cell *)error.context;
        if (cell->peer)
            ofi_fail(cell->peer, "a message has not arrived", -error.err, more);
        ofi_posted(hub, cell);
    } else if (error.err != ECANCELED) {
        ofi_break(hub, "a message has not been received", -error.err, more);
    }
}

/* Fill hub->entries, which is empty; how many there are. */
static int read_entries(struct ofi_hub *hub)
{
    ssize_t count = hub->cq->ops->read(hub->cq, hub->entries, OFI_ENTRIES);

    if (unlikely(count == -FAB_EAVAIL))
        take_error(hub);
    else if (unlikely(count < 0 && count != -EAGAIN))
        ofi_break(hub, "its queue of completions cannot be read", count, "");
    hub->at = 0;
    hub->count = count > 0 ? (int)count : 0;
    return (int)(count == -FAB_EAVAIL ? OFI_ENTRIES : hub->count);
}

void ofi_pull(struct ofi_hub *hub, int lane)
{
    int reads = 0, count;

    do {
        count = hub->at < hub->count ? OFI_ENTRIES : hub->is_broken ? 0 : read_entries(hub);
        while (hub->at < hub->count) {
            if (!take_entry(hub, &hub->entries[hub->at], lane))
                return;
            hub->at++;
        }
    } while (count == OFI_ENTRIES && ++reads < OFI_READS);
}

void ofi_refill(struct ofi_hub *hub)
{
    for (int i = 0; i < OFI_BUFFERS; i++) {
        struct ofi_buffer *buffer = &hub->buffers[i];
        if (!buffer->is_posted && !list_is_empty(&buffer->parcels))
            move_out(buffer);
    }
    ofi_post_buffers(hub);
}
