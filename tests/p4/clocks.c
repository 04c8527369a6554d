/* SPDX-License-Identifier: BSD-3-Clause */
/* The clocks: units, agreement with each other, never backwards. */
#include "p4_test.h"

int main(int argc, char **argv)
{
    const struct timespec pause = { 0, 30000000 };
    p4_usc_time_t us, last_us;
    double seconds;
    int ms;

    p4_initenv(&argc, argv);
    p4_create_procgroup();
    ms = p4_clock();
    us = p4_ustimer();
    seconds = p4_usclock();
    CHECK(ms >= 0 && seconds >= 0);
    CHECK(seconds * 1000 >= ms && us / 1000 >= (p4_usc_time_t)ms);
    nanosleep(&pause, NULL);
    CHECK(p4_clock() - ms >= 29);
    CHECK(p4_ustimer() - us >= 30000);
    CHECK(p4_usclock() - seconds >= 0.03);
    last_us = p4_ustimer();
    for (int i = 0; i < 10000; i++) {
        us = p4_ustimer();
        CHECK(us >= last_us);
        last_us = us;
    }
    CHECK(p4_usrollover() > 1ul << 30);
    p4_wait_for_end();
    CHECK(p4_clock() >= ms);
    return 0;
}
