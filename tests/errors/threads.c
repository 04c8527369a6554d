/* SPDX-License-Identifier: BSD-3-Clause */
/* Error handlers, error codes, infos and numbers of handles from several threads at once (MPI 5.0 §9.3,
 * §9.5.1, §11.4.1, §20.4.5): meant for the thread sanitizer, and right without it. One process. */
#include "../common/mpitest.h"

#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 4, ROUNDS = 300 };

static _Atomic int handled;
static MPI_Comm comm;

static void count_error(MPI_Comm *where, int *code, ...)
{
    CHECK(*where == comm && *code != MPI_SUCCESS, "code %d", *code);
    atomic_fetch_add(&handled, 1);
}

/* Replaces the handler while other threads raise errors. */
static void raise_and_replace(void)
{
    MPI_Errhandler mine, now;
    const int before = atomic_load(&handled);

    CHECK_OK(MPI_Comm_create_errhandler(count_error, &mine));
    CHECK_OK(MPI_Comm_set_errhandler(comm, mine));
    CHECK_OK(MPI_Errhandler_free(&mine));
    CHECK(MPI_Send(NULL, 1, MPI_INT, 0, 0, comm) != MPI_SUCCESS, "a send from NULL");
    CHECK(atomic_load(&handled) > before, "the handler was not called");
    CHECK_OK(MPI_Comm_get_errhandler(comm, &now));
    CHECK_OK(MPI_Errhandler_free(&now));
}

static void use_code(int round)
{
    char text[MPI_MAX_ERROR_STRING], mine[32];
    int code, length, error_class;

    snprintf(mine, sizeof mine, "round %d", round);
    CHECK_OK(MPI_Add_error_code(MPI_ERR_OTHER, &code));
    CHECK_OK(MPI_Add_error_string(code, mine));
    CHECK_OK(MPI_Error_class(code, &error_class));
    CHECK_INT(error_class, MPI_ERR_OTHER);
    CHECK_OK(MPI_Error_string(code, text, &length));
    CHECK(strcmp(text, mine) == 0, "text \"%s\"", text);
    CHECK_OK(MPI_Remove_error_string(code));
    CHECK_OK(MPI_Remove_error_code(code));
}

static void use_info(MPI_Info shared, int round)
{
    char key[16], value[16];
    int flag, length = sizeof value;
    MPI_Info info;

    snprintf(key, sizeof key, "key%d", round % 8);
    CHECK_OK(MPI_Info_set(shared, key, "value"));
    CHECK_OK(MPI_Info_get_string(shared, key, &length, value, &flag));
    CHECK(flag && strcmp(value, "value") == 0, "flag %d", flag);
    CHECK_OK(MPI_Comm_get_info(comm, &info));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Info_dup(shared, &info));
    CHECK(MPI_Info_fromint(MPI_Info_toint(info)) == info, "number %d", MPI_Info_toint(info));
    CHECK_OK(MPI_Info_free(&info));
}

/* A new communicator takes over a handler that another thread may be replacing; others may ask for hints while they are
 * set. One thread alone: these are collective. */
static void *duplicate(void *arg)
{
    MPI_Comm made;
    MPI_Info hints;

    (void)arg;
    CHECK_OK(MPI_Info_create(&hints));
    for (int round = 0; round < ROUNDS; round++) {
        CHECK_OK(MPI_Comm_dup(comm, &made));
        CHECK_OK(MPI_Comm_free(&made));
        CHECK_OK(MPI_Info_set(hints, "mpi_assert_no_any_tag", round % 2 ? "true" : "false"));
        CHECK_OK(MPI_Comm_set_info(comm, hints));
    }
    CHECK_OK(MPI_Info_free(&hints));
    return NULL;
}

static void *work(void *arg)
{
    for (int round = 0; round < ROUNDS; round++) {
        raise_and_replace();
        use_code(round);
        use_info(*(MPI_Info *)arg, round);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS], duplicator;
    int provided;
    MPI_Info info;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE)
        test_skip("no MPI_THREAD_MULTIPLE");
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    CHECK_OK(MPI_Info_create(&info));
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, &info);
    pthread_create(&duplicator, NULL, duplicate, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_join(duplicator, NULL);
    CHECK_INT(atomic_load(&handled), THREADS * ROUNDS);
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Comm_free(&comm));
    MPI_Finalize();
    return 0;
}
