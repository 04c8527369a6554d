/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: tool. Events, those who listen, and the one source (MPI 5.0 §15.3.8).
 *
 * An event is told at once, in the thread where it happens, with the safety that the place asks for. Of the
 * callbacks of a registration the one with the lowest level that is enough is called; if there is none, the event
 * counts as dropped. The lock is not held while a callback runs; a registration that is closed meanwhile goes when
 * its last callback has returned. */
#include "base/event.h"

#include <string.h>

#include "base/mem.h"
#include "init/init.h"
#include "obj/info.h"
#include "sys/clock.h"
#include "tool/int_tool.h"

enum { RESTRICTED = 1, THREAD_SAFE = 2, LEVELS = 4 }; /* of `levels` */

static const MPI_T_cb_safety levels[LEVELS] = {
    MPI_T_CB_REQUIRE_NONE, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_T_CB_REQUIRE_THREAD_SAFE,
    MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE,
};

struct kind {
    const char *name, *about, *topic;
    struct tool_enum elements;
    int level;                 /* in `levels`: what its place asks for, if one thread is in MPI at a time */
};

static const char *const restrained_elements[] = { "process", "bytes", "held_back" },
                  *const comm_elements[] = { "context", "processes" };

static const struct kind kinds[EVENT_KINDS] = {
    [EVENT_SENDER_RESTRAINED] = {
        .name = "sender_restrained",
        .about = "a sender has been told to offer its messages only (held_back 0) or to keep even its offers (1), "
                 "because so many bytes of it are kept here that nobody has received",
        .topic = "memory",
        .elements = { "of_sender_restrained", restrained_elements, 3 },
        .level = 3,
    },
    [EVENT_COMM_MADE] = {
        .name = "comm_made",
        .about = "a communicator has been made, with this context and so many processes",
        .topic = "communicators",
        .elements = { "of_comm_made", comm_elements, 2 },
        .level = 1,
    },
    [EVENT_COMM_FREED] = {
        .name = "comm_freed",
        .about = "a communicator is gone, after its last operation",
        .topic = "communicators",
        .elements = { "of_comm_freed", comm_elements, 2 },
        .level = 1,
    },
};

/* What MPI_T_event_registration points to. */
struct registration {
    struct list link; /* in `registrations` */
    enum event_kind kind;
    MPI_T_event_cb_function *callback[LEVELS]; /* NULL: none of that level */
    void *user_data[LEVELS];
    MPI_T_event_dropped_cb_function *dropped;
    MPI_T_event_free_cb_function *freed;
    void *freed_data;
    int running;      /* callbacks */
    bool is_closed;
};

/* What MPI_T_event_instance points to, on the stack of who tells the event. */
struct instance {
    const struct kind *kind;
    const int64_t *values;
    uint64_t time;
    int level;                 /* what is asked of the callback */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list and all in it; last, after all others */
static struct list registrations = { &registrations, &registrations };
static _Thread_local int told_level; /* in `levels`: what the place asks for where this thread tells; 0: it does not */

/* --- telling --- */

static MPI_T_event_registration handle_of(struct registration *registration)
{
    return (MPI_T_event_registration)(uintptr_t)registration;
}

/* With the lock, which is free while the user's function runs. That may be in the middle of the library, too. */
static void destroy(struct registration *registration)
{
    const MPI_T_cb_safety safety = levels[told_level > RESTRICTED ? told_level : RESTRICTED];

    list_remove(&registration->link);
    if (list_is_empty(&registrations))
        atomic_store_explicit(&event_listener, NULL, memory_order_release);
    pthread_mutex_unlock(&lock);
    if (registration->freed)
        registration->freed(handle_of(registration), safety, registration->freed_data);
    mem_free(registration);
    pthread_mutex_lock(&lock);
}

/* With the lock, which is free while callbacks run. */
static void tell_one(struct registration *registration, struct instance *instance)
{
    int level = instance->level;
    MPI_T_event_dropped_cb_function *const dropped = registration->dropped;
    MPI_T_event_cb_function *callback;
    void *data;

    while (level < LEVELS - 1 && !registration->callback[level])
        level++;
    callback = registration->callback[level];
    while (level && !callback && !registration->callback[level])
        level--; /* of whose data the handler of dropped events gets */
    data = registration->user_data[level];
    pthread_mutex_unlock(&lock);
    if (callback)
        callback((MPI_T_event_instance)(uintptr_t)instance, handle_of(registration), levels[instance->level], data);
    else if (dropped)
        dropped(1, handle_of(registration), 0, levels[instance->level], data);
    pthread_mutex_lock(&lock);
}

/* Threads may tell at the same time, and do not wait for each other's callbacks. */
static int level_now(enum event_kind kind)
{
    return init_is_threaded() && kinds[kind].level < THREAD_SAFE ? THREAD_SAFE : kinds[kind].level;
}

static void tell(enum event_kind kind, const int64_t values[EVENT_VALUES])
{
    struct instance instance = { &kinds[kind], values, clock_ns(), level_now(kind) };
    const int outer_level = told_level;
    struct list *next;

    event_depth++;
    told_level = instance.level > outer_level ? instance.level : outer_level;
    pthread_mutex_lock(&lock);
    for (struct list *link = registrations.next; link != &registrations; link = next) {
        struct registration *registration = CONTAINER_OF(link, struct registration, link);

        registration->running++;
        if (registration->kind == kind && !registration->is_closed)
            tell_one(registration, &instance);
        next = link->next; /* it is still in the list: it runs */
        if (next != &registrations)
            CONTAINER_OF(next, struct registration, link)->running++;
        if (!--registration->running && registration->is_closed)
            destroy(registration);
        if (next != &registrations)
            CONTAINER_OF(next, struct registration, link)->running--;
    }
    pthread_mutex_unlock(&lock);
    told_level = outer_level;
    event_depth--;
}

/* --- what there is --- */

const char *tool_event_topic(int index)
{
    return kinds[index].topic;
}

int tool_source_count(int *num)
{
    if (!tool_is_open())
        return MPI_T_ERR_NOT_INITIALIZED;
    *num = 1;
    return MPI_SUCCESS;
}

/* An info of the user's without entries. */
static int give_info(MPI_Info *out)
{
    struct info *info;

    if (!out)
        return MPI_SUCCESS;
    if (info_create(&info))
        return MPI_T_ERR_MEMORY;
    *out = (MPI_Info)(uintptr_t)info;
    return MPI_SUCCESS;
}

int tool_source_info(int index, char *name, int *name_len, char *desc, int *desc_len, MPI_T_source_order *ordering,
                     MPI_Count *ticks_per_second, MPI_Count *max_ticks, MPI_Info *info)
{
    if (!tool_is_open())
        return MPI_T_ERR_NOT_INITIALIZED;
    if (index)
        return MPI_T_ERR_INVALID_INDEX;
    tool_give_text("library", name, name_len);
    tool_give_text("what happens in the library, in this process", desc, desc_len);
    if (ordering)
        *ordering = MPI_T_SOURCE_UNORDERED; /* between threads */
    if (ticks_per_second)
        *ticks_per_second = 1000000000;
    if (max_ticks)
        *max_ticks = INT64_MAX;
    return give_info(info);
}

int tool_source_timestamp(int index, MPI_Count *timestamp)
{
    if (!tool_is_open())
        return MPI_T_ERR_NOT_INITIALIZED;
    if (index)
        return MPI_T_ERR_INVALID_INDEX;
    *timestamp = (MPI_Count)clock_ns();
    return MPI_SUCCESS;
}

int tool_event_count(int *num)
{
    if (!tool_is_open())
        return MPI_T_ERR_NOT_INITIALIZED;
    *num = EVENT_KINDS;
    return MPI_SUCCESS;
}

/* Types and places of the elements, as many as there is room for; *count becomes how many there are. */
static void give_elements(const struct kind *kind, MPI_Datatype datatypes[], MPI_Aint displacements[], int *count)
{
    const int room = count ? *count : 0;

    for (int i = 0; i < kind->elements.count && i < room; i++) {
        if (datatypes)
            datatypes[i] = MPI_INT64_T;
        if (displacements)
            displacements[i] = (MPI_Aint)((size_t)i * sizeof(int64_t));
    }
    tool_give(count, kind->elements.count);
}

int tool_event_info(int index, char *name, int *name_len, int *verbosity, MPI_Datatype datatypes[],
                    MPI_Aint displacements[], int *num_elements, MPI_T_enum *enumtype, MPI_Info *info, char *desc,
                    int *desc_len, int *bind)
{
    if (!tool_is_open())
        return MPI_T_ERR_NOT_INITIALIZED;
    if (index < 0 || index >= EVENT_KINDS)
        return MPI_T_ERR_INVALID_INDEX;
    tool_give_text(kinds[index].name, name, name_len);
    tool_give_text(kinds[index].about, desc, desc_len);
    tool_give(verbosity, tool_verbosity(kinds[index].topic));
    tool_give(bind, MPI_T_BIND_NO_OBJECT);
    give_elements(&kinds[index], datatypes, displacements, num_elements);
    if (enumtype)
        *enumtype = tool_enum_handle(&kinds[index].elements);
    return give_info(info);
}

const struct tool_enum *tool_event_enum(MPI_T_enum handle)
{
    for (int i = 0; i < EVENT_KINDS; i++) {
        if (handle == tool_enum_handle(&kinds[i].elements))
            return &kinds[i].elements;
    }
    return NULL;
}

int tool_event_find(const char *name, int *index)
{
    if (!tool_is_open())
        return MPI_T_ERR_NOT_INITIALIZED;
    for (int i = 0; i < EVENT_KINDS; i++) {
        if (!strcmp(kinds[i].name, name)) {
            *index = i;
            return MPI_SUCCESS;
        }
    }
    return MPI_T_ERR_INVALID_NAME;
}

/* --- registrations --- */

static int enter(void)
{
    if (!tool_is_open())
        return MPI_T_ERR_NOT_INITIALIZED;
    pthread_mutex_lock(&lock);
    return 0;
}

static int leave(int rc)
{
    pthread_mutex_unlock(&lock);
    return rc;
}

/* Inside the lock, with what the handle stands for, or outside with an error. */
static int enter_with(MPI_T_event_registration handle, struct registration **out)
{
    const int rc = enter();

    if (rc)
        return rc;
    LIST_FOR_EACH(link, &registrations) {
        *out = CONTAINER_OF(link, struct registration, link);
        if (handle_of(*out) == handle && !(*out)->is_closed)
            return 0;
    }
    return leave(MPI_T_ERR_INVALID_HANDLE);
}

int tool_event_open(int index, MPI_T_event_registration *out)
{
    struct registration *registration;
    const int rc = enter();

    if (rc)
        return rc;
    if (index < 0 || index >= EVENT_KINDS)
        return leave(MPI_T_ERR_INVALID_INDEX);
    registration = mem_zalloc(sizeof *registration);
    if (!registration)
        return leave(MPI_T_ERR_MEMORY);
    registration->kind = (enum event_kind)index;
    list_append(&registrations, &registration->link);
    atomic_store_explicit(&event_listener, tell, memory_order_release);
    *out = handle_of(registration);
    return leave(MPI_SUCCESS);
}

int tool_event_close(MPI_T_event_registration handle, void *user_data, MPI_T_event_free_cb_function *freed)
{
    struct registration *registration;
    const int rc = enter_with(handle, &registration);

    if (rc)
        return rc;
    registration->is_closed = true;
    registration->freed = freed;
    registration->freed_data = user_data;
    if (!registration->running)
        destroy(registration);
    return leave(MPI_SUCCESS);
}

/* One that is not in use; NULL: there is none. */
static struct registration *find_idle(void)
{
    LIST_FOR_EACH(link, &registrations) {
        struct registration *registration = CONTAINER_OF(link, struct registration, link);
        if (!registration->running)
            return registration;
    }
    return NULL;
}

void tool_events_close(void)
{
    struct registration *idle;

    pthread_mutex_lock(&lock);
    LIST_FOR_EACH(link, &registrations)
        CONTAINER_OF(link, struct registration, link)->is_closed = true;
    while ((idle = find_idle()))
        destroy(idle);
    pthread_mutex_unlock(&lock);
}

/* Number of a level; LEVELS: it is none. */
static int level_of(MPI_T_cb_safety safety)
{
    int level = 0;

    while (level < LEVELS && levels[level] != safety)
        level++;
    return level;
}

int tool_event_listen(MPI_T_event_registration handle, MPI_T_cb_safety safety, void *user_data,
                      MPI_T_event_cb_function *callback)
{
    const int level = level_of(safety);
    struct registration *registration;
    const int rc = enter_with(handle, &registration);

    if (rc)
        return rc;
    if (level == LEVELS)
        return leave(MPI_T_ERR_INVALID);
    registration->callback[level] = callback;
    registration->user_data[level] = user_data;
    return leave(MPI_SUCCESS);
}

int tool_event_listen_dropped(MPI_T_event_registration handle, MPI_T_event_dropped_cb_function *dropped)
{
    struct registration *registration;
    const int rc = enter_with(handle, &registration);

    if (rc)
        return rc;
    registration->dropped = dropped;
    return leave(MPI_SUCCESS);
}

int tool_event_set_hints(MPI_T_event_registration handle)
{
    struct registration *registration;
    const int rc = enter_with(handle, &registration);

    return rc ? rc : leave(MPI_SUCCESS);
}

int tool_event_hints(MPI_T_event_registration handle, struct info **out)
{
    const int rc = tool_event_set_hints(handle);

    if (rc)
        return rc;
    return info_create(out) ? MPI_T_ERR_MEMORY : MPI_SUCCESS;
}

int tool_event_set_callback_hints(MPI_T_event_registration handle, MPI_T_cb_safety safety)
{
    const int level = level_of(safety);
    struct registration *registration;
    const int rc = enter_with(handle, &registration);

    if (rc)
        return rc;
    return leave(level < LEVELS && registration->callback[level] ? MPI_SUCCESS : MPI_T_ERR_INVALID);
}

int tool_event_callback_hints(MPI_T_event_registration handle, MPI_T_cb_safety safety, struct info **out)
{
    const int rc = tool_event_set_callback_hints(handle, safety);

    if (rc)
        return rc;
    return info_create(out) ? MPI_T_ERR_MEMORY : MPI_SUCCESS;
}

/* --- in a callback: no locks --- */

static const struct instance *instance_of(MPI_T_event_instance handle)
{
    return (const struct instance *)(uintptr_t)handle;
}

int tool_event_read(MPI_T_event_instance handle, int element, void *buffer)
{
    const struct instance *instance = instance_of(handle);

    if (!instance)
        return MPI_T_ERR_INVALID_HANDLE;
    if (element < 0 || element >= instance->kind->elements.count)
        return MPI_T_ERR_INVALID_INDEX;
    memcpy(buffer, &instance->values[element], sizeof(int64_t));
    return MPI_SUCCESS;
}

int tool_event_copy(MPI_T_event_instance handle, void *buffer)
{
    const struct instance *instance = instance_of(handle);

    if (!instance)
        return MPI_T_ERR_INVALID_HANDLE;
    memcpy(buffer, instance->values, (size_t)instance->kind->elements.count * sizeof(int64_t));
    return MPI_SUCCESS;
}

int tool_event_timestamp(MPI_T_event_instance handle, MPI_Count *timestamp)
{
    const struct instance *instance = instance_of(handle);

    if (!instance)
        return MPI_T_ERR_INVALID_HANDLE;
    *timestamp = (MPI_Count)instance->time;
    return MPI_SUCCESS;
}

int tool_event_source(MPI_T_event_instance handle, int *index)
{
    if (!instance_of(handle))
        return MPI_T_ERR_INVALID_HANDLE;
    *index = 0;
    return MPI_SUCCESS;
}
