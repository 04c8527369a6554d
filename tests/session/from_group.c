/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §7.4.2: MPI_Comm_create_from_group makes a communicator of any group, in the order of the group, collective
 * over its members only; the string keeps calls apart; the error handler given is that of the new communicator; an
 * empty group gives MPI_COMM_NULL. */
#include "mpisession.h"

static MPI_Comm make(MPI_Group group, const char *stringtag)
{
    MPI_Comm comm = MPI_COMM_NULL;

    CHECK_OK(MPI_Comm_create_from_group(group, stringtag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    return comm;
}

/* The ranks from `first` on in steps, downwards if need be. */
static void run_part(MPI_Group world, int first, int last, int step, const char *stringtag)
{
    int ranges[1][3] = { { first, last, step } }, rank, result;
    MPI_Group group, of_comm;
    MPI_Comm comm;

    CHECK_OK(MPI_Group_range_incl(world, 1, ranges, &group));
    CHECK_OK(MPI_Group_rank(group, &rank));
    if (rank != MPI_UNDEFINED) {
        comm = make(group, stringtag);
        CHECK_OK(MPI_Comm_group(comm, &of_comm));
        CHECK_OK(MPI_Group_compare(group, of_comm, &result));
        CHECK_INT(result, MPI_IDENT);
        session_use(comm);
        CHECK_OK(MPI_Group_free(&of_comm));
        CHECK_OK(MPI_Comm_free(&comm));
    }
    CHECK_OK(MPI_Group_free(&group));
}

/* The same string for groups that overlap, one after the other, and one that differs in the last letter only. */
static void run_strings(MPI_Group world)
{
    char longest[MPI_MAX_STRINGTAG_LEN];
    MPI_Comm one, two, three;
    int result;

    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    one = make(world, "same");
    two = make(world, "same");
    three = make(world, longest);
    CHECK_OK(MPI_Comm_compare(one, two, &result));
    CHECK_INT(result, MPI_CONGRUENT);
    session_use(three);
    session_use(two);
    session_use(one);
    CHECK_OK(MPI_Comm_free(&one));
    CHECK_OK(MPI_Comm_free(&two));
    CHECK_OK(MPI_Comm_free(&three));
    one = make(world, "");
    session_use(one);
    CHECK_OK(MPI_Comm_free(&one));
}

static void run_errhandler(MPI_Group world)
{
    MPI_Errhandler errhandler;
    MPI_Comm comm = MPI_COMM_NULL;

    CHECK_OK(MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "empty", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK(comm == MPI_COMM_NULL, "the empty group gives a communicator");
    comm = make(world, "error handler");
    CHECK_OK(MPI_Comm_get_errhandler(comm, &errhandler));
    CHECK(errhandler == MPI_ERRORS_RETURN, "the error handler is another one");
    CHECK_OK(MPI_Errhandler_free(&errhandler));
    CHECK_CLASS(MPI_Send(NULL, 0, MPI_BYTE, test_size, 0, comm), MPI_ERR_RANK);
    CHECK_OK(MPI_Comm_free(&comm));
}

int main(void)
{
    MPI_Session session = session_open();
    MPI_Group world;
    int i;

    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
    CHECK_OK(MPI_Group_rank(world, &test_rank));
    CHECK_OK(MPI_Group_size(world, &test_size));
    run_strings(world);
    run_part(world, test_size - 1, 0, -1, "backwards");
    for (i = 0; i < 2 && i < test_size; i++)
        run_part(world, i, test_size - 1, 2, i ? "odd" : "even");
    for (i = 0; i < test_size; i++)
        run_part(world, 0, i, 1, "growing");
    run_errhandler(world);
    CHECK_OK(MPI_Group_free(&world));
    session_close(&session);
    return 0;
}
