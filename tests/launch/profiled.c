/* SPDX-License-Identifier: BSD-3-Clause */
/* A program whose calls are known in number and bytes, for profile_test.py:
 *   profiled              all of it
 *   profiled unfinished   leaves without MPI_Finalize */
#include <mpi.h>
#include <pthread.h>
#include <string.h>

enum { BYTES = 1000, TIMES = 100, THREADS = 3, PROBES = 50 };

static char data[8 * BYTES];
static int rank, size;

static void talk_to_neighbors(void)
{
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Request request;

    for (int i = 0; i < TIMES; i++)
        MPI_Sendrecv(data, BYTES, MPI_BYTE, next, 1, data + BYTES, BYTES, MPI_BYTE, before, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    MPI_Send_init(data, 10, MPI_INT, next, 2, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 3; i++) {
        MPI_Start(&request);
        MPI_Recv(data + BYTES, 10, MPI_INT, before, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
}

static void call_collectives(void)
{
    int counts[64], displs[64], sum, own = rank;
    MPI_Comm half;

    for (int i = 0; i < size; i++) {
        counts[i] = i + 1;
        displs[i] = i * (i + 1) / 2;
    }
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Barrier(half);
    MPI_Comm_set_name(half, "one \"half\"");
    for (int i = 0; i < TIMES; i++)
        MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, half);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, half);
    MPI_Scatterv(data, counts, displs, MPI_BYTE, data + BYTES, rank + 1, MPI_BYTE, size - 1, MPI_COMM_WORLD);
    MPI_Comm_free(&half);
}

static void *probe(void *unused)
{
    int flag;

    for (int i = 0; i < PROBES; i++)
        MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    int level, count;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    memset(data, rank, sizeof data);
    talk_to_neighbors();
    call_collectives();
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, probe, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    MPI_Pcontrol(0);
    for (int i = 0; i < TIMES; i++)
        MPI_Type_size(MPI_INT, &count);
    MPI_Pcontrol(1);
    MPI_Type_size(MPI_INT, &count);
    if (argc > 1)
        return 0;
    MPI_Finalize();
    return 0;
}
