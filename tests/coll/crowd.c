/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §6.12 to §6.14: many nonblocking and persistent collective calls under way at once, on one communicator
 * matched by their order, on several started in another order by every process; blocking ones between them; beside
 * them messages to wildcard receives. Completed in any order by every completing function; each byte of all buffers is
 * what a plain model says. Arguments: one|many, and groups|sides|neighbors. Environment as for `every`; TEST_CASES:
 * rounds. */
#include "play.h"

#include <sched.h>

enum { ROUNDS = 25, MOST_CALLS = 24, MESSAGES = 6, MOST_REQUESTS = MOST_CALLS + 2 * MESSAGES, TAGS = 3 };

/* The messages of a round on the communicator of the messages. */
struct mail {
    int out[MESSAGES][2], in[MESSAGES][2]; /* round and number */
    MPI_Request sends[MESSAGES], receives[MESSAGES];
};

static struct play *calls;
static int call_count;
static struct mail mail;
static MPI_Request requests[MOST_REQUESTS];
static uint64_t own; /* choices of this process */
static bool is_missing[OPERATIONS][FORMS];
static const char *missing_name;

/* ---- messages -------------------------------------------------------------------------------------------- */

static void mail_receives(void)
{
    int i;

    for (i = 0; i < MESSAGES; i++)
        CHECK_OK(MPI_Irecv(mail.in[i], 2, MPI_INT, MPI_ANY_SOURCE, i % 2 ? MPI_ANY_TAG : i / 2 % TAGS,
                           MPI_COMM_WORLD, &mail.receives[i]));
}

/* Receives that take one tag only come first in their pair, so every message finds one: two of each tag. */
static void mail_sends(int round)
{
    int i;

    for (i = 0; i < MESSAGES; i++) {
        mail.out[i][0] = round;
        mail.out[i][1] = i;
        CHECK_OK(MPI_Isend(mail.out[i], 2, MPI_INT, (test_rank + 1) % test_size, i / 2 % TAGS, MPI_COMM_WORLD,
                           &mail.sends[i]));
    }
}

static void mail_check(int round)
{
    int i, seen = 0;

    for (i = 0; i < MESSAGES; i++) {
        CHECK(mail.in[i][0] == round, "a receive of round %d got a message of round %d", round, mail.in[i][0]);
        seen |= 1 << mail.in[i][1];
    }
    CHECK(seen == (1 << MESSAGES) - 1, "messages 0x%x of round %d have come", (unsigned)seen, round);
}

/* ---- calls ----------------------------------------------------------------------------------------------- */

static void note_missing(const struct play *p)
{
    is_missing[p->m.operation - operations][p->form] = true;
    missing_name = p->m.operation->name;
}

/* Plan and make a call; a persistent one is not started, a blocking one is over afterwards. */
static void begin_call(struct play *p)
{
    play_fill(p, 0);
    play_call(p);
    if (p->is_missing)
        note_missing(p);
}

static void start_call(struct play *p)
{
    if (p->form % 3 != PERSISTENT)
        begin_call(p);
    else if (!p->is_missing)
        play_check_code(p, "MPI_Start", MPI_Start(&p->request));
}

/* The same list at all processes: operation, form and communicator of each call. */
static void plan_calls(int round, int place_limit)
{
    uint64_t state = test_key((uint64_t)round, 0, 94);
    const struct place *place;
    const struct operation *o;
    enum form form;
    int n = 1 + (int)test_below(&state, MOST_CALLS);

    for (call_count = 0; n > 0; n--) {
        place = &places[test_below(&state, (size_t)place_limit)];
        o = &operations[test_below(&state, OPERATIONS)];
        form = (enum form)test_below(&state, FORMS);
        if (place_limit > 1 && form % 3 == BLOCKING)
            form = (enum form)(form + 1); /* another order at another process: it could wait for ever */
        if (!plain_allows(o, place) || is_missing[o - operations][form] || place->comm == MPI_COMM_NULL)
            continue;
        play_plan(&calls[call_count++], o, form, place, test_key((uint64_t)round, (uint64_t)n, 93));
        if (test_rank == 0 && getenv("TEST_VERBOSE"))
            fprintf(stderr, "%s: %s\n", play_label, calls[call_count - 1].name);
    }
}

/* Persistent calls are made by all processes in one order. */
static void make_persistent(void)
{
    int i;

    for (i = 0; i < call_count; i++)
        if (calls[i].form % 3 == PERSISTENT)
            begin_call(&calls[i]);
}

/* In the order of the list on each communicator; which communicator comes next is this process's own choice. */
static void start_calls(bool is_one, int round)
{
    bool is_started[MOST_CALLS] = { false };
    int i, left;

    for (left = call_count; left > 0; left--) {
        const struct place *place;

        if (left == call_count / 2)
            mail_sends(round);
        do
            i = is_one ? 0 : (int)test_below(&own, (size_t)call_count);
        while (!is_one && is_started[i]);
        place = calls[i].m.place;
        for (i = 0; is_started[i] || (!is_one && calls[i].m.place != place); i++)
            ;
        is_started[i] = true;
        start_call(&calls[i]);
    }
    if (call_count < 2)
        mail_sends(round);
}

/* ---- completing ------------------------------------------------------------------------------------------ */

static int collect(void)
{
    int n = 0, i;

    for (i = 0; i < call_count; i++)
        if (!calls[i].is_missing && calls[i].form % 3 != BLOCKING)
            requests[n++] = calls[i].request;
    for (i = 0; i < MESSAGES; i++) {
        requests[n++] = mail.sends[i];
        requests[n++] = mail.receives[i];
    }
    return n;
}

/* Persistent requests are inactive now, and theirs again; all others are gone. */
static void give_back(void)
{
    int n = 0, i;

    for (i = 0; i < call_count; i++) {
        if (calls[i].is_missing || calls[i].form % 3 == BLOCKING)
            continue;
        CHECK((requests[n] == MPI_REQUEST_NULL) == (calls[i].form % 3 != PERSISTENT),
              "%s: the request after completion", calls[i].name);
        calls[i].request = requests[n++];
    }
    for (i = 0; i < 2 * MESSAGES; i++)
        CHECK(requests[n + i] == MPI_REQUEST_NULL, "the request of a message after completion");
}

static void each_alone(int n, bool by_test)
{
    const int first = (int)test_below(&own, (size_t)n);
    int left = n, flag, i;
    bool is_done[MOST_REQUESTS] = { false };

    for (i = 0; i < n && !by_test; i++)
        CHECK_OK(MPI_Wait(&requests[(first + i) % n], MPI_STATUS_IGNORE));
    for (i = first; by_test && left > 0; i = (i + 1) % n) {
        if (is_done[i])
            continue;
        CHECK_OK(MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE));
        is_done[i] = flag;
        left -= flag;
        if (!flag)
            sched_yield();
    }
}

static void any_of(int n, bool by_test)
{
    int index = 0, flag = 1;

    for (; index != MPI_UNDEFINED || !flag; sched_yield())
        if (by_test)
            CHECK_OK(MPI_Testany(n, requests, &index, &flag, MPI_STATUS_IGNORE));
        else
            CHECK_OK(MPI_Waitany(n, requests, &index, MPI_STATUS_IGNORE));
}

static void some_of(int n, bool by_test)
{
    int indices[MOST_REQUESTS], count = 0;
    MPI_Status statuses[MOST_REQUESTS];

    for (; count != MPI_UNDEFINED; sched_yield())
        if (by_test)
            CHECK_OK(MPI_Testsome(n, requests, &count, indices, statuses));
        else
            CHECK_OK(MPI_Waitsome(n, requests, &count, indices, MPI_STATUSES_IGNORE));
}

static void complete_all(void)
{
    const int n = collect();
    MPI_Status statuses[MOST_REQUESTS];
    int flag = 0;

    switch (test_below(&own, 8)) {
    case 0: each_alone(n, false); break;
    case 1: each_alone(n, true); break;
    case 2: any_of(n, false); break;
    case 3: any_of(n, true); break;
    case 4: some_of(n, false); break;
    case 5: some_of(n, true); break;
    case 6: CHECK_OK(MPI_Waitall(n, requests, statuses)); break;
    default:
        for (; !flag; sched_yield())
            CHECK_OK(MPI_Testall(n, requests, &flag, statuses));
        break;
    }
    give_back();
}

/* ---- a round --------------------------------------------------------------------------------------------- */

static void check_calls(void)
{
    int i;

    for (i = 0; i < call_count; i++)
        play_check(&calls[i]);
}

/* All persistent calls once more, with other contents. */
static void run_again(void)
{
    int n = 0, i;

    for (i = 0; i < call_count; i++)
        if (calls[i].form % 3 == PERSISTENT && !calls[i].is_missing) {
            play_fill(&calls[i], 1);
            requests[n++] = calls[i].request;
        }
    CHECK_OK(MPI_Startall(n, requests));
    CHECK_OK(MPI_Waitall(n, requests, MPI_STATUSES_IGNORE));
    for (n = i = 0; i < call_count; i++)
        if (calls[i].form % 3 == PERSISTENT && !calls[i].is_missing) {
            calls[i].request = requests[n++];
            play_check(&calls[i]);
        }
}

static void run_round(int round, bool is_one, int place_limit)
{
    int i;

    snprintf(play_label, sizeof play_label, "round %d", round);
    plan_calls(round, place_limit);
    make_persistent();
    mail_receives();
    start_calls(is_one, round);
    complete_all();
    mail_check(round);
    check_calls();
    run_again();
    for (i = 0; i < call_count; i++)
        play_free(&calls[i]);
}

int main(int argc, char **argv)
{
    const char *text = getenv("TEST_CASES");
    long rounds = text ? strtol(text, NULL, 0) : ROUNDS;
    int round;
    bool is_one;

    test_begin(&argc, &argv);
    CHECK(argc == 3, "usage: crowd one|many groups|sides|neighbors");
    is_one = strcmp(argv[1], "one") == 0;
    own = test_key((uint64_t)test_rank, 0, 92);
    calls = test_alloc(sizeof *calls * MOST_CALLS);
    cells_begin();
    places_begin(argv[2][0] == 'g', argv[2][0] == 's', argv[2][0] == 'n');
    for (round = 0; round < rounds && place_count; round++)
        run_round(round, is_one, is_one ? 1 : place_count);
    places_end();
    cells_end();
    free(calls);
    if (missing_name)
        test_skip("not implemented: a form of MPI_%s", missing_name);
    return test_end();
}
