/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §7.4.2: MPI_Comm_create_group is collective over the group only; the tag keeps calls of concurrent
 * threads apart. MPI_Comm_create with disjoint groups gives each its own communicator, others MPI_COMM_NULL. */
#include "mpitest.h"

#include <pthread.h>

enum { ROUNDS = 100, THREADS = 3, TAG_UB = 2147483647 };

static MPI_Group all;

/* The ranks first, first + 2, … of MPI_COMM_WORLD. */
static MPI_Group every_second(int first)
{
    int range[1][3] = { { first, test_size - 1, 2 } };
    MPI_Group group;

    CHECK_OK(MPI_Group_range_incl(all, 1, range, &group));
    return group;
}

/* A communicator of every second rank from `first` on, to which all bring the same number. */
static void check_comm(MPI_Comm comm, int first, int number)
{
    int size, rank, sum = -1;

    CHECK_OK(MPI_Comm_size(comm, &size));
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_INT(size, (test_size - first + 1) / 2);
    CHECK_INT(rank, test_rank / 2);
    CHECK_OK(MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_INT(sum, size * number);
}

/* Only the even ranks call, or only the odd ones: nobody waits for the others. */
static void create_alone(int first)
{
    MPI_Group group = every_second(first);
    MPI_Comm comm = MPI_COMM_NULL;
    const int tags[] = { 0, 7, TAG_UB };

    for (int i = 0; i < 3 && test_rank % 2 == first; i++) {
        CHECK_OK(MPI_Comm_create_group(MPI_COMM_WORLD, group, tags[i], &comm));
        check_comm(comm, first, i);
        CHECK_OK(MPI_Comm_free(&comm));
        CHECK(comm == MPI_COMM_NULL, "the handle is not null after the free");
    }
    CHECK_OK(MPI_Group_free(&group));
}

static void *create_in_thread(void *arg)
{
    const int tag = *(const int *)arg;
    MPI_Group group = every_second(test_rank % 2);

    for (int i = 0; i < ROUNDS; i++) {
        MPI_Comm comm;

        CHECK_OK(MPI_Comm_create_group(MPI_COMM_WORLD, group, tag, &comm));
        check_comm(comm, test_rank % 2, tag * ROUNDS + i);
        CHECK_OK(MPI_Comm_free(&comm));
    }
    CHECK_OK(MPI_Group_free(&group));
    return NULL;
}

static void create_in_threads(void)
{
    pthread_t threads[THREADS];
    int tags[THREADS];

    for (int i = 0; i < THREADS; i++) {
        tags[i] = i;
        CHECK(!pthread_create(&threads[i], NULL, create_in_thread, &tags[i]), "no thread");
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void create_disjoint(void)
{
    MPI_Group group = every_second(test_rank % 2), first = MPI_GROUP_NULL, none = MPI_GROUP_EMPTY;
    const int rank = 0;
    MPI_Comm comm = MPI_COMM_WORLD;

    CHECK_OK(MPI_Comm_create(MPI_COMM_WORLD, group, &comm));
    check_comm(comm, test_rank % 2, 3);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Group_incl(all, 1, &rank, &first));
    CHECK_OK(MPI_Comm_create(MPI_COMM_WORLD, first, &comm));
    CHECK((comm != MPI_COMM_NULL) == (test_rank == 0), "member and communicator do not agree");
    if (comm != MPI_COMM_NULL)
        CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Comm_create(MPI_COMM_WORLD, none, &comm));
    CHECK(comm == MPI_COMM_NULL, "a communicator of nobody");
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Group_free(&first));
}

static void wrong_groups(void)
{
    MPI_Comm comm;

    CHECK_CLASS(MPI_Comm_create_group(MPI_COMM_WORLD, all, -1, &comm), MPI_ERR_TAG);
    CHECK_CLASS(MPI_Comm_create_group(MPI_COMM_WORLD, MPI_GROUP_NULL, 0, &comm), MPI_ERR_GROUP);
    if (test_size > 1) { /* processes that the communicator does not have */
        CHECK_CLASS(MPI_Comm_create_group(MPI_COMM_SELF, all, 0, &comm), MPI_ERR_GROUP);
        CHECK_CLASS(MPI_Comm_create(MPI_COMM_SELF, all, &comm), MPI_ERR_GROUP);
    }
}

int main(int argc, char **argv)
{
    test_begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    create_alone(test_size > 1);
    create_alone(0);
    create_disjoint();
    create_in_threads();
    wrong_groups();
    CHECK_OK(MPI_Group_free(&all));
    return test_end();
}
