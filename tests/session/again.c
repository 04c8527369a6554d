/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §11.3.1: sessions begin and end as often as one likes, one after the other and several at a time, some with
 * messages, some without. */
#include "mpisession.h"

enum { TIMES = 100, AT_ONCE = 3 };

int main(void)
{
    MPI_Session sessions[AT_ONCE];
    MPI_Comm comms[AT_ONCE];
    char stringtag[64];
    int i, k;

    for (i = 0; i < TIMES; i++) {
        sessions[0] = session_open();
        if (i % 10 == 0) {
            comms[0] = session_comm(sessions[0], "mpi://WORLD", "again");
            session_use(comms[0]);
            CHECK_OK(MPI_Comm_free(&comms[0]));
        }
        session_close(&sessions[0]);
    }
    for (i = 0; i < AT_ONCE; i++) {
        sessions[i] = session_open();
        snprintf(stringtag, sizeof stringtag, "again, session %d", i);
        comms[i] = session_comm(sessions[i], "mpi://WORLD", stringtag);
    }
    for (i = 0; i < AT_ONCE; i++) {
        for (k = AT_ONCE - 1; k >= i; k--)
            session_use(comms[k]);
        CHECK_OK(MPI_Comm_free(&comms[i]));
        session_close(&sessions[i]);
    }
    return 0;
}
