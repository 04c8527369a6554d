/* SPDX-License-Identifier: BSD-3-Clause */
/* Circles of contexts: shares do not overlap, what has gone rests, and comes again. */
#include "comm/int_comm.h"

#include "base/check.h"
#include "p2p/p2p.h"

enum { CIRCLES = COMM_CIRCLE_WORDS * 64 };

static int choose(uint32_t start)
{
    uint64_t busy[COMM_CIRCLE_WORDS] = { 0 };

    comm_circles_busy(busy);
    return comm_circle_choose(busy, start);
}

/* All contexts of a circle, as its members take them one after the other. */
static void test_shares(void)
{
    enum { MEMBERS = 3 };
    uint32_t last = comm_circle_first(7), ctx = 0;
    int rc = 0;

    for (int rank = 0; rank < MEMBERS; rank++) {
        int count = 0;
        CHECK(comm_circle_enter(7 + rank, rank, MEMBERS));
        CHECK(!comm_circle_enter(7 + rank, rank, MEMBERS));
        while (comm_circle_take(comm_circle_first(7 + rank), &ctx, &rc) && !rc) {
            ctx -= comm_circle_first(7 + rank) - comm_circle_first(7);
            CHECK(ctx > last && ctx < comm_circle_first(8));
            last = ctx;
            count++;
        }
        CHECK(count > 80000);
        CHECK_INT(ctx, 0);
    }
    for (int rank = 0; rank < MEMBERS; rank++)
        comm_circle_count(comm_circle_first(7 + rank), -1);
}

static void test_return(void)
{
    uint32_t one, two, again;
    int rc;

    CHECK(comm_circle_enter(20, 0, 1));
    CHECK(comm_circle_take(comm_circle_first(20), &one, &rc) && comm_circle_take(one, &two, &rc));
    comm_circle_return(one); /* it is not the last one */
    CHECK(comm_circle_take(one, &again, &rc) && again != one && again != two);
    comm_circle_return(again);
    CHECK(comm_circle_take(one, &two, &rc) && two == again);
    comm_circle_count(two, -1);
    CHECK(!comm_circle_take(8, &two, &rc) && !comm_circle_take(P2P_CTX_ABROAD, &two, &rc));
}

/* One that has gone is the last one to be had again, and while there are users it is not. */
static void test_rest(void)
{
    int first = choose(100), other;

    CHECK(comm_circle_enter(first, 0, 2));
    comm_circle_count(comm_circle_first(first), 1);
    comm_circle_count(comm_circle_first(first) + 2, -1);
    CHECK(choose((uint32_t)first) != first);
    comm_circle_count(comm_circle_first(first), -1);
    for (int i = 0; i < CIRCLES / 2; i++) {
        other = choose(100);
        CHECK(other != first);
        CHECK(comm_circle_enter(other, 0, 2));
        comm_circle_count(comm_circle_first(other), -1);
    }
    CHECK_INT(choose(100), first);
}

static void test_all_busy(void)
{
    int count = 0, circle;

    while ((circle = choose(CIRCLES - 1)) >= 0) {
        CHECK(comm_circle_enter(circle, 1, 2));
        count++;
    }
    CHECK_INT(count, CIRCLES / 2);
}

int main(void)
{
    test_shares();
    test_return();
    test_rest();
    test_all_busy();
    return 0;
}
