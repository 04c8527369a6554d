/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §11.3.1, §11.3.3: a session may ask for a thread level, and tells which one it has. */
#include "mpisession.h"

static void get(MPI_Session session, const char *key, char *value, int room)
{
    int flag = 0;
    MPI_Info info;

    CHECK_OK(MPI_Session_get_info(session, &info));
    CHECK_OK(MPI_Info_get_string(info, key, &room, value, &flag));
    CHECK(flag, "no %s", key);
    CHECK_OK(MPI_Info_free(&info));
}

int main(void)
{
    static const char *const levels[] = { "MPI_THREAD_MULTIPLE", "MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED",
                                          "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE" };
    enum { LEVELS = sizeof levels / sizeof levels[0] };
    MPI_Session sessions[LEVELS];
    char text[64];
    MPI_Info info;
    int i;

    for (i = 0; i < LEVELS; i++) {
        CHECK_OK(MPI_Info_create(&info));
        CHECK_OK(MPI_Info_set(info, "thread_level", levels[i]));
        NEEDS(MPI_Session_init(info, MPI_ERRORS_RETURN, &sessions[i]));
        CHECK_OK(MPI_Info_free(&info));
        get(sessions[i], "thread_level", text, sizeof text);
        if (test_is_parley())
            CHECK(!strcmp(text, levels[i]), "asked for %s, got %s", levels[i], text);
        get(sessions[i], "mpi_memory_alloc_kinds", text, sizeof text);
        CHECK(strstr(text, "mpi") && strstr(text, "system"), "mpi_memory_alloc_kinds is %s", text);
    }
    for (i = 0; i < LEVELS; i++)
        session_close(&sessions[i]);
    return 0;
}
