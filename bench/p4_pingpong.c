/* SPDX-License-Identifier: BSD-3-Clause */
/* Bench: half a round trip of p4_send and p4_recv between processes 0 and 1, and messages a second one way. Knows
 * p4.h only and no language later than C90's, so it also runs on the original. Start it with a procgroup file "local
 * 1": p4_pingpong -p4pg FILE [BYTES [ROUND TRIPS [BATCHES]]] Prints the median over the batches of each, and the best
 * batch of the first: "latency BYTES us", "latency.best BYTES us", "rate BYTES messages/s". */
#include "p4.h"

enum { PING = 1, WINDOW = 200, MAX_BATCHES = 1000 };

static int size = 8, reps = 2000, batches = 25;
static char *data;

static void take(int from)
{
    char *msg = NULL;
    int type = PING, len;

    p4_recv(&type, &from, &msg, &len);
    if (len != size && len != 1)
        p4_error("a message of wrong length", len);
    p4_msg_free(msg);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double now(void)
{
    struct timeval t;

    gettimeofday(&t, NULL);
    return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

/* Seconds of one batch of round trips. */
static double round_trips(int me)
{
    const double start = now();
    int i;

    for (i = 0; i < reps; i++) {
        if (me == 0)
            p4_send(PING, 1, data, size);
        take(1 - me);
        if (me == 1)
            p4_send(PING, 0, data, size);
    }
    return now() - start;
}

/* Seconds of one batch of windows one way, each answered by one byte. */
static double one_way(int me)
{
    const double start = now();
    int i, w;

    for (i = 0; i < reps / WINDOW + 1; i++) {
        for (w = 0; w < WINDOW; w++) {
            if (me == 0)
                p4_send(PING, 1, data, size);
            else
                take(0);
        }
        if (me == 0)
            take(1);
        else
            p4_send(PING, 0, data, 1);
    }
    return now() - start;
}

static double median(double (*batch)(int), int me, double *best)
{
    static double seconds[MAX_BATCHES];
    int i;

    batch(me); /* warm */
    for (i = 0; i < batches; i++)
        seconds[i] = batch(me);
    qsort(seconds, (size_t)batches, sizeof seconds[0], compare);
    *best = seconds[0];
    return seconds[batches / 2];
}

int main(int argc, char **argv)
{
    double trip, way, best, best_way;
    int me;

    p4_initenv(&argc, argv);
    if (argc > 1)
        size = atoi(argv[1]);
    if (argc > 2)
        reps = atoi(argv[2]);
    if (argc > 3)
        batches = atoi(argv[3]);
    if (batches > MAX_BATCHES)
        batches = MAX_BATCHES;
    p4_create_procgroup();
    me = p4_get_my_id();
    data = (char *)calloc(1, (size_t)size + 1);
    trip = median(round_trips, me, &best);
    way = median(one_way, me, &best_way);
    if (me == 0) {
        printf("latency %d %.4f us\n", size, trip / reps / 2 * 1e6);
        printf("latency.best %d %.4f us\n", size, best / reps / 2 * 1e6);
        printf("rate %d %.0f messages/s\n", size, (reps / WINDOW + 1) * WINDOW / way);
    }
    p4_wait_for_end();
    return 0;
}
