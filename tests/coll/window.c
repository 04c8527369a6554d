/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §6.12: some nonblocking calls are always under way, each rank completes them in an order of its own, and now
 * and then one is late. So many of them that whatever the library numbers them by goes around. */
#include <unistd.h>

#include "mpitest.h"

enum { WINDOW = 20, KINDS = 5, LATE_EVERY = 500, CALLS = 40000 };

struct call {
    int kind, number;           /* number -1: none */
    int in, out;
    int all[64];
};

static struct call calls[WINDOW];
static MPI_Request reqs[WINDOW];

static void start(int at, int number)
{
    struct call *c = &calls[at];
    const int root = number % test_size;
    uint64_t state = test_key(7, (uint64_t)number, 70);

    c->kind = (int)test_below(&state, KINDS);
    c->number = number;
    c->in = number + test_rank;
    c->out = c->kind == 0 && root == test_rank ? number : -1;
    switch (c->kind) {
    case 0: CHECK_OK(MPI_Ibcast(&c->out, 1, MPI_INT, root, MPI_COMM_WORLD, &reqs[at])); break;
    case 1: CHECK_OK(MPI_Iallreduce(&c->in, &c->out, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &reqs[at])); break;
    case 2: CHECK_OK(MPI_Iexscan(&c->in, &c->out, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &reqs[at])); break;
    case 3: CHECK_OK(MPI_Iallgather(&c->in, 1, MPI_INT, c->all, 1, MPI_INT, MPI_COMM_WORLD, &reqs[at])); break;
    default: CHECK_OK(MPI_Ibarrier(MPI_COMM_WORLD, &reqs[at])); break;
    }
}

static void check(const struct call *c)
{
    int i;

    if (c->kind == 0)
        CHECK_INT(c->out, c->number);
    else if (c->kind == 1)
        CHECK_INT(c->out, c->number + test_size - 1);
    else if (c->kind == 2 && test_rank)
        CHECK_INT(c->out, c->number + test_rank - 1);
    for (i = 0; i < test_size && c->kind == 3; i++)
        CHECK_INT(c->all[i], c->number + i);
}

int main(int argc, char **argv)
{
    uint64_t state;
    int next;

    test_begin(&argc, &argv);
    CHECK(test_size <= 64, "at most 64 ranks");
    state = test_key((uint64_t)test_rank, 1, 71);
    for (next = 0; next < WINDOW; next++)
        start(next, next);
    while (next < CALLS) {
        const int at = (int)test_below(&state, WINDOW);

        if (!test_below(&state, LATE_EVERY))
            usleep(3000);
        CHECK_OK(MPI_Wait(&reqs[at], MPI_STATUS_IGNORE));
        check(&calls[at]);
        start(at, next++);
    }
    CHECK_OK(MPI_Waitall(WINDOW, reqs, MPI_STATUSES_IGNORE));
    for (next = 0; next < WINDOW; next++)
        check(&calls[next]);
    return test_end();
}
