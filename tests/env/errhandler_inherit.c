/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §9.3.1, §7.4.2: a new communicator has the error handler that its parent has when it is made, however it is
 * made; one made of a group has the handler that was given. What is set later concerns one communicator only, and a
 * handler lives as long as one has it. Predefined handlers are told as such. */
#include "mpitest.h"

static int calls;

static void count(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    calls++;
}

static void check_handler(MPI_Comm comm, MPI_Errhandler wanted)
{
    MPI_Errhandler got = MPI_ERRHANDLER_NULL;
    int value = 1;

    if (comm == MPI_COMM_NULL)
        return;
    CHECK_OK(MPI_Comm_get_errhandler(comm, &got));
    CHECK(got == wanted, "another error handler than the parent's");
    CHECK_OK(MPI_Errhandler_free(&got));
    calls = 0;
    CHECK_CLASS(MPI_Send(&value, 1, MPI_INT, 4711, 0, comm), MPI_ERR_RANK);
    CHECK_INT(calls, wanted != MPI_ERRORS_RETURN);
    CHECK_OK(MPI_Comm_free(&comm));
}

/* Calls that make a communicator out of another one. */
static void intracommunicators(MPI_Comm from, MPI_Errhandler wanted)
{
    MPI_Request request;
    MPI_Group group;
    MPI_Comm comm;

    CHECK_OK(MPI_Comm_dup(from, &comm));
    check_handler(comm, wanted);
    CHECK_OK(MPI_Comm_dup_with_info(from, MPI_INFO_NULL, &comm));
    check_handler(comm, wanted);
    CHECK_OK(MPI_Comm_idup(from, &comm, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check_handler(comm, wanted);
    CHECK_OK(MPI_Comm_split(from, test_rank % 2, 0, &comm));
    check_handler(comm, wanted);
    CHECK_OK(MPI_Comm_split_type(from, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm));
    check_handler(comm, wanted);
    CHECK_OK(MPI_Comm_group(from, &group));
    CHECK_OK(MPI_Comm_create(from, group, &comm));
    check_handler(comm, wanted);
    CHECK_OK(MPI_Comm_create_group(from, group, 3, &comm));
    check_handler(comm, wanted);
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Cart_create(from, 1, &test_size, &(int){ 0 }, 0, &comm));
    check_handler(comm, wanted);
    CHECK_OK(MPI_Dist_graph_create_adjacent(from, 0, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                            &comm));
    check_handler(comm, wanted);
}

static void intercommunicators(MPI_Comm from, MPI_Errhandler wanted)
{
    MPI_Comm half, inter, comm;

    if (test_size < 2)
        return;
    CHECK_OK(MPI_Comm_split(from, test_rank % 2, 0, &half));
    CHECK_OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - test_rank % 2, 5, &inter));
    CHECK_OK(MPI_Comm_dup(inter, &comm));
    check_handler(comm, wanted);
    CHECK_OK(MPI_Intercomm_merge(inter, 0, &comm));
    check_handler(comm, wanted);
    check_handler(inter, wanted);
    CHECK_OK(MPI_Comm_free(&half));
}

static void out_of_group(MPI_Errhandler given)
{
    MPI_Group group;
    MPI_Comm comm;

    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &group));
    CHECK_OK(MPI_Comm_create_from_group(group, "tests:errhandler", MPI_INFO_NULL, given, &comm));
    CHECK_OK(MPI_Group_free(&group));
    check_handler(comm, given);
}

/* Setting another one, or freeing the parent, changes nothing in the child. */
static void on_its_own(MPI_Errhandler handler)
{
    MPI_Comm parent, child, grandchild;

    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &parent));
    CHECK_OK(MPI_Comm_set_errhandler(parent, handler));
    CHECK_OK(MPI_Comm_dup(parent, &child));
    CHECK_OK(MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_dup(child, &grandchild));
    CHECK_OK(MPI_Comm_set_errhandler(child, MPI_ERRORS_ARE_FATAL));
    check_handler(parent, MPI_ERRORS_RETURN);
    check_handler(grandchild, handler);
    CHECK_OK(MPI_Comm_free(&child));
}

int main(int argc, char **argv)
{
    MPI_Errhandler handler;
    MPI_Comm comm;

    test_begin(&argc, &argv);
    NEEDS(MPI_Comm_create_errhandler(count, &handler));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    intracommunicators(comm, MPI_ERRORS_RETURN);
    CHECK_OK(MPI_Comm_set_errhandler(comm, handler));
    intracommunicators(comm, handler);
    intercommunicators(comm, handler);
    CHECK_OK(MPI_Comm_free(&comm));
    out_of_group(MPI_ERRORS_RETURN);
    out_of_group(handler);
    on_its_own(handler);
    CHECK_OK(MPI_Errhandler_free(&handler));
    return test_end();
}
