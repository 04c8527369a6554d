/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of the model that chooses protocols: machines with given costs are played to it, and what it asks for must
 * be what is cheaper there; when the costs change, it must find out by its trials. */
#include "p2p/speed.h"

#include "base/check.h"
#include "sys/clock.h"

enum { EAGER_MAX = 32768 };

/* A machine: ns per byte of reading a cell, of a copy by the system (and its fixed cost), of a stream. */
struct machine {
    double cell, fixed, byte, stream;
};

static uint64_t ago(double ns)
{
    return clock_ns() - (uint64_t)ns;
}

/* One message as the sender would send it; true if it was offered. */
static bool message(struct speed *speed, const struct machine *m, size_t len)
{
    const bool is_timed = speed_start(speed) != 0;

    if (len > (speed->limit ? speed->limit : EAGER_MAX)) {
        speed_alone(speed, len, is_timed ? ago(m->fixed + m->byte * (double)len) : 0, EAGER_MAX);
        return true;
    }
    speed_eager(speed, len, is_timed ? ago(m->cell * (double)len) : 0, EAGER_MAX);
    return false;
}

/* How many of `n` messages were offered. */
static int offered(struct speed *speed, const struct machine *m, size_t len, int n)
{
    int count = 0;

    for (int i = 0; i < n; i++)
        count += message(speed, m, len);
    return count;
}

/* Lines between the cores are dear; lines are cheap. Times are long, so that the clock's own cost does not show. */
static const struct machine far = { 45, 400e3, 20, 33 }, near = { 8, 400e3, 40, 10 };

static void test_limit(void)
{
    struct speed speed = { 0 };

    offered(&speed, &far, 16384, 100);
    CHECK_INT(offered(&speed, &far, 16384, 400), 400);
    CHECK_INT(speed.limit, 8192);
    CHECK(offered(&speed, &near, 16384, 20000) < 20000 - 5000);
    CHECK(offered(&speed, &near, 16384, 5120) < 200);
    offered(&speed, &far, 16384, 20000);
    CHECK(offered(&speed, &far, 16384, 5120) > 5120 - 200);
}

/* What is offered may come in pieces, if that is faster than the system's copy: eager ones are tried all the same. */
static void test_streamed(void)
{
    struct speed speed = { 0 };

    offered(&speed, &far, 16384, 500);
    CHECK_INT(speed.limit, 8192);
    for (int i = 0; i < 2000; i++) {
        if (speed.limit < 16384)
            speed_streamed(&speed, 16384, EAGER_MAX);
        else
            message(&speed, &near, 16384);
    }
    CHECK_INT(speed.limit, EAGER_MAX);
    speed_streamed(&speed, EAGER_MAX + 1, EAGER_MAX);
    CHECK_INT(speed.limit, EAGER_MAX);
}

/* Each class of lengths has its own answer. */
static void test_classes(void)
{
    const struct machine middle = { 20, 400e3, 20, 20 }; /* 16 KB eager 410e3 against 728e3; 32 KB 1311e3, 1055e3 */
    struct speed speed = { 0 };

    for (int i = 0; i < 2000; i++) {
        message(&speed, &middle, 12288);
        message(&speed, &middle, 32768);
    }
    CHECK_INT(speed.limit, 16384);
}

/* A peer whose memory cannot be copied is never asked for anything, since nothing of it is ever given to the model. */
static void test_nothing_seen(void)
{
    struct speed speed = { 0 };

    CHECK_INT(speed.limit, 0);
    CHECK(!speed_long_begin(&speed, 1 << 20));
    CHECK(speed_of_long(&speed, 1 << 20)->together <= 0 && speed_of_long(&speed, 1 << 20)->stream <= 0);
    offered(&speed, &far, 32768, 1000);
    CHECK(speed.limit > 0 && speed.limit <= EAGER_MAX);
}

/* Longer ones than usual are asked for and no longer, whatever trial of shorter ones there is. */
static void test_longer(void)
{
    struct speed speed = { 0 };

    speed_longer(&speed, 65536, EAGER_MAX);
    CHECK_INT(speed.limit, 65536);
    for (int i = 0; i < 1000; i++)
        speed_eager(&speed, 50000, speed_start(&speed), EAGER_MAX);
    CHECK_INT(speed.limit, 65536);
    speed_eager(&speed, 16384, 0, EAGER_MAX);
    CHECK_INT(speed.limit, SPEED_TIMED_MIN);
    speed_longer(&speed, 65536, EAGER_MAX);
    CHECK_INT(speed.limit, 65536);
    speed_longer(&speed, 0, EAGER_MAX);
    CHECK_INT(speed.limit, EAGER_MAX);
    offered(&speed, &far, 16384, 500);
    speed_longer(&speed, 65536, EAGER_MAX);
    CHECK_INT(speed.limit, 8192);
}

static void pass_of(struct speed_long *known, int classes, double ns)
{
    for (int class = 0; class < classes; class++)
        if (known[class].since)
            known[class].since -= (uint64_t)ns;
}

/* `ns` pass. */
static void pass(struct speed *speed, double ns)
{
    pass_of(speed->longs, SPEED_LONG_CLASSES, ns);
    pass_of(speed->gaps, SPEED_BLOCK_CLASSES, ns);
}

/* `n` long messages, `window` of them on their way at a time, moved as the model says; how many by stream. None comes
 * in before those before it have, and several at once. */
static int in_windows(struct speed *speed, const struct machine *m, size_t len, int n, int window)
{
    int count = 0;

    for (int i = 0; i < n; i += window) {
        double ns = 0;
        for (int w = 0; w < window; w++) {
            const bool is_stream = speed_long_begin(speed, len);
            count += is_stream;
            ns += (is_stream ? m->stream : m->byte) * (double)len;
        }
        for (int w = 0; w < window; w++) {
            if (w % 8 == 0)
                pass(speed, ns * 8 / (window < 8 ? 8 : window));
            speed_long_end(speed, len);
        }
    }
    return count;
}

/* The same as a row without an end: whenever one comes in, the next one begins. */
static int in_row(struct speed *speed, const struct machine *m, size_t len, int n, int window)
{
    bool way[64];
    int count = 0;

    for (int i = 0; i < n + window; i++) {
        if (i >= window) {
            pass(speed, (way[i % window] ? m->stream : m->byte) * (double)len);
            speed_long_end(speed, len);
        }
        if (i < n)
            count += way[i % window] = speed_long_begin(speed, len);
    }
    return count;
}

static int streamed(struct speed *speed, const struct machine *m, size_t len, int n)
{
    return in_windows(speed, m, len, n, 1);
}

static void test_stream(void)
{
    struct speed speed = { 0 };

    CHECK(streamed(&speed, &near, 1 << 20, 20000) > 18000);
    CHECK(streamed(&speed, &near, 1 << 20, 5120) > 4900);
    streamed(&speed, &far, 1 << 20, 20000);
    CHECK(streamed(&speed, &far, 1 << 20, 5120) < 200);
}

/* Who waits for others is not slow. */
static void test_windows(void)
{
    static const int window[] = { 2, 5, 16, 64, 300 };

    for (int i = 0; i < 5; i++) {
        struct speed speed = { 0 };
        in_windows(&speed, &near, 1 << 20, 20000, window[i]);
        CHECK(in_windows(&speed, &near, 1 << 20, 48000, window[i]) > 44000);
        CHECK(speed.longs[4].stream < 12 && speed.longs[4].together < 45);
        in_windows(&speed, &far, 1 << 20, 10000 * (window[i] + 10), window[i]);
        CHECK(in_windows(&speed, &far, 1 << 20, 48000, window[i]) < 4000);
    }
}

static void test_row(void)
{
    static const int window[] = { 2, 5, 16, 64 };

    for (int i = 0; i < 4; i++) {
        struct speed speed = { 0 };
        in_row(&speed, &near, 1 << 20, 20000, window[i]);
        CHECK(in_row(&speed, &near, 1 << 20, 48000, window[i]) > 44000);
        in_row(&speed, &far, 1 << 20, 800000, window[i]);
        CHECK(in_row(&speed, &far, 1 << 20, 48000, window[i]) < 4000);
    }
}

/* The first messages of a process are slow for reasons of their own: that is found out soon. */
static void test_first(void)
{
    const struct machine cold = { 8, 400e3, 80, 300 };
    struct speed speed = { 0 };

    in_windows(&speed, &cold, 65536, 640, 64);
    CHECK(in_windows(&speed, &near, 65536, 6400, 64) > 4000);
}

/* What ends after all has been forgotten does not count. */
static void test_forgotten(void)
{
    struct speed speed = { 0 };

    speed_long_begin(&speed, 65536);
    speed = (struct speed){ 0 };
    speed_long_end(&speed, 65536);
    CHECK_INT(speed.longs[0].moving, 0);
}

/* What comes without an offer is not settled for ever. */
static void test_long_eager(void)
{
    struct speed speed = { 0 };
    int count = 0;

    CHECK(!speed_long_eager(&speed, 65536)); /* no way was ever chosen */
    while (!in_windows(&speed, &near, 65536, 1, 1) || speed.longs[0].is_trial)
        count++;
    CHECK(count < 1000);
    for (count = 0; !speed_long_eager(&speed, 65536); count++)
        CHECK(count < 10000);
    CHECK_INT(in_windows(&speed, &far, 65536, 16, 1), 0);
}

/* What takes longer without an offer than by the system, three times in a row, is offered for some trials. */
static void test_slow_eager(void)
{
    struct speed speed = { 0 };
    uint64_t slow;

    CHECK(!speed_eager_is_slow(&speed, 65536, 1000000)); /* there is nothing to compare it with */
    while (!in_windows(&speed, &near, 65536, 1, 1) || speed.longs[0].is_trial)
        ;
    slow = (uint64_t)(speed.longs[0].together * 65536);
    for (int i = 0; i < 5; i++) {
        CHECK(!speed_eager_is_slow(&speed, 65536, slow) && !speed_eager_is_slow(&speed, 65536, slow));
        CHECK(!speed_eager_is_slow(&speed, 65536, slow / 2));
    }
    CHECK(!speed_eager_is_barred(&speed, 65536));
    for (int i = 0; i < 3; i++)
        CHECK_INT(speed_eager_is_slow(&speed, 65536, slow), i == 2);
    CHECK(speed_eager_is_barred(&speed, 65536) && !speed_eager_is_barred(&speed, 65537));
    in_windows(&speed, &near, 65536, 100, 1);
    CHECK(speed_eager_is_barred(&speed, 65536));
    in_windows(&speed, &near, 65536, 1000000, 1);
    CHECK(!speed_eager_is_barred(&speed, 65536));
}

/* Lengths of different classes go different ways, and what is hopeless is tried seldom. */
static void test_long_classes(void)
{
    const struct machine hopeless = { 8, 400e3, 10, 50 };
    struct speed speed = { 0 };

    for (int i = 0; i < 20000; i++) {
        streamed(&speed, &near, 40000, 1);
        streamed(&speed, &far, 1 << 20, 1);
        streamed(&speed, &hopeless, 100000, 1);
    }
    CHECK(streamed(&speed, &near, 40000, 512) > 400);
    CHECK(streamed(&speed, &far, 1 << 20, 512) < 100);
    CHECK(streamed(&speed, &hopeless, 100000, 81920) < 200);
}

/* 5120 messages of 1 MB with gaps, `window` of them on their way at a time; each takes so many ns a byte, and none
 * comes in before those before it have. How many are packed. */
static int packed(struct speed *speed, size_t block, double listed_cost, double packed_cost, int window)
{
    int count = 0;

    for (int i = 0; i < 5120; i += window) {
        double ns = 0;
        for (int w = 0; w < window; w++) {
            const bool is_packed = speed_gaps_begin(speed, block);
            count += is_packed;
            ns += (is_packed ? packed_cost : listed_cost) * (1 << 20);
        }
        for (int w = 0; w < window; w++) {
            pass(speed, ns / window);
            speed_gaps_end(speed, block, 1 << 20);
        }
    }
    return count;
}

/* They go the faster way, by the length of their blocks, also when it becomes another one. */
static void test_gaps(void)
{
    struct speed speed = { 0 };

    CHECK(packed(&speed, 1500, 40, 20, 1) > 4500);
    CHECK(packed(&speed, 5000, 10, 20, 1) < 500);
    CHECK(packed(&speed, 1 << 20, 10, 20, 1) < 500);
    CHECK(packed(&speed, 1500, 40, 20, 1) > 4800);
    packed(&speed, 1500, 10, 20, 1);
    CHECK(packed(&speed, 1500, 10, 20, 1) < 300);
    packed(&speed, 1500, 20, 18, 1); /* a little faster is faster */
    CHECK(packed(&speed, 1500, 20, 18, 1) > 4800);
}

/* Those of a window wait for each other, which tells nothing of their way: neither in windows nor after them is the
 * slower one taken. */
static void test_gaps_in_windows(void)
{
    static const int window[] = { 2, 5, 16, 64 };

    for (int i = 0; i < 4; i++) {
        struct speed speed = { 0 };
        packed(&speed, 1500, 40, 20, window[i]);
        CHECK(packed(&speed, 1500, 40, 20, window[i]) > 4500);
        CHECK(speed_of_gaps(&speed, 1500)->together < 45 && speed_of_gaps(&speed, 1500)->stream < 25);
        CHECK(packed(&speed, 1500, 40, 20, 1) > 4500);
        for (int more = 0; more < 20; more++)
            packed(&speed, 1500, 10, 20, window[i]);
        CHECK(packed(&speed, 1500, 10, 20, window[i]) < 600);
    }
}

int main(void)
{
    test_limit();
    test_streamed();
    test_classes();
    test_nothing_seen();
    test_longer();
    test_stream();
    test_windows();
    test_row();
    test_first();
    test_forgotten();
    test_long_eager();
    test_slow_eager();
    test_long_classes();
    test_gaps();
    test_gaps_in_windows();
    return 0;
}
