/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: comm, private. Lists of ranges of contexts, without their lower bit, for `reuse.c`, whose lock guards them. A
 * list begins as zeroes. Where memory ends, or with SPANS_MOST ranges, what is added is forgotten: it is not used
 * again. */
#ifndef COMM_SPANS_H
#define COMM_SPANS_H

#include <stdbool.h>
#include <stdint.h>

enum { SPANS_MOST = 65536 }; /* in a list */

struct span {
    uint32_t first, count, members;
};

struct spans {
    struct span *span;      /* owned */
    uint32_t size, room;
    uint32_t begin;         /* those before this one are empty */
};

/* Empty, without memory. */
void spans_clear(struct spans *list);
/* In order, and as few as may be: those that go on, with as many members, become one. */
void spans_tidy(struct spans *list);
void spans_add(struct spans *list, struct span span);
/* No number is left. */
bool spans_are_empty(struct spans *list);
/* Take a number for one of the lanes [first, end), of the first range that has one; 0: there is none. */
uint32_t spans_take(struct spans *list, int first, int end);

#endif
