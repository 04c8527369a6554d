/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.5 Order: when several posted receives match a message, the oldest of them gets it, also when
 * exact and wildcard receives are mixed. A model keeps the posted receives in a plain list and says who must
 * get what. Deep enough that a hashed matcher leaves its short stage. Rank 0 receives, all (also rank 0)
 * send. */
#include "mpitest.h"

enum { POSTED = 300, TAGS = 4, TAG_GO = 100 };

struct posted {
    int source, tag; /* as posted */
    int value[3];    /* sender, tag, number */
    int want[3];     /* by the model; want[0] = -1: nobody */
};

static struct posted posted[POSTED];
static int is_matched[POSTED]; /* by the model: my i-th message finds a receive */

/* What each sender sends, in order. All messages of one sender come before those of the next. */
static int tag_of(int sender, int i)
{
    uint64_t state = test_key(sender, i, 3);

    return (int)test_below(&state, TAGS);
}

static int messages_per_sender(void)
{
    return POSTED / 2 / test_size;
}

static void choose_receives(void)
{
    uint64_t state = test_key(0, 0, 4);
    int i;

    for (i = 0; i < POSTED; i++) {
        posted[i].source =
            test_below(&state, 3) ? (int)test_below(&state, (size_t)test_size) : MPI_ANY_SOURCE;
        posted[i].tag = test_below(&state, 3) ? (int)test_below(&state, TAGS) : MPI_ANY_TAG;
        posted[i].want[0] = -1;
    }
}

/* The plain model; returns how many messages found no receive. */
static int match_all(void)
{
    int sender, i, k, unmatched = 0;

    for (sender = 0; sender < test_size; sender++)
        for (i = 0; i < messages_per_sender(); i++) {
            const int tag = tag_of(sender, i);

            for (k = 0; k < POSTED; k++)
                if (posted[k].want[0] < 0 &&
                    (posted[k].source == sender || posted[k].source == MPI_ANY_SOURCE) &&
                    (posted[k].tag == tag || posted[k].tag == MPI_ANY_TAG))
                    break;
            if (sender == test_rank)
                is_matched[i] = k < POSTED;
            if (k == POSTED) {
                unmatched++;
                continue;
            }
            posted[k].want[0] = sender;
            posted[k].want[1] = tag;
            posted[k].want[2] = i;
        }
    return unmatched;
}

/* Synchronous where the model knows of a receive: when this returns, all of them have been matched. The
 * others' requests stay open until finish_mine(). */
static void send_mine(int (*values)[3], MPI_Request *reqs)
{
    int i;

    for (i = 0; i < messages_per_sender(); i++) {
        values[i][0] = test_rank;
        values[i][1] = tag_of(test_rank, i);
        values[i][2] = i;
        reqs[i] = MPI_REQUEST_NULL;
        if (is_matched[i])
            CHECK_OK(MPI_Ssend(values[i], 3, MPI_INT, 0, values[i][1], MPI_COMM_WORLD));
        else
            CHECK_OK(MPI_Isend(values[i], 3, MPI_INT, 0, values[i][1], MPI_COMM_WORLD, &reqs[i]));
    }
}

/* Rank 0 lets the others send one after the other. */
static void direct_senders(MPI_Comm control)
{
    int sender;

    for (sender = 1; sender < test_size; sender++) {
        CHECK_OK(MPI_Send(NULL, 0, MPI_INT, sender, TAG_GO, control));
        CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, sender, TAG_GO, control, MPI_STATUS_IGNORE));
    }
}

static void check_receives(MPI_Request *reqs)
{
    MPI_Status st;
    int i, is_done, is_cancelled;

    for (i = 0; i < POSTED; i++) {
        if (posted[i].want[0] < 0) {
            CHECK_OK(MPI_Test(&reqs[i], &is_done, &st));
            CHECK(!is_done, "receive %d (source %d, tag %d) got a message of %d that belongs to another", i,
                  posted[i].source, posted[i].tag, st.MPI_SOURCE);
            CHECK_OK(MPI_Cancel(&reqs[i]));
            CHECK_OK(MPI_Wait(&reqs[i], &st));
            CHECK_OK(MPI_Test_cancelled(&st, &is_cancelled));
            CHECK_INT(is_cancelled, 1);
            continue;
        }
        CHECK_OK(MPI_Wait(&reqs[i], &st));
        CHECK(memcmp(posted[i].value, posted[i].want, sizeof posted[i].want) == 0,
              "receive %d (source %d, tag %d): expected message %d of %d (tag %d), got %d of %d (tag %d)", i,
              posted[i].source, posted[i].tag, posted[i].want[2], posted[i].want[0], posted[i].want[1],
              posted[i].value[2], posted[i].value[0], posted[i].value[1]);
        CHECK_STATUS(&st, posted[i].want[0], posted[i].want[1], 3 * sizeof(int));
    }
}

static void receive_rest(int unmatched)
{
    int value[3];

    while (unmatched-- > 0)
        CHECK_OK(MPI_Recv(value, 3, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    MPI_Request reqs[POSTED], sends[POSTED];
    static int values[POSTED][3];
    MPI_Comm control;
    int i, unmatched;

    test_begin(&argc, &argv);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &control));
    choose_receives();
    unmatched = match_all();
    if (test_rank == 0) {
        for (i = 0; i < POSTED; i++)
            CHECK_OK(MPI_Irecv(posted[i].value, 3, MPI_INT, posted[i].source, posted[i].tag, MPI_COMM_WORLD,
                               &reqs[i]));
        send_mine(values, sends);
        direct_senders(control);
        check_receives(reqs);
        receive_rest(unmatched);
    } else {
        CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, 0, TAG_GO, control, MPI_STATUS_IGNORE));
        send_mine(values, sends);
        CHECK_OK(MPI_Send(NULL, 0, MPI_INT, 0, TAG_GO, control));
    }
    CHECK_OK(MPI_Waitall(messages_per_sender(), sends, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Comm_free(&control));
    return test_end();
}
