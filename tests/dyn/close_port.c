/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §11.9.2: MPI_Close_port "releases the network address": a thread that accepts there then gets an error of the
 * class MPI_ERR_PORT, and so does one that connects. That is how a server ends that accepts in a thread of its own. */
#include <pthread.h>
#include <unistd.h>

#include "mpitest.h"

static char port[MPI_MAX_PORT_NAME];

static void *accept_one(void *arg)
{
    MPI_Comm *const own = arg, comm;

    CHECK_CLASS(MPI_Comm_accept(port, MPI_INFO_NULL, 0, *own, &comm), MPI_ERR_PORT);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    MPI_Comm own[2], comm;

    test_begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
    for (int i = 0; i < 2; i++) {
        CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &own[i])); /* calls of all its processes: one at a time */
        CHECK_INT(pthread_create(&threads[i], NULL, accept_one, &own[i]), 0);
    }
    usleep(50000); /* until they wait; if they do not yet, they find it closed */
    CHECK_OK(MPI_Close_port(port));
    for (int i = 0; i < 2; i++) {
        CHECK_INT(pthread_join(threads[i], NULL), 0);
        CHECK_OK(MPI_Comm_free(&own[i]));
    }
    CHECK_CLASS(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &comm), MPI_ERR_PORT);
    return test_end();
}
