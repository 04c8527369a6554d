/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: tool. Coming up and going down, enumerations, texts, categories (MPI 5.0 §15.3.3 to §15.3.5, §15.3.9). */
#include <stdatomic.h>
#include <string.h>

#include "tool/int_tool.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int users; /* calls of tool_init without their tool_finalize; changed with the lock */

bool tool_is_open(void)
{
    return atomic_load_explicit(&users, memory_order_acquire) > 0;
}

int tool_enter(void)
{
    pthread_mutex_lock(&lock);
    if (tool_is_open())
        return 0;
    pthread_mutex_unlock(&lock);
    return MPI_T_ERR_NOT_INITIALIZED;
}

int tool_leave(int rc)
{
    pthread_mutex_unlock(&lock);
    return rc;
}

int tool_init(int required, int *provided)
{
    if (required < MPI_THREAD_SINGLE || required > MPI_THREAD_MULTIPLE)
        return MPI_T_ERR_INVALID;
    pthread_mutex_lock(&lock);
    atomic_fetch_add_explicit(&users, 1, memory_order_release);
    pthread_mutex_unlock(&lock);
    *provided = MPI_THREAD_MULTIPLE;
    return MPI_SUCCESS;
}

int tool_finalize(void)
{
    int rc = tool_enter();

    if (rc)
        return rc;
    if (atomic_fetch_sub_explicit(&users, 1, memory_order_acq_rel) > 1)
        return tool_leave(MPI_SUCCESS);
    tool_cvars_close();
    tool_pvars_close();
    tool_events_close();
    return tool_leave(MPI_SUCCESS);
}

/* --- texts and enumerations --- */

void tool_give_text(const char *text, char *out, int *len)
{
    const size_t needed = strlen(text) + 1;
    const size_t room = len && *len > 0 ? (size_t)*len : 0;

    if (out && room) {
        memcpy(out, text, size_min(needed, room));
        out[size_min(needed, room) - 1] = 0;
    }
    if (len)
        *len = (int)needed;
}

static const char *const off_on[] = { "off", "on" };
const struct tool_enum tool_off_on = { "off_or_on", off_on, 2 };

MPI_T_enum tool_enum_handle(const struct tool_enum *e)
{
    return e ? (MPI_T_enum)(uintptr_t)e : MPI_T_ENUM_NULL;
}

const struct tool_enum *tool_enum_of(MPI_T_enum handle)
{
    return handle == tool_enum_handle(&tool_off_on) ? &tool_off_on : tool_event_enum(handle);
}

int tool_enum_info(MPI_T_enum enumtype, int *num, char *name, int *name_len)
{
    const struct tool_enum *e = tool_enum_of(enumtype);

    if (!tool_is_open())
        return MPI_T_ERR_NOT_INITIALIZED;
    if (!e)
        return MPI_T_ERR_INVALID_HANDLE;
    tool_give(num, e->count);
    tool_give_text(e->name, name, name_len);
    return MPI_SUCCESS;
}

int tool_enum_item(MPI_T_enum enumtype, int index, int *value, char *name, int *name_len)
{
    const struct tool_enum *e = tool_enum_of(enumtype);

    if (!tool_is_open())
        return MPI_T_ERR_NOT_INITIALIZED;
    if (!e)
        return MPI_T_ERR_INVALID_HANDLE;
    if (index < 0 || index >= e->count)
        return MPI_T_ERR_INVALID_ITEM;
    tool_give(value, index);
    tool_give_text(e->items[index], name, name_len);
    return MPI_SUCCESS;
}

/* --- categories --- */

const struct tool_topic tool_topics[TOOL_TOPICS] = {
    { "collectives", "collective operations and their algorithms", MPI_T_VERBOSITY_TUNER_BASIC },
    { "communicators", "communicators that are made and freed", MPI_T_VERBOSITY_USER_DETAIL },
    { "copies", "how long messages move between processes", MPI_T_VERBOSITY_TUNER_BASIC },
    { "memory", "memory of messages that nobody has asked for yet", MPI_T_VERBOSITY_USER_BASIC },
    { "network", "connections to processes of other machines", MPI_T_VERBOSITY_TUNER_BASIC },
    { "processes", "processes that are started, or meet at ports", MPI_T_VERBOSITY_USER_BASIC },
    { "reports", "what the library tells the user", MPI_T_VERBOSITY_USER_BASIC },
    { "testing", "delays and refusals, to test programs and the library", MPI_T_VERBOSITY_MPIDEV_BASIC },
    { "threads", "how threads share the library", MPI_T_VERBOSITY_TUNER_DETAIL },
};

int tool_verbosity(const char *topic)
{
    for (int i = 0; i < TOOL_TOPICS; i++) {
        if (!strcmp(tool_topics[i].name, topic))
            return tool_topics[i].verbosity;
    }
    return MPI_T_VERBOSITY_MPIDEV_ALL;
}

static const char *cvar_topic(int index)
{
    return setting_at(index)->topic;
}

/* What a category has of one kind of things; topic NULL: of none. */
struct members {
    int (*count)(int *num);
    const char *(*topic)(int index);
};

static const struct members cvars = { tool_cvar_count, cvar_topic }, pvars = { tool_pvar_count, tool_pvar_topic },
                            events = { tool_event_count, tool_event_topic };

/* Puts at most `len` indices and returns how many there are. */
static int find_members(const struct members *members, int category, int len, int indices[])
{
    int all = 0, found = 0;

    members->count(&all);
    for (int i = 0; i < all; i++) {
        if (strcmp(members->topic(i), tool_topics[category].name))
            continue;
        if (found < len)
            indices[found] = i;
        found++;
    }
    return found;
}

static int check_category(int index)
{
    if (!tool_is_open())
        return MPI_T_ERR_NOT_INITIALIZED;
    return index < 0 || index >= TOOL_TOPICS ? MPI_T_ERR_INVALID_INDEX : 0;
}

static int give_members(const struct members *members, int index, int len, int indices[])
{
    const int rc = check_category(index);

    if (!rc)
        find_members(members, index, len, indices);
    return rc;
}

int tool_category_count(int *num)
{
    if (!tool_is_open())
        return MPI_T_ERR_NOT_INITIALIZED;
    *num = TOOL_TOPICS;
    return MPI_SUCCESS;
}

int tool_category_info(int index, char *name, int *name_len, char *desc, int *desc_len, int *cvar_count,
                       int *pvar_count, int *categories)
{
    const int rc = check_category(index);

    if (rc)
        return rc;
    tool_give_text(tool_topics[index].name, name, name_len);
    tool_give_text(tool_topics[index].about, desc, desc_len);
    tool_give(cvar_count, find_members(&cvars, index, 0, NULL));
    tool_give(pvar_count, find_members(&pvars, index, 0, NULL));
    tool_give(categories, 0);
    return MPI_SUCCESS;
}

int tool_category_event_count(int index, int *event_count)
{
    const int rc = check_category(index);

    if (!rc)
        *event_count = find_members(&events, index, 0, NULL);
    return rc;
}

int tool_category_find(const char *name, int *index)
{
    if (!tool_is_open())
        return MPI_T_ERR_NOT_INITIALIZED;
    for (int i = 0; i < TOOL_TOPICS; i++) {
        if (!strcmp(tool_topics[i].name, name)) {
            *index = i;
            return MPI_SUCCESS;
        }
    }
    return MPI_T_ERR_INVALID_NAME;
}

int tool_category_cvars(int index, int len, int indices[])
{
    return give_members(&cvars, index, len, indices);
}

int tool_category_pvars(int index, int len, int indices[])
{
    return give_members(&pvars, index, len, indices);
}

int tool_category_events(int index, int len, int indices[])
{
    return give_members(&events, index, len, indices);
}

/* No category has others in it. */
int tool_category_categories(int index, int len, int indices[])
{
    (void)len;
    (void)indices;
    return check_category(index);
}

/* Nothing ever changes. */
int tool_category_stamp(int *stamp)
{
    if (!tool_is_open())
        return MPI_T_ERR_NOT_INITIALIZED;
    *stamp = 0;
    return MPI_SUCCESS;
}
