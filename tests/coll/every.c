/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §6, §8.6 to §8.8: every collective operation in every form, with random counts, displacements, datatypes,
 * operators, roots, in place and not, on communicators of every kind, one after the other: each byte of all buffers is
 * what a plain model says, and none beside them is touched. Persistent ones run three times. Arguments: blocking|
 * nonblocking|persistent and groups|sides|neighbors. Environment: TEST_SEED, TEST_CASES (how many), TEST_CASE (only
 * that one), TEST_VERBOSE (rank 0 says what comes next). */
#include "play.h"

#include <sched.h>

enum { CASES = 1200, ROUNDS = 3 };

static bool is_missing[OPERATIONS][FORMS];

static long number_of(const char *name, long otherwise)
{
    const char *text = getenv(name);

    return text ? strtol(text, NULL, 0) : otherwise;
}

/* Wait in one of several ways; a persistent request stays, others are gone. */
static void complete(struct play *p)
{
    MPI_Status status = test_dirty_status();
    int flag = 0, index = -1;

    switch (test_below(&p->state, 5)) {
    case 0: play_check_code(p, "MPI_Wait", MPI_Wait(&p->request, &status)); break;
    case 1: play_check_code(p, "MPI_Waitall", MPI_Waitall(1, &p->request, MPI_STATUSES_IGNORE)); break;
    case 2: play_check_code(p, "MPI_Waitany", MPI_Waitany(1, &p->request, &index, MPI_STATUS_IGNORE)); break;
    case 3:
        for (; !flag; sched_yield())
            play_check_code(p, "MPI_Request_get_status", MPI_Request_get_status(p->request, &flag, &status));
        /* fall through */
    default:
        for (flag = 0; !flag; sched_yield())
            play_check_code(p, "MPI_Test", MPI_Test(&p->request, &flag, MPI_STATUS_IGNORE));
        break;
    }
    CHECK((p->request == MPI_REQUEST_NULL) == (p->form % 3 != PERSISTENT), "%s: the request after completion",
          p->name);
}

static void run_rounds(struct play *p)
{
    int round;

    for (round = 0; round < ROUNDS; round++) {
        play_fill(p, round);
        play_check_code(p, "MPI_Start", MPI_Start(&p->request));
        complete(p);
        play_check(p);
    }
}

static void run(int number, const struct operation *o, enum form form, const struct place *place)
{
    static struct play p;

    if (is_missing[o - operations][form] || place->comm == MPI_COMM_NULL)
        return;
    play_plan(&p, o, form, place, test_key((uint64_t)number, 0, 97));
    snprintf(play_label, sizeof play_label, "TEST_CASE=%d", number);
    if (test_rank == 0 && getenv("TEST_VERBOSE"))
        fprintf(stderr, "%s: %s\n", play_label, p.name);
    play_fill(&p, 0);
    play_call(&p);
    is_missing[o - operations][form] = p.is_missing;
    if (!p.is_missing && form % 3 == PERSISTENT)
        run_rounds(&p);
    else if (!p.is_missing && form % 3 == NONBLOCKING)
        complete(&p);
    play_check(&p);
    play_free(&p);
}

static void run_all(enum form first)
{
    const long cases = number_of("TEST_CASES", CASES), only = number_of("TEST_CASE", -1);
    const struct operation *allowed[OPERATIONS];
    uint64_t state = test_key(0, 0, 99);
    int number, n = 0;

    for (number = 0; number < OPERATIONS && place_count; number++)
        if (plain_allows(&operations[number], &places[0]))
            allowed[n++] = &operations[number];
    for (number = 0; number < cases && n; number++) {
        const enum form form = (enum form)(first + number / n % 2 * BLOCKING_C);
        const struct place *place = &places[test_below(&state, (size_t)place_count)];

        if (only < 0 || only == number)
            run(number, allowed[number % n], form, place);
    }
}

/* What the library has not yet; the rest has been tested. */
static void skip_missing(void)
{
    int o, form;

    for (o = 0; o < OPERATIONS; o++)
        for (form = 0; form < FORMS; form++)
            if (is_missing[o][form])
                test_skip("not implemented: %s in form %d", operations[o].name, form);
}

int main(int argc, char **argv)
{
    static const char *const forms[] = { "blocking", "nonblocking", "persistent" };
    int form = 0;

    test_begin(&argc, &argv);
    CHECK(argc == 3, "usage: every blocking|nonblocking|persistent groups|sides|neighbors");
    while (form < PERSISTENT && strcmp(argv[1], forms[form]) != 0)
        form++;
    cells_begin();
    places_begin(argv[2][0] == 'g', argv[2][0] == 's', argv[2][0] == 'n');
    run_all((enum form)form);
    places_end();
    cells_end();
    skip_missing();
    return test_end();
}
