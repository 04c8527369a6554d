/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program does every day, by every way a message can take: short, in a cell, by an offer; contiguous and with
 * gaps; blocking and not; collective; in a thread on a communicator of its own; with long waits for somebody who
 * sleeps. Arguments: "threads" asks for MPI_THREAD_MULTIPLE; "abort" ends with MPI_Abort(7) in the last rank;
 * "truncate" with an error that ends the job. */
#include <pthread.h>
#include <time.h>

#include "mpitest.h"

enum { BIG = 3 << 20 };

static const size_t lengths[] = { 0, 1, 8, 41, 160, 161, 4096, 32768, 32769, 200000, BIG };

static unsigned char *out, *in;

static void nap(int milliseconds)
{
    const struct timespec time = { 0, milliseconds * 1000000L };

    nanosleep(&time, NULL);
}

/* Everybody to the next one, all lengths. */
static void ring(MPI_Comm comm, int tag)
{
    const int next = (test_rank + 1) % test_size, before = (test_rank + test_size - 1) % test_size;

    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        const int len = (int)lengths[i];
        memset(out, test_rank + tag + (int)i, lengths[i]);
        memset(in, 0xee, lengths[i]);
        CHECK_OK(MPI_Sendrecv(out, len, MPI_BYTE, next, tag, in, len, MPI_BYTE, before, tag, comm, MPI_STATUS_IGNORE));
        for (size_t k = 0; k < lengths[i]; k++)
            CHECK(in[k] == (unsigned char)(before + tag + (int)i), "byte %zu of %zu is %d", k, lengths[i], in[k]);
    }
}

/* Pairs with a hole in each: they cannot be copied in one run. */
static void with_gaps(void)
{
    struct pair {
        short value;
        int index;
    } *const to = (struct pair *)(void *)out, *const from = (struct pair *)(void *)in;
    const int count = BIG / (int)sizeof *to, next = (test_rank + 1) % test_size,
              before = (test_rank + test_size - 1) % test_size;

    memset(in, 0xee, BIG);
    for (int i = 0; i < count; i++) {
        to[i].value = (short)(test_rank + i);
        to[i].index = i;
    }
    CHECK_OK(MPI_Sendrecv(to, count, MPI_SHORT_INT, next, 1, from, count, MPI_SHORT_INT, before, 1, MPI_COMM_WORLD,
                          MPI_STATUS_IGNORE));
    for (int i = 0; i < count; i++) {
        CHECK_INT(from[i].value, (short)(before + i));
        CHECK_INT(from[i].index, i);
    }
}

static void collectives(MPI_Comm comm)
{
    int mine[2] = { test_rank + 1, 1 }, sum[2] = { 0, 0 };

    CHECK_OK(MPI_Barrier(comm));
    CHECK_OK(MPI_Allreduce(mine, sum, 2, MPI_INT, MPI_SUM, comm));
    CHECK_INT(sum[0], test_size * (test_size + 1) / 2);
    CHECK_INT(sum[1], test_size);
    memset(out, test_rank ? 0 : 77, BIG);
    CHECK_OK(MPI_Bcast(out, BIG, MPI_BYTE, 0, comm));
    CHECK_INT(out[BIG - 1], 77);
}

/* Whoever waits is asleep when the message comes. */
static void sleepers(void)
{
    int word = 0;

    for (int round = 0; round < 2 && test_size > 1; round++) {
        if (test_rank == round) {
            nap(15);
            for (int i = 0; i < test_size; i++)
                if (i != round)
                    CHECK_OK(MPI_Send(&round, 1, MPI_INT, i, 3, MPI_COMM_WORLD));
        } else {
            CHECK_OK(MPI_Recv(&word, 1, MPI_INT, round, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_INT(word, round);
        }
    }
}

static void *in_thread(void *comm)
{
    int sum = 0;

    CHECK_OK(MPI_Allreduce(&test_rank, &sum, 1, MPI_INT, MPI_SUM, *(MPI_Comm *)comm));
    CHECK_INT(sum, test_size * (test_size - 1) / 2);
    return NULL;
}

static void threads(void)
{
    MPI_Comm comms[3];
    pthread_t made[3];

    for (int i = 0; i < 3; i++)
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    for (int i = 0; i < 3; i++)
        CHECK(!pthread_create(&made[i], NULL, in_thread, &comms[i]), "thread %d", i);
    for (int i = 0; i < 3; i++)
        pthread_join(made[i], NULL);
    ring(comms[1], 9);
    for (int i = 0; i < 3; i++)
        CHECK_OK(MPI_Comm_free(&comms[i]));
}

/* Everybody to the next one's window, and back from there. */
static void use_window(MPI_Win win, unsigned char *mem, size_t len)
{
    const int next = (test_rank + 1) % test_size, before = (test_rank + test_size - 1) % test_size;

    memset(out, test_rank, len);
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Put(out, (int)len, MPI_BYTE, next, 0, (int)len, MPI_BYTE, win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK(mem[0] == (unsigned char)before && !memcmp(mem, mem + 1, len - 1), "%zu bytes were put by %d", len, before);
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win));
    CHECK_OK(MPI_Get(in, (int)len, MPI_BYTE, next, 0, (int)len, MPI_BYTE, win));
    CHECK_OK(MPI_Win_unlock(next, win));
    CHECK(!memcmp(in, out, len), "%zu bytes come back from %d", len, next);
    CHECK_OK(MPI_Win_free(&win));
}

static void windows(void)
{
    unsigned char *mem = test_alloc(200000);
    MPI_Win win;

    CHECK_OK(MPI_Win_create(mem, 200000, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    use_window(win, mem, 200000);
    free(mem);
    CHECK_OK(MPI_Win_allocate(BIG, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win));
    use_window(win, mem, BIG);
}

static void truncate_last(void)
{
    char word[8] = "1234567";
    MPI_Request request;

    if (test_rank != test_size - 1) {
        MPI_Barrier(MPI_COMM_WORLD);
        return;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Isend(word, 8, MPI_BYTE, test_rank, 4, MPI_COMM_WORLD, &request);
    MPI_Recv(word, 3, MPI_BYTE, test_rank, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    char name[MPI_MAX_PROCESSOR_NAME];
    int len = 0;

    if (strcmp(what, "threads"))
        test_begin(&argc, &argv);
    else
        test_begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    if (argc > 2) /* so many ranks it must be */
        CHECK_INT(test_size, atoi(argv[2]));
    if (!strcmp(what, "abort") && test_rank == test_size - 1)
        MPI_Abort(MPI_COMM_WORLD, 7);
    if (!strcmp(what, "truncate"))
        truncate_last();
    out = malloc(BIG);
    in = malloc(BIG);
    CHECK(out && in, "no memory");
    CHECK_OK(MPI_Get_processor_name(name, &len));
    CHECK(len > 0 && (size_t)len == strlen(name), "a name of %d bytes", len);
    ring(MPI_COMM_WORLD, 2);
    with_gaps();
    collectives(MPI_COMM_WORLD);
    windows();
    sleepers();
    if (!strcmp(what, "threads"))
        threads();
    free(out);
    free(in);
    return test_end();
}
