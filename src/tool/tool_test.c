/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of room tool: every topic that is named exists, nothing is lost when memory runs out, what was left open
 * goes at the end, and events told while others come and go. What users see: tests/tool. */
#include "tool/tool.h"

#include <string.h>

#include "base/check.h"
#include "base/event.h"
#include "base/mem.h"
#include "obj/info.h"
#include "tool/int_tool.h"

static int calls;

static bool has_topic(const char *topic)
{
    for (int i = 0; i < TOOL_TOPICS; i++) {
        if (!strcmp(tool_topics[i].name, topic))
            return true;
    }
    return false;
}

static void test_topics(void)
{
    int pvars, events;

    CHECK(!tool_pvar_count(&pvars) && !tool_event_count(&events));
    CHECK(setting_count() > 5);
    for (int i = 0; i < setting_count(); i++) {
        CHECK(setting_at(i)->topic && has_topic(setting_at(i)->topic));
        CHECK(tool_verbosity(setting_at(i)->topic) != MPI_T_VERBOSITY_MPIDEV_ALL);
    }
    for (int i = 0; i < pvars; i++)
        CHECK(has_topic(tool_pvar_topic(i)));
    for (int i = 0; i < events; i++)
        CHECK(has_topic(tool_event_topic(i)));
    CHECK_INT(tool_verbosity("no topic"), MPI_T_VERBOSITY_MPIDEV_ALL);
}

static void test_memory(void)
{
    MPI_T_event_registration event;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle pvar;
    MPI_T_cvar_handle cvar;
    struct info *info;
    MPI_Info handle;
    int count;

    CHECK(!tool_pvar_session_open(&session) && !tool_event_open(EVENT_COMM_MADE, &event));
    mem_fail_after(0);
    CHECK_INT(tool_cvar_open(0, &cvar, &count), MPI_T_ERR_MEMORY);
    CHECK_INT(tool_pvar_open(session, 0, NULL, &pvar, &count), MPI_T_ERR_MEMORY);
    CHECK_INT(tool_event_hints(event, &info), MPI_T_ERR_MEMORY);
    CHECK_INT(tool_source_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &handle), MPI_T_ERR_MEMORY);
    CHECK_INT(tool_event_open(EVENT_COMM_MADE, &event), MPI_T_ERR_MEMORY);
    CHECK_INT(tool_pvar_session_open(&session), MPI_T_ERR_MEMORY);
    mem_fail_after(-1);
}

static MPI_T_event_registration second;

static void count_call(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                       void *data)
{
    int64_t value;

    CHECK(!tool_event_read(instance, 2, &value) && value == 9);
    CHECK_INT(safety, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE);
    CHECK(data == &calls && registration);
    calls++;
}

/* Ends another one that would be told next. */
static void end_second(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                       void *data)
{
    (void)instance;
    (void)registration;
    (void)safety;
    (void)data;
    CHECK(!tool_event_close(second, NULL, NULL));
    calls++;
}

static void test_events(void)
{
    MPI_T_event_registration first, third;

    CHECK(!tool_event_open(EVENT_SENDER_RESTRAINED, &first) && !tool_event_open(EVENT_SENDER_RESTRAINED, &second) &&
          !tool_event_open(EVENT_SENDER_RESTRAINED, &third));
    CHECK(!tool_event_listen(first, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, NULL, end_second));
    CHECK(!tool_event_listen(second, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, &calls, count_call));
    CHECK(!tool_event_listen(third, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, &calls, count_call));
    event_tell(EVENT_COMM_MADE, 1, 2, 3);
    CHECK_INT(calls, 0);
    event_tell(EVENT_SENDER_RESTRAINED, 7, 8, 9);
    CHECK_INT(calls, 2);
    CHECK(!tool_event_close(first, NULL, NULL) && !tool_event_close(third, NULL, NULL));
    event_tell(EVENT_SENDER_RESTRAINED, 7, 8, 9);
    CHECK_INT(calls, 2);
    CHECK_INT(tool_event_read((MPI_T_event_instance)0, 0, &calls), MPI_T_ERR_INVALID_HANDLE);
    CHECK_INT(tool_event_copy((MPI_T_event_instance)0, &calls), MPI_T_ERR_INVALID_HANDLE);
}

static MPI_T_event_registration idle;

static void see_freed(MPI_T_event_registration registration, MPI_T_cb_safety safety, void *data)
{
    CHECK(registration);
    CHECK_INT(safety, *(const MPI_T_cb_safety *)data);
    calls++;
}

static MPI_T_cb_safety wanted;

/* Ends itself, which comes to be when it has returned, and one that nobody uses, at once. */
static void end_both(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                     void *data)
{
    (void)instance;
    (void)data;
    wanted = safety;
    CHECK(!tool_event_close(registration, &wanted, see_freed) && !tool_event_close(idle, &wanted, see_freed));
}

/* Where a callback has to be safe, so has the function that hears of the end of a registration there. */
static void test_freed(void)
{
    static const enum event_kind kinds[] = { EVENT_SENDER_RESTRAINED, EVENT_COMM_MADE };
    MPI_T_event_registration event;

    for (int i = 0; i < 2; i++) {
        calls = 0;
        CHECK(!tool_event_open(kinds[i], &event) && !tool_event_open(EVENT_COMM_FREED, &idle));
        CHECK(!tool_event_listen(event, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, NULL, end_both));
        event_tell(kinds[i], 1, 2, 3);
        CHECK_INT(calls, 2);
    }
    wanted = MPI_T_CB_REQUIRE_MPI_RESTRICTED;
    CHECK(!tool_event_open(EVENT_SENDER_RESTRAINED, &event) && !tool_event_close(event, &wanted, see_freed));
    CHECK_INT(calls, 3);
}

int main(void)
{
    MPI_T_event_registration event;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle pvar;
    MPI_T_cvar_handle cvar;
    const long live = mem_live();
    int provided, count;

    CHECK_INT(tool_pvar_session_open(&session), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_INT(tool_event_open(0, &event), MPI_T_ERR_NOT_INITIALIZED);
    CHECK(!tool_init(MPI_THREAD_SINGLE, &provided));
    test_topics();
    test_memory();
    test_events();
    test_freed();
    CHECK(!tool_pvar_session_open(&session) && !tool_pvar_open(session, 0, NULL, &pvar, &count));
    CHECK(!tool_cvar_open(0, &cvar, &count) && !tool_event_open(0, &event));
    CHECK(!tool_finalize());
    CHECK_INT(mem_live(), live);
    CHECK(!event_listener);
    return 0;
}
