/* SPDX-License-Identifier: BSD-3-Clause */
/* impi-server: contributions by label; see collate.h. */
#include "collate.h"

#include <string.h>

#include "base/mem.h"

void collate_init(struct collate *collate, int clients)
{
    *collate = (struct collate){ .clients = clients };
    for (int i = 0; i < clients; i++)
        collate->last[i] = -1;
}

void collate_drop(struct collate *collate)
{
    struct collate_label *label = collate->labels;

    collate->labels = label->next;
    for (int i = 0; i < collate->clients; i++)
        mem_free(label->part[i].data);
    mem_free(label);
}

void collate_fini(struct collate *collate)
{
    while (collate->labels)
        collate_drop(collate);
}

/* The entry of a label, made if it is the first contribution; NULL: no memory. */
static struct collate_label *find(struct collate *collate, uint32_t number)
{
    struct collate_label **link = &collate->labels, *label;

    while (*link && (*link)->label < number)
        link = &(*link)->next;
    if (*link && (*link)->label == number)
        return *link;
    label = mem_zalloc(sizeof *label);
    if (!label)
        return NULL;
    label->label = number;
    label->next = *link;
    *link = label;
    return label;
}

enum collate_result collate_add(struct collate *collate, int client, uint32_t label, const void *data, uint32_t len)
{
    struct collate_label *entry;
    struct collate_part *part;

    if (label == IMPI_NO_LABEL || label > INT32_MAX)
        return COLLATE_NO_LABEL;
    if ((int64_t)label <= collate->last[client])
        return (int64_t)label == collate->last[client] ? COLLATE_REPEATED : COLLATE_LATE;
    entry = find(collate, label);
    if (!entry)
        return COLLATE_NO_MEMORY;
    part = &entry->part[client];
    if (len) {
        part->data = mem_alloc(len);
        if (!part->data)
            return COLLATE_NO_MEMORY;
        memcpy(part->data, data, len);
    }
    part->len = len;
    entry->mask |= UINT32_C(1) << client;
    collate->last[client] = label;
    return COLLATE_TAKEN;
}

void collate_done(struct collate *collate, int client)
{
    collate->last[client] = INT64_MAX;
}

bool collate_is_done(const struct collate *collate, int client)
{
    return collate->last[client] == INT64_MAX;
}

const struct collate_label *collate_next(const struct collate *collate)
{
    const struct collate_label *label = collate->labels;

    for (int i = 0; label && i < collate->clients; i++) {
        if (collate->last[i] < (int64_t)label->label)
            return NULL;
    }
    return label;
}

size_t collate_size(const struct collate_label *label)
{
    size_t size = 0;

    for (int i = 0; i < IMPI_CLIENTS_MAX; i++)
        size += label->part[i].len;
    return size;
}
