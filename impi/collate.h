/* SPDX-License-Identifier: BSD-3-Clause */
/* impi-server: what clients contribute by labels, put together. Knows neither sockets nor what the data mean.
 *
 * A client sends its labels in ascending order, so with each one (and with its last word, `collate_done`) it also says
 * which ones it will not send. A label is complete when every client has sent it or passed it; those that somebody
 * sent come out in ascending order, each once. */
#ifndef IMPI_COLLATE_H
#define IMPI_COLLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sys/impi.h"

struct collate_part {
    unsigned char *data;
    uint32_t len;
};

/* What has come for one label. */
struct collate_label {
    struct collate_label *next;
    uint32_t label;
    uint32_t mask;                   /* clients that have contributed */
    struct collate_part part[IMPI_CLIENTS_MAX];
};

struct collate {
    int clients;
    int64_t last[IMPI_CLIENTS_MAX];  /* label that each has sent last; at first -1, after collate_done INT64_MAX */
    struct collate_label *labels;    /* not complete yet, ascending */
};

enum collate_result {
    COLLATE_TAKEN,
    COLLATE_NO_MEMORY,
    COLLATE_NO_LABEL,                /* label 0, or one with the top bit set: ignored, as the next two */
    COLLATE_REPEATED,
    COLLATE_LATE,                    /* below what this client has sent already */
};

/* `clients`: 1 to IMPI_CLIENTS_MAX. */
void collate_init(struct collate *collate, int clients);
void collate_fini(struct collate *collate);

/* `data` is copied. */
enum collate_result collate_add(struct collate *collate, int client, uint32_t label, const void *data, uint32_t len);
/* The client has no more labels. */
void collate_done(struct collate *collate, int client);
bool collate_is_done(const struct collate *collate, int client);

/* The lowest label if it is complete, else NULL; collate_drop it before asking for the next. */
const struct collate_label *collate_next(const struct collate *collate);
void collate_drop(struct collate *collate);
/* Bytes of all contributions. */
size_t collate_size(const struct collate_label *label);

#endif
