/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §7.4.3: communicators may be made and freed for ever. Here each process has few contexts, and makes many
 * times as many communicators, of all kinds: what is freed everywhere is used again, and nothing that was sent in the
 * one before is received in the next one. */
#include <mpi.h>

#include "mpitest.h"

enum { ROUNDS = 300, KEPT = 5 };

/* Messages in it are its own. */
static void use(MPI_Comm comm, int round)
{
    int rank, size, is_inter, from = -1, sum = 0, one = 1;

    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_OK(MPI_Comm_test_inter(comm, &is_inter));
    if (is_inter) {
        CHECK_OK(MPI_Comm_remote_size(comm, &size));
        CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
        CHECK_INT(sum, size);
        return;
    }
    CHECK_OK(MPI_Comm_size(comm, &size));
    CHECK_OK(MPI_Sendrecv(&round, 1, MPI_INT, (rank + 1) % size, 1, &from, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG,
                          comm, MPI_STATUS_IGNORE));
    CHECK_INT(from, round);
    if (round % 4 == 0)
        CHECK_OK(MPI_Barrier(comm));
}

static void use_and_free(MPI_Comm comm, int round)
{
    if (comm == MPI_COMM_NULL)
        return;
    use(comm, round);
    CHECK_OK(MPI_Comm_free(&comm));
}

/* Duplicates of which the first process knows before the others. */
static void duplicates(void)
{
    MPI_Comm kept[KEPT], comm;

    for (int i = 0; i < KEPT; i++)
        kept[i] = MPI_COMM_NULL;
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        if (i % 3 == 0) {
            use_and_free(kept[i % KEPT], i);
            kept[i % KEPT] = comm;
        } else if (i % 3 == 1) {
            CHECK_OK(MPI_Comm_free(&comm));
        } else {
            use_and_free(comm, i);
        }
    }
    for (int i = 0; i < KEPT; i++)
        use_and_free(kept[i], i);
}

static void parts(void)
{
    MPI_Group world, group;
    MPI_Comm comm;

    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    for (int i = 0; i < ROUNDS; i++) {
        const int rank = test_rank, last[1] = { test_size - 1 };

        CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, (test_rank + i) % 3, -test_rank, &comm));
        use_and_free(comm, i);
        CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, i % 2 ? MPI_UNDEFINED : 0, i, &comm));
        use_and_free(comm, i);
        CHECK_OK(MPI_Group_incl(world, 1, i % 2 ? last : &rank, &group));
        if (i % 2 && test_rank != last[0])
            CHECK_OK(MPI_Group_free(&group));
        if (!(i % 2 && test_rank != last[0])) {
            CHECK_OK(MPI_Comm_create_group(MPI_COMM_WORLD, group, i, &comm));
            use_and_free(comm, i);
            CHECK_OK(MPI_Group_free(&group));
        }
        CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
        use_and_free(comm, i);
    }
    CHECK_OK(MPI_Group_free(&world));
}

static void nonblocking(void)
{
    MPI_Comm comm[2];
    MPI_Request request[2];

    for (int i = 0; i < ROUNDS; i++) {
        CHECK_OK(MPI_Comm_idup(MPI_COMM_WORLD, &comm[0], &request[0]));
        CHECK_OK(MPI_Comm_idup(MPI_COMM_WORLD, &comm[1], &request[1]));
        CHECK_OK(MPI_Waitall(2, request, MPI_STATUSES_IGNORE));
        use_and_free(comm[i % 2], i);
        use_and_free(comm[1 - i % 2], i);
    }
}

/* An operation holds what is freed. */
static void held(void)
{
    MPI_Comm comm;
    MPI_Request request[2];
    int data;

    for (int i = 0; i < ROUNDS; i++) {
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        data = -1;
        CHECK_OK(MPI_Irecv(&data, 1, MPI_INT, test_rank ? test_rank - 1 : test_size - 1, 7, comm, &request[0]));
        CHECK_OK(MPI_Isend(&i, 1, MPI_INT, (test_rank + 1) % test_size, 7, comm, &request[1]));
        CHECK_OK(MPI_Comm_free(&comm));
        CHECK_OK(MPI_Waitall(2, request, MPI_STATUSES_IGNORE));
        CHECK_INT(data, i);
    }
}

/* What has come and nobody has received before it was freed, which is wrong, does not come up again. */
static void forgotten(void)
{
    MPI_Comm comm;

    for (int i = 0; i < ROUNDS && test_is_parley(); i++) {
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        use(comm, i);
        CHECK_OK(MPI_Send(&test_rank, 1, MPI_INT, (test_rank + 1) % test_size, 9, comm));
        CHECK_OK(MPI_Probe(MPI_ANY_SOURCE, 9, comm, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Comm_free(&comm));
    }
}

static void between(void)
{
    MPI_Comm half, comm, copy;

    if (test_size < 2)
        return;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, test_rank % 2, 0, &half));
    for (int i = 0; i < ROUNDS / 4; i++) {
        CHECK_OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - test_rank % 2, 5, &comm));
        CHECK_OK(MPI_Comm_dup(comm, &copy));
        use_and_free(copy, i);
        CHECK_OK(MPI_Intercomm_merge(comm, test_rank % 2, &copy));
        use_and_free(copy, i);
        use_and_free(comm, i);
    }
    CHECK_OK(MPI_Comm_free(&half));
}

static void windows(void)
{
    MPI_Win win;
    int memory = 0;

    for (int i = 0; i < ROUNDS / 4; i++) {
        CHECK_OK(MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
        CHECK_OK(MPI_Win_fence(0, win));
        CHECK_OK(MPI_Put(&i, 1, MPI_INT, (test_rank + 1) % test_size, 0, 1, MPI_INT, win));
        CHECK_OK(MPI_Win_fence(0, win));
        CHECK_INT(memory, i);
        CHECK_OK(MPI_Win_free(&win));
    }
}

/* Who never frees them is told at last that there are no more. */
static void used_up(void)
{
    MPI_Comm comm[400];
    int count = 0, rc = 0, error_class = 0;

    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    while (count < 400 && !(rc = MPI_Comm_dup(MPI_COMM_SELF, &comm[count])))
        count++;
    CHECK_OK(MPI_Error_class(rc, &error_class));
    CHECK_INT(error_class, MPI_ERR_OTHER);
    while (count)
        CHECK_OK(MPI_Comm_free(&comm[--count]));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm[0]));
    use_and_free(comm[0], 1);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD)); /* who has left answers no questions */
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    duplicates();
    parts();
    nonblocking();
    held();
    forgotten();
    between();
    windows();
    if (argc > 1)
        used_up();
    return test_end();
}
