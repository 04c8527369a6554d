/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI 5.0 §3.6.1: a buffer of the packed sizes and MPI_BSEND_OVERHEAD for each message is enough, whatever its address,
 * and space comes back when messages have been received, in whatever order. What is left open, whether more is taken,
 * is asked of this library only: then it is MPI_ERR_BUFFER, nothing is sent, and the sizes stand in the text. */
#include "mpitest.h"

enum { TAG = 5, MESSAGES = 6, LEN = 100000, GUARD = 64, ROUNDS = 30 };

static unsigned char out[LEN], in[LEN];

static void check_refused(int code, const char *text_part)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int len;

    CHECK_CLASS(code, MPI_ERR_BUFFER);
    MPI_Error_string(code, text, &len);
    CHECK(strstr(text, text_part), "expected \"%s\" in \"%s\"", text_part, text);
}

static void send_one(int i, int len, int dest)
{
    test_fill(out, (size_t)len, test_key(test_rank, i, len));
    CHECK_OK(MPI_Bsend(out, len, MPI_BYTE, dest, TAG + i, MPI_COMM_WORLD));
    memset(out, 0xEE, (size_t)len);
}

static void receive_one(int i, int len, int source)
{
    MPI_Status st;

    CHECK_OK(MPI_Recv(in, LEN, MPI_BYTE, source, TAG + i, MPI_COMM_WORLD, &st));
    CHECK_STATUS(&st, source, TAG + i, (size_t)len);
    CHECK_BYTES(in, (size_t)len, test_key(source, i, len));
}

/* As much as fits, to the right neighbour, and one more; then from the left one, the last first. */
static void run_exact(int size, int right, int left)
{
    char part[64];
    int i;

    for (i = 0; i < MESSAGES; i++)
        send_one(i, LEN, right);
    if (test_is_parley()) {
        MPI_Request req;
        snprintf(part, sizeof part, "of the %d bytes", size);
        check_refused(MPI_Bsend(out, LEN, MPI_BYTE, right, TAG, MPI_COMM_WORLD), part);
        check_refused(MPI_Ibsend(out, LEN, MPI_BYTE, right, TAG, MPI_COMM_WORLD, &req), part);
        CHECK_OK(MPI_Bsend(out, 0, MPI_BYTE, MPI_PROC_NULL, TAG, MPI_COMM_WORLD));
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD)); /* nobody makes room earlier */
    for (i = MESSAGES - 1; i >= 0; i--)
        receive_one(i, LEN, left);
}

/* Random lengths that together fit, received in another order than they were sent; all space is used again. */
static void run_random(int right, int left)
{
    uint64_t state = test_key(1, 2, 3); /* the same everywhere */
    int lens[MESSAGES], round, i;

    for (round = 0; round < ROUNDS; round++) {
        const int first = (int)test_below(&state, MESSAGES);
        for (i = 0; i < MESSAGES; i++)
            lens[i] = (int)test_below(&state, round % 2 ? LEN : 3000);
        for (i = 0; i < MESSAGES; i++)
            send_one(i, lens[i], right);
        for (i = 0; i < MESSAGES; i++)
            receive_one((first + i) % MESSAGES, lens[(first + i) % MESSAGES], left);
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD)); /* all have been received */
    }
}

/* Without a buffer, and with one in which nothing fits. */
static void run_none(int right)
{
    char byte;
    void *address = NULL;
    int size = -1;

    if (!test_is_parley())
        return;
    check_refused(MPI_Bsend(out, LEN, MPI_BYTE, right, TAG, MPI_COMM_WORLD), "no buffer is attached");
    CHECK_OK(MPI_Buffer_attach(&byte, 1));
    check_refused(MPI_Bsend(out, LEN, MPI_BYTE, right, TAG, MPI_COMM_WORLD), "of the 1 bytes");
    CHECK_OK(MPI_Buffer_detach(&address, &size));
    CHECK(address == &byte && size == 1, "detached %p, %d", address, size);
    CHECK_OK(MPI_Buffer_attach(NULL, 0));
    check_refused(MPI_Bsend(out, LEN, MPI_BYTE, right, TAG, MPI_COMM_WORLD), "of the 0 bytes");
    CHECK_OK(MPI_Buffer_detach(&address, &size));
    CHECK(address == NULL && size == 0, "detached %p, %d", address, size);
}

int main(int argc, char **argv)
{
    enum { SIZE = MESSAGES * (LEN + MPI_BSEND_OVERHEAD) };
    unsigned char *memory, *space;
    int right, left, shift, size = -1;
    void *detached = NULL;

    test_begin(&argc, &argv);
    right = (test_rank + 1) % test_size;
    left = (test_rank + test_size - 1) % test_size;
    memory = test_alloc(SIZE + 2 * GUARD + 16);
    for (shift = 0; shift < 16; shift += 5) {
        space = memory + GUARD + shift;
        NEEDS(MPI_Buffer_attach(space, SIZE));
        run_exact(SIZE, right, left);
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        run_random(right, left);
        CHECK_OK(MPI_Buffer_detach(&detached, &size));
        CHECK(detached == space && size == SIZE, "detached %p, %d", detached, size);
        CHECK_UNTOUCHED(memory, GUARD);
        CHECK_UNTOUCHED(space + SIZE, GUARD);
        memset(memory, TEST_CANARY, SIZE + 2 * GUARD + 16);
    }
    run_none(right);
    free(memory);
    return test_end();
}
