/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §7.7, §11.6: threads make and free keys, and set, read and delete attributes of one communicator and of
 * their own ones, at once. */
#include <pthread.h>

#include "mpiattr.h"

enum { THREADS = 4, ROUNDS = 200 };

static int shared_key;

static int delete_own(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval;
    CHECK(value == extra, "the value of another thread");
    return MPI_SUCCESS;
}

static void *work(void *arg)
{
    MPI_Comm comm = *(MPI_Comm *)arg;
    int key;

    for (int i = 0; i < ROUNDS; i++) {
        CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, delete_own, &key, arg));
        CHECK_OK(MPI_Comm_set_attr(MPI_COMM_WORLD, key, arg));
        CHECK_COMM_ATTR(MPI_COMM_WORLD, key, (intptr_t)arg);
        CHECK_COMM_ATTR(MPI_COMM_WORLD, shared_key, 12);
        CHECK_OK(MPI_Comm_set_attr(comm, key, arg));
        CHECK_COMM_ATTR(comm, key, (intptr_t)arg);
        CHECK_OK(MPI_Comm_delete_attr(MPI_COMM_WORLD, key));
        CHECK_OK(MPI_Comm_delete_attr(comm, key));
        CHECK_OK(MPI_Comm_free_keyval(&key));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS];
    MPI_Comm comm[THREADS];

    test_begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    NEEDS(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &shared_key, NULL));
    CHECK_OK(MPI_Comm_set_attr(MPI_COMM_WORLD, shared_key, attr_word(12)));
    for (int i = 0; i < THREADS; i++)
        CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm[i]));
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, work, &comm[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < THREADS; i++)
        CHECK_OK(MPI_Comm_free(&comm[i]));
    CHECK_OK(MPI_Comm_delete_attr(MPI_COMM_WORLD, shared_key));
    CHECK_OK(MPI_Comm_free_keyval(&shared_key));
    return test_end();
}
