/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §12.3.5: requests of puts and gets: many at once, completed by each of the functions for requests, in any
 * order, to MPI_PROC_NULL and of nothing, mixed with those of messages. */
#include "flavors.h"

enum { MANY = 20 };

static void many(struct window *w)
{
    const int peer = (w->rank + 1) % w->ranks;
    int values[MANY], got[MANY], index, flag = 0, done[MANY], count;
    MPI_Request requests[MANY];

    CHECK_OK(MPI_Win_lock_all(0, w->win));
    for (int i = 0; i < MANY; i++) {
        values[i] = w->rank * 100 + i;
        if (i == 7)
            CHECK_OK(MPI_Rput(&values[i], 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w->win, &requests[i]));
        else
            CHECK_OK(MPI_Rput(&values[i], i != 9, MPI_INT, peer, window_disp(w, peer, 4 * (size_t)i), i != 9,
                              MPI_INT, w->win, &requests[i]));
        CHECK(requests[i] != MPI_REQUEST_NULL, "request %d", i);
    }
    CHECK_OK(MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < MANY; i++)
        CHECK(requests[i] == MPI_REQUEST_NULL, "request %d is done", i);
    CHECK_OK(MPI_Win_flush_all(w->win));
    for (int i = 0; i < MANY; i++) {
        got[i] = -1;
        CHECK_OK(MPI_Rget(&got[i], 1, MPI_INT, peer, window_disp(w, peer, 4 * (size_t)i), 1, MPI_INT, w->win,
                          &requests[i]));
    }
    CHECK_OK(MPI_Waitany(MANY, requests, &index, MPI_STATUS_IGNORE));
    CHECK(index >= 0 && index < MANY, "one of them");
    CHECK_OK(MPI_Waitsome(MANY, requests, &count, done, MPI_STATUSES_IGNORE));
    CHECK(count >= 1, "some of them");
    while (!flag)
        CHECK_OK(MPI_Testall(MANY, requests, &flag, MPI_STATUSES_IGNORE));
    for (int i = 0; i < MANY; i++)
        if (i != 7 && i != 9)
            CHECK_INT(got[i], values[i]);
    CHECK_OK(MPI_Win_unlock_all(w->win));
}

/* It is an error to cancel such a request, or to free it; it can be completed then as before. */
static void kept(struct window *w)
{
    const int peer = (w->rank + 1) % w->ranks;
    int value = 4711 + w->rank, came;
    MPI_Request request;

    CHECK_OK(MPI_Barrier(w->comm));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, peer, 0, w->win));
    CHECK_OK(MPI_Rput(&value, 1, MPI_INT, peer, window_disp(w, peer, 0), 1, MPI_INT, w->win, &request));
    if (test_is_parley()) {
        CHECK_CLASS(MPI_Request_free(&request), MPI_ERR_REQUEST);
        CHECK_CLASS(MPI_Cancel(&request), MPI_ERR_REQUEST);
    }
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Win_unlock(peer, w->win));
    CHECK_OK(MPI_Barrier(w->comm));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, w->rank, 0, w->win));
    memcpy(&came, w->mem, sizeof came);
    CHECK_OK(MPI_Win_unlock(w->rank, w->win));
    CHECK_INT(came, 4711 + (w->rank + w->ranks - 1) % w->ranks);
}

/* Together with a message. */
static void mixed(struct window *w)
{
    const int peer = (w->rank + 1) % w->ranks, before = (w->rank + w->ranks - 1) % w->ranks;
    int out = w->rank, in = -1, got = -1;
    MPI_Request requests[3];
    MPI_Status statuses[3];

    CHECK_OK(MPI_Win_lock_all(0, w->win));
    CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, before, 5, w->comm, &requests[0]));
    CHECK_OK(MPI_Rget(&got, 1, MPI_INT, peer, window_disp(w, peer, 0), 1, MPI_INT, w->win, &requests[1]));
    CHECK_OK(MPI_Isend(&out, 1, MPI_INT, peer, 5, w->comm, &requests[2]));
    CHECK_OK(MPI_Waitall(3, requests, statuses));
    CHECK_INT(in, before);
    CHECK_INT(got, 4711 + w->rank);
    CHECK_STATUS(&statuses[0], before, 5, sizeof in);
    CHECK_OK(MPI_Win_unlock_all(w->win));
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    for (int flavor = 0; flavor < FLAVORS; flavor++) {
        struct window w;

        window_open(&w, flavor, 4 * MANY, MPI_COMM_WORLD);
        many(&w);
        kept(&w);
        mixed(&w);
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        window_close(&w);
    }
    return test_end();
}
