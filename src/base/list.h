/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: base. Intrusive doubly linked ring with a head; every operation takes constant time. */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stdbool.h>

#include "base/base.h"

struct list {
    struct list *next, *prev;
};

static inline void list_init(struct list *head)
{
    head->next = head->prev = head;
}

static inline bool list_is_empty(const struct list *head)
{
    return head->next == head;
}

static inline void list_insert_between(struct list *node, struct list *prev, struct list *next)
{
    node->prev = prev;
    node->next = next;
    prev->next = node;
    next->prev = node;
}

static inline void list_append(struct list *head, struct list *node)
{
    list_insert_between(node, head->prev, head);
}

static inline void list_prepend(struct list *head, struct list *node)
{
    list_insert_between(node, head, head->next);
}

/* The node's own links are left as they are. */
static inline void list_unlink(struct list *node)
{
    node->prev->next = node->next;
    node->next->prev = node->prev;
}

/* The node is left pointing at itself, so that removing it twice does no harm. */
static inline void list_remove(struct list *node)
{
    list_unlink(node);
    list_init(node);
}

/* All nodes of `from`, in order, behind those of `to`. */
static inline void list_move_all(struct list *from, struct list *to)
{
    while (!list_is_empty(from)) {
        struct list *node = from->next;
        list_unlink(node);
        list_append(to, node);
    }
}

/* First node, or NULL of an empty list. */
static inline struct list *list_first(const struct list *head)
{
    return list_is_empty(head) ? NULL : head->next;
}

/* The body may not remove `node`. */
#define LIST_FOR_EACH(node, head) \
    for (struct list *node = (head)->next; node != (head); node = node->next)

/* The body may remove `node`, but no other. */
#define LIST_FOR_EACH_SAFE(node, head) \
    for (struct list *node = (head)->next, *node##_next = node->next; node != (head); \
         node = node##_next, node##_next = node->next)

#endif
