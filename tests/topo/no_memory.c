/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §8.5.4: when one process has no memory for its part of a distributed graph, the call fails at all of them,
 * and nobody waits for it. The functions that give memory are this program's: they refuse pieces of about that size. */
#include "mpitest.h"

#include <errno.h>

enum { EDGES = 1000, GRAPH = 2 * 2 * EDGES * sizeof(int), HEAD = 256 }; /* a rank and a weight for each, in and out */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const int has_own_memory = 0;
static int refuses, refused;
#else
static const int has_own_memory = 1;
static volatile int refuses, refused;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);

static int refuse(size_t size)
{
    if (!refuses || size < GRAPH || size > GRAPH + HEAD)
        return 0;
    refused++;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size)
{
    return refuse(size) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return refuse(count * size) ? NULL : __libc_calloc(count, size);
}
#endif

/* EDGES edges from each process to the next one. */
static int make(int reorder, MPI_Comm *comm)
{
    static int dests[EDGES], weights[EDGES];
    const int degree = EDGES;

    for (int i = 0; i < EDGES; i++) {
        dests[i] = (test_rank + 1) % test_size;
        weights[i] = i;
    }
    return MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &test_rank, &degree, dests, weights, MPI_INFO_NULL, reorder, comm);
}

int main(int argc, char **argv)
{
    int in, out, weighted;
    MPI_Comm comm;

    test_begin(&argc, &argv);
    if (!has_own_memory || !test_is_parley())
        test_skip("memory must be refused in this library");
    for (int reorder = 0; reorder < 2; reorder++)
        for (int who = 0; who < test_size; who++) {
            refused = 0;
            refuses = test_rank == who;
            CHECK_CLASS(make(reorder, &comm), MPI_ERR_NO_MEM);
            refuses = 0;
            CHECK_INT(refused, test_rank == who);
        }
    CHECK_OK(make(0, &comm));
    CHECK_OK(MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted));
    CHECK_INT(in, EDGES);
    CHECK_INT(out, EDGES);
    CHECK_OK(MPI_Comm_free(&comm));
    return test_end();
}
