/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §11.3: a program that never calls MPI_Init communicates by sessions; MPI_Initialized and MPI_Finalized speak
 * of the world only. */
#include "mpisession.h"

int main(void)
{
    MPI_Session session = session_open();
    MPI_Comm comm = session_comm(session, "mpi://WORLD", "tests/session/alone"), dup, self;
    int is_down = -1, color;

    CHECK_INT(session_is_up(), 0);
    session_use(comm);
    CHECK_OK(MPI_Comm_dup(comm, &dup));
    session_use(dup);
    color = test_rank % 2;
    CHECK_OK(MPI_Comm_free(&dup));
    CHECK_OK(MPI_Comm_split(comm, color, -test_rank, &dup));
    session_use(dup);
    CHECK_OK(MPI_Comm_free(&dup));
    CHECK_OK(MPI_Comm_free(&comm));
    self = session_comm(session, "mpi://SELF", "tests/session/alone");
    CHECK_INT(test_size, 1);
    session_use(self);
    CHECK_OK(MPI_Comm_free(&self));
    session_close(&session);
    CHECK_OK(MPI_Finalized(&is_down));
    CHECK_INT(is_down, 0);
    CHECK_INT(session_is_up(), 0);
    return 0;
}
