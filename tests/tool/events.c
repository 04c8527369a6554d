/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §15.3.8: events. Every type tells its elements; callbacks are called with the level of safety that the place
 * asks for, read the elements one by one and all at once, and stop when their registration is freed, also from within;
 * an event without a callback that is safe enough is dropped, and that is told.
 */
#include <stdint.h>

#include "mpitest.h"

enum { TEXT = 512, ELEMENTS = 16 };

struct seen {
    int calls, dropped, freed, free_it;
    MPI_T_cb_safety safety;
    int64_t first, second;
    MPI_Count time;
};

static void describe_all(void)
{
    int num;

    CHECK_INT(MPI_T_event_get_num(&num), MPI_SUCCESS);
    for (int i = 0; i < num; i++) {
        char name[TEXT], desc[TEXT], item[TEXT];
        int len = TEXT, desc_len = TEXT, item_len = TEXT, elements = ELEMENTS, found, bind, items;
        MPI_Datatype types[ELEMENTS];
        MPI_Aint places[ELEMENTS];
        MPI_T_enum e;
        MPI_Info info;

        CHECK_INT(MPI_T_event_get_info(i, name, &len, NULL, types, places, &elements, &e, &info, desc, &desc_len,
                                       &bind), MPI_SUCCESS);
        CHECK_OK(MPI_Info_free(&info));
        CHECK_INT(MPI_T_event_get_index(name, &found), MPI_SUCCESS);
        CHECK_INT(found, i);
        if (e != MPI_T_ENUM_NULL) {
            CHECK_INT(MPI_T_enum_get_info(e, &items, NULL, NULL), MPI_SUCCESS);
            CHECK_INT(items, elements);
            CHECK_INT(MPI_T_enum_get_item(e, 0, NULL, item, &item_len), MPI_SUCCESS);
        }
        elements = 0;
        CHECK_INT(MPI_T_event_get_info(i, NULL, NULL, NULL, NULL, NULL, &elements, NULL, NULL, NULL, NULL, NULL),
                  MPI_SUCCESS);
        CHECK(elements > 0, "event %s has %d elements", name, elements);
    }
    CHECK_INT(MPI_T_event_get_info(num, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
              MPI_T_ERR_INVALID_INDEX);
    CHECK_INT(MPI_T_event_get_index("no such event", &num), MPI_T_ERR_INVALID_NAME);
}

static void sources(void)
{
    MPI_T_source_order order;
    MPI_Count ticks, most, before, after;
    char name[TEXT];
    MPI_Info info;
    int num;

    CHECK_INT(MPI_T_source_get_num(&num), MPI_SUCCESS);
    for (int i = 0; i < num; i++) {
        int len = TEXT, desc_len = 0;

        CHECK_INT(MPI_T_source_get_info(i, name, &len, NULL, &desc_len, &order, &ticks, &most, &info), MPI_SUCCESS);
        CHECK_OK(MPI_Info_free(&info));
        CHECK(ticks > 0 && most > 0, "source %s: %lld ticks a second", name, (long long)ticks);
        CHECK_INT(MPI_T_source_get_timestamp(i, &before), MPI_SUCCESS);
        CHECK_INT(MPI_T_source_get_timestamp(i, &after), MPI_SUCCESS);
        CHECK(after >= before, "time goes back from %lld to %lld", (long long)before, (long long)after);
    }
    CHECK_INT(MPI_T_source_get_info(num, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
    CHECK_INT(MPI_T_source_get_timestamp(num, &before), MPI_T_ERR_INVALID_INDEX);
}

static void freed(MPI_T_event_registration registration, MPI_T_cb_safety safety, void *data)
{
    (void)registration;
    (void)safety;
    ((struct seen *)data)->freed++;
}

static void happened(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                     void *data)
{
    struct seen *seen = data;
    int64_t values[ELEMENTS];
    int source;

    seen->safety = safety;
    seen->calls++;
    CHECK_INT(MPI_T_event_read(instance, 0, &seen->first), MPI_SUCCESS);
    CHECK_INT(MPI_T_event_read(instance, 1, &seen->second), MPI_SUCCESS);
    CHECK_INT(MPI_T_event_read(instance, ELEMENTS, &source), MPI_T_ERR_INVALID_INDEX);
    CHECK_INT(MPI_T_event_copy(instance, values), MPI_SUCCESS);
    CHECK(values[0] == seen->first && values[1] == seen->second, "a copy differs");
    CHECK_INT(MPI_T_event_get_timestamp(instance, &seen->time), MPI_SUCCESS);
    CHECK_INT(MPI_T_event_get_source(instance, &source), MPI_SUCCESS);
    if (seen->free_it)
        CHECK_INT(MPI_T_event_handle_free(registration, seen, freed), MPI_SUCCESS);
}

static void dropped(MPI_Count count, MPI_T_event_registration registration, int source, MPI_T_cb_safety safety,
                    void *data)
{
    (void)registration;
    (void)source;
    (void)safety;
    ((struct seen *)data)->dropped += (int)count;
}

static MPI_T_event_registration open_event(const char *name)
{
    MPI_T_event_registration registration;
    int index;

    CHECK_INT(MPI_T_event_get_index(name, &index), MPI_SUCCESS);
    CHECK_INT(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &registration), MPI_SUCCESS);
    return registration;
}

/* Parley's own event: communicators come and go. */
static void communicators(void)
{
    MPI_T_event_registration made = open_event("comm_made"), gone = open_event("comm_freed");
    struct seen a = { 0 }, b = { 0 };
    MPI_Count now;
    MPI_Comm comm;
    MPI_Info info;

    CHECK_INT(MPI_T_event_register_callback(made, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, &a, happened),
              MPI_SUCCESS);
    CHECK_INT(MPI_T_event_register_callback(gone, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &b, happened), MPI_SUCCESS);
    CHECK_INT(MPI_T_event_register_callback(gone, 77, MPI_INFO_NULL, &b, happened), MPI_T_ERR_INVALID);
    CHECK_INT(MPI_T_event_set_dropped_handler(gone, dropped), MPI_SUCCESS);
    CHECK_INT(MPI_T_event_handle_set_info(made, MPI_INFO_NULL), MPI_SUCCESS);
    CHECK_INT(MPI_T_event_handle_get_info(made, &info), MPI_SUCCESS);
    CHECK_OK(MPI_Info_free(&info));
    CHECK_INT(MPI_T_event_callback_set_info(made, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL), MPI_SUCCESS);
    CHECK_INT(MPI_T_event_callback_get_info(made, MPI_T_CB_REQUIRE_THREAD_SAFE, &info), MPI_SUCCESS);
    CHECK_OK(MPI_Info_free(&info));
    CHECK_INT(MPI_T_event_callback_get_info(made, MPI_T_CB_REQUIRE_NONE, &info), MPI_T_ERR_INVALID);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_INT(a.calls, 1);
    CHECK_INT(a.second, test_size);
    CHECK_INT(a.safety, MPI_T_CB_REQUIRE_MPI_RESTRICTED); /* what the place asks, not what the callback could */
    CHECK_INT(MPI_T_source_get_timestamp(0, &now), MPI_SUCCESS);
    CHECK(a.time > 0 && a.time <= now, "it happened at %lld, now it is %lld", (long long)a.time, (long long)now);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK(b.calls == 0 && b.dropped == 1, "%d calls, %d dropped", b.calls, b.dropped);
    a.free_it = 1;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    CHECK(a.calls == 2 && a.freed == 1 && a.second == 1, "%d calls, freed %d times", a.calls, a.freed);
    CHECK_INT(MPI_T_event_handle_free(made, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
    CHECK_INT(MPI_T_event_register_callback(gone, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_INFO_NULL, &b, happened),
              MPI_SUCCESS);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_INT(b.calls, 1);
    CHECK_INT(b.first, a.first);
    CHECK_INT(MPI_T_event_handle_free(gone, &b, freed), MPI_SUCCESS);
    CHECK_INT(b.freed, 1);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK(a.calls == 2 && b.calls == 1, "calls after the end");
}

/* And: a sender of whom too much is kept. (list.txt makes the limit small.) */
static void flood(void)
{
    enum { MESSAGES = 3000, BYTES = 1000 };
    MPI_T_event_registration event = open_event("sender_restrained");
    static char data[BYTES];
    struct seen seen = { 0 };

    CHECK_INT(MPI_T_event_register_callback(event, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, MPI_INFO_NULL, &seen, happened),
              MPI_SUCCESS);
    if (test_rank == 1) {
        for (int i = 0; i < MESSAGES; i++)
            CHECK_OK(MPI_Bsend(data, BYTES, MPI_BYTE, 0, 1, MPI_COMM_WORLD));
        CHECK_OK(MPI_Send(NULL, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD));
    } else if (test_rank == 0) {
        for (int i = 0; i < MESSAGES / 2; i++) /* they come while the last one is waited for */
            CHECK_OK(MPI_Recv(data, BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Recv(NULL, 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(seen.calls > 0 && seen.first == 1 && seen.second > 0, "%d calls, of process %lld with %lld bytes",
              seen.calls, (long long)seen.first, (long long)seen.second);
        for (int i = MESSAGES / 2; i < MESSAGES; i++)
            CHECK_OK(MPI_Recv(data, BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    CHECK_INT(MPI_T_event_handle_free(event, NULL, NULL), MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    static char space[8 << 20];
    void *buffer = space;
    int provided, size;

    CHECK_INT(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
    test_begin(&argc, &argv);
    describe_all();
    sources();
    if (test_is_parley()) {
        communicators();
        CHECK_OK(MPI_Buffer_attach(buffer, sizeof space));
        if (test_size > 1)
            flood();
        CHECK_OK(MPI_Buffer_detach(&buffer, &size));
    }
    CHECK_INT(MPI_T_finalize(), MPI_SUCCESS);
    return test_end();
}
