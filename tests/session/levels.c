/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §11.3, §11.6: each session has a thread level of its own, whatever that of the world; threads use what comes
 * from a session with MPI_THREAD_MULTIPLE while the world's main thread waits for them. This library may give less
 * while it is in use for one thread. */
#include "mpisession.h"

#include "../threads/mpithread.h"

enum { ROUNDS = 30, LEN = 5000 };

static MPI_Comm comms[THREADS];

static void body(int thread)
{
    const int right = (test_rank + 1) % test_size, left = (test_rank + test_size - 1) % test_size;
    unsigned char *out = test_alloc(LEN), *in = test_alloc(LEN);
    int round, len;

    for (round = 0; round < ROUNDS; round++) {
        len = round % 2 ? LEN : round;
        test_fill(out, (size_t)len, test_key((uint64_t)test_rank, (uint64_t)thread, (uint64_t)round));
        CHECK_OK(MPI_Sendrecv(out, len, MPI_BYTE, right, 1, in, LEN, MPI_BYTE, left, 1, comms[thread],
                              MPI_STATUS_IGNORE));
        CHECK_BYTES(in, (size_t)len, test_key((uint64_t)left, (uint64_t)thread, (uint64_t)round));
    }
    free(out);
    free(in);
}

/* A session that asks for all; true if it has that. */
static int open_multiple(MPI_Session *session)
{
    char text[64] = "";
    int room = sizeof text, flag = 0;
    MPI_Info info;

    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE"));
    NEEDS(MPI_Session_init(info, MPI_ERRORS_RETURN, session));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Session_get_info(*session, &info));
    CHECK_OK(MPI_Info_get_string(info, "thread_level", &room, text, &flag));
    CHECK_OK(MPI_Info_free(&info));
    return !strcmp(text, "MPI_THREAD_MULTIPLE");
}

int main(int argc, char **argv)
{
    MPI_Session session;
    MPI_Request req;
    int i, in = -1, is_multiple;

    test_begin_threads(&argc, &argv, MPI_THREAD_FUNNELED);
    session_use(MPI_COMM_WORLD);
    CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, (test_rank + test_size - 1) % test_size, 3, MPI_COMM_WORLD, &req));
    is_multiple = open_multiple(&session);
    if (test_is_parley())
        CHECK_INT(is_multiple, 0); /* the receive has been begun for one thread */
    session_close(&session);
    CHECK_OK(MPI_Send(&test_rank, 1, MPI_INT, (test_rank + 1) % test_size, 3, MPI_COMM_WORLD));
    CHECK_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    is_multiple = open_multiple(&session);
    if (test_is_parley())
        CHECK_INT(is_multiple, 1);
    comms[0] = session_comm(session, "mpi://WORLD", "levels");
    for (i = 1; i < THREADS; i++)
        CHECK_OK(MPI_Comm_dup(comms[0], &comms[i]));
    if (is_multiple)
        run_threads(THREADS, body);
    session_use(MPI_COMM_WORLD);
    for (i = 0; i < THREADS; i++)
        CHECK_OK(MPI_Comm_free(&comms[i]));
    session_close(&session);
    session_use(MPI_COMM_WORLD);
    return test_end();
}
