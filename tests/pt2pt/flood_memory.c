/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.5: messages that nobody receives yet are kept somewhere, and all of them can be received later. Under the
 * library of this project the receiver keeps a bounded part of them, and both sides give the memory back.
 *   flood_memory WAY MESSAGES BYTES [report]
 * All ranks but 0 send their part of MESSAGES to rank 0, which makes progress for a while without asking for any, and
 * then receives. WAY: send, isend (in order), reverse (MPI_Isend, received from the last one back, which needs as many
 * envelopes as there are messages). `report` prints the resident memory of each rank. Other libraries get fewer
 * messages, because their queues are linear. */
#include <unistd.h>

#include "mpitest.h"

#include <malloc.h>
#include <sched.h>

enum {
    POLLS = 1000,
    QUIET = 50,
    LIMIT_KB = 64 * 1024,
    SLACK_KB = 12 * 1024, /* less than 8 MB is not handed back */
    SENDER_KB = 512,      /* of each: a floor, what is on its way, a part that somebody waited for */
    ENVELOPE = 512,
};

static const char *way;
static int messages, len; /* of each sender */

static int is_checked(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return 0; /* a sanitizer keeps what is freed */
#else
    return test_is_parley() && !getenv("PARLEY_UNEXPECTED_MAX");
#endif
}

/* A line of /proc/self/status, in KB. */
static long status_kb(const char *name)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long kb = -1;

    CHECK(file, "no /proc/self/status");
    while (kb < 0 && fgets(line, sizeof line, file))
        if (!strncmp(line, name, strlen(name)))
            kb = atol(line + strlen(name) + 1);
    fclose(file);
    return kb;
}

static void flood(unsigned char *buf)
{
    const int is_blocking = !strcmp(way, "send");
    MPI_Request *reqs = test_alloc((size_t)messages * sizeof *reqs);
    int i;

    test_fill(buf, (size_t)len, test_key(test_rank, 0, 31));
    for (i = 0; i < messages; i++) {
        if (is_blocking)
            CHECK_OK(MPI_Send(buf, len, MPI_BYTE, 0, i, MPI_COMM_WORLD));
        else
            CHECK_OK(MPI_Isend(buf, len, MPI_BYTE, 0, i, MPI_COMM_WORLD, &reqs[i]));
    }
    if (!is_blocking)
        CHECK_OK(MPI_Waitall(messages, reqs, MPI_STATUSES_IGNORE));
    free(reqs);
}

/* Makes progress until memory has not grown for some time: whoever is slow makes the test less sharp, but no less true.
 * A message to begin with shows that the others are at it; behind the first one it must not lie if they send one by
 * one. */
static long poll_only(void)
{
    long kb = 0, now;
    int i, quiet, flag;

    CHECK_OK(MPI_Probe(MPI_ANY_SOURCE, strcmp(way, "send") ? messages / 100 : 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (quiet = 0; quiet < QUIET; quiet++) {
        for (i = 0; i < POLLS; i++)
            CHECK_OK(MPI_Iprobe(0, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
        sched_yield();
        now = status_kb("VmRSS");
        if (now > kb)
            quiet = 0;
        kb = now > kb ? now : kb;
    }
    return kb;
}

static void drain(unsigned char *buf)
{
    const int is_reverse = !strcmp(way, "reverse");
    int i, src;

    for (i = 0; i < messages; i++)
        for (src = 1; src < test_size; src++) {
            CHECK_OK(MPI_Recv(buf, len, MPI_BYTE, src, is_reverse ? messages - 1 - i : i, MPI_COMM_WORLD,
                              MPI_STATUS_IGNORE));
            CHECK_BYTES(buf, (size_t)len, test_key(src, 0, 31));
        }
}

int main(int argc, char **argv)
{
    long before, flooded = 0, peak, after, allowed;
    unsigned char *buf;

    test_begin(&argc, &argv);
    if (access("/proc/self/status", R_OK))
        test_skip("needs /proc");
    CHECK(argc >= 4, "usage: flood_memory send|isend|reverse MESSAGES BYTES [report]");
    test_needs_ranks(2);
    way = argv[1];
    messages = atoi(argv[2]) / (test_size - 1) / (test_is_parley() ? 1 : 20);
    len = atoi(argv[3]);
    buf = test_alloc((size_t)len);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    malloc_trim(0);
    before = status_kb("VmRSS");
    if (test_rank) {
        flood(buf);
    } else {
        flooded = poll_only();
        drain(buf);
    }
    peak = status_kb("VmHWM");
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    after = status_kb("VmRSS");
    if (argc > 4 && test_rank < 3)
        printf("rank %d: resident memory %ld KB before, %ld when flooded, %ld at most, %ld after\n", test_rank, before,
               flooded, peak, after);
    allowed = LIMIT_KB / 4 * 5 + SLACK_KB + (test_size - 1) * SENDER_KB;
    CHECK(!is_checked() || flooded - before < allowed, "the flood made rank 0 grow by %ld KB, allowed are %ld",
          flooded - before, allowed);
    if (!strcmp(way, "reverse"))
        allowed += (long)messages * (test_size - 1) / 1024 * ENVELOPE;
    CHECK(!is_checked() || test_rank || peak - before < allowed, "rank 0 grew by %ld KB, allowed are %ld",
          peak - before, allowed);
    CHECK(!is_checked() || after < before + before / 10 + SLACK_KB, "%ld KB before the flood, %ld after it", before,
          after);
    free(buf);
    return test_end();
}
