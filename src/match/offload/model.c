/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: match/offload. The device in software; see model.h. */
#include "match/offload/model.h"

#include <assert.h>
#include <string.h>

#include "base/copy.h"
#include "base/err.h"
#include "base/mem.h"

static struct offload_model *model_of(struct offload_device *device)
{
    return (struct offload_model *)(void *)device;
}

static unsigned model_slots(const struct offload_device *device)
{
    return ((const struct offload_model *)(const void *)device)->slots;
}

static unsigned command_room(const struct offload_model *model)
{
    return MODEL_COMMANDS + model->slots;
}

static bool model_has_room(const struct offload_device *device)
{
    const struct offload_model *model = (const struct offload_model *)(const void *)device;

    return model->command_count - model->remove_count < MODEL_COMMANDS;
}

static void give(struct offload_device *device, const struct model_command *command)
{
    struct offload_model *model = model_of(device);

    assert(model->command_count < command_room(model));
    model->commands[(model->command_first + model->command_count++) % command_room(model)] = *command;
    model->remove_count += command->kind == MODEL_REMOVE;
}

static void model_append(struct offload_device *device, unsigned slot, const struct offload_tag *tag,
                         uint16_t handled)
{
    give(device, &(struct model_command){ MODEL_APPEND, slot, handled, *tag });
}

static void model_remove(struct offload_device *device, unsigned slot, uint16_t handled)
{
    give(device, &(struct model_command){ MODEL_REMOVE, slot, handled, { 0 } });
}

static void model_sync(struct offload_device *device, uint16_t handled)
{
    give(device, &(struct model_command){ MODEL_SYNC, 0, handled, { 0 } });
}

static const struct offload_device_ops model_ops = {
    .slots = model_slots,
    .has_room = model_has_room,
    .append = model_append,
    .remove = model_remove,
    .sync = model_sync,
};

int model_init(struct offload_model *model, unsigned slots)
{
    *model = (struct offload_model){ .device = { &model_ops }, .slots = slots };
    model->entries = mem_alloc(slots * sizeof *model->entries);
    model->commands = mem_alloc(command_room(model) * sizeof *model->commands);
    if (model->entries && model->commands)
        return 0;
    model_fini(model);
    return err(MPI_ERR_NO_MEM, "no memory for a device of %u entries", slots);
}

void model_fini(struct offload_model *model)
{
    mem_free(model->entries);
    mem_free(model->commands);
    model->entries = NULL;
    model->commands = NULL;
}

static void happen(struct offload_model *model, const struct model_event *event)
{
    model->events[(model->event_first + model->event_count++) % MODEL_EVENTS] = *event;
}

static void cut_entry(struct offload_model *model, unsigned at)
{
    model->entry_count--;
    memmove(&model->entries[at], &model->entries[at + 1],
            (model->entry_count - at) * sizeof model->entries[0]);
}

static void remove_entry(struct offload_model *model, unsigned slot)
{
    for (unsigned i = 0; i < model->entry_count; i++) {
        if (model->entries[i].slot != slot)
            continue;
        cut_entry(model, i);
        happen(model, &(struct model_event){ .kind = MODEL_REMOVED, .slot = slot });
        return;
    }
    happen(model, &(struct model_event){ .kind = MODEL_REMOVE_FAILED, .slot = slot });
}

static void append_entry(struct offload_model *model, const struct model_command *command)
{
    assert(model->entry_count < model->slots);
    model->entries[model->entry_count++] =
        (struct model_entry){ command->tag, command->slot, model->is_hasty };
}

bool model_run_command(struct offload_model *model)
{
    const struct model_command *command = &model->commands[model->command_first];

    if (!model->command_count || model->event_count == MODEL_EVENTS)
        return false;
    if (command->kind == MODEL_APPEND)
        append_entry(model, command);
    else if (command->kind == MODEL_REMOVE)
        remove_entry(model, command->slot);
    for (unsigned i = 0; command->handled == model->handed_up && i < model->entry_count; i++)
        model->entries[i].is_active = true;
    model->remove_count -= command->kind == MODEL_REMOVE;
    model->command_first = (model->command_first + 1) % command_room(model);
    model->command_count--;
    return true;
}

/* The oldest entry that takes it. */
static struct model_entry *find(const struct offload_model *model, const struct model_arrival *arrival)
{
    for (unsigned i = 0; i < model->entry_count; i++) {
        struct model_entry *entry = &model->entries[i];

        if (entry->is_active && entry->tag.ctx == arrival->ctx &&
            ((entry->tag.key ^ arrival->key) & entry->tag.mask) == 0)
            return entry;
    }
    return NULL;
}

static bool place(const struct model_entry *entry, const struct model_arrival *arrival)
{
    if (!arrival->payload || arrival->len > entry->tag.len)
        return false;
    copy_bytes(entry->tag.buf, arrival->payload, arrival->len);
    return true;
}

bool model_arrive(struct offload_model *model, const struct model_arrival *arrival, void *message)
{
    struct model_event event = { .kind = MODEL_PASSED, .message = message };
    struct model_entry *entry = NULL;

    if (model->event_count == MODEL_EVENTS)
        return false;
    if (arrival) {
        entry = find(model, arrival);
        event.kind = entry ? MODEL_TAKEN : MODEL_UNEXPECTED;
        model->handed_up += !entry;
    }
    if (entry) {
        event.slot = entry->slot;
        event.is_placed = place(entry, arrival);
        cut_entry(model, (unsigned)(entry - model->entries));
    }
    happen(model, &event);
    return true;
}

const struct model_event *model_event(const struct offload_model *model)
{
    return model->event_count ? &model->events[model->event_first] : NULL;
}

void model_event_done(struct offload_model *model)
{
    model->event_first = (model->event_first + 1) % MODEL_EVENTS;
    model->event_count--;
}
