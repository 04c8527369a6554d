/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §11.3.1, §7.4.2: threads begin and end sessions of their own at the same time, and make communicators from
 * groups, told apart by their strings. Each two of the strings have the same 32-bit FNV-1a hash: a library that tells
 * them apart by that must not mix them up. */
#include "mpisession.h"

#include "../threads/mpithread.h"

enum { ROUNDS = 8 };

static const char *const strings[THREADS] = { "costarring", "liquid", "declinate", "macallums" };

static void body(int thread)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int round, rank, size, sum;

    for (round = 0; round < ROUNDS; round++) {
        CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
        CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
        CHECK_OK(MPI_Comm_create_from_group(group, strings[thread], MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
        CHECK_OK(MPI_Comm_rank(comm, &rank));
        CHECK_OK(MPI_Comm_size(comm, &size));
        CHECK_OK(MPI_Allreduce(&thread, &sum, 1, MPI_INT, MPI_SUM, comm));
        CHECK(sum == size * thread, "thread %d of rank %d got %d", thread, rank, sum);
        CHECK_OK(MPI_Comm_free(&comm));
        CHECK_OK(MPI_Group_free(&group));
        CHECK_OK(MPI_Session_finalize(&session));
    }
}

int main(void)
{
    MPI_Session session = session_open(); /* skips where there are none */

    session_close(&session);
    run_threads(THREADS, body);
    return 0;
}
