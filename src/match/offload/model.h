/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: match/offload. A device in software: a list of a few entries, a queue of commands, a queue of events, and the
 * counter of rule 2, each moved on when its owner says so. Who drives it decides the order of things, and so can reach
 * every race that hardware could. */
#ifndef MATCH_OFFLOAD_MODEL_H
#define MATCH_OFFLOAD_MODEL_H

#include "match/offload/offload.h"

enum { MODEL_COMMANDS = 16, MODEL_EVENTS = 64 }; /* removes do not count among the commands */

enum model_event_kind {
    MODEL_TAKEN,         /* `message` was given to the entry `slot`; placed says whether it lies in the buffer */
    MODEL_UNEXPECTED,    /* nobody was there for `message` */
    MODEL_PASSED,        /* `message` is none of its business */
    MODEL_REMOVED,
    MODEL_REMOVE_FAILED,
};

struct model_event {
    enum model_event_kind kind;
    unsigned slot;
    bool is_placed;
    void *message;       /* the driver's */
};

struct model_command {
    enum { MODEL_APPEND, MODEL_REMOVE, MODEL_SYNC } kind;
    unsigned slot;
    uint16_t handled;
    struct offload_tag tag;
};

struct model_entry {
    struct offload_tag tag;
    unsigned slot;
    bool is_active;      /* it matches; set for all by a command with the right number */
};

struct offload_model {
    struct offload_device device;   /* first */
    struct model_entry *entries;    /* in order of appending */
    unsigned entry_count, slots;
    struct model_command *commands; /* a ring with room for MODEL_COMMANDS and a remove for each slot */
    unsigned command_first, command_count, remove_count;
    struct model_event events[MODEL_EVENTS];
    unsigned event_first, event_count;
    uint16_t handed_up;             /* unexpected messages so far, rule 2 */
    bool is_hasty;                  /* for the test of the test: breaks rule 2, every entry matches at once */
};

/* A message at the device's door. */
struct model_arrival {
    uint32_t ctx;
    uint64_t key;
    const void *payload;            /* NULL: it is handed up with the match whatever its length */
    size_t len;
};

/* Errors: MPI_ERR_NO_MEM. `slots`: 1 to OFFLOAD_SLOTS_MAX. */
int model_init(struct offload_model *model, unsigned slots);
void model_fini(struct offload_model *model);

/* Carry out the oldest command; false: there is none, or no room for its event. */
bool model_run_command(struct offload_model *model);
/* A message comes (NULL: something that is none). False: no room for its event, nothing was done. */
bool model_arrive(struct offload_model *model, const struct model_arrival *arrival, void *message);
/* The oldest event, left in place; NULL: there is none. */
const struct model_event *model_event(const struct offload_model *model);
void model_event_done(struct offload_model *model);

#endif
