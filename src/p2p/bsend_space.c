/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: p2p. Places for buffered messages: next fit round the attached buffer, which is the standard's circular policy
 * (MPI 5.0 §3.6.1) as long as messages go in order. A message that is not yet gone may cut the free space in two;
 * after a few pieces that are too small the search ends, and the message lies outside of the buffer.
 * Knows: base. */
#include "p2p/int_bsend_space.h"

#include "base/mem.h"

enum { PIECES_TRIED = 16 };

static char *align_up(char *p)
{
    return p + (-(uintptr_t)p & (BSEND_ALIGN - 1));
}

void bsend_space_init(struct bsend_space *space, void *address, size_t size)
{
    *space = (struct bsend_space){ .address = address, .is_automatic = address == MPI_BUFFER_AUTOMATIC };
    list_init(&space->segments);
    space->last = &space->segments;
    if (space->is_automatic)
        return;
    space->size = space->free = size;
    if (size < sizeof(struct bsend_segment) + BSEND_ALIGN)
        return;
    space->start = align_up(address);
    space->end = (char *)address + size;
}

static struct bsend_segment *segment_at(struct list *link)
{
    return CONTAINER_OF(link, struct bsend_segment, link);
}

/* The free piece behind `link`, which is a segment or the list's head: the one at the start. */
static char *piece_start(const struct bsend_space *space, struct list *link)
{
    return link == &space->segments ? space->start : align_up(segment_at(link)->end);
}

static char *piece_end(const struct bsend_space *space, const struct list *link)
{
    return link->next == &space->segments ? space->end : (char *)segment_at(link->next);
}

static struct bsend_segment *take_inside(struct bsend_space *space, size_t need)
{
    struct list *link = space->last;

    for (int i = 0; i < PIECES_TRIED; i++) {
        char *start = piece_start(space, link), *end = piece_end(space, link);
        if (start < end && (size_t)(end - start) >= need) {
            struct bsend_segment *segment = (struct bsend_segment *)(void *)start;
            segment->end = start + need;
            list_insert_between(&segment->link, link, link->next);
            space->last = &segment->link;
            return segment;
        }
        link = link->next;
        if (link == space->last)
            break;
    }
    return NULL;
}

static struct bsend_segment *take_outside(size_t need)
{
    struct bsend_segment *segment = mem_alloc(need);

    if (segment)
        list_init(&segment->link);
    return segment;
}

struct bsend_segment *bsend_space_take(struct bsend_space *space, size_t len)
{
    const size_t need = sizeof(struct bsend_segment) + len;
    struct bsend_segment *segment = space->is_automatic ? NULL : take_inside(space, need);

    if (!segment && bsend_space_has(space, len))
        segment = take_outside(need);
    if (!segment)
        return NULL;
    segment->charge = space->is_automatic ? 0 : size_min(len + MPI_BSEND_OVERHEAD, space->free);
    space->free -= segment->charge;
    return segment;
}

void bsend_space_give(struct bsend_space *space, struct bsend_segment *segment)
{
    space->free += segment->charge;
    if (list_is_empty(&segment->link)) {
        mem_free(segment);
        return;
    }
    if (space->last == &segment->link)
        space->last = segment->link.prev;
    list_unlink(&segment->link);
}
