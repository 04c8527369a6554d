/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: tool. Performance variables and their sessions (MPI 5.0 §15.3.7): what p2p counts, and how long the queues of a
 * communicator are. What a session has of a counter is a sum of differences, so sessions do not know of each other. */
#include <string.h>

#include "base/mem.h"
#include "init/init.h"
#include "obj/comm.h"
#include "p2p/counters.h"
#include "tool/int_tool.h"

struct pvar {
    const char *name, *about, *topic;
    int var_class;
    bool of_comm;    /* else of the process */
    size_t offset;   /* in struct p2p_counters or struct p2p_queues; a uint64_t */
};

#define COUNTED(field) .offset = offsetof(struct p2p_counters, field)
#define QUEUED(field) .of_comm = true, .offset = offsetof(struct p2p_queues, field)

static const struct pvar pvars[] = {
    { .name = "unexpected_messages", .about = "messages that came before their receive",
      .topic = "memory", .var_class = MPI_T_PVAR_CLASS_COUNTER, COUNTED(unexpected) },
    { .name = "unexpected_kept", .about = "messages kept now that nobody has received yet",
      .topic = "memory", .var_class = MPI_T_PVAR_CLASS_LEVEL, COUNTED(unexpected_now) },
    { .name = "unexpected_kept_most", .about = "the most messages that were kept at a time",
      .topic = "memory", .var_class = MPI_T_PVAR_CLASS_HIGHWATERMARK, COUNTED(unexpected_high) },
    { .name = "unexpected_bytes", .about = "bytes that the messages kept now take",
      .topic = "memory", .var_class = MPI_T_PVAR_CLASS_LEVEL, COUNTED(bytes_now) },
    { .name = "unexpected_bytes_most", .about = "the most bytes that messages kept took at a time",
      .topic = "memory", .var_class = MPI_T_PVAR_CLASS_HIGHWATERMARK, COUNTED(bytes_high) },
    { .name = "senders_throttled", .about = "times a sender was told to offer its messages only",
      .topic = "memory", .var_class = MPI_T_PVAR_CLASS_COUNTER, COUNTED(throttles) },
    { .name = "senders_held_back", .about = "times a sender was told to keep even its offers",
      .topic = "memory", .var_class = MPI_T_PVAR_CLASS_COUNTER, COUNTED(holds) },
    { .name = "senders_let_go", .about = "times a sender was let go because a receive may wait for what it has",
      .topic = "memory", .var_class = MPI_T_PVAR_CLASS_COUNTER, COUNTED(hungers) },
    { .name = "posted_queue_longest", .about = "the most receives that were posted in one context at a time",
      .topic = "memory", .var_class = MPI_T_PVAR_CLASS_HIGHWATERMARK, COUNTED(posted_high) },
    { .name = "unexpected_queue_longest", .about = "the most messages that were kept in one context at a time",
      .topic = "memory", .var_class = MPI_T_PVAR_CLASS_HIGHWATERMARK, COUNTED(arrivals_high) },
    { .name = "match_entries_passed", .about = "entries of queues that were looked at in vain",
      .topic = "memory", .var_class = MPI_T_PVAR_CLASS_COUNTER, COUNTED(walked) },
    { .name = "device_receives_posted", .about = "receives given to a device that matches",
      .topic = "memory", .var_class = MPI_T_PVAR_CLASS_COUNTER, COUNTED(device_posted) },
    { .name = "device_receives_matched", .about = "of these, receives that the device matched",
      .topic = "memory", .var_class = MPI_T_PVAR_CLASS_COUNTER, COUNTED(device_taken) },
    { .name = "device_receives_taken_back", .about = "of these, receives that the software matched first",
      .topic = "memory", .var_class = MPI_T_PVAR_CLASS_COUNTER, COUNTED(device_raced) },
    { .name = "device_receives_spilled", .about = "receives that the device had no room for, or whose turn it was not",
      .topic = "memory", .var_class = MPI_T_PVAR_CLASS_COUNTER, COUNTED(device_spilled) },
    { .name = "comm_posted_receives", .about = "receives posted now on the communicator",
      .topic = "communicators", .var_class = MPI_T_PVAR_CLASS_LEVEL, QUEUED(posted) },
    { .name = "comm_unexpected_messages", .about = "messages kept now for the communicator",
      .topic = "communicators", .var_class = MPI_T_PVAR_CLASS_LEVEL, QUEUED(arrivals) },
};

struct pvar_session {
    struct list link;    /* in `sessions` */
    struct list handles;
};

struct handle {
    struct list link;    /* in those of its session */
    const struct pvar *pvar;
    MPI_Comm comm;       /* it is bound to */
    uint64_t sum, since; /* counters: of the time before, and where the time that runs started */
    bool runs;
};

static struct list sessions = { &sessions, &sessions };

static bool is_counter(const struct pvar *pvar)
{
    return pvar->var_class == MPI_T_PVAR_CLASS_COUNTER;
}

const char *tool_pvar_topic(int index)
{
    return pvars[index].topic;
}

/* --- what there is --- */

int tool_pvar_count(int *num)
{
    if (!tool_is_open())
        return MPI_T_ERR_NOT_INITIALIZED;
    *num = (int)ARRAY_LEN(pvars);
    return MPI_SUCCESS;
}

static const struct pvar *pvar_at(int index)
{
    return index >= 0 && index < (int)ARRAY_LEN(pvars) ? &pvars[index] : NULL;
}

int tool_pvar_info(int index, char *name, int *name_len, int *verbosity, int *var_class, MPI_Datatype *datatype,
                   MPI_T_enum *enumtype, char *desc, int *desc_len, int *bind, int *readonly, int *continuous,
                   int *atomic)
{
    const struct pvar *pvar = pvar_at(index);

    if (!tool_is_open())
        return MPI_T_ERR_NOT_INITIALIZED;
    if (!pvar)
        return MPI_T_ERR_INVALID_INDEX;
    tool_give_text(pvar->name, name, name_len);
    tool_give_text(pvar->about, desc, desc_len);
    tool_give(verbosity, tool_verbosity(pvar->topic));
    tool_give(var_class, pvar->var_class);
    tool_give(bind, pvar->of_comm ? MPI_T_BIND_MPI_COMM : MPI_T_BIND_NO_OBJECT);
    tool_give(readonly, !is_counter(pvar));
    tool_give(continuous, !is_counter(pvar));
    tool_give(atomic, is_counter(pvar));
    if (datatype)
        *datatype = MPI_UNSIGNED_LONG_LONG;
    if (enumtype)
        *enumtype = MPI_T_ENUM_NULL;
    return MPI_SUCCESS;
}

int tool_pvar_find(const char *name, int var_class, int *index)
{
    if (!tool_is_open())
        return MPI_T_ERR_NOT_INITIALIZED;
    for (int i = 0; i < (int)ARRAY_LEN(pvars); i++) {
        if (pvars[i].var_class == var_class && !strcmp(pvars[i].name, name)) {
            *index = i;
            return MPI_SUCCESS;
        }
    }
    return MPI_T_ERR_INVALID_NAME;
}

/* --- sessions and handles --- */

static struct pvar_session *pvar_session_of(MPI_T_pvar_session handle)
{
    LIST_FOR_EACH(link, &sessions) {
        struct pvar_session *session = CONTAINER_OF(link, struct pvar_session, link);
        if (handle == (MPI_T_pvar_session)(uintptr_t)session)
            return session;
    }
    return NULL;
}

static struct handle *handle_in(struct pvar_session *session, MPI_T_pvar_handle wanted)
{
    LIST_FOR_EACH(link, &session->handles) {
        struct handle *handle = CONTAINER_OF(link, struct handle, link);
        if (wanted == (MPI_T_pvar_handle)(uintptr_t)handle)
            return handle;
    }
    return NULL;
}

static void close_session(struct pvar_session *session)
{
    LIST_FOR_EACH_SAFE(link, &session->handles)
        mem_free(CONTAINER_OF(link, struct handle, link));
    list_remove(&session->link);
    mem_free(session);
}

void tool_pvars_close(void)
{
    LIST_FOR_EACH_SAFE(link, &sessions)
        close_session(CONTAINER_OF(link, struct pvar_session, link));
}

int tool_pvar_session_open(MPI_T_pvar_session *out)
{
    struct pvar_session *session;
    const int rc = tool_enter();

    if (rc)
        return rc;
    session = mem_alloc(sizeof *session);
    if (!session)
        return tool_leave(MPI_T_ERR_MEMORY);
    list_init(&session->handles);
    list_append(&sessions, &session->link);
    *out = (MPI_T_pvar_session)(uintptr_t)session;
    return tool_leave(MPI_SUCCESS);
}

int tool_pvar_session_close(MPI_T_pvar_session *out)
{
    struct pvar_session *session;
    const int rc = tool_enter();

    if (rc)
        return rc;
    session = pvar_session_of(*out);
    if (!session)
        return tool_leave(MPI_T_ERR_INVALID_SESSION);
    close_session(session);
    *out = MPI_T_PVAR_SESSION_NULL;
    return tool_leave(MPI_SUCCESS);
}

/* Its communicator; NULL: there is none any more. */
static struct comm *comm_of(MPI_Comm handle)
{
    return init_is_running() ? obj_comm(handle) : NULL;
}

static struct handle *open_handle(struct pvar_session *session, const struct pvar *pvar, MPI_Comm comm)
{
    struct handle *handle = mem_zalloc(sizeof *handle);

    if (!handle)
        return NULL;
    handle->pvar = pvar;
    handle->comm = comm;
    list_append(&session->handles, &handle->link);
    return handle;
}

int tool_pvar_open(MPI_T_pvar_session session_handle, int index, const void *object, MPI_T_pvar_handle *out, int *count)
{
    const struct pvar *pvar = pvar_at(index);
    MPI_Comm comm = MPI_COMM_NULL;
    struct pvar_session *session;
    struct handle *handle;
    const int rc = tool_enter();

    if (rc)
        return rc;
    session = pvar_session_of(session_handle);
    if (!session || !pvar)
        return tool_leave(session ? MPI_T_ERR_INVALID_INDEX : MPI_T_ERR_INVALID_SESSION);
    if (pvar->of_comm && object)
        comm = *(const MPI_Comm *)object;
    if (pvar->of_comm && !comm_of(comm))
        return tool_leave(MPI_T_ERR_INVALID);
    handle = open_handle(session, pvar, comm);
    if (!handle)
        return tool_leave(MPI_T_ERR_MEMORY);
    *out = (MPI_T_pvar_handle)(uintptr_t)handle;
    *count = 1;
    return tool_leave(MPI_SUCCESS);
}

/* --- values --- */

/* They come from the lanes, which have locks of their own: a callback that runs under one of those may come here, so
 * none is waited for with the lock of this room. All is read before, and a counter that another thread has seen larger
 * meanwhile stands where that one saw it. */
struct now {
    struct p2p_counters counters;
    struct p2p_queues queues;
};

static void look_at_counters(struct now *now)
{
    *now = (struct now){ 0 };
    if (init_is_open()) /* also when MPI has been left: it may come up again, and counts on */
        p2p_counters(&now->counters);
}

static uint64_t value_in(const struct now *now, const struct pvar *pvar)
{
    const char *const values = pvar->of_comm ? (const char *)&now->queues : (const char *)&now->counters;
    uint64_t value;

    memcpy(&value, values + pvar->offset, sizeof value);
    return value;
}

/* What has been added since it was started; from now on it is counted from here. */
static uint64_t count_on(struct handle *handle, const struct now *now)
{
    const uint64_t value = value_in(now, handle->pvar), before = handle->since;

    if (value <= before)
        return 0;
    handle->since = value;
    return value - before;
}

static int start(struct handle *handle, const struct now *now)
{
    if (!is_counter(handle->pvar))
        return MPI_T_ERR_PVAR_NO_STARTSTOP;
    if (!handle->runs)
        handle->since = value_in(now, handle->pvar);
    handle->runs = true;
    return 0;
}

static uint64_t read_handle(struct handle *handle, const struct now *now)
{
    if (!is_counter(handle->pvar))
        return value_in(now, handle->pvar);
    if (handle->runs)
        handle->sum += count_on(handle, now);
    return handle->sum;
}

static int stop(struct handle *handle, const struct now *now)
{
    if (!is_counter(handle->pvar))
        return MPI_T_ERR_PVAR_NO_STARTSTOP;
    read_handle(handle, now);
    handle->runs = false;
    return 0;
}

/* A counter goes on from `value`. */
static int set(struct handle *handle, const struct now *now, uint64_t value)
{
    if (!is_counter(handle->pvar))
        return MPI_T_ERR_PVAR_NO_WRITE;
    read_handle(handle, now);
    handle->sum = value;
    return 0;
}

static int reset(struct handle *handle, const struct now *now)
{
    return set(handle, now, 0);
}

/* Leaves inside the lock with the session and the handle; MPI_T_PVAR_ALL_HANDLES is none. */
static int enter_with(MPI_T_pvar_session session_handle, MPI_T_pvar_handle wanted, struct pvar_session **session,
                      struct handle **handle)
{
    const int rc = tool_enter();

    *session = NULL;
    *handle = NULL;
    if (rc)
        return rc;
    *session = pvar_session_of(session_handle);
    if (!*session)
        return tool_leave(MPI_T_ERR_INVALID_SESSION);
    *handle = handle_in(*session, wanted);
    return 0;
}

/* All counters of a session, where a handle may stand for all; what always runs is left alone. */
static int apply(MPI_T_pvar_session session_handle, MPI_T_pvar_handle wanted,
                 int (*action)(struct handle *handle, const struct now *now))
{
    struct pvar_session *session;
    struct handle *one;
    struct now now;
    int rc;

    look_at_counters(&now);
    rc = enter_with(session_handle, wanted, &session, &one);
    if (rc)
        return rc;
    if (one)
        return tool_leave(action(one, &now));
    if (wanted != MPI_T_PVAR_ALL_HANDLES)
        return tool_leave(MPI_T_ERR_INVALID_HANDLE);
    LIST_FOR_EACH(link, &session->handles) {
        struct handle *handle = CONTAINER_OF(link, struct handle, link);
        if (is_counter(handle->pvar))
            action(handle, &now);
    }
    return tool_leave(MPI_SUCCESS);
}

int tool_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    return apply(session, handle, start);
}

int tool_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    return apply(session, handle, stop);
}

int tool_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    return apply(session, handle, reset);
}

int tool_pvar_close(MPI_T_pvar_session session_handle, MPI_T_pvar_handle *wanted)
{
    struct pvar_session *session;
    struct handle *handle;
    const int rc = enter_with(session_handle, *wanted, &session, &handle);

    if (rc)
        return rc;
    if (!handle)
        return tool_leave(MPI_T_ERR_INVALID_HANDLE);
    list_remove(&handle->link);
    mem_free(handle);
    *wanted = MPI_T_PVAR_HANDLE_NULL;
    return tool_leave(MPI_SUCCESS);
}

/* The communicator that a handle is bound to; MPI_COMM_NULL: none, or there is no such handle. */
static MPI_Comm bound_to(MPI_T_pvar_session session_handle, MPI_T_pvar_handle wanted)
{
    MPI_Comm comm = MPI_COMM_NULL;
    struct pvar_session *session;
    struct handle *handle;

    if (enter_with(session_handle, wanted, &session, &handle))
        return comm;
    if (handle)
        comm = handle->comm;
    tool_leave(MPI_SUCCESS);
    return comm;
}

int tool_pvar_read(MPI_T_pvar_session session_handle, MPI_T_pvar_handle wanted, void *buf)
{
    const struct comm *comm = comm_of(bound_to(session_handle, wanted));
    struct pvar_session *session;
    struct handle *handle;
    struct now now;
    int rc;

    look_at_counters(&now);
    if (comm)
        p2p_queues(comm, &now.queues);
    rc = enter_with(session_handle, wanted, &session, &handle);
    if (rc)
        return rc;
    if (!handle || (handle->pvar->of_comm && !comm))
        return tool_leave(MPI_T_ERR_INVALID_HANDLE);
    *(uint64_t *)buf = read_handle(handle, &now);
    return tool_leave(MPI_SUCCESS);
}

/* Nothing is lost between the two: what is read is where the counter starts again. */
int tool_pvar_read_reset(MPI_T_pvar_session session_handle, MPI_T_pvar_handle wanted, void *buf)
{
    struct pvar_session *session;
    struct handle *handle;
    struct now now;
    int rc;

    look_at_counters(&now);
    rc = enter_with(session_handle, wanted, &session, &handle);
    if (rc)
        return rc;
    if (!handle || !is_counter(handle->pvar))
        return tool_leave(handle ? MPI_T_ERR_PVAR_NO_WRITE : MPI_T_ERR_INVALID_HANDLE);
    *(uint64_t *)buf = read_handle(handle, &now);
    handle->sum = 0;
    return tool_leave(MPI_SUCCESS);
}

int tool_pvar_write(MPI_T_pvar_session session_handle, MPI_T_pvar_handle wanted, const void *buf)
{
    struct pvar_session *session;
    struct handle *handle;
    struct now now;
    int rc;

    look_at_counters(&now);
    rc = enter_with(session_handle, wanted, &session, &handle);
    if (rc)
        return rc;
    return tool_leave(handle ? set(handle, &now, *(const uint64_t *)buf) : MPI_T_ERR_INVALID_HANDLE);
}
