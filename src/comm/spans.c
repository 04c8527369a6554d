/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: comm. Lists of ranges of contexts. */
#include "comm/spans.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "p2p/p2p.h"

enum { SPANS_NEAR = 4 }; /* ranges at the end of a list of which one may go on with the next number */

static int by_first(const void *a, const void *b)
{
    const struct span *p = a, *q = b;

    return (p->first > q->first) - (p->first < q->first);
}

void spans_clear(struct spans *list)
{
    mem_free(list->span);
    *list = (struct spans){ .span = NULL };
}

void spans_tidy(struct spans *list)
{
    uint32_t size = 0;

    if (list->size) /* else there may be no memory to tell of */
        qsort(list->span, list->size, sizeof list->span[0], by_first);
    for (uint32_t i = 0; i < list->size; i++) {
        const struct span span = list->span[i];
        struct span *last = size ? &list->span[size - 1] : NULL;

        if (last && last->members == span.members && last->first + last->count == span.first)
            last->count += span.count;
        else if (span.count)
            list->span[size++] = span;
    }
    list->size = size;
    list->begin = 0;
}

static bool spans_grow(struct spans *list)
{
    const uint32_t room = list->room ? 2 * list->room : 16;
    struct span *span = room <= SPANS_MOST ? mem_alloc(room * sizeof *span) : NULL;

    if (!span)
        return false;
    if (list->size)
        memcpy(span, list->span, list->size * sizeof *span);
    mem_free(list->span);
    list->span = span;
    list->room = room;
    return true;
}

static bool go_on(struct span *last, struct span span)
{
    if (last->members != span.members || !last->count)
        return false;
    if (last->first + last->count == span.first) {
        last->count += span.count;
        return true;
    }
    if (span.first + span.count != last->first)
        return false;
    last->first = span.first;
    last->count += span.count;
    return true;
}

void spans_add(struct spans *list, struct span span)
{
    for (uint32_t i = 1; i <= SPANS_NEAR && i <= list->size; i++)
        if (go_on(&list->span[list->size - i], span))
            return;
    if (list->size == list->room && list->room)
        spans_tidy(list);
    if (2 * list->size >= list->room && !spans_grow(list) && list->size == list->room)
        return;
    list->span[list->size++] = span;
}

bool spans_are_empty(struct spans *list)
{
    while (list->begin < list->size && !list->span[list->begin].count)
        list->begin++;
    return list->begin == list->size;
}

uint32_t spans_take(struct spans *list, int first, int end)
{
    if (spans_are_empty(list))
        return 0;
    for (uint32_t i = list->begin; i < list->size; i++) {
        const struct span span = list->span[i];
        uint32_t at = 0;

        while (at < span.count && at < NET_LANES &&
               (p2p_lane_of(2 * (span.first + at)) < first || p2p_lane_of(2 * (span.first + at)) >= end))
            at++;
        if (at == span.count || at == NET_LANES)
            continue;
        list->span[i].first += at + 1;
        list->span[i].count -= at + 1;
        if (at)
            spans_add(list, (struct span){ span.first, at, span.members });
        return span.first + at;
    }
    return 0;
}
