/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §6.5 to §6.8: blocks of different lengths in one call, near all limits from which on a library may send them
 * in another way; blocking, nonblocking and persistent. Argument: how many calls. */
#include "mpitest.h"

enum { MOST = 300000, MOST_RANKS = 64, SHARED = 63, BLOCKING = 0, NONBLOCKING = 1, FORMS = 3, STEP = 499 };

static const int lengths[] = { 0, 1, 8, 100, 270, 544, 552, 553, 560, 561, 1000, 2047, 2048, 2049, 8183, 8184, 8185,
                               8192, 8193, 9000, 32767, 32768, 36864, 36865, 65535, 65536, 98304, 131072, MOST };

static MPI_Comm comm;
static int call, places[MOST_RANKS], sent[MOST_RANKS], got[MOST_RANKS];
static char *out, *in;

/* Of a block: each call has a few of the lengths. */
static int length(int source, int dest)
{
    const size_t kinds = sizeof lengths / sizeof *lengths;
    uint64_t state = test_key((uint64_t)call, 0, 71);
    uint64_t own = test_key((uint64_t)call, (uint64_t)(source * MOST_RANKS + dest), 72);
    const size_t few = 1 + test_below(&state, 3), first = test_below(&state, kinds);
    const size_t step = 1 + test_below(&state, kinds - 1), limit = call % 3 ? kinds : 16;

    return lengths[(first + test_below(&own, few) * step) % kinds % limit];
}

static int content(int source, int dest)
{
    return (call * 31 + source * 7 + dest * 3) & 0x7f;
}

/* The block at place `i` and all that lies behind it. */
static void check(const char *name, int i, int len, int want)
{
    const char *block = in + places[i];
    int at = 0;

    while (at < MOST) {
        if (block[at] != (at < len ? want : -1))
            test_fail(__FILE__, __LINE__, name, "call %d, from rank %d: byte %d of %d is %d, not %d", call, i, at, len,
                      block[at], at < len ? want : -1);
        if (at < len - 1)
            at = at + STEP < len - 1 ? at + STEP : len - 1;
        else
            at += at == len - 1 ? 1 : STEP;
    }
}

static void clear(void)
{
    memset(in, -1, (size_t)MOST * (size_t)test_size);
}

static void all_to_all(int form)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int i;

    for (i = 0; i < test_size; i++) {
        sent[i] = length(test_rank, i);
        got[i] = length(i, test_rank);
        memset(out + places[i], content(test_rank, i), (size_t)sent[i]);
    }
    clear();
    if (form == BLOCKING)
        CHECK_OK(MPI_Alltoallv(out, sent, places, MPI_CHAR, in, got, places, MPI_CHAR, comm));
    else if (form == NONBLOCKING)
        CHECK_OK(MPI_Ialltoallv(out, sent, places, MPI_CHAR, in, got, places, MPI_CHAR, comm, &request));
    else
        CHECK_OK(MPI_Alltoallv_init(out, sent, places, MPI_CHAR, in, got, places, MPI_CHAR, comm, MPI_INFO_NULL,
                                    &request));
    if (form > NONBLOCKING) {
        CHECK_OK(MPI_Start(&request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        clear();
        CHECK_OK(MPI_Start(&request));
    }
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    if (request != MPI_REQUEST_NULL)
        CHECK_OK(MPI_Request_free(&request));
    for (i = 0; i < test_size; i++)
        check("alltoallv", i, got[i], content(i, test_rank));
}

/* Each rank has one block. */
static void gather(int root)
{
    const int own = length(test_rank, SHARED);
    int i;

    memset(out, content(test_rank, SHARED), (size_t)own);
    for (i = 0; i < test_size; i++)
        got[i] = length(i, SHARED);
    clear();
    if (call & 1)
        memcpy(in + places[test_rank], out, (size_t)own);
    CHECK_OK(MPI_Allgatherv(call & 1 ? MPI_IN_PLACE : out, own, MPI_CHAR, in, got, places, MPI_CHAR, comm));
    for (i = 0; i < test_size; i++)
        check("allgatherv", i, got[i], content(i, SHARED));
    clear();
    CHECK_OK(MPI_Gatherv(out, own, MPI_CHAR, in, got, places, MPI_CHAR, root, comm));
    for (i = 0; i < test_size; i++)
        check("gatherv", i, test_rank == root ? got[i] : 0, content(i, SHARED));
}

static void scatter(int root)
{
    int i;

    for (i = 0; i < test_size; i++) {
        sent[i] = length(i, SHARED);
        memset(out + places[i], content(i, SHARED), (size_t)sent[i]);
    }
    clear();
    CHECK_OK(MPI_Scatterv(out, sent, places, MPI_CHAR, in, sent[test_rank], MPI_CHAR, root, comm));
    check("scatterv", 0, sent[test_rank], content(test_rank, SHARED));
}

int main(int argc, char **argv)
{
    const int calls = argc > 1 ? atoi(argv[1]) : 40;
    int i;

    test_begin(&argc, &argv);
    if (test_size >= SHARED)
        test_skip("%d ranks are too many", test_size);
    out = test_alloc((size_t)MOST * (size_t)test_size);
    in = test_alloc((size_t)MOST * (size_t)test_size);
    for (i = 0; i < test_size; i++)
        places[i] = i * MOST;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    for (call = 0; call < calls; call++) {
        all_to_all(call / 5 % FORMS);
        gather(call % test_size);
        scatter(call % test_size);
    }
    CHECK_OK(MPI_Comm_free(&comm));
    free(out);
    free(in);
    return test_end();
}
